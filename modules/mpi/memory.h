/* Memory that one side exposes, and what the other does with it. */
#ifndef PIPEGAUGE_MPI_MEMORY_H
#define PIPEGAUGE_MPI_MEMORY_H

#include "ahead.h"
#include "progressing.h"

static int say(pipegauge_link *link, int word, const void *text, int len, error *e)
{
    MPI_Request request;
    int came = MPI_Isend(text, len, MPI_BYTE, link->peer, link->out + word, MPI_COMM_WORLD, &request);
    return came == MPI_SUCCESS ? finished(link, &request, MPI_STATUS_IGNORE, "telling the peer", e) : failed_in_mpi(e, "telling the peer", came);
}

/* What is said of memory that is exposed. */
struct exposed {
    uint64_t at, len;
};

static int expose(pipegauge_link *link, size_t len, error *e)
{
    int code = reserve(link, len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    MPI_Win_sync(window.win);
    code = begin_progress(link, e);
    const struct exposed said = {(uint64_t)link->own.at, link->own.len};
    return code == PIPEGAUGE_OK ? say(link, REGION, &said, sizeof said, e) : code;
}

static int fill(pipegauge_link *link, size_t at, const void *from, size_t len, error *e)
{
    (void)e;
    memcpy(link->own.memory + at, from, len);
    MPI_Win_sync(window.win);
    return PIPEGAUGE_OK;
}

static int read_own(pipegauge_link *link, size_t at, void *into, size_t len, error *e)
{
    (void)e;
    MPI_Win_sync(window.win);
    memcpy(into, link->own.memory + at, len);
    return PIPEGAUGE_OK;
}

/* Waits for a word of the peer's. */
static int hear(pipegauge_link *link, int word, void *text, int len, error *e)
{
    MPI_Request request;
    MPI_Status status;
    int came = MPI_Irecv(text, len, MPI_BYTE, link->peer, link->in + word, MPI_COMM_WORLD, &request);
    if (came != MPI_SUCCESS)
        return failed_in_mpi(e, "waiting for the peer", came);
    int code = finished(link, &request, &status, "waiting for the peer", e);
    return code == PIPEGAUGE_OK ? whole(&status, (size_t)len, e) : code;
}

static int withdraw(pipegauge_link *link, double seconds, int *left, error *e)
{
    int is = 0;
    *left = 0;
    int code = probed(link, link->in + LEFT, seconds, &is, e);
    if (code != PIPEGAUGE_OK || !is)
        return code;
    end_progress(&link->own);
    code = hear(link, LEFT, NULL, 0, e);
    MPI_Win_sync(window.win);
    *left = code == PIPEGAUGE_OK;
    return code;
}

static int reach(pipegauge_link *link, size_t len, error *e)
{
    struct exposed said = {0, 0};
    int code = windowed(e);
    if (code == PIPEGAUGE_OK)
        code = hear(link, REGION, &said, sizeof said, e);
    if (code != PIPEGAUGE_OK)
        return code;
    if (said.len < len)
        return failed(e, PIPEGAUGE_PROTOCOL, "the peer exposes less than is needed");
    link->peers = (MPI_Aint)said.at;
    return PIPEGAUGE_OK;
}

/* Whether an access can begin. */
static int accessible(const pipegauge_link *link, size_t len, error *e)
{
    if (link->left)
        return PIPEGAUGE_CLOSED;
    return len > 0x7fffffff ? failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int") : PIPEGAUGE_OK;
}

static int put(pipegauge_link *link, size_t at, const void *from, size_t len, error *e)
{
    int code = accessible(link, len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int came = MPI_Put(from, (int)len, MPI_BYTE, link->peer, link->peers + (MPI_Aint)at, (int)len, MPI_BYTE, window.win);
    if (came == MPI_SUCCESS)
        came = MPI_Win_flush_local(link->peer, window.win);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "putting", came);
}

static int fence(pipegauge_link *link, error *e)
{
    int came = MPI_Win_flush(link->peer, window.win);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "waiting for what was put", came);
}

static int get(pipegauge_link *link, size_t at, void *into, size_t len, error *e)
{
    int code = accessible(link, len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int came = MPI_Get(into, (int)len, MPI_BYTE, link->peer, link->peers + (MPI_Aint)at, (int)len, MPI_BYTE, window.win);
    if (came == MPI_SUCCESS)
        came = MPI_Win_flush(link->peer, window.win);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "getting", came);
}

static int leave(pipegauge_link *link, error *e)
{
    int code = fence(link, e);
    return code == PIPEGAUGE_OK ? say(link, LEFT, NULL, 0, e) : code;
}

static const struct pipegauge_one_sided one_sided = {
    .size = sizeof one_sided,
    .reserve = reserve,
    .expose = expose,
    .fill = fill,
    .read = read_own,
    .withdraw = withdraw,
    .reach = reach,
    .put = put,
    .get = get,
    .fence = fence,
    .leave = leave,
};

#endif
