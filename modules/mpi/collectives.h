/* What all ranks do together. */
#ifndef PIPEGAUGE_MPI_COLLECTIVES_H
#define PIPEGAUGE_MPI_COLLECTIVES_H

#include "requests.h"

/* All ranks of the world in the order of their places, as the first group found them: the same ranks always have the same places. */
static struct {
    MPI_Comm comm;
    uint32_t rank;
} group = {MPI_COMM_NULL, 0};

/* Waits for an operation of all ranks to be over, where waits give the CPU away. MPI lets nobody give one up. */
static int together(pipegauge_link *link, MPI_Request *request, int came, const char *doing, error *e)
{
    return came == MPI_SUCCESS ? waited(link, request, MPI_STATUS_IGNORE, doing, e) : failed_in_mpi(e, doing, came);
}

static int join(pipegauge_link *const *links, size_t count, uint32_t rank, uint32_t members, error *e)
{
    int size = 0;
    MPI_Request request;
    (void)count;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if ((uint32_t)size != members) {
        snprintf(e->text, sizeof e->text, "a group of %u members is to be all ranks of the world, which has %d", members, size);
        return PIPEGAUGE_UNSUPPORTED;
    }
    if (group.comm != MPI_COMM_NULL && group.rank == rank)
        return PIPEGAUGE_OK;
    /* MPI_Comm_split has no test: it is called when all ranks are about to. */
    int code = together(links[0], &request, MPI_Ibarrier(MPI_COMM_WORLD, &request), "waiting for all ranks", e);
    if (code != PIPEGAUGE_OK)
        return code;
    int came = MPI_Comm_split(MPI_COMM_WORLD, 0, (int)rank, &group.comm);
    if (came != MPI_SUCCESS)
        return failed_in_mpi(e, "making a communicator of all ranks", came);
    group.rank = rank;
    MPI_Comm_set_errhandler(group.comm, MPI_ERRORS_RETURN);
    return PIPEGAUGE_OK;
}

static int in_mpi(int came, const char *doing, error *e)
{
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, doing, came);
}

/* Whether a count holds it. */
static int countable(size_t len, error *e)
{
    return len > 0x7fffffff ? failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int") : PIPEGAUGE_OK;
}

static int barrier(pipegauge_link *link, error *e)
{
    MPI_Request request;
    if (link->wanted.wait == POLL)
        return in_mpi(MPI_Barrier(group.comm), "MPI_Barrier", e);
    return together(link, &request, MPI_Ibarrier(group.comm, &request), "MPI_Ibarrier", e);
}

static int broadcast(pipegauge_link *link, void *block, size_t len, error *e)
{
    MPI_Request request;
    int code = countable(len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    if (link->wanted.wait == POLL)
        return in_mpi(MPI_Bcast(block, (int)len, MPI_BYTE, 0, group.comm), "MPI_Bcast", e);
    return together(link, &request, MPI_Ibcast(block, (int)len, MPI_BYTE, 0, group.comm, &request), "MPI_Ibcast", e);
}

static int allreduce(pipegauge_link *link, const void *mine, void *sums, size_t len, error *e)
{
    MPI_Request request;
    int code = countable(len, e), count = (int)(len / sizeof(uint64_t));
    if (code != PIPEGAUGE_OK)
        return code;
    if (link->wanted.wait == POLL)
        return in_mpi(MPI_Allreduce(mine, sums, count, MPI_UINT64_T, MPI_SUM, group.comm), "MPI_Allreduce", e);
    int came = MPI_Iallreduce(mine, sums, count, MPI_UINT64_T, MPI_SUM, group.comm, &request);
    return together(link, &request, came, "MPI_Iallreduce", e);
}

static int allgather(pipegauge_link *link, const void *mine, void *all, size_t len, error *e)
{
    MPI_Request request;
    int code = countable(len, e), count = (int)len;
    if (code != PIPEGAUGE_OK)
        return code;
    if (link->wanted.wait == POLL)
        return in_mpi(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, group.comm), "MPI_Allgather", e);
    int came = MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, group.comm, &request);
    return together(link, &request, came, "MPI_Iallgather", e);
}

static int all_to_all(pipegauge_link *link, const void *out, void *into, size_t len, error *e)
{
    MPI_Request request;
    int code = countable(len, e), count = (int)len;
    if (code != PIPEGAUGE_OK)
        return code;
    if (link->wanted.wait == POLL)
        return in_mpi(MPI_Alltoall(out, count, MPI_BYTE, into, count, MPI_BYTE, group.comm), "MPI_Alltoall", e);
    int came = MPI_Ialltoall(out, count, MPI_BYTE, into, count, MPI_BYTE, group.comm, &request);
    return together(link, &request, came, "MPI_Ialltoall", e);
}

static const struct pipegauge_collective collective = {
    .size = sizeof collective,
    .join = join,
    .barrier = barrier,
    .broadcast = broadcast,
    .allreduce = allreduce,
    .allgather = allgather,
    .all_to_all = all_to_all,
};

#endif
