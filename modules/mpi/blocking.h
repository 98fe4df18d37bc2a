/* Messages by MPI's blocking calls, as programs use them: they wait in the library, without bound. */
#ifndef PIPEGAUGE_MPI_BLOCKING_H
#define PIPEGAUGE_MPI_BLOCKING_H

#include "ahead.h"

static int countable_message(size_t len, error *e)
{
    return len > 0x7fffffff ? failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int") : PIPEGAUGE_OK;
}

/* What came of receiving. A side that leaves sends an empty message, which ends an MPI_Recv that would wait for ever; no other one is empty. */
static int received(pipegauge_link *link, int came, const MPI_Status *status, size_t len, error *e)
{
    int class = 0, got = 0;
    if (came != MPI_SUCCESS && MPI_Error_class(came, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE)
        return failed(e, PIPEGAUGE_PROTOCOL, "a longer message came than the one that was expected");
    if (came != MPI_SUCCESS)
        return failed_in_mpi(e, "receiving", came);
    MPI_Get_count(status, MPI_BYTE, &got);
    if (got == 0 && len > 0) {
        link->ended = 1;
        return PIPEGAUGE_CLOSED;
    }
    return of_length((size_t)got, len, e);
}

static int send_blocking(pipegauge_link *link, const void *message, size_t len, error *e)
{
    int code = countable_message(len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int came = MPI_Send(message, (int)len, MPI_BYTE, link->peer, link->out + DATA, MPI_COMM_WORLD);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "sending", came);
}

static int receive_blocking(pipegauge_link *link, void *message, size_t len, error *e)
{
    MPI_Status status;
    int code = countable_message(len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    if (link->ended)
        return PIPEGAUGE_CLOSED;
    int came = MPI_Recv(message, (int)len, MPI_BYTE, link->peer, link->in + DATA, MPI_COMM_WORLD, &status);
    return received(link, came, &status, len, e);
}

static int exchange_blocking(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    MPI_Status status;
    int code = countable_message(out_len > into_len ? out_len : into_len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    if (link->ended)
        return PIPEGAUGE_CLOSED;
    int came = MPI_Sendrecv(out, (int)out_len, MPI_BYTE, link->peer, link->out + DATA, into, (int)into_len, MPI_BYTE, link->peer,
                            link->in + DATA, MPI_COMM_WORLD, &status);
    return received(link, came, &status, into_len, e);
}

#endif
