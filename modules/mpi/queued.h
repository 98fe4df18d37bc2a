/* Sends that complete later. */
#ifndef PIPEGAUGE_MPI_QUEUED_H
#define PIPEGAUGE_MPI_QUEUED_H

#include "ahead.h"

/* Room in the ring for one more. */
static int room_for_one(struct posts *posts, error *e)
{
    if (posts->count < posts->room)
        return PIPEGAUGE_OK;
    const size_t room = posts->room ? posts->room * 2 : 64;
    MPI_Request *ring = malloc(room * sizeof *ring);
    if (!ring)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for one more post");
    for (size_t i = 0; i < posts->count; i++)
        ring[i] = posts->ring[(posts->first + i) % posts->room];
    free(posts->ring);
    posts->ring = ring;
    posts->room = room;
    posts->first = 0;
    return PIPEGAUGE_OK;
}

static int post(pipegauge_link *link, const void *message, size_t len, error *e)
{
    struct posts *posts = &link->posts;
    if (link->left)
        return PIPEGAUGE_CLOSED;
    int code = room_for_one(posts, e);
    if (code == PIPEGAUGE_OK)
        code = start_sending(link, message, len, &posts->ring[(posts->first + posts->count) % posts->room], e);
    if (code != PIPEGAUGE_OK)
        return code;
    posts->count++;
    posts->posted++;
    return PIPEGAUGE_OK;
}

static uint64_t posted(const pipegauge_link *link)
{
    return link->posts.posted;
}

/* Counts the first posts that are done. */
static int count_done(struct posts *posts, error *e)
{
    for (int is = 1; posts->count > 0;) {
        int came = MPI_Test(&posts->ring[posts->first], &is, MPI_STATUS_IGNORE);
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, "posting", came);
        if (!is)
            return PIPEGAUGE_OK;
        posts->first = (posts->first + 1) % posts->room;
        posts->count--;
        posts->done++;
        posts->since = 0;
    }
    return PIPEGAUGE_OK;
}

static int poll_posts(pipegauge_link *link, uint64_t until, double seconds, uint64_t *done, error *e)
{
    struct posts *posts = &link->posts;
    struct wait wait = {link->wanted.wait, 0, 0};
    const double end = now() + seconds;
    if (until > posts->posted)
        until = posts->posted;
    for (;;) {
        int code = count_done(posts, e);
        *done = posts->done;
        if (code != PIPEGAUGE_OK || posts->done >= until || seconds == 0)
            return code;
        if (!is_time(&wait))
            continue;
        /* Patience is of all polls in which nothing is done, not of this one alone. */
        code = goes_on(&posts->since, link->terms);
        if (code == PIPEGAUGE_OK && has_left(link)) {
            code = count_done(posts, e);
            *done = posts->done;
            return code != PIPEGAUGE_OK || posts->done >= until ? code : PIPEGAUGE_CLOSED;
        }
        if (code != PIPEGAUGE_OK || now() >= end)
            return code;
    }
}

static const struct pipegauge_queued queued = {.size = sizeof queued, .post = post, .posted = posted, .poll = poll_posts};

/* Nobody waits for those that are under way any more. */
static void leave_posts(struct posts *posts)
{
    for (size_t i = 0; i < posts->count; i++)
        MPI_Request_free(&posts->ring[(posts->first + i) % posts->room]);
    free(posts->ring);
}

#endif
