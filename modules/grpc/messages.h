/* Messages of a link: what is sent and received, whichever the mode is. */
#ifndef PIPEGAUGE_GRPC_MESSAGES_H
#define PIPEGAUGE_GRPC_MESSAGES_H

#include "stream.h"
#include "unary.h"

/* The two modes: how a link begins to send and to receive, and what it makes of both once they are done. */
static const struct {
    int (*send_started)(pipegauge_link *, error *), (*sent)(pipegauge_link *, error *);
    int (*receive_started)(pipegauge_link *, error *), (*received)(pipegauge_link *, error *);
} doing[] = {
    [STREAM] = {stream_send_started, stream_sent, stream_receive_started, stream_received},
    [UNARY] = {unary_send_started, unary_sent, unary_receive_started, unary_received},
};

/* Starts to send a copy of a message: one that was given up before goes first. */
static int send_started(pipegauge_link *link, const void *message, size_t len, error *e)
{
    const int code = finished(link, &link->sending);
    if (code != PIPEGAUGE_OK)
        return code;
    grpc_slice bytes = grpc_slice_from_copied_buffer(message, len);
    grpc_byte_buffer_destroy(link->out);
    link->out = grpc_raw_byte_buffer_create(&bytes, 1);
    grpc_slice_unref(bytes);
    return doing[link->wanted.mode].send_started(link, e);
}

/* Waits until it has left. */
static int sent(pipegauge_link *link, error *e)
{
    const int code = finished(link, &link->sending);
    link->sent_last = 1;
    return code == PIPEGAUGE_OK ? doing[link->wanted.mode].sent(link, e) : code;
}

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    const int code = send_started(link, message, len, e);
    return code == PIPEGAUGE_OK ? sent(link, e) : code;
}

/* Starts to receive, unless that was done before. */
static int receive_started(pipegauge_link *link, error *e)
{
    const int code = link->asked ? PIPEGAUGE_OK : doing[link->wanted.mode].receive_started(link, e);
    link->asked = code == PIPEGAUGE_OK;
    return code;
}

/* Copies what came, and frees it. */
static void take(pipegauge_link *link, char *to)
{
    grpc_byte_buffer_reader reader;
    grpc_slice *part;
    if (!grpc_byte_buffer_reader_init(&reader, link->in))
        return;
    while (grpc_byte_buffer_reader_peek(&reader, &part)) {
        memcpy(to, GRPC_SLICE_START_PTR(*part), GRPC_SLICE_LENGTH(*part));
        to += GRPC_SLICE_LENGTH(*part);
    }
    grpc_byte_buffer_reader_destroy(&reader);
}

/* Waits until it has come. */
static int received(pipegauge_link *link, void *message, size_t len, error *e)
{
    int code = finished(link, &link->receiving);
    if (code != PIPEGAUGE_OK)
        return code;
    link->asked = link->sent_last = 0;
    code = doing[link->wanted.mode].received(link, e);
    if (code == PIPEGAUGE_OK)
        code = of_length(grpc_byte_buffer_length(link->in), len, e);
    if (code == PIPEGAUGE_OK)
        take(link, message);
    grpc_byte_buffer_destroy(link->in);
    link->in = NULL;
    return code;
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    const int code = receive_started(link, e);
    return code == PIPEGAUGE_OK ? received(link, message, len, e) : code;
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    int code = receive_started(link, e);
    if (code == PIPEGAUGE_OK)
        code = send_started(link, out, out_len, e);
    if (code == PIPEGAUGE_OK)
        code = sent(link, e);
    return code == PIPEGAUGE_OK ? received(link, into, into_len, e) : code;
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    const double until = now() + seconds;
    const int code = receive_started(link, e);
    /* Before a request is sent there is nothing to wait for, and time passes all the same. */
    if (code != PIPEGAUGE_OK && code != PIPEGAUGE_UNSUPPORTED)
        return code;
    for (;;) {
        /* Waits are of whole milliseconds: the last of them is spent looking. */
        const int64_t left = (int64_t)((until - now()) * 1e3);
        something_done(link, left > SLICE ? SLICE : left);
        /* A receive finds that the peer is gone. */
        *is = link->asked && (!link->receiving.pending || (left >= SLICE && is_gone(link)));
        if (*is || now() >= until)
            return PIPEGAUGE_OK;
        if (pipegauge_stopped(link->peer.terms))
            return PIPEGAUGE_INTERRUPTED;
    }
}

#endif
