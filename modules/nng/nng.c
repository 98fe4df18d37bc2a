/* NNG as a transport of pipegauge: messages between two PAIR sockets of libnng.
 *
 * A listener is a socket (REP) that is asked for a link; a link is a pair of sockets of its own, which the listener makes for whoever asks.
 * libnng drops what is on its way when a socket is closed. So a link ends in order: a side that closes says so, in a message of no bytes,
 * and waits a moment for the other to leave.
 */
#include "waiting.h"

#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <nng/supplemental/util/platform.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

/* Longest place of a socket. */
enum { PLACE = 200 };
/* How long a side that closes waits for the other, milliseconds: longer where what it sent may still wait on this side. */
enum { LEAVES = 20, LEAVES_LATE = 300 };
enum { TCP, IPC };
static const char *const carriers[] = {"tcp", "ipc", NULL};

/* What options ask of a link. */
struct wanted {
    int over;
    /* Messages that may wait on a side; -1 where it is the library's own. */
    int waiting;
};

struct pipegauge_listener {
    nng_socket door;
    nng_listener at;
    const terms *terms;
    struct wanted wanted;
    char host[64];
    char place[PLACE];
};

struct pipegauge_link {
    nng_socket socket;
    /* Whether a peer has come, and whether it is gone; told by threads of the library's. */
    atomic_int came, gone;
    /* The peer has said that it closes. */
    int left;
    /* A message that came, and has not been received yet. */
    nng_msg *next;
    const terms *terms;
    struct wanted wanted;
};

static int failed_in_nng(error *e, const char *doing, int came)
{
    return failed_with(e, doing, nng_strerror(came));
}

/* ---- Settings. ---- */

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "over",
     .help = "what carries the messages: TCP, or UNIX sockets",
     .by_default = "tcp",
     .form = PIPEGAUGE_ONE_OF,
     .words = carriers},
    {.size = sizeof(struct pipegauge_option),
     .name = "waiting",
     .help = "messages that may wait on each side (NNG_OPT_SENDBUF, NNG_OPT_RECVBUF)",
     .by_default = "the library's",
     .form = PIPEGAUGE_WHOLE,
     .least = 0,
     .most = 8192,
     .unit = "messages"},
};

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {TCP, -1};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "over") == 0)
            wanted.over = strcmp(one->text, carriers[IPC]) == 0 ? IPC : TCP;
        if (strcmp(one->name, "waiting") == 0)
            wanted.waiting = one->whole > 8192 ? 8193 : (int)one->whole;
    }
    return wanted;
}

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    const struct wanted wanted = read_settings(set);
    if (wanted.waiting > 8192)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "waiting is a number from 0 to 8192");
    out->bits = PIPEGAUGE_MESSAGES | PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_DUPLEX | PIPEGAUGE_POLL;
    if (wanted.over == IPC)
        out->bits |= PIPEGAUGE_LOCAL_ONLY;
    return PIPEGAUGE_OK;
}

/* ---- Places. ---- */

/* Has a socket listen at a place that is free, and tells which: a port, or a name. */
static int bound(nng_socket socket, int over, const char *host, nng_listener *at, char *out, size_t room, error *e)
{
    static atomic_uint number;
    char place[PLACE];
    int port = 0;
    if (over == IPC) {
        /* A name without a file: none stays behind, however the process ends. */
        snprintf(out, room, "pipegauge-%ld-%u-%x", (long)getpid(), atomic_fetch_add(&number, 1), nng_random());
        snprintf(place, sizeof place, "abstract://%.180s", out);
    } else {
        snprintf(place, sizeof place, strchr(host, ':') ? "tcp://[%.80s]:0" : "tcp://%.80s:0", host);
    }
    int came = nng_listen(socket, place, at, 0);
    if (came == 0 && over == TCP) {
        came = nng_listener_get_int(*at, NNG_OPT_TCP_BOUND_PORT, &port);
        snprintf(out, room, "%d", port);
    }
    return came == 0 ? PIPEGAUGE_OK : failed_in_nng(e, "listening", came);
}

/* Connects a socket to a place as bound() tells it: a port is of `host`, and of no other. */
static int connected(nng_socket socket, int over, const char *host, const char *at, error *e)
{
    char place[PLACE];
    if (over == TCP && (at[0] == 0 || strspn(at, "0123456789") != strlen(at)))
        return failed(e, PIPEGAUGE_PROTOCOL, "the address is no port");
    if (over == IPC)
        snprintf(place, sizeof place, "abstract://%.180s", at);
    else
        snprintf(place, sizeof place, strchr(host, ':') ? "tcp://[%.80s]:%.8s" : "tcp://%.80s:%.8s", host, at);
    int came = nng_dial(socket, place, NULL, 0);
    return came == 0 ? PIPEGAUGE_OK : failed_in_nng(e, "connecting", came);
}

/* ---- Links. ---- */

static void comes_or_goes(nng_pipe pipe, nng_pipe_ev what, void *its)
{
    pipegauge_link *link = its;
    (void)pipe;
    if (what == NNG_PIPE_EV_ADD_POST)
        atomic_store(&link->came, 1);
    else if (atomic_load(&link->came))
        atomic_store(&link->gone, 1);
}

static int is_gone(const pipegauge_link *link)
{
    return link->left || atomic_load(&link->gone);
}

static void close_link(pipegauge_link *link)
{
    if (!link)
        return;
    if (atomic_load(&link->came) && !is_gone(link) && nng_send(link->socket, "", 0, 0) == 0) {
        /* Closing now would drop what is on its way. */
        const int most = link->wanted.waiting > 0 ? LEAVES_LATE : LEAVES;
        for (int waited = 0; waited < most && !atomic_load(&link->gone); waited++)
            nng_msleep(1);
    }
    if (link->next)
        nng_msg_free(link->next);
    nng_close(link->socket);
    free(link);
}

/* A socket's waits are of a slice each, and its messages as long as they like. */
static void set_up(nng_socket socket, int waiting)
{
    nng_socket_set_ms(socket, NNG_OPT_SENDTIMEO, SLICE);
    nng_socket_set_ms(socket, NNG_OPT_RECVTIMEO, SLICE);
    nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, 0);
    if (waiting >= 0) {
        nng_socket_set_int(socket, NNG_OPT_SENDBUF, waiting);
        nng_socket_set_int(socket, NNG_OPT_RECVBUF, waiting);
    }
}

static pipegauge_link *link_of(struct wanted wanted, const terms *terms, error *e)
{
    pipegauge_link *link = calloc(1, sizeof *link);
    if (!link) {
        failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
        return NULL;
    }
    int came = nng_pair0_open(&link->socket);
    if (came != 0) {
        failed_in_nng(e, "opening a socket", came);
        free(link);
        return NULL;
    }
    link->terms = terms;
    link->wanted = wanted;
    set_up(link->socket, wanted.waiting);
    nng_pipe_notify(link->socket, NNG_PIPE_EV_ADD_POST, comes_or_goes, link);
    nng_pipe_notify(link->socket, NNG_PIPE_EV_REM_POST, comes_or_goes, link);
    return link;
}

/* ---- Meeting. ---- */

static void unlisten(pipegauge_listener *listener)
{
    nng_close(listener->door);
    free(listener);
}

static int listen_at(const settings *set, const char *host, const terms *terms, pipegauge_listener **out, error *e)
{
    pipegauge_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a listener");
    int came = nng_rep0_open(&listener->door);
    if (came != 0) {
        free(listener);
        return failed_in_nng(e, "opening a socket", came);
    }
    listener->terms = terms;
    listener->wanted = read_settings(set);
    snprintf(listener->host, sizeof listener->host, "%s", host);
    set_up(listener->door, -1);
    int code = bound(listener->door, listener->wanted.over, host, &listener->at, listener->place, sizeof listener->place, e);
    if (code == PIPEGAUGE_OK)
        *out = listener;
    else
        unlisten(listener);
    return code;
}

static int address(pipegauge_listener *listener, char *out, size_t room, error *e)
{
    if ((size_t)snprintf(out, room, "%s", listener->place) >= room)
        return failed(e, PIPEGAUGE_SYSTEM, "no room for the address");
    return PIPEGAUGE_OK;
}

static void is_over(void *over)
{
    atomic_store((atomic_int *)over, 1);
}

/* Waits for a short text. One receive waits all the time: a request whose receive ends early is forgotten, and its answer with it. */
static int heard(nng_socket socket, char *out, size_t room, const terms *terms, error *e)
{
    nng_aio *aio;
    atomic_int over = 0;
    int came = nng_aio_alloc(&aio, is_over, &over), code = PIPEGAUGE_OK;
    if (came != 0)
        return failed_in_nng(e, "meeting", came);
    nng_aio_set_timeout(aio, NNG_DURATION_INFINITE);
    nng_recv_aio(socket, aio);
    for (double since = 0; code == PIPEGAUGE_OK && !atomic_load(&over); nng_msleep(1))
        code = goes_on(&since, terms);
    if (code != PIPEGAUGE_OK)
        nng_aio_cancel(aio);
    nng_aio_wait(aio);
    came = nng_aio_result(aio);
    if (came == 0) {
        nng_msg *message = nng_aio_get_msg(aio);
        size_t len = nng_msg_len(message) < room ? nng_msg_len(message) : room - 1;
        memcpy(out, nng_msg_body(message), len);
        out[len] = 0;
        nng_msg_free(message);
        code = PIPEGAUGE_OK;
    } else if (code == PIPEGAUGE_OK) {
        code = failed_in_nng(e, "meeting", came);
    }
    nng_aio_free(aio);
    return code;
}

static int accept_next(pipegauge_listener *listener, pipegauge_link **out, error *e)
{
    char words[PLACE];
    nng_listener at;
    int code = heard(listener->door, words, sizeof words, listener->terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    pipegauge_link *link = link_of(listener->wanted, listener->terms, e);
    if (!link)
        return PIPEGAUGE_SYSTEM;
    code = bound(link->socket, listener->wanted.over, listener->host, &at, words, sizeof words, e);
    if (code == PIPEGAUGE_OK) {
        int came = nng_send(listener->door, words, strlen(words), 0);
        if (came != 0)
            code = failed_in_nng(e, "answering", came);
    }
    if (code == PIPEGAUGE_OK)
        *out = link;
    else
        close_link(link);
    return code;
}

static int connect_to(const settings *set, const char *at, const char *host, const terms *terms, pipegauge_link **out, error *e)
{
    const struct wanted wanted = read_settings(set);
    char place[PLACE] = "";
    nng_socket door;
    int came = nng_req0_open(&door);
    if (came != 0)
        return failed_in_nng(e, "opening a socket", came);
    set_up(door, -1);
    /* A request is asked once. */
    nng_socket_set_ms(door, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE);
    int code = connected(door, wanted.over, host, at, e);
    if (code == PIPEGAUGE_OK && (came = nng_send(door, "link", 4, 0)) != 0)
        code = failed_in_nng(e, "asking for a link", came);
    if (code == PIPEGAUGE_OK)
        code = heard(door, place, sizeof place, terms, e);
    nng_close(door);
    if (code != PIPEGAUGE_OK)
        return code;
    pipegauge_link *link = link_of(wanted, terms, e);
    if (!link)
        return PIPEGAUGE_SYSTEM;
    code = connected(link->socket, wanted.over, host, place, e);
    if (code == PIPEGAUGE_OK)
        *out = link;
    else
        close_link(link);
    return code;
}

/* ---- Messages. ---- */

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    for (double since = 0;;) {
        if (is_gone(link))
            return PIPEGAUGE_CLOSED;
        /* It copies, and does not write. */
        int came = nng_send(link->socket, (void *)message, len, 0);
        if (came == 0)
            return PIPEGAUGE_OK;
        if (came != NNG_ETIMEDOUT)
            return failed_in_nng(e, "sending", came);
        int code = goes_on(&since, link->terms);
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

/* The next message is in link->next, or nothing came: NNG_ETIMEDOUT, or NNG_EAGAIN where `flags` say not to wait. */
static int arrived(pipegauge_link *link, unsigned flags)
{
    if (link->next)
        return 0;
    /* What the peer sent before it was gone may be here still. */
    const int gone = is_gone(link);
    int came = link->left ? NNG_ECLOSED : nng_recvmsg(link->socket, &link->next, gone ? (unsigned)NNG_FLAG_NONBLOCK : flags);
    if (came == 0 && nng_msg_len(link->next) == 0) {
        nng_msg_free(link->next);
        link->next = NULL;
        link->left = 1;
        return NNG_ECLOSED;
    }
    return came == NNG_EAGAIN && gone ? NNG_ECLOSED : came;
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    double since = 0;
    int came;
    while ((came = arrived(link, 0)) != 0) {
        int code = came == NNG_ECLOSED    ? PIPEGAUGE_CLOSED
                   : came == NNG_ETIMEDOUT ? goes_on(&since, link->terms)
                                           : failed_in_nng(e, "receiving", came);
        if (code != PIPEGAUGE_OK)
            return code;
    }
    int code = of_length(nng_msg_len(link->next), len, e);
    if (code == PIPEGAUGE_OK)
        memcpy(message, nng_msg_body(link->next), len);
    nng_msg_free(link->next);
    link->next = NULL;
    return code;
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    /* A send is done once the library has the message, whoever receives it. */
    int code = send_message(link, out, out_len, e);
    return code == PIPEGAUGE_OK ? receive_message(link, into, into_len, e) : code;
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    const double until = now() + seconds;
    for (;;) {
        int came = arrived(link, NNG_FLAG_NONBLOCK);
        if (came != 0 && came != NNG_EAGAIN && came != NNG_ECLOSED)
            return failed_in_nng(e, "waiting for a message", came);
        /* A receive finds that the peer is gone. */
        *is = came != NNG_EAGAIN;
        if (*is || now() >= until)
            return PIPEGAUGE_OK;
        if (pipegauge_stopped(link->terms))
            return PIPEGAUGE_INTERRUPTED;
        if (until - now() > 2e-3)
            nng_msleep(1);
    }
}

static int effective(pipegauge_link *link, const char *option, char *out, size_t room, error *e)
{
    (void)e;
    out[0] = 0;
    int value = 0;
    if (strcmp(option, "over") == 0)
        snprintf(out, room, "%s", carriers[link->wanted.over]);
    if (strcmp(option, "waiting") == 0 && nng_socket_get_int(link->socket, NNG_OPT_SENDBUF, &value) == 0)
        snprintf(out, room, "%d", value);
    return PIPEGAUGE_OK;
}

/* ---- The module. ---- */

static const struct pipegauge_module module = {
    .size = sizeof module,
    .abi = PIPEGAUGE_ABI,
    .name = "nng",
    .version = "0.1.0",
    .summary = "NNG: messages between two PAIR sockets of libnng",
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
