/* mode=unary: a call for each turn. The side that calls sends a request and receives the response, which ends the call. */
#ifndef PIPEGAUGE_GRPC_UNARY_H
#define PIPEGAUGE_GRPC_UNARY_H

#include "calls.h"

/* Whether it is this side's turn to send: a request where none is under way, a response where one has come. */
static int may_send(const pipegauge_link *link)
{
    return !link->asked && (link->call != NULL) == (link->server != NULL);
}

static int out_of_turn(error *e)
{
    return failed(e, PIPEGAUGE_UNSUPPORTED,
                  "unary calls take turns, each message answered by the next: ping-pong and request alone (mode=stream has no turns)");
}

/* The same operations as those of a stub that was generated. */
static int unary_send_started(pipegauge_link *link, error *e)
{
    if (!may_send(link))
        return out_of_turn(e);
    if (link->server) {
        const grpc_op response[] = {first_words(), out_message(link), end_of_server()};
        return started(link, response, 3, &link->sending, e);
    }
    int code = call_made(link, e);
    const grpc_op request[] = {first_words(), out_message(link), end_of_client()};
    if (code == PIPEGAUGE_OK)
        code = started(link, request, 3, &link->sending, e);
    const grpc_op response[] = {first_words_of_peer(link), in_message(link), its_status(link)};
    return code == PIPEGAUGE_OK ? started(link, response, 3, &link->receiving, e) : code;
}

static int unary_sent(pipegauge_link *link, error *e)
{
    /* A request that did not leave has a status that says why, a response none. */
    struct operation *rest = link->server ? &link->ending : &link->receiving;
    if (link->sending.ok && !link->server)
        return PIPEGAUGE_OK;
    int code = finished(link, rest);
    if (code != PIPEGAUGE_OK)
        return code;
    code = link->sending.ok ? PIPEGAUGE_OK : link->server ? PIPEGAUGE_CLOSED : ended_with(link, "calling", e);
    call_left(link);
    return code;
}

/* A response is received from when the request was sent on, a request from here on. */
static int unary_receive_started(pipegauge_link *link, error *e)
{
    if (may_send(link))
        return out_of_turn(e);
    return link->server ? call_awaited(link, &link->receiving, e) : PIPEGAUGE_OK;
}

static int unary_received(pipegauge_link *link, error *e)
{
    if (!link->server) {
        const int code = link->receiving.ok && link->in && link->status == GRPC_STATUS_OK ? PIPEGAUGE_OK : ended_with(link, "calling", e);
        call_left(link);
        return code;
    }
    if (!link->receiving.ok || !link->in)
        return PIPEGAUGE_CLOSED;
    const grpc_op end[] = {its_end(link)};
    return started(link, end, 1, &link->ending, e);
}

#endif
