/* Sends and receives as they begin, and receives that are kept posted: messages are taken from these in turns, as MPI fills them. */
#ifndef PIPEGAUGE_MPI_AHEAD_H
#define PIPEGAUGE_MPI_AHEAD_H

#include "requests.h"

static int start_sending(pipegauge_link *link, const void *message, size_t len, MPI_Request *request, error *e)
{
    if (link->wanted.ahead && len > link->wanted.ahead_size)
        return failed(e, PIPEGAUGE_TOO_LARGE, "the message is larger than the receives that are kept posted: set ahead-size");
    if (len > 0x7fffffff)
        return failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int");
    int (*start)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = link->wanted.mode == SYNCHRONOUS ? MPI_Issend : MPI_Isend;
    int came = start(message, (int)len, MPI_BYTE, link->peer, link->out + DATA, MPI_COMM_WORLD, request);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "sending", came);
}

static int start_receiving(pipegauge_link *link, void *message, size_t len, MPI_Request *request, error *e)
{
    if (len > 0x7fffffff)
        return failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int");
    int came = MPI_Irecv(message, (int)len, MPI_BYTE, link->peer, link->in + DATA, MPI_COMM_WORLD, request);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "receiving", came);
}

static int whole(const MPI_Status *status, size_t len, error *e)
{
    int got = 0;
    MPI_Get_count(status, MPI_BYTE, &got);
    return of_length((size_t)got, len, e);
}

static int post_one(pipegauge_link *link, size_t which, error *e)
{
    const size_t size = link->wanted.ahead_size;
    return start_receiving(link, link->ahead.memory + which * size, size, &link->ahead.requests[which], e);
}

/* Posts all of them. */
static int post_ahead(pipegauge_link *link, error *e)
{
    const size_t count = link->wanted.ahead;
    if (!count)
        return PIPEGAUGE_OK;
    link->ahead.memory = malloc(count * link->wanted.ahead_size);
    link->ahead.requests = malloc(count * sizeof *link->ahead.requests);
    if (!link->ahead.memory || !link->ahead.requests)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for receives that are kept posted");
    int code = PIPEGAUGE_OK;
    for (size_t i = 0; i < count; i++)
        link->ahead.requests[i] = MPI_REQUEST_NULL;
    for (size_t i = 0; i < count && code == PIPEGAUGE_OK; i++)
        code = post_one(link, i, e);
    return code;
}

/* Waits until the next message is in the receive that was posted for it. */
static int await_ahead(pipegauge_link *link, error *e)
{
    struct ahead *ahead = &link->ahead;
    if (ahead->here)
        return PIPEGAUGE_OK;
    int code = waited(link, &ahead->requests[ahead->next], &ahead->status, "receiving", e);
    ahead->here = code == PIPEGAUGE_OK;
    return code;
}

/* The next message, out of the receive that was posted for it, which is posted again. */
static int take_ahead(pipegauge_link *link, void *message, size_t len, error *e)
{
    struct ahead *ahead = &link->ahead;
    int code = await_ahead(link, e);
    if (code != PIPEGAUGE_OK)
        return code;
    code = whole(&ahead->status, len, e);
    if (code == PIPEGAUGE_OK)
        memcpy(message, ahead->memory + ahead->next * link->wanted.ahead_size, len);
    ahead->here = 0;
    /* A message of another length is the failure to tell of, whatever came of this. */
    int posted = post_one(link, ahead->next, code == PIPEGAUGE_OK ? e : &(error){.size = sizeof(error)});
    ahead->next = (ahead->next + 1) % link->wanted.ahead;
    return code == PIPEGAUGE_OK ? posted : code;
}

/* Gives up all of them. Memory that the library may still write to stays. */
static void cancel_ahead(pipegauge_link *link)
{
    struct ahead *ahead = &link->ahead;
    const double until = now() + 0.2;
    int all = 1;
    for (size_t i = 0; ahead->requests && i < link->wanted.ahead; i++) {
        int is = ahead->requests[i] == MPI_REQUEST_NULL;
        if (!is)
            MPI_Cancel(&ahead->requests[i]);
        while (!is && MPI_Test(&ahead->requests[i], &is, MPI_STATUS_IGNORE) == MPI_SUCCESS && now() < until)
            sched_yield();
        all &= is;
    }
    if (all)
        free(ahead->memory);
    free(ahead->requests);
}

#endif
