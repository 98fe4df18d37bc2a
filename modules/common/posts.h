/* Posts that are not done, oldest first, in a ring that grows. */
#ifndef PIPEGAUGE_POSTS_H
#define PIPEGAUGE_POSTS_H

#include "waiting.h"

#include <stdlib.h>

struct posts {
    void **all;
    size_t room;
    /* Posts since the link was made, and those of them that are done. */
    uint64_t begun, done;
};

/* Makes room for one more. */
static inline int room_for_post(struct posts *posts, struct pipegauge_error *e)
{
    if (posts->begun - posts->done < posts->room)
        return PIPEGAUGE_OK;
    const size_t room = posts->room ? 2 * posts->room : 64;
    void **all = calloc(room, sizeof *all);
    if (!all)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a post");
    for (uint64_t i = posts->done; i < posts->begun; i++)
        all[i % room] = posts->all[i % posts->room];
    free(posts->all);
    posts->all = all;
    posts->room = room;
    return PIPEGAUGE_OK;
}

/* Adds one, for which there is room. */
static inline void add_post(struct posts *posts, void *one)
{
    posts->all[posts->begun++ % posts->room] = one;
}

/* The oldest of those that are not done, of which there is one. */
static inline void *oldest_post(const struct posts *posts)
{
    return posts->all[posts->done % posts->room];
}

/* Ends each that is not done with `end`, and the ring. */
static inline void end_posts(struct posts *posts, void (*end)(void *))
{
    for (; posts->done < posts->begun; posts->done++)
        end(oldest_post(posts));
    free(posts->all);
}

#endif
