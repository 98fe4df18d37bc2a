/* What a link has of a group over a library that has its own membership and casts (members.h). */
#ifndef PIPEGAUGE_GROUP_H
#define PIPEGAUGE_GROUP_H

#include "meeting.h"

/* A cast that came before it was asked for. */
struct cast {
    struct cast *next;
    uint32_t from, number;
    size_t len;
    char message[];
};

struct group {
    uint32_t rank, members;
    /* The connections to the others; of rank 0 in the order of their ranks. */
    int *fds;
    size_t others;
    /* Own casts are delivered, too. */
    int hears;
    /* By rank: casts that came. */
    uint32_t *counts;
    struct cast *first, **last;
    /* Memory that waits for the next cast, and its length; once it has come: NULL, and what it was. */
    void *into;
    size_t len;
    uint32_t from, number;
    /* A member left. */
    int gone;
    /* Why nothing more can be delivered. */
    const char *lost;
};

#endif
