/* NAME: a transport over TCP, to be turned into your own.
 *
 * It is whole: it compiles, `pipegauge module check` finds nothing wrong with it, and it measures. Replace what happens in
 * listen_at(), accept_next(), connect_to(), send_message() and receive_message() by what your transport does; pipegauge.h says
 * what each function owes its caller.
 */
#define _GNU_SOURCE

#include "pipegauge.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

/* What a path is set to. */
struct wanted {
    int nodelay;
    uint64_t buffer; /* 0: the system's */
};

struct pipegauge_listener {
    int fd;
    const terms *terms;
    struct wanted wanted;
};

struct pipegauge_link {
    int fd;
    const terms *terms;
};

/* ---- What can be set, as data: flags, lists, checks and explain read it. ---- */

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "nodelay",
     .help = "send small segments at once",
     .by_default = "on",
     .form = PIPEGAUGE_SWITCH,
     .knob = PIPEGAUGE_NO_KNOB},
    {.size = sizeof(struct pipegauge_option),
     .name = "buffer",
     .help = "send and receive buffer asked of the kernel",
     .by_default = "the system's",
     .form = PIPEGAUGE_BYTES,
     .knob = PIPEGAUGE_BUFFER,
     .least = 1024,
     .most = 1 << 30},
};

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {1, 0};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "nodelay") == 0)
            wanted.nodelay = one->whole != 0;
        else if (strcmp(one->name, "buffer") == 0)
            wanted.buffer = one->whole;
    }
    return wanted;
}

/* ---- Errors and waits ---- */

/* What the system answered, as a code and a sentence. */
static int failed(error *e, const char *doing)
{
    int cause = errno;
    snprintf(e->text, sizeof e->text, "%s: %s", doing, strerror(cause));
    return cause == EPIPE || cause == ECONNRESET ? PIPEGAUGE_CLOSED : PIPEGAUGE_SYSTEM;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Waits until `fd` is ready for `events`, no longer than the patience, and looks ten times a second whether it is to stop. */
static int wait_for(int fd, short events, const terms *terms, error *e)
{
    for (double until = now() + terms->patience;;) {
        struct pollfd one = {fd, events, 0};
        int n = poll(&one, 1, 100);
        if (n > 0)
            return PIPEGAUGE_OK;
        if (n < 0 && errno != EINTR)
            return failed(e, "waiting for the socket");
        if (pipegauge_stopped(terms))
            return PIPEGAUGE_INTERRUPTED;
        if (now() >= until)
            return PIPEGAUGE_STALLED;
    }
}

/* ---- Both sides meet ---- */

/* A link over a connected socket, which it takes over. */
static int link_over(int fd, struct wanted wanted, const terms *terms, pipegauge_link **out, error *e)
{
    int on = wanted.nodelay;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) {
        int code = failed(e, "setting up a connection");
        close(fd);
        return code;
    }
    pipegauge_link *link = malloc(sizeof *link);
    if (link == NULL) {
        close(fd);
        errno = ENOMEM;
        return failed(e, "making a link");
    }
    link->fd = fd;
    link->terms = terms;
    *out = link;
    return PIPEGAUGE_OK;
}

/* A socket for an address, with the buffers that are wanted: those have to be set before it listens or connects. */
static int socket_for(const struct addrinfo *at, struct wanted wanted)
{
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int bytes = (int)wanted.buffer;
    if (fd >= 0 && bytes > 0 &&
        (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) != 0 ||
         setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int resolve(const char *host, const char *port, struct addrinfo **at, error *e)
{
    struct addrinfo hints;
    memset(&hints, 0, sizeof hints);
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    int code = getaddrinfo(host, port, &hints, at);
    if (code == 0)
        return PIPEGAUGE_OK;
    snprintf(e->text, sizeof e->text, "reading the address %.100s, port %.20s: %s", host, port, gai_strerror(code));
    return PIPEGAUGE_PROTOCOL;
}

static int listen_at(const settings *set, const char *host, const terms *terms, pipegauge_listener **out, error *e)
{
    struct addrinfo *at;
    struct wanted wanted = read_settings(set);
    int code = resolve(host, "0", &at, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int fd = socket_for(at, wanted);
    if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, 16) != 0 ||
        fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        code = failed(e, "listening");
    freeaddrinfo(at);
    pipegauge_listener *listener = code == PIPEGAUGE_OK ? malloc(sizeof *listener) : NULL;
    if (listener == NULL) {
        if (code == PIPEGAUGE_OK) {
            errno = ENOMEM;
            code = failed(e, "making a listener");
        }
        if (fd >= 0)
            close(fd);
        return code;
    }
    listener->fd = fd;
    listener->terms = terms;
    listener->wanted = wanted;
    *out = listener;
    return PIPEGAUGE_OK;
}

/* The other side gets this text, and knows the host already: the port is enough. */
static int address_of(pipegauge_listener *listener, char *out, size_t room, error *e)
{
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    if (getsockname(listener->fd, (struct sockaddr *)&at, &len) != 0)
        return failed(e, "asking for the port");
    in_port_t port = at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port : ((struct sockaddr_in *)&at)->sin_port;
    snprintf(out, room, "%u", (unsigned)ntohs(port));
    return PIPEGAUGE_OK;
}

static int accept_next(pipegauge_listener *listener, pipegauge_link **out, error *e)
{
    for (;;) {
        int code = wait_for(listener->fd, POLLIN, listener->terms, e);
        if (code != PIPEGAUGE_OK)
            return code;
        int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            return link_over(fd, listener->wanted, listener->terms, out, e);
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            return failed(e, "accepting a connection");
    }
}

static void unlisten(pipegauge_listener *listener)
{
    close(listener->fd);
    free(listener);
}

static int connect_to(const settings *set, const char *address, const char *host, const terms *terms, pipegauge_link **out, error *e)
{
    struct addrinfo *at;
    struct wanted wanted = read_settings(set);
    int code = resolve(host, address, &at, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int fd = socket_for(at, wanted);
    if (fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        code = failed(e, "making a socket");
    else if (connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
        code = errno == EINPROGRESS ? wait_for(fd, POLLOUT, terms, e) : failed(e, "connecting");
        int why = 0;
        socklen_t len = sizeof why;
        if (code == PIPEGAUGE_OK && getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) == 0 && why != 0) {
            errno = why;
            code = failed(e, "connecting");
        }
    }
    freeaddrinfo(at);
    if (code == PIPEGAUGE_OK)
        return link_over(fd, wanted, terms, out, e);
    if (fd >= 0)
        close(fd);
    return code;
}

/* ---- Messages ---- */

/* Sends as much as goes without waiting; *done grows. */
static int send_some(pipegauge_link *link, const char *from, size_t len, size_t *done, error *e)
{
    while (*done < len) {
        ssize_t n = send(link->fd, from + *done, len - *done, MSG_NOSIGNAL);
        if (n >= 0)
            *done += (size_t)n;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            return failed(e, "sending");
    }
    return PIPEGAUGE_OK;
}

/* Receives as much as is there; *done grows. */
static int receive_some(pipegauge_link *link, char *into, size_t len, size_t *done, error *e)
{
    while (*done < len) {
        ssize_t n = recv(link->fd, into + *done, len - *done, 0);
        if (n > 0)
            *done += (size_t)n;
        else if (n == 0)
            return PIPEGAUGE_CLOSED;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            return failed(e, "receiving");
    }
    return PIPEGAUGE_OK;
}

/* Sends and receives at once: neither waits for the other. Sending or receiving alone is the same with nothing on one side. */
static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    size_t sent = 0, received = 0;
    for (;;) {
        int code = send_some(link, out, out_len, &sent, e);
        if (code == PIPEGAUGE_OK)
            code = receive_some(link, into, into_len, &received, e);
        if (code != PIPEGAUGE_OK || (sent == out_len && received == into_len))
            return code;
        short events = (short)((sent < out_len ? POLLOUT : 0) | (received < into_len ? POLLIN : 0));
        code = wait_for(link->fd, events, link->terms, e);
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    return exchange(link, message, len, NULL, 0, e);
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    return exchange(link, NULL, 0, message, len, e);
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    for (double until = now() + seconds;;) {
        double left = until - now();
        struct pollfd one = {link->fd, POLLIN, 0};
        int n = poll(&one, 1, left <= 0 ? 0 : left < 0.1 ? (int)(left * 1e3) + 1 : 100);
        *is = n > 0;
        if (n < 0 && errno != EINTR)
            return failed(e, "waiting for a message");
        if (n > 0 || now() >= until)
            return PIPEGAUGE_OK;
        if (pipegauge_stopped(link->terms))
            return PIPEGAUGE_INTERRUPTED;
    }
}

static void close_link(pipegauge_link *link)
{
    close(link->fd);
    free(link);
}

/* ---- What it is ---- */

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    (void)set;
    (void)e;
    out->bits = PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_DUPLEX | PIPEGAUGE_POLL;
    out->largest = 0;
    return PIPEGAUGE_OK;
}

/* What took effect of an option on this connection. */
static int effective(pipegauge_link *link, const char *option, char *out, size_t room, error *e)
{
    int value = 0;
    socklen_t len = sizeof value;
    out[0] = 0;
    if (strcmp(option, "nodelay") == 0) {
        if (getsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &value, &len) != 0)
            return failed(e, "asking for TCP_NODELAY");
        snprintf(out, room, "%s", value ? "on" : "off");
    } else if (strcmp(option, "buffer") == 0) {
        /* Linux reports twice what was asked. */
        if (getsockopt(link->fd, SOL_SOCKET, SO_SNDBUF, &value, &len) != 0)
            return failed(e, "asking for SO_SNDBUF");
        snprintf(out, room, "%d", value / 2);
    }
    return PIPEGAUGE_OK;
}

static const struct pipegauge_module module = {
    .size = sizeof(struct pipegauge_module),
    .abi = PIPEGAUGE_ABI,
    .name = "NAME",
    .version = "0.1.0",
    .summary = "TCP, as the module that a new one begins with",
    .option_count = sizeof options / sizeof options[0],
    .options = options,
    .capabilities = capabilities,
    .listen = listen_at,
    .address = address_of,
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
    return abi == PIPEGAUGE_ABI ? &module : NULL;
}
