/* Sending, receiving, and posting. */
#ifndef PIPEGAUGE_LIBFABRIC_MESSAGES_H
#define PIPEGAUGE_LIBFABRIC_MESSAGES_H

#include "completions.h"

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    const int code = start_sending(link, &link->sending, message, len, e);
    return code == PIPEGAUGE_OK ? finished(link, &link->sending, "sending", e) : code;
}

/* Begins to receive the next message ahead, where none is being received so. */
static int receive_ahead(pipegauge_link *link, error *e)
{
    if (link->ahead_waits)
        return PIPEGAUGE_OK;
    const int code = start_receiving(link, link->ahead, link->ahead_len, e);
    link->ahead_waits = code == PIPEGAUGE_OK;
    return code;
}

/* Hands over what was received ahead. */
static int take_ahead(pipegauge_link *link, void *message, size_t len, error *e)
{
    const struct operation *one = &link->receiving;
    link->ahead_waits = 0;
    int code = one->came == 0 ? of_length(one->len, len, e) : failed_in_fabric(e, "receiving", one->came);
    if (code == PIPEGAUGE_OK)
        memcpy(message, link->ahead, len);
    return code;
}

/* Waits for what is being received ahead. Memory of the link's own may go on waiting where this wait ends. */
static int wait_ahead(pipegauge_link *link, error *e)
{
    struct wait wait = {0, 0, 0};
    int code = PIPEGAUGE_OK;
    while (code == PIPEGAUGE_OK && !link->receiving.done)
        code = progressed(link, &wait, e);
    return code;
}

/* Whether a datagram that came is the one that is waited for: of the peer, and not a late one of another length. */
static int is_expected(const pipegauge_link *link, size_t len)
{
    const struct operation *one = &link->receiving;
    return one->came == 0 && one->from == link->to && one->len == len;
}

/* Waits for a datagram, which may be lost. */
static int receive_datagram(pipegauge_link *link, void *message, size_t len, error *e)
{
    const double until = now() + (link->heard ? link->peer.terms->loss_timeout : link->peer.terms->patience);
    struct wait wait = {0, 0, 0};
    for (;;) {
        int code = receive_ahead(link, e);
        if (code == PIPEGAUGE_OK)
            code = progressed(link, &wait, e);
        if (code != PIPEGAUGE_OK)
            return code;
        if (link->receiving.done && is_expected(link, len)) {
            link->heard = 1;
            return take_ahead(link, message, len, e);
        }
        if (link->receiving.done)
            link->ahead_waits = 0;
        else if (wait.idle % LOOKS == 0 && now() >= until)
            return link->heard ? PIPEGAUGE_LOST : PIPEGAUGE_STALLED;
    }
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    if (link->wanted.endpoint == DGRAM)
        return receive_datagram(link, message, len, e);
    if (link->ahead_waits) {
        const int code = wait_ahead(link, e);
        return code == PIPEGAUGE_OK ? take_ahead(link, message, len, e) : code;
    }
    int code = start_receiving(link, message, len, e);
    if (code == PIPEGAUGE_OK)
        code = finished(link, &link->receiving, "receiving", e);
    return code == PIPEGAUGE_OK ? of_length(link->receiving.len, len, e) : code;
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    /* A datagram's send waits for nobody, and what is received ahead waits already. */
    const int ahead = link->ahead_waits || link->wanted.endpoint == DGRAM;
    int code = ahead ? PIPEGAUGE_OK : start_receiving(link, into, into_len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    code = send_message(link, out, out_len, e);
    if (ahead)
        return code == PIPEGAUGE_OK ? receive_message(link, into, into_len, e) : code;
    if (code != PIPEGAUGE_OK) {
        abandon(link, &link->receiving);
        return code;
    }
    code = finished(link, &link->receiving, "receiving", e);
    return code == PIPEGAUGE_OK ? of_length(link->receiving.len, into_len, e) : code;
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    const double until = now() + seconds;
    struct wait wait = {0, 0, 0};
    for (;;) {
        int code = receive_ahead(link, e);
        if (code == PIPEGAUGE_OK)
            code = progressed(link, &wait, e);
        /* A receive finds what is wrong. */
        *is = code == PIPEGAUGE_CLOSED || link->receiving.done;
        if (*is)
            return PIPEGAUGE_OK;
        if (code != PIPEGAUGE_OK && code != PIPEGAUGE_STALLED)
            return code;
        if (now() >= until)
            return PIPEGAUGE_OK;
    }
}

static int post(pipegauge_link *link, const void *message, size_t len, error *e)
{
    int code = room_for_post(&link->posts, e);
    if (code != PIPEGAUGE_OK)
        return code;
    struct operation *one = calloc(1, sizeof *one);
    if (!one)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a post");
    code = start_sending(link, one, message, len, e);
    if (code == PIPEGAUGE_OK)
        add_post(&link->posts, one);
    else
        free(one);
    return code;
}

static int count_done(pipegauge_link *link, error *e)
{
    while (link->posts.done < link->posts.begun) {
        struct operation *one = oldest_post(&link->posts);
        if (!one->done)
            break;
        const int came = one->came;
        free(one);
        link->posts.done++;
        if (came != 0)
            return failed_in_fabric(e, "sending what was posted", came);
    }
    return PIPEGAUGE_OK;
}

#endif
