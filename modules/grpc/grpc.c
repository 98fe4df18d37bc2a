/* gRPC as a transport of pipegauge: messages of bytes, without protobuf, between a channel and a server of libgrpc.
 *
 * Both sides meet over TCP (meeting.h). The side that was met opens a server for this one link, with one method whose name nobody else was
 * told, and the other side calls it: once, for a stream of messages in both directions (mode=stream), or once for each message, which the
 * answer ends (mode=unary). README.md says why this is C, and why there is no protobuf.
 */
#define _GNU_SOURCE

#include "messages.h"
#include "socket.h"

/* What the called side tells the other: the port of its server and the method's name. */
enum { SERVER = 1 };
/* Longest name of a method, with the port before it. */
enum { NAME = 64 };
/* Arguments of a channel or server: the last two where a window is set. */
enum { ARGUMENTS = 6 };

static const char *const modes[] = {"stream", "unary", NULL};

struct pipegauge_listener {
    struct door door;
    const terms *terms;
    struct wanted wanted;
    char host[64];
};

/* ---- Settings. ---- */

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "mode",
     .help = "messages of one stream in both directions, or a unary call for each turn (ping-pong and request alone)",
     .by_default = "stream",
     .form = PIPEGAUGE_ONE_OF,
     .words = modes},
    {.size = sizeof(struct pipegauge_option),
     .name = "window",
     .help = "bytes of a call that may come before they are read, fixed (GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES); else gRPC adapts it",
     .by_default = "the library's",
     .form = PIPEGAUGE_BYTES,
     .knob = PIPEGAUGE_BUFFER,
     .least = 4 << 10,
     .most = 64 << 20},
};

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {STREAM, 0};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "mode") == 0)
            wanted.mode = strcmp(one->text, modes[UNARY]) == 0 ? UNARY : STREAM;
        if (strcmp(one->name, "window") == 0)
            wanted.window = (int)one->whole;
    }
    return wanted;
}

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    (void)e;
    out->bits = PIPEGAUGE_MESSAGES | PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_POLL;
    if (read_settings(set).mode == STREAM)
        out->bits |= PIPEGAUGE_DUPLEX;
    /* The length before a message has 32 bits, and the library counts with 31. */
    out->largest = INT32_MAX;
    return PIPEGAUGE_OK;
}

/* What channel and server are set to. */
static grpc_channel_args arguments(struct wanted wanted, grpc_arg all[ARGUMENTS])
{
    const struct {
        const char *name;
        int value;
    } values[] = {
        /* By default, 4 MiB. */
        {GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1},
        /* Each link has a connection of its own, to where it was told and through no proxy. */
        {GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1},
        {GRPC_ARG_ENABLE_HTTP_PROXY, 0},
        {GRPC_ARG_ALLOW_REUSEPORT, 0},
        {GRPC_ARG_HTTP2_BDP_PROBE, 0},
        {GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, wanted.window},
    };
    for (int i = 0; i < ARGUMENTS; i++)
        all[i] = (grpc_arg){.type = GRPC_ARG_INTEGER, .key = (char *)values[i].name, .value.integer = values[i].value};
    return (grpc_channel_args){wanted.window ? ARGUMENTS : ARGUMENTS - 2, all};
}

static int effective(pipegauge_link *link, const char *option, char *out, size_t room, error *e)
{
    (void)e;
    out[0] = 0;
    if (strcmp(option, "mode") == 0)
        snprintf(out, room, "%s", modes[link->wanted.mode]);
    if (strcmp(option, "window") == 0 && link->wanted.window)
        snprintf(out, room, "%d", link->wanted.window);
    return PIPEGAUGE_OK;
}

/* ---- Links. ---- */

/* Lets what was sent last arrive, for a moment: closing takes back what is on its way. */
static void let_leave(pipegauge_link *link)
{
    const grpc_op end[] = {link->channel ? end_of_client() : end_of_server()};
    const double until = now() + LEAVES * 1e-3;
    error unused;
    if (!link->sent_last || link->sending.pending || is_gone(link))
        return;
    if (link->wanted.mode == STREAM && link->call && started(link, end, 1, &link->sending, &unused) != PIPEGAUGE_OK)
        return;
    while (now() < until && !peer_ended(link->peer.fd) && (link->wanted.mode == UNARY || link->ending.pending))
        something_done(link, 1);
}

static int under_way(const pipegauge_link *link)
{
    return link->opening.pending || link->sending.pending || link->receiving.pending || link->ending.pending;
}

/* Waits until all that was started is over, and shuts the socket down where that takes long. */
static void all_over(pipegauge_link *link, const struct operation *shutdown_of_server)
{
    for (const double since = now(); under_way(link) || shutdown_of_server->pending;) {
        something_done(link, 10);
        if (link->socket >= 0 && now() - since > ENDS * 1e-3)
            shutdown(link->socket, SHUT_RDWR);
    }
}

static void close_link(pipegauge_link *link)
{
    struct operation shutdown_of_server = {0, 0};
    if (!link)
        return;
    let_leave(link);
    if (link->call)
        grpc_call_cancel(link->call, NULL);
    if (link->server) {
        shutdown_of_server.pending = 1;
        grpc_server_shutdown_and_notify(link->server, link->queue, &shutdown_of_server);
        grpc_server_cancel_all_calls(link->server);
    }
    all_over(link, &shutdown_of_server);
    call_left(link);
    grpc_byte_buffer_destroy(link->out);
    grpc_byte_buffer_destroy(link->in);
    if (link->server)
        grpc_server_destroy(link->server);
    if (link->channel)
        grpc_channel_destroy(link->channel);
    grpc_completion_queue_shutdown(link->queue);
    while (grpc_completion_queue_next(link->queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL).type != GRPC_QUEUE_SHUTDOWN)
        continue;
    grpc_completion_queue_destroy(link->queue);
    if (link->socket >= 0) {
        shutdown(link->socket, SHUT_RDWR);
        close(link->socket);
    }
    close(link->peer.fd);
    grpc_shutdown();
    free(link);
}

/* A link that met its peer, without a channel or server yet. Where there is none, the connection is closed. */
static pipegauge_link *link_of(struct wanted wanted, int fd, const terms *terms, error *e)
{
    pipegauge_link *link = calloc(1, sizeof *link);
    if (!link) {
        close(fd);
        failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
        return NULL;
    }
    grpc_init();
    link->peer = (struct peer){fd, terms, 0};
    link->socket = -1;
    link->wanted = wanted;
    link->queue = grpc_completion_queue_create_for_next(NULL);
    grpc_metadata_array_init(&link->first);
    grpc_metadata_array_init(&link->last);
    link->details = grpc_empty_slice();
    return link;
}

/* Opens the server of a link, and tells its port and its method. */
static int serve(pipegauge_link *link, const char *host, error *e)
{
    char place[80], name[NAME];
    unsigned char secret[SECRET];
    grpc_arg all[ARGUMENTS];
    const grpc_channel_args args = arguments(link->wanted, all);
    if (getrandom(secret, SECRET, 0) != SECRET)
        return failed(e, PIPEGAUGE_SYSTEM, "the system gives no random bytes for a method's name");
    /* First room for a port of five digits, then the name as it is called. */
    char *const method = name + 6;
    int len = sprintf(method, "/pipegauge/");
    for (int i = 0; i < SECRET; i++)
        len += sprintf(method + len, "%02x", secret[i]);
    link->server = grpc_server_create(&args, NULL);
    grpc_server_register_completion_queue(link->server, link->queue, NULL);
    const grpc_server_register_method_payload_handling payload =
        link->wanted.mode == UNARY ? GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER : GRPC_SRM_PAYLOAD_NONE;
    link->method = grpc_server_register_method(link->server, method, NULL, payload, 0);
    snprintf(place, sizeof place, strchr(host, ':') ? "[%.63s]:0" : "%.63s:0", host);
    grpc_server_credentials *credentials = grpc_insecure_server_credentials_create();
    link->port = grpc_server_add_http2_port(link->server, place, credentials);
    grpc_server_credentials_release(credentials);
    if (!link->method || link->port <= 0) {
        snprintf(e->text, sizeof e->text, "opening a gRPC server at %s: the library gives no port (is it an address of this host?)", place);
        return PIPEGAUGE_SYSTEM;
    }
    grpc_server_start(link->server);
    memmove(name + sprintf(name, "%d", link->port), method, (size_t)len + 1);
    return tell(link->peer.fd, SERVER, name, strlen(name), link->peer.terms, e);
}

/* Makes a channel to the server that the peer told of. */
static int reach(pipegauge_link *link, const char *host, error *e)
{
    char place[80], name[NAME];
    grpc_arg all[ARGUMENTS];
    const grpc_channel_args args = arguments(link->wanted, all);
    size_t len = 0;
    int code = hear(link->peer.fd, SERVER, name, sizeof name - 1, &len, link->peer.terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    name[len] = 0;
    const size_t digits = strspn(name, "0123456789");
    if (digits < 1 || digits > 5 || name[digits] != '/' || strlen(name) != len)
        return failed(e, PIPEGAUGE_PROTOCOL, "what the peer told is not the port and the method of a gRPC server");
    link->port = atoi(name);
    snprintf(place, sizeof place, strchr(host, ':') ? "ipv6:[%.50s]:%.*s" : "ipv4:%.50s:%.*s", host, (int)digits, name);
    grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
    link->channel = grpc_channel_create(place, credentials, &args);
    grpc_channel_credentials_release(credentials);
    link->method = grpc_channel_register_call(link->channel, name + digits, NULL, NULL);
    return PIPEGAUGE_OK;
}

/* The first call, which connects: the stream, or a turn without bytes. */
static int first_call(pipegauge_link *link, error *e)
{
    if (link->wanted.mode == STREAM)
        return stream_opened(link, e);
    int code = link->channel ? send_message(link, "", 0, e) : receive_message(link, NULL, 0, e);
    if (code != PIPEGAUGE_OK)
        return code;
    return link->channel ? receive_message(link, NULL, 0, e) : send_message(link, "", 0, e);
}

static int joined(pipegauge_link *link, error *e)
{
    const int code = first_call(link, e);
    if (code == PIPEGAUGE_OK)
        link->socket = socket_of(link->port, link->server != NULL);
    return code;
}

/* ---- Meeting. ---- */

static void unlisten(pipegauge_listener *listener)
{
    close_door(&listener->door);
    free(listener);
}

static int listen_at(const settings *set, const char *host, const terms *terms, pipegauge_listener **out, error *e)
{
    pipegauge_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a listener");
    listener->terms = terms;
    listener->wanted = read_settings(set);
    snprintf(listener->host, sizeof listener->host, "%s", host);
    const int code = open_door(&listener->door, host, e);
    if (code == PIPEGAUGE_OK)
        *out = listener;
    else
        unlisten(listener);
    return code;
}

static int address(pipegauge_listener *listener, char *out, size_t room, error *e)
{
    return place_of_door(&listener->door, out, room, e);
}

static int accept_next(pipegauge_listener *listener, pipegauge_link **out, error *e)
{
    int fd = -1, code = meet_at_door(&listener->door, &fd, listener->terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    pipegauge_link *link = link_of(listener->wanted, fd, listener->terms, e);
    if (!link)
        return PIPEGAUGE_SYSTEM;
    code = serve(link, listener->host, e);
    if (code == PIPEGAUGE_OK)
        code = joined(link, e);
    if (code == PIPEGAUGE_OK)
        *out = link;
    else
        close_link(link);
    return code;
}

static int connect_to(const settings *set, const char *at, const char *host, const terms *terms, pipegauge_link **out, error *e)
{
    int fd = -1, code = meet_at_place(at, host, &fd, terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    pipegauge_link *link = link_of(read_settings(set), fd, terms, e);
    if (!link)
        return PIPEGAUGE_SYSTEM;
    code = reach(link, host, e);
    if (code == PIPEGAUGE_OK)
        code = joined(link, e);
    if (code == PIPEGAUGE_OK)
        *out = link;
    else
        close_link(link);
    return code;
}

/* ---- The module. ---- */

static const struct pipegauge_module module = {
    .size = sizeof module,
    .abi = PIPEGAUGE_ABI,
    .name = "grpc",
    .version = "0.1.0",
    .summary = "gRPC: messages over a stream in both directions, or as unary calls",
    .option_count = sizeof options / sizeof options[0],
    .options = options,
    .capabilities = capabilities,
    .listen = listen_at,
    .address = address,
    .accept = accept_next,
    .unlisten = unlisten,
    .connect = connect_to,
    .send = send_message,
    .recv = receive_message,
    .exchange = exchange,
    .ready = ready,
    .effective = effective,
    .close = close_link,
};

const struct pipegauge_module *pipegauge_module(uint32_t abi)
{
    return abi >= PIPEGAUGE_ABI ? &module : NULL;
}
