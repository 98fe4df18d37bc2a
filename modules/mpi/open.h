/* A link between two ranks, from its beginning to its end. */
#ifndef PIPEGAUGE_MPI_OPEN_H
#define PIPEGAUGE_MPI_OPEN_H

#include "memory.h"
#include "queued.h"

static void close_link(pipegauge_link *link)
{
    MPI_Request request;
    end_progress(&link->own);
    /* Nobody waits for this one: the peer may be gone. */
    if (MPI_Isend(NULL, 0, MPI_BYTE, link->peer, link->out + BYE, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
    /* Neither does MPI_Recv look for that message. */
    if (link->wanted.mode == BLOCKING &&
        MPI_Isend(NULL, 0, MPI_BYTE, link->peer, link->out + DATA, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
    cancel_ahead(link);
    leave_posts(&link->posts);
    give_region_back(&link->own);
    free(link);
}

/* A link between this rank and another; *out is NULL where there is none to be had. */
static int link_of(int peer, int first, int accepted, const terms *terms, struct wanted wanted, pipegauge_link **out, error *e)
{
    pipegauge_link *link = calloc(1, sizeof *link);
    *out = link;
    if (!link)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
    link->peer = peer;
    link->out = first + (accepted ? WORDS : 0);
    link->in = first + (accepted ? 0 : WORDS);
    link->terms = terms;
    link->wanted = wanted;
    int code = post_ahead(link, e);
    if (code != PIPEGAUGE_OK) {
        close_link(link);
        *out = NULL;
    }
    return code;
}

#endif
