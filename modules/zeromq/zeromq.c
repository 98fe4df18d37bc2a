/* ZeroMQ as a transport of pipegauge: messages between two sockets of libzmq.
 *
 * A listener is a socket (REP) that is asked for a link; a link is a pair of sockets of its own, which the listener makes for whoever asks.
 * libzmq does not tell a receiver that its peer is gone: a monitor of each link's socket does.
 *
 * A link of publishers and subscribers has two pairs, one for each direction. Nothing is lost on it: a publisher sends nothing before it knows
 * the subscription, and waits where a subscriber is behind (ZMQ_XPUB_NODROP) instead of dropping messages. XPUB is PUB that says who subscribes.
 */
#include "waiting.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <zmq.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

/* How long what was sent may take to leave after a socket is closed, milliseconds. */
enum { LINGER = 500 };
/* Longest place of a socket. */
enum { PLACE = 200 };
/* A publisher whose subscriber is gone drops what it is given without a word: whether that is so is looked at every so many sends. */
enum { LOOK_AFTER = 32 };

enum { PAIR, DEALER, REQREP, PUBSUB };
static const char *const kinds[] = {"pair", "dealer", "reqrep", "pubsub", NULL};
/* Types of the sockets of each kind: what sends and what receives, on the side that asked for the link and on the other. */
static const struct {
    int out, in;
} types[][2] = {
    [PAIR] = {{ZMQ_PAIR, ZMQ_PAIR}, {ZMQ_PAIR, ZMQ_PAIR}},
    [DEALER] = {{ZMQ_DEALER, ZMQ_DEALER}, {ZMQ_DEALER, ZMQ_DEALER}},
    [REQREP] = {{ZMQ_REQ, ZMQ_REQ}, {ZMQ_REP, ZMQ_REP}},
    [PUBSUB] = {{ZMQ_XPUB, ZMQ_SUB}, {ZMQ_XPUB, ZMQ_SUB}},
};
enum { TCP, IPC };
static const char *const carriers[] = {"tcp", "ipc", NULL};

/* What options ask of a link. */
struct wanted {
    int kind, over;
    /* Messages that may wait on a side; 0 where it is the library's own. */
    int waiting;
};

struct pipegauge_listener {
    void *door;
    const terms *terms;
    struct wanted wanted;
    char host[64];
};

struct pipegauge_link {
    /* What sends and what receives, which are one but for publishers and subscribers; the monitor is of what receives. */
    void *out, *in, *monitor;
    /* The peer's end is closed. */
    int gone;
    /* Of a publisher: its subscriber is known, and sends since it was looked whether it is gone. */
    int subscribed;
    unsigned sends;
    const terms *terms;
    struct wanted wanted;
};

static int failed_in_zmq(error *e, const char *doing)
{
    return failed_with(e, doing, zmq_strerror(zmq_errno()));
}

/* ---- The library: one context in a process, ended with it once no socket is left. ---- */

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static void *context;
static int sockets;
static unsigned monitors;

static void end(void)
{
    /* With a socket left, ending the context would wait for ever. */
    if (sockets == 0)
        zmq_ctx_term(context);
}

/* A new socket; NULL where there is none to be had. */
static void *opened(int type)
{
    pthread_mutex_lock(&guard);
    if (!context) {
        context = zmq_ctx_new();
        if (context)
            atexit(end);
    }
    void *socket = context ? zmq_socket(context, type) : NULL;
    sockets += socket != NULL;
    pthread_mutex_unlock(&guard);
    if (!socket)
        return NULL;
    const int slice = SLICE, linger = LINGER, six = 1, never = -1;
    zmq_setsockopt(socket, ZMQ_SNDTIMEO, &slice, sizeof slice);
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &slice, sizeof slice);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(socket, ZMQ_IPV6, &six, sizeof six);
    /* A peer that is gone stays gone. */
    zmq_setsockopt(socket, ZMQ_RECONNECT_IVL, &never, sizeof never);
    return socket;
}

static void closed(void *socket)
{
    if (!socket)
        return;
    zmq_close(socket);
    pthread_mutex_lock(&guard);
    sockets--;
    pthread_mutex_unlock(&guard);
}

/* Where a socket is bound: a port, or a name. */
static int place_of(void *socket, int over, char *out, size_t room, error *e)
{
    char place[PLACE];
    size_t len = sizeof place;
    if (zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, place, &len) != 0)
        return failed_in_zmq(e, "asking where a socket is");
    const char *from = over == IPC ? place + strlen("ipc://") : strrchr(place, ':') + 1;
    if ((size_t)snprintf(out, room, "%s", from) >= room)
        return failed(e, PIPEGAUGE_SYSTEM, "no room for the address");
    return PIPEGAUGE_OK;
}

/* Binds a socket to a place that is free. */
static int bound(void *socket, int over, const char *host, error *e)
{
    static atomic_uint number;
    char place[PLACE];
    unsigned random = 0;
    /* A name without a file: none stays behind, however the process ends. */
    if (over == IPC && getrandom(&random, sizeof random, 0) != sizeof random)
        return failed(e, PIPEGAUGE_SYSTEM, "the system gives no random number for a name");
    if (over == IPC)
        snprintf(place, sizeof place, "ipc://@pipegauge-%ld-%u-%x", (long)getpid(), atomic_fetch_add(&number, 1), random);
    else
        snprintf(place, sizeof place, strchr(host, ':') ? "tcp://[%s]:*" : "tcp://%s:*", host);
    return zmq_bind(socket, place) == 0 ? PIPEGAUGE_OK : failed_in_zmq(e, "binding a socket");
}

/* Connects a socket to a place as place_of() tells it: a port is of `host`, and of no other. */
static int connected(void *socket, int over, const char *host, const char *at, error *e)
{
    char place[PLACE];
    if (over == TCP && (at[0] == 0 || strspn(at, "0123456789") != strlen(at)))
        return failed(e, PIPEGAUGE_PROTOCOL, "the address is no port");
    if (over == IPC)
        snprintf(place, sizeof place, "ipc://%.150s", at);
    else
        snprintf(place, sizeof place, strchr(host, ':') ? "tcp://[%.80s]:%.8s" : "tcp://%.80s:%.8s", host, at);
    return zmq_connect(socket, place) == 0 ? PIPEGAUGE_OK : failed_in_zmq(e, "connecting");
}

/* ---- Settings. ---- */

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "sockets",
     .help = "kinds of the two sockets: PAIR and PAIR, DEALER and DEALER, REQ and REP, which take turns (ping-pong, request), or PUB and SUB",
     .by_default = "pair",
     .form = PIPEGAUGE_ONE_OF,
     .words = kinds},
    {.size = sizeof(struct pipegauge_option),
     .name = "over",
     .help = "what carries the messages: TCP, or UNIX sockets",
     .by_default = "tcp",
     .form = PIPEGAUGE_ONE_OF,
     .words = carriers},
    {.size = sizeof(struct pipegauge_option),
     .name = "hwm",
     .help = "messages that may wait on each side (ZMQ_SNDHWM, ZMQ_RCVHWM)",
     .by_default = "1000",
     .form = PIPEGAUGE_WHOLE,
     .least = 1,
     .most = 1000000,
     .unit = "messages"},
};

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {PAIR, TCP, 0};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "sockets") == 0)
            while (strcmp(kinds[wanted.kind], one->text) != 0)
                wanted.kind++;
        if (strcmp(one->name, "over") == 0)
            wanted.over = strcmp(one->text, carriers[IPC]) == 0 ? IPC : TCP;
        if (strcmp(one->name, "hwm") == 0)
            wanted.waiting = one->whole < 1 || one->whole > 1000000 ? -1 : (int)one->whole;
    }
    return wanted;
}

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    const struct wanted wanted = read_settings(set);
    if (wanted.waiting < 0)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "hwm is a number from 1 to 1000000");
    out->bits = PIPEGAUGE_MESSAGES | PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_POLL;
    if (wanted.kind != REQREP)
        out->bits |= PIPEGAUGE_DUPLEX;
    if (wanted.over == IPC)
        out->bits |= PIPEGAUGE_LOCAL_ONLY;
    return PIPEGAUGE_OK;
}

/* ---- Links. ---- */

static void close_link(pipegauge_link *link)
{
    if (!link)
        return;
    if (link->monitor)
        zmq_socket_monitor(link->in, NULL, 0);
    closed(link->monitor);
    if (link->out != link->in)
        closed(link->out);
    closed(link->in);
    free(link);
}

/* A socket of a link, with what is to be set before it is bound or connected. */
static void *socket_of(int type, struct wanted wanted)
{
    const int on = 1;
    void *socket = opened(type);
    if (socket && wanted.waiting > 0) {
        zmq_setsockopt(socket, ZMQ_SNDHWM, &wanted.waiting, sizeof wanted.waiting);
        zmq_setsockopt(socket, ZMQ_RCVHWM, &wanted.waiting, sizeof wanted.waiting);
    }
    int came = 0;
    if (socket && type == ZMQ_XPUB)
        came = zmq_setsockopt(socket, ZMQ_XPUB_NODROP, &on, sizeof on);
    if (socket && type == ZMQ_SUB)
        came = zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    if (came == 0)
        return socket;
    closed(socket);
    return NULL;
}

/* A link whose sockets are not connected yet. `asked` is of the side that asked the other for it. */
static pipegauge_link *link_of(struct wanted wanted, int asked, const terms *terms, error *e)
{
    pipegauge_link *link = calloc(1, sizeof *link);
    if (!link) {
        failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
        return NULL;
    }
    link->terms = terms;
    link->wanted = wanted;
    link->in = socket_of(types[wanted.kind][!asked].in, wanted);
    link->out = wanted.kind == PUBSUB ? socket_of(types[wanted.kind][!asked].out, wanted) : link->in;
    char place[40];
    pthread_mutex_lock(&guard);
    snprintf(place, sizeof place, "inproc://monitor-%u", ++monitors);
    pthread_mutex_unlock(&guard);
    if (link->in && link->out && zmq_socket_monitor(link->in, place, ZMQ_EVENT_DISCONNECTED) == 0)
        link->monitor = opened(ZMQ_PAIR);
    if (!link->monitor || zmq_connect(link->monitor, place) != 0) {
        failed_in_zmq(e, "opening a socket");
        close_link(link);
        return NULL;
    }
    return link;
}

/* Binds the sockets of a link, and names their places: that of what receives, and of what sends where that is another. */
static int bind_link(pipegauge_link *link, const char *host, char *places, size_t room, error *e)
{
    const int over = link->wanted.over;
    int code = bound(link->in, over, host, e);
    if (code == PIPEGAUGE_OK)
        code = place_of(link->in, over, places, room, e);
    if (code != PIPEGAUGE_OK || link->out == link->in)
        return code;
    const size_t len = strlen(places);
    places[len] = ' ';
    code = bound(link->out, over, host, e);
    return code == PIPEGAUGE_OK ? place_of(link->out, over, places + len + 1, room - len - 1, e) : code;
}

/* Connects the sockets of a link to those places: what sends to what receives, and the other way round. */
static int connect_link(pipegauge_link *link, const char *host, char *places, error *e)
{
    const int over = link->wanted.over;
    char *second = strchr(places, ' ');
    if ((second != NULL) != (link->out != link->in))
        return failed(e, PIPEGAUGE_PROTOCOL, "the other side has sockets of another kind");
    if (second)
        *second++ = 0;
    int code = connected(link->out, over, host, places, e);
    return code == PIPEGAUGE_OK && second ? connected(link->in, over, host, second, e) : code;
}

/* Whether the peer's end is closed: the one event that the monitor tells. */
static int is_gone(pipegauge_link *link)
{
    char event[16];
    if (!link->gone && zmq_recv(link->monitor, event, sizeof event, ZMQ_DONTWAIT) >= 0)
        link->gone = 1;
    return link->gone;
}

/* ---- Meeting. ---- */

static void unlisten(pipegauge_listener *listener)
{
    closed(listener->door);
    free(listener);
}

static int listen_at(const settings *set, const char *host, const terms *terms, pipegauge_listener **out, error *e)
{
    pipegauge_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a listener");
    *listener = (pipegauge_listener){opened(ZMQ_REP), terms, read_settings(set), ""};
    snprintf(listener->host, sizeof listener->host, "%s", host);
    int code = listener->door ? bound(listener->door, listener->wanted.over, host, e) : failed_in_zmq(e, "opening a socket");
    if (code == PIPEGAUGE_OK)
        *out = listener;
    else
        unlisten(listener);
    return code;
}

static int address(pipegauge_listener *listener, char *out, size_t room, error *e)
{
    return place_of(listener->door, listener->wanted.over, out, room, e);
}

/* Waits for a short text. */
static int heard(void *socket, char *out, size_t room, const terms *terms, error *e)
{
    for (double since = 0;;) {
        int n = zmq_recv(socket, out, room - 1, 0);
        if (n >= 0) {
            out[(size_t)n < room ? (size_t)n : room - 1] = 0;
            return PIPEGAUGE_OK;
        }
        if (zmq_errno() != EAGAIN && zmq_errno() != EINTR)
            return failed_in_zmq(e, "meeting");
        int code = goes_on(&since, terms);
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

static int accept_next(pipegauge_listener *listener, pipegauge_link **out, error *e)
{
    char words[2 * PLACE];
    int code = heard(listener->door, words, sizeof words, listener->terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    pipegauge_link *link = link_of(listener->wanted, 0, listener->terms, e);
    if (!link)
        return PIPEGAUGE_SYSTEM;
    code = bind_link(link, listener->host, words, sizeof words, e);
    if (code == PIPEGAUGE_OK && zmq_send(listener->door, words, strlen(words), 0) < 0)
        code = failed_in_zmq(e, "answering");
    if (code == PIPEGAUGE_OK)
        *out = link;
    else
        close_link(link);
    return code;
}

/* Asks the listener at this place for a link: the places of its sockets. */
static int ask(struct wanted wanted, const char *at, const char *host, char *places, size_t room, const terms *terms, error *e)
{
    void *door = opened(ZMQ_REQ);
    if (!door)
        return failed_in_zmq(e, "opening a socket");
    int code = connected(door, wanted.over, host, at, e);
    if (code == PIPEGAUGE_OK && zmq_send(door, "link", 4, 0) < 0)
        code = failed_in_zmq(e, "asking for a link");
    if (code == PIPEGAUGE_OK)
        code = heard(door, places, room, terms, e);
    if (code != PIPEGAUGE_OK) {
        /* What was asked leaves nobody to answer to. */
        const int none = 0;
        zmq_setsockopt(door, ZMQ_LINGER, &none, sizeof none);
    }
    closed(door);
    return code;
}

static int connect_to(const settings *set, const char *at, const char *host, const terms *terms, pipegauge_link **out, error *e)
{
    const struct wanted wanted = read_settings(set);
    char places[2 * PLACE] = "";
    int code = ask(wanted, at, host, places, sizeof places, terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    pipegauge_link *link = link_of(wanted, 1, terms, e);
    if (!link)
        return PIPEGAUGE_SYSTEM;
    code = connect_link(link, host, places, e);
    if (code == PIPEGAUGE_OK)
        *out = link;
    else
        close_link(link);
    return code;
}

/* ---- Messages. ---- */

/* What a call that found nothing, or failed, means: PIPEGAUGE_OK where it is tried again. */
static int again(pipegauge_link *link, double *since, const char *doing, error *e)
{
    if (zmq_errno() == EFSM)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "REQ and REP take turns: ping-pong and request alone (sockets=pair has no turns)");
    if (zmq_errno() != EAGAIN && zmq_errno() != EINTR)
        return failed_in_zmq(e, doing);
    return is_gone(link) ? PIPEGAUGE_CLOSED : goes_on(since, link->terms);
}

/* Waits until the publisher knows its subscriber: what it sends before is lost. The first send waits, which is that of the sides' secrets. */
static int subscribed(pipegauge_link *link, error *e)
{
    char word[8];
    double since = 0;
    while (!link->subscribed) {
        int came = zmq_recv(link->out, word, sizeof word, 0);
        /* A subscription to all is a 1, and nothing after it. */
        link->subscribed = came == 1 && word[0] == 1;
        int code = came < 0 ? again(link, &since, "waiting for the subscription", e) : PIPEGAUGE_OK;
        if (code != PIPEGAUGE_OK)
            return code;
    }
    return PIPEGAUGE_OK;
}

/* Whether a publisher may send. */
static int may_publish(pipegauge_link *link, error *e)
{
    if (!link->subscribed)
        return subscribed(link, e);
    if (++link->sends % LOOK_AFTER == 0 && is_gone(link))
        return PIPEGAUGE_CLOSED;
    return PIPEGAUGE_OK;
}

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    double since = 0;
    int code = link->wanted.kind == PUBSUB ? may_publish(link, e) : PIPEGAUGE_OK;
    while (code == PIPEGAUGE_OK && zmq_send(link->out, message, len, 0) < 0)
        code = again(link, &since, "sending", e);
    return code;
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    double since = 0;
    int came;
    while ((came = zmq_recv(link->in, message, len, 0)) < 0) {
        int code = again(link, &since, "receiving", e);
        /* What it sent before it left has come by now. */
        if (code == PIPEGAUGE_CLOSED && (came = zmq_recv(link->in, message, len, ZMQ_DONTWAIT)) >= 0)
            break;
        if (code != PIPEGAUGE_OK)
            return code;
    }
    return of_length((size_t)came, len, e);
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    /* A send waits for room among those that wait, and never for the other side's receive. */
    int code = send_message(link, out, out_len, e);
    return code == PIPEGAUGE_OK ? receive_message(link, into, into_len, e) : code;
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    const double until = now() + seconds;
    zmq_pollitem_t items[] = {{link->in, 0, ZMQ_POLLIN, 0}, {link->monitor, 0, ZMQ_POLLIN, 0}};
    for (;;) {
        /* Waits are of whole milliseconds: the last of them is spent looking. */
        long left = (long)((until - now()) * 1e3);
        int came = zmq_poll(items, 2, left <= 0 ? 0 : left > SLICE ? SLICE : left);
        if (came < 0 && zmq_errno() != EINTR)
            return failed_in_zmq(e, "waiting for a message");
        /* A receive finds that the peer is gone. */
        *is = link->gone || came > 0;
        if (*is || now() >= until)
            return PIPEGAUGE_OK;
        if (pipegauge_stopped(link->terms))
            return PIPEGAUGE_INTERRUPTED;
    }
}

static int effective(pipegauge_link *link, const char *option, char *out, size_t room, error *e)
{
    (void)e;
    out[0] = 0;
    int value = 0;
    size_t len = sizeof value;
    if (strcmp(option, "sockets") == 0)
        snprintf(out, room, "%s", kinds[link->wanted.kind]);
    if (strcmp(option, "over") == 0)
        snprintf(out, room, "%s", carriers[link->wanted.over]);
    if (strcmp(option, "hwm") == 0 && zmq_getsockopt(link->out, ZMQ_SNDHWM, &value, &len) == 0)
        snprintf(out, room, "%d", value);
    return PIPEGAUGE_OK;
}

/* ---- The module. ---- */

static const char *const spoken[] = {"zeromq", "0mq", "zmq", NULL};

static const struct pipegauge_module module = {
    .size = sizeof module,
    .abi = PIPEGAUGE_ABI,
    .name = "zeromq",
    .version = "0.1.0",
    .summary = "ZeroMQ: messages between two sockets of libzmq",
    .spoken = spoken,
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
