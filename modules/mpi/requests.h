/* Waits for what the library does, which end. */
#ifndef PIPEGAUGE_MPI_REQUESTS_H
#define PIPEGAUGE_MPI_REQUESTS_H

#include "link.h"

#include <sched.h>

/* Tests between two looks at the clock. A test that gives the CPU away may last as long as a turn of another process. */
enum { FEWEST_TESTS = 2048, FEWEST_YIELDS = 16 };

/* How long a wait goes on; begins with the first look. */
struct wait {
    /* Of `waits`. */
    int kind;
    unsigned tests;
    double since;
};

/* Called after each test that found nothing: whether it is time to look at the clock, and at what else ends a wait. */
static inline int is_time(struct wait *wait)
{
    if (wait->kind == POLL)
        return ++wait->tests % FEWEST_TESTS == 0;
    /* Two processes on one CPU: the other one can go on only when this one lets it. */
    sched_yield();
    return ++wait->tests % FEWEST_YIELDS == 0;
}

/* Whether the peer has said that it leaves. */
static int has_left(pipegauge_link *link)
{
    int is = 0;
    if (!link->left && MPI_Iprobe(link->peer, link->in + BYE, MPI_COMM_WORLD, &is, MPI_STATUS_IGNORE) == MPI_SUCCESS && is)
        link->left = 1;
    return link->left;
}

/* Waits for a request of a link, which stays as it is where something else ends the wait: patience, or the peer that leaves. */
static int waited(pipegauge_link *link, MPI_Request *request, MPI_Status *status, const char *doing, error *e)
{
    struct wait wait = {link->wanted.wait, 0, 0};
    for (;;) {
        int is = 0;
        int came = MPI_Test(request, &is, status), class = 0;
        if (came != MPI_SUCCESS && MPI_Error_class(came, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE)
            return failed(e, PIPEGAUGE_PROTOCOL, "a longer message came than the one that was expected");
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, doing, came);
        if (is)
            return PIPEGAUGE_OK;
        if (!is_time(&wait))
            continue;
        int code = goes_on(&wait.since, link->terms);
        if (code == PIPEGAUGE_OK && has_left(link)) {
            /* What was sent before it left has come by now: messages of one peer keep their order. */
            came = MPI_Test(request, &is, status);
            if (came == MPI_SUCCESS && is)
                return PIPEGAUGE_OK;
            code = PIPEGAUGE_CLOSED;
        }
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

/* Nobody waits for a request any more. */
static void give_up(MPI_Request *request)
{
    if (*request == MPI_REQUEST_NULL)
        return;
    MPI_Cancel(request);
    MPI_Request_free(request);
}

/* The same; a request that is still there is given up. */
static int finished(pipegauge_link *link, MPI_Request *request, MPI_Status *status, const char *doing, error *e)
{
    int code = waited(link, request, status, doing, e);
    if (code != PIPEGAUGE_OK)
        give_up(request);
    return code;
}

/* Waits at most `seconds` until something with this tag is there, or the peer has left: *is becomes 1. */
static int probed(pipegauge_link *link, int tag, double seconds, int *is, error *e)
{
    const double until = now() + seconds;
    do {
        int came = MPI_Iprobe(link->peer, tag, MPI_COMM_WORLD, is, MPI_STATUS_IGNORE);
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, "looking for a message", came);
        if (*is || (*is = has_left(link)))
            return PIPEGAUGE_OK;
        if (pipegauge_stopped(link->terms))
            return PIPEGAUGE_INTERRUPTED;
        if (link->wanted.wait == YIELD)
            sched_yield();
    } while (now() < until);
    return PIPEGAUGE_OK;
}

#endif
