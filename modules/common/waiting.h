/* What the modules of message layers share: the words of an error, and waits that end. */
#ifndef PIPEGAUGE_WAITING_H
#define PIPEGAUGE_WAITING_H

#include "pipegauge.h"

#include <stdio.h>
#include <time.h>

/* Longest that a layer may block before a module looks whether its wait is over, milliseconds. */
#define SLICE 50

/* Fails with a text of one's own. */
static inline int failed(struct pipegauge_error *e, int code, const char *what)
{
    snprintf(e->text, sizeof e->text, "%s", what);
    return code;
}

/* Fails with what was done, and the layer's word for what came of it. */
static inline int failed_with(struct pipegauge_error *e, const char *doing, const char *came)
{
    snprintf(e->text, sizeof e->text, "%s: %.180s", doing, came);
    return PIPEGAUGE_SYSTEM;
}

/* A message of another length than the one that was expected. */
static inline int of_length(size_t came, size_t expected, struct pipegauge_error *e)
{
    if (came == expected)
        return PIPEGAUGE_OK;
    snprintf(e->text, sizeof e->text, "a message of %zu bytes came where one of %zu was expected", came, expected);
    return PIPEGAUGE_PROTOCOL;
}

/* Seconds of the monotonic clock. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Whether a wait goes on that has found nothing since *since, which is set at its first call: what ends it, or PIPEGAUGE_OK. */
static inline int goes_on(double *since, const struct pipegauge_terms *terms)
{
    if (pipegauge_stopped(terms))
        return PIPEGAUGE_INTERRUPTED;
    if (*since == 0)
        *since = now();
    return now() - *since > terms->patience ? PIPEGAUGE_STALLED : PIPEGAUGE_OK;
}

#endif
