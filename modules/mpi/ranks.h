/* Where two ranks meet: a listener is a tag of its rank, at which whoever connects says where it is to be answered. */
#ifndef PIPEGAUGE_MPI_RANKS_H
#define PIPEGAUGE_MPI_RANKS_H

#include "open.h"
#include "world.h"

static atomic_int next_listener = 1;
static atomic_int next_link = FIRST_TAG;

static int listen_at(const settings *set, const char *host, const terms *terms, pipegauge_listener **out, error *e)
{
    (void)host;
    int code = possible(read_settings(set), e);
    if (code == PIPEGAUGE_OK)
        code = ready_to_use(set, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int tag = atomic_fetch_add(&next_listener, 1);
    if (tag >= FIRST_TAG)
        return failed(e, PIPEGAUGE_SYSTEM, "no tag is left to listen at");
    pipegauge_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a listener");
    *listener = (pipegauge_listener){tag, terms, read_settings(set)};
    *out = listener;
    return PIPEGAUGE_OK;
}

static int address(pipegauge_listener *listener, char *out, size_t room, error *e)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if ((size_t)snprintf(out, room, "rank %d tag %d", rank, listener->tag) >= room)
        return failed(e, PIPEGAUGE_SYSTEM, "no room for the address");
    return PIPEGAUGE_OK;
}

/* Waits for a message that is no link's yet. */
static int came_from(int source, int tag, int *value, int *from, const terms *terms, int kind, error *e)
{
    struct wait wait = {kind, 0, 0};
    MPI_Request request;
    MPI_Status status;
    int came = MPI_Irecv(value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &request);
    if (came != MPI_SUCCESS)
        return failed_in_mpi(e, "meeting", came);
    for (int is = 0;;) {
        came = MPI_Test(&request, &is, &status);
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, "meeting", came);
        if (is) {
            *from = status.MPI_SOURCE;
            return PIPEGAUGE_OK;
        }
        int code = is_time(&wait) ? goes_on(&wait.since, terms) : PIPEGAUGE_OK;
        if (code != PIPEGAUGE_OK) {
            MPI_Cancel(&request);
            MPI_Request_free(&request);
            return code;
        }
    }
}

static int accept_next(pipegauge_listener *listener, pipegauge_link **out, error *e)
{
    int answer_at = 0, peer = 0;
    int code = came_from(MPI_ANY_SOURCE, listener->tag, &answer_at, &peer, listener->terms, listener->wanted.wait, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* Both ranks may hand out tags: those of one rank are told from the other's by their parity. */
    int first = FIRST_TAG + ((atomic_fetch_add(&next_link, 1) - FIRST_TAG) * 2 + (rank > peer)) * TAGS;
    pipegauge_link *link = NULL;
    code = link_of(peer, first, 1, listener->terms, listener->wanted, &link, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int came = MPI_Send(&first, 1, MPI_INT, peer, answer_at, MPI_COMM_WORLD);
    if (came != MPI_SUCCESS) {
        close_link(link);
        return failed_in_mpi(e, "answering", came);
    }
    *out = link;
    return PIPEGAUGE_OK;
}

static void unlisten(pipegauge_listener *listener)
{
    free(listener);
}

static int connect_to(const settings *set, const char *at, const char *host, const terms *terms, pipegauge_link **out, error *e)
{
    (void)host;
    const struct wanted wanted = read_settings(set);
    int code = possible(wanted, e);
    if (code == PIPEGAUGE_OK)
        code = ready_to_use(set, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int rank = 0, tag = 0, size = 0, first = 0, from = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (sscanf(at, "rank %d tag %d", &rank, &tag) != 2 || rank < 0 || rank >= size || tag < 1 || tag >= FIRST_TAG)
        return failed(e, PIPEGAUGE_PROTOCOL, "the address is of no rank of this world");
    int answer_at = atomic_fetch_add(&next_listener, 1);
    int came = MPI_Send(&answer_at, 1, MPI_INT, rank, tag, MPI_COMM_WORLD);
    if (came != MPI_SUCCESS)
        return failed_in_mpi(e, "connecting", came);
    code = came_from(rank, answer_at, &first, &from, terms, wanted.wait, e);
    return code == PIPEGAUGE_OK ? link_of(rank, first, 0, terms, wanted, out, e) : code;
}

#endif
