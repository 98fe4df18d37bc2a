/* Links of a library that moves messages only where it is called: each wait calls it until what it waits for has come.
 *
 * Included behind the module's `struct pipegauge_link`, whose members `peer` (meeting.h) and `posts` it uses.
 */
#ifndef PIPEGAUGE_PROGRESS_H
#define PIPEGAUGE_PROGRESS_H

#include "meeting.h"
#include "posts.h"

/* Lets the library move what it can; what ends the wait, or PIPEGAUGE_OK. */
static inline int progressed(pipegauge_link *link, struct wait *wait, struct pipegauge_error *e);
/* Counts the first posts that are done. */
static int count_done(pipegauge_link *link, struct pipegauge_error *e);

/* Waits until the peer has told something. */
static int wait_to_hear(pipegauge_link *link, struct pipegauge_error *e)
{
    struct wait wait = {0, 0, 0};
    while (!can_hear(link->peer.fd)) {
        const int code = progressed(link, &wait, e);
        if (code != PIPEGAUGE_OK)
            return code;
    }
    return PIPEGAUGE_OK;
}

/* Waits at most so many seconds until the peer tells that it has left the memory that this side exposes. Where the library has no access
 * of its own to the other's memory, it does it for the peer in these calls. */
static int wait_for_leave(pipegauge_link *link, uint32_t kind, double seconds, int *left, struct pipegauge_error *e)
{
    const double until = now() + seconds;
    struct wait wait = {0, 0, 0};
    size_t len;
    for (unsigned i = 0;; i++) {
        const int code = progressed(link, &wait, e);
        if (code == PIPEGAUGE_STALLED)
            wait.since = 0;
        else if (code != PIPEGAUGE_OK)
            return code;
        if (i % LOOKS != 0)
            continue;
        *left = can_hear(link->peer.fd);
        if (*left)
            return hear(link->peer.fd, kind, NULL, 0, &len, link->peer.terms, e);
        if (now() >= until)
            return PIPEGAUGE_OK;
    }
}

static uint64_t posted(const pipegauge_link *link)
{
    return link->posts.begun;
}

static int poll_posts(pipegauge_link *link, uint64_t until, double seconds, uint64_t *done, struct pipegauge_error *e)
{
    const double over = now() + seconds;
    struct wait wait = {0, 0, 0};
    for (;;) {
        int code = count_done(link, e);
        *done = link->posts.done;
        if (code != PIPEGAUGE_OK || *done >= until)
            return code;
        code = progressed(link, &wait, e);
        if (code != PIPEGAUGE_OK)
            return code;
        if (seconds <= 0 || (wait.idle % LOOKS == 0 && now() >= over)) {
            code = count_done(link, e);
            *done = link->posts.done;
            return code;
        }
    }
}

#endif
