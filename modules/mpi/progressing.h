/* The thread of a region that is exposed. */
#ifndef PIPEGAUGE_MPI_PROGRESSING_H
#define PIPEGAUGE_MPI_PROGRESSING_H

#include "window.h"

#include <sched.h>

/* The thread of a region that is exposed: what the peer asks for is done within calls of the library. */
static void *progressing(void *of)
{
    pipegauge_link *link = of;
    int is;
    while (!atomic_load_explicit(&link->own.over, memory_order_relaxed)) {
        MPI_Iprobe(link->peer, link->in + BYE, MPI_COMM_WORLD, &is, MPI_STATUS_IGNORE);
        if (link->wanted.wait == YIELD)
            sched_yield();
    }
    return NULL;
}

static void end_progress(struct region *own)
{
    if (!own->has_thread)
        return;
    atomic_store(&own->over, 1);
    pthread_join(own->thread, NULL);
    own->has_thread = 0;
}

static int begin_progress(pipegauge_link *link, error *e)
{
    struct region *own = &link->own;
    if (link->wanted.progress != THREAD || own->has_thread)
        return PIPEGAUGE_OK;
    atomic_store(&own->over, 0);
    if (pthread_create(&own->thread, NULL, progressing, link) != 0)
        return failed(e, PIPEGAUGE_SYSTEM, "the system starts no thread that works for the peer's accesses (progress=none goes without)");
    own->has_thread = 1;
    return PIPEGAUGE_OK;
}

#endif
