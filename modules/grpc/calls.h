/* One end of a gRPC connection: its operations, and the waits for them.
 *
 * An operation is started, and is done once the completion queue says so. gRPC moves bytes only while somebody waits at a queue: each end has
 * a queue of its own, so that the thread that waits for a message is the one that reads it, as with a blocking stub.
 */
#ifndef PIPEGAUGE_GRPC_CALLS_H
#define PIPEGAUGE_GRPC_CALLS_H

#include "meeting.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

/* How long a side that closes waits for the other where it sent last: what was sent may be on its way. Milliseconds. */
enum { LEAVES = 20 };
/* How long a call that was cancelled may take to end before its socket is shut down, milliseconds. */
enum { ENDS = 100 };

enum { STREAM, UNARY };

/* What options ask of a link. */
struct wanted {
    int mode;
    /* Bytes that may come before they are read; 0 where gRPC adapts that. */
    int window;
};

/* Something that was started: whether it is under way, and whether it came to what was asked. */
struct operation {
    int pending, ok;
};

struct pipegauge_link {
    struct peer peer;
    struct wanted wanted;
    /* The server's port, and the socket below (socket.h): -1 where it is not known. */
    int port, socket;
    grpc_completion_queue *queue;
    /* The side that calls has a channel, and the side that is called a server; each knows the one method by a handle. */
    grpc_channel *channel;
    grpc_server *server;
    void *method;
    /* The stream, or the unary call that has not been answered yet. */
    grpc_call *call;
    struct operation opening, sending, receiving, ending;
    /* A receive was started whose message has not been taken. */
    int asked;
    /* What is sent, and what was received and has not been taken yet. */
    grpc_byte_buffer *out, *in;
    grpc_metadata_array first, last;
    grpc_status_code status;
    grpc_slice details;
    int cancelled;
    gpr_timespec deadline;
    /* The last thing that this side did was to send. */
    int sent_last;
};

/* ---- Waiting. ---- */

/* Waits so many milliseconds at the queue for the end of any operation, and notes it. */
static int something_done(pipegauge_link *link, int64_t milliseconds)
{
    gpr_timespec until = gpr_now(GPR_CLOCK_MONOTONIC);
    if (milliseconds > 0)
        until = gpr_time_add(until, gpr_time_from_millis(milliseconds, GPR_TIMESPAN));
    const grpc_event event = grpc_completion_queue_next(link->queue, until, NULL);
    if (event.type != GRPC_OP_COMPLETE)
        return 0;
    struct operation *done = event.tag;
    done->pending = 0;
    done->ok = event.success;
    return 1;
}

/* Whether the peer's process has ended so long ago that what it sent has come by now. */
static int is_gone(pipegauge_link *link)
{
    if (link->peer.gone_since == 0 && peer_ended(link->peer.fd))
        link->peer.gone_since = now();
    return link->peer.gone_since != 0 && now() - link->peer.gone_since > LATE;
}

/* Waits until an operation is done, whatever came of it. */
static int finished(pipegauge_link *link, struct operation *operation)
{
    for (double since = 0; operation->pending;) {
        if (something_done(link, SLICE))
            continue;
        const int code = is_gone(link) ? PIPEGAUGE_CLOSED : goes_on(&since, link->peer.terms);
        if (code != PIPEGAUGE_OK)
            return code;
    }
    return PIPEGAUGE_OK;
}

/* ---- Starting. ---- */

/* Starts operations of the call that are done together. */
static int started(pipegauge_link *link, const grpc_op *ops, size_t count, struct operation *operation, error *e)
{
    const grpc_call_error came = grpc_call_start_batch(link->call, ops, count, operation, NULL);
    if (came == GRPC_CALL_OK) {
        *operation = (struct operation){1, 0};
        return PIPEGAUGE_OK;
    }
    snprintf(e->text, sizeof e->text, "starting an operation of a gRPC call: the library refuses it with error %d", (int)came);
    return PIPEGAUGE_SYSTEM;
}

/* Operations by their names. */
static grpc_op first_words(void)
{
    return (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA};
}

static grpc_op first_words_of_peer(pipegauge_link *link)
{
    return (grpc_op){.op = GRPC_OP_RECV_INITIAL_METADATA, .data.recv_initial_metadata.recv_initial_metadata = &link->first};
}

static grpc_op out_message(pipegauge_link *link)
{
    return (grpc_op){.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = link->out};
}

static grpc_op in_message(pipegauge_link *link)
{
    return (grpc_op){.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &link->in};
}

static grpc_op end_of_client(void)
{
    return (grpc_op){.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};
}

static grpc_op end_of_server(void)
{
    return (grpc_op){.op = GRPC_OP_SEND_STATUS_FROM_SERVER, .data.send_status_from_server.status = GRPC_STATUS_OK};
}

/* How the call ended, to the side that called. */
static grpc_op its_status(pipegauge_link *link)
{
    return (grpc_op){.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
                     .data.recv_status_on_client = {.trailing_metadata = &link->last, .status = &link->status, .status_details = &link->details}};
}

/* That it ended, to the side that was called. */
static grpc_op its_end(pipegauge_link *link)
{
    return (grpc_op){.op = GRPC_OP_RECV_CLOSE_ON_SERVER, .data.recv_close_on_server.cancelled = &link->cancelled};
}

/* ---- Calls. ---- */

/* A new call of the one method, by the side that calls. */
static int call_made(pipegauge_link *link, error *e)
{
    const gpr_timespec never = gpr_inf_future(GPR_CLOCK_MONOTONIC);
    link->call = grpc_channel_create_registered_call(link->channel, NULL, GRPC_PROPAGATE_DEFAULTS, link->queue, link->method, never, NULL);
    return link->call ? PIPEGAUGE_OK : failed(e, PIPEGAUGE_SYSTEM, "making a gRPC call: the library gives none");
}

/* Asks for the next call, by the side that is called: with its message where it has one alone. */
static int call_awaited(pipegauge_link *link, struct operation *operation, error *e)
{
    grpc_byte_buffer **message = link->wanted.mode == UNARY ? &link->in : NULL;
    const grpc_call_error came = grpc_server_request_registered_call(link->server, link->method, &link->call, &link->deadline, &link->first,
                                                                     message, link->queue, link->queue, operation);
    if (came == GRPC_CALL_OK) {
        *operation = (struct operation){1, 0};
        return PIPEGAUGE_OK;
    }
    snprintf(e->text, sizeof e->text, "waiting for a gRPC call: the library refuses it with error %d", (int)came);
    return PIPEGAUGE_SYSTEM;
}

/* Frees a call that is over, and what came with it. */
static void call_left(pipegauge_link *link)
{
    if (link->call)
        grpc_call_unref(link->call);
    link->call = NULL;
    grpc_metadata_array_destroy(&link->first);
    grpc_metadata_array_destroy(&link->last);
    grpc_slice_unref(link->details);
    grpc_metadata_array_init(&link->first);
    grpc_metadata_array_init(&link->last);
    link->details = grpc_empty_slice();
    link->status = GRPC_STATUS_OK;
}

/* What the end of a call means to who called: the peer closed or died, or the text of the status. */
static int ended_with(const pipegauge_link *link, const char *doing, error *e)
{
    const int len = (int)(GRPC_SLICE_LENGTH(link->details) < 120 ? GRPC_SLICE_LENGTH(link->details) : 120);
    snprintf(e->text, sizeof e->text, "%s: the gRPC call ended with status %d (%.*s)", doing, (int)link->status, len,
             (const char *)GRPC_SLICE_START_PTR(link->details));
    switch (link->status) {
    case GRPC_STATUS_OK:
    case GRPC_STATUS_CANCELLED:
    case GRPC_STATUS_UNAVAILABLE:
        return PIPEGAUGE_CLOSED;
    default:
        return PIPEGAUGE_SYSTEM;
    }
}

#endif
