/* mode=stream: one call for as long as the link lives, with a stream of messages in both directions. */
#ifndef PIPEGAUGE_GRPC_STREAM_H
#define PIPEGAUGE_GRPC_STREAM_H

#include "calls.h"

/* Opens the stream: the side that calls makes the call, and the other waits for it and answers with headers. */
static int stream_opened(pipegauge_link *link, error *e)
{
    const int calls = link->channel != NULL;
    int code = calls ? call_made(link, e) : call_awaited(link, &link->opening, e);
    if (code == PIPEGAUGE_OK && !calls) {
        code = finished(link, &link->opening);
        if (code == PIPEGAUGE_OK && !link->opening.ok)
            code = failed(e, PIPEGAUGE_SYSTEM, "waiting for the peer's gRPC call: the server was shut down");
    }
    if (code != PIPEGAUGE_OK)
        return code;
    const grpc_op end[] = {calls ? its_status(link) : its_end(link)};
    code = started(link, end, 1, &link->ending, e);
    const grpc_op ops[] = {first_words(), first_words_of_peer(link)};
    if (code == PIPEGAUGE_OK)
        code = started(link, ops, calls ? 2 : 1, &link->opening, e);
    if (code == PIPEGAUGE_OK)
        code = finished(link, &link->opening);
    if (code != PIPEGAUGE_OK || (link->opening.ok && (!calls || link->ending.pending)))
        return code;
    code = finished(link, &link->ending);
    return code == PIPEGAUGE_OK && calls ? ended_with(link, "opening a stream", e) : PIPEGAUGE_CLOSED;
}

/* What the end of the stream means. */
static int stream_ended(pipegauge_link *link, const char *doing, error *e)
{
    const int code = finished(link, &link->ending);
    return code == PIPEGAUGE_OK && link->channel ? ended_with(link, doing, e) : PIPEGAUGE_CLOSED;
}

static int stream_send_started(pipegauge_link *link, error *e)
{
    const grpc_op ops[] = {out_message(link)};
    return started(link, ops, 1, &link->sending, e);
}

static int stream_sent(pipegauge_link *link, error *e)
{
    return link->sending.ok ? PIPEGAUGE_OK : stream_ended(link, "sending", e);
}

static int stream_receive_started(pipegauge_link *link, error *e)
{
    const grpc_op ops[] = {in_message(link)};
    return started(link, ops, 1, &link->receiving, e);
}

static int stream_received(pipegauge_link *link, error *e)
{
    return link->in ? PIPEGAUGE_OK : stream_ended(link, "receiving", e);
}

#endif
