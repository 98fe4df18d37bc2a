/* Listeners and links, and what they hold. */
#ifndef PIPEGAUGE_MPI_LINK_H
#define PIPEGAUGE_MPI_LINK_H

#include "wanted.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* What a side says, each with a tag of its own: messages, that it leaves, that it exposes memory, and that it is done with the peer's. */
enum { DATA, BYE, REGION, LEFT, WORDS };
/* Each link has as many tags from its first on: those of the side that connected, and those of the other. */
enum { TAGS = 2 * WORDS };
/* The first tag that links take; those below are listeners'. */
enum { FIRST_TAG = 4096 };

/* Receives that are posted before anybody asks for a message. */
struct ahead {
    /* Of wanted.ahead messages each; NULL without. */
    MPI_Request *requests;
    unsigned char *memory;
    /* The one that the next message is in, and whether it is here: then its status. */
    size_t next;
    int here;
    MPI_Status status;
};

/* Sends under way, in a ring. */
struct posts {
    MPI_Request *ring;
    size_t room, first, count;
    uint64_t posted, done;
    /* Since when none was done, for patience; 0 where one was just now. */
    double since;
};

/* Memory that this side exposes or is to expose. */
struct region {
    unsigned char *memory;
    size_t len;
    /* Where it lies in the window. */
    MPI_Aint at;
    /* It is exposed: a thread works for the peer's accesses where the library needs one. */
    pthread_t thread;
    int has_thread;
    atomic_int over;
};

struct pipegauge_listener {
    int tag;
    const terms *terms;
    struct wanted wanted;
};

struct pipegauge_link {
    int peer;
    /* The first tags of what this side says, and of what it hears. */
    int out, in;
    int left; /* the peer has left */
    int ended; /* the empty message of a peer that leaves was received (mode=blocking): nothing comes behind it */
    const terms *terms;
    struct wanted wanted;
    struct ahead ahead;
    struct posts posts;
    struct region own;
    /* Where in the window the peer's region lies. */
    MPI_Aint peers;
};

static int failed_in_mpi(error *e, const char *doing, int came)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;
    MPI_Error_string(came, text, &len);
    return failed_with(e, doing, text);
}

#endif
