/* Ends a cast that lasts too long: JGroups holds back whoever casts, for as long as a receiver takes, and looks at no bound of the caller's.
 *
 * A thread of the link's own looks at it now and then. What it does then ends the member: JGroups lets go of a cast as its channel closes.
 */
#ifndef PIPEGAUGE_JGROUPS_WATCH_H
#define PIPEGAUGE_JGROUPS_WATCH_H

#include "waiting.h"

#include <pthread.h>
#include <stdatomic.h>

struct watch {
    pthread_t thread;
    int runs;
    pthread_mutex_t lock;
    pthread_cond_t ends;
    int ended;
    const struct pipegauge_terms *terms;
    /* Ends the member of this link. */
    void (*cut)(void *link);
    void *link;
    /* Which cast is under way, 0 for none; what ended it, PIPEGAUGE_OK for nothing. */
    atomic_uint under_way;
    atomic_int code;
};

/* What ends a cast that is under way for so long. */
static int lasting(const struct watch *watch, double seconds)
{
    if (pipegauge_stopped(watch->terms))
        return PIPEGAUGE_INTERRUPTED;
    return seconds > watch->terms->patience ? PIPEGAUGE_STALLED : PIPEGAUGE_OK;
}

static void *watching(void *of)
{
    struct watch *watch = of;
    unsigned seen = 0;
    double since = 0;
    pthread_mutex_lock(&watch->lock);
    while (!watch->ended) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += SLICE * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&watch->ends, &watch->lock, &until);
        const unsigned is = atomic_load(&watch->under_way);
        if (is == 0 || is != seen) {
            seen = is;
            since = now();
            continue;
        }
        const int code = lasting(watch, now() - since);
        if (code != PIPEGAUGE_OK) {
            atomic_store(&watch->code, code);
            watch->cut(watch->link);
            break;
        }
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

static int begin_watch(struct watch *watch, void (*cut)(void *), void *link, const struct pipegauge_terms *terms, struct pipegauge_error *e)
{
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->ends, &how);
    pthread_condattr_destroy(&how);
    pthread_mutex_init(&watch->lock, NULL);
    watch->cut = cut;
    watch->link = link;
    watch->terms = terms;
    watch->runs = pthread_create(&watch->thread, NULL, watching, watch) == 0;
    return watch->runs ? PIPEGAUGE_OK : failed(e, PIPEGAUGE_SYSTEM, "the system has no thread for a watch over casts");
}

static void end_watch(struct watch *watch)
{
    if (!watch->runs)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->ended = 1;
    pthread_cond_signal(&watch->ends);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    watch->runs = 0;
}

#endif
