/* Where both sides of a fabric meet: a TCP connection over which each tells the other the address of its endpoint.
 *
 * A library takes such an address for valid. So nobody's is handed to it who has not shown the listener's secret, which only whoever was
 * given the listener's address has, and the listener shows a second one back. Lengths are bounded before anything is read.
 *
 * The connection stays open as long as the link: it ends when the peer's process does, which most libraries do not tell.
 */
#ifndef PIPEGAUGE_MEETING_H
#define PIPEGAUGE_MEETING_H

#include "waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bytes of a secret; connections that may show theirs at once; most bytes of one thing that is told. */
enum { SECRET = 16, GUESTS = 16, MOST_TOLD = 16384 };

/* A connection that has not shown the whole secret yet. */
struct guest {
    int fd;
    size_t have;
    unsigned char shown[SECRET];
};

/* What listens. `asked` is shown by who connects, `answer` by the listener. */
struct door {
    int fd;
    unsigned char asked[SECRET], answer[SECRET];
    struct guest guests[GUESTS];
    unsigned count;
};

static inline int failed_in_system(struct pipegauge_error *e, const char *doing)
{
    const int cause = errno;
    failed_with(e, doing, strerror(cause));
    return cause == EPIPE || cause == ECONNRESET ? PIPEGAUGE_CLOSED : PIPEGAUGE_SYSTEM;
}

/* Waits until a socket is ready, in slices, no longer than the patience. */
static inline int socket_ready(int fd, short events, const struct pipegauge_terms *terms, struct pipegauge_error *e)
{
    for (double since = 0;;) {
        struct pollfd one = {fd, events, 0};
        const int n = poll(&one, 1, SLICE);
        if (n > 0)
            return PIPEGAUGE_OK;
        if (n < 0 && errno != EINTR)
            return failed_in_system(e, "waiting for the peer's connection");
        const int code = goes_on(&since, terms);
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

/* Whether the peer's end of the connection is closed, whatever it told before that nobody has read yet. */
static inline int peer_ended(int fd)
{
    struct pollfd one = {fd, POLLRDHUP, 0};
    return poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* ---- Waiting for a library that moves messages only where it is called. ---- */

/* Calls that moved nothing before a wait looks at the clock; how long it waits before it leaves the CPU to others between calls, how often it
 * looks at the peer, and how long what a peer sent before it was gone may be on its way, seconds. */
#define LOOKS 64
#define BUSY 1e-3
#define OFTEN 10e-3
#define LATE 0.1

struct wait {
    unsigned idle;
    /* Since when nothing moved; when the peer was looked at. */
    double since, looked;
};

/* The peer of a link, as the meeting's connection tells. */
struct peer {
    int fd;
    const struct pipegauge_terms *terms;
    /* When it was found to be gone; 0 as long as it is there. */
    double gone_since;
};

/* Looks at whatever can end a wait but its own end: what does, or PIPEGAUGE_OK. */
static inline int looked(struct peer *peer, struct wait *wait)
{
    const double at = now();
    if (wait->since == 0)
        wait->since = wait->looked = at;
    if (at - wait->since > BUSY)
        sched_yield();
    if (at - wait->looked < OFTEN)
        return PIPEGAUGE_OK;
    wait->looked = at;
    if (pipegauge_stopped(peer->terms))
        return PIPEGAUGE_INTERRUPTED;
    if (peer->gone_since == 0 && peer_ended(peer->fd))
        peer->gone_since = at;
    if (peer->gone_since != 0 && at - peer->gone_since > LATE)
        return PIPEGAUGE_CLOSED;
    return at - wait->since > peer->terms->patience ? PIPEGAUGE_STALLED : PIPEGAUGE_OK;
}

/* The same after each call, which moved something or did not. */
static inline int called(struct peer *peer, struct wait *wait, int moved)
{
    if (moved) {
        wait->since = 0;
        return PIPEGAUGE_OK;
    }
    return ++wait->idle % LOOKS ? PIPEGAUGE_OK : looked(peer, wait);
}

/* ---- Secrets, and things that are told. ---- */

static inline int same_secret(const unsigned char *a, const unsigned char *b)
{
    unsigned differs = 0;
    for (int i = 0; i < SECRET; i++)
        differs |= (unsigned)(a[i] ^ b[i]);
    return differs == 0;
}

static inline int write_all(int fd, const void *from, size_t len, const struct pipegauge_terms *terms, struct pipegauge_error *e)
{
    for (size_t done = 0; done < len;) {
        const ssize_t n = send(fd, (const char *)from + done, len - done, MSG_NOSIGNAL);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EAGAIN && errno != EINTR)
            return failed_in_system(e, "telling the peer");
        const int code = done < len ? socket_ready(fd, POLLOUT, terms, e) : PIPEGAUGE_OK;
        if (code != PIPEGAUGE_OK)
            return code;
    }
    return PIPEGAUGE_OK;
}

static inline int read_all(int fd, void *into, size_t len, const struct pipegauge_terms *terms, struct pipegauge_error *e)
{
    for (size_t done = 0; done < len;) {
        const ssize_t n = recv(fd, (char *)into + done, len - done, 0);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            return PIPEGAUGE_CLOSED;
        else if (errno != EAGAIN && errno != EINTR)
            return failed_in_system(e, "hearing the peer");
        const int code = done < len ? socket_ready(fd, POLLIN, terms, e) : PIPEGAUGE_OK;
        if (code != PIPEGAUGE_OK)
            return code;
    }
    return PIPEGAUGE_OK;
}

/* What a thing that is told begins with. */
struct heading {
    uint32_t kind, len;
};

/* Tells the peer a thing of a kind. */
static inline int tell(int fd, uint32_t kind, const void *what, size_t len, const struct pipegauge_terms *terms, struct pipegauge_error *e)
{
    if (len > MOST_TOLD)
        return failed(e, PIPEGAUGE_SYSTEM, "what the library has to tell the peer is longer than 16 KiB");
    const struct heading heading = {htonl(kind), htonl((uint32_t)len)};
    const int code = write_all(fd, &heading, sizeof heading, terms, e);
    return code == PIPEGAUGE_OK ? write_all(fd, what, len, terms, e) : code;
}

/* Waits for a thing of this kind: at most `room` bytes, of which *len came. */
static inline int hear(int fd, uint32_t kind, void *into, size_t room, size_t *len, const struct pipegauge_terms *terms,
                       struct pipegauge_error *e)
{
    struct heading heading;
    const int code = read_all(fd, &heading, sizeof heading, terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    *len = ntohl(heading.len);
    if (ntohl(heading.kind) == kind && *len <= room)
        return read_all(fd, into, *len, terms, e);
    snprintf(e->text, sizeof e->text, "the peer told a thing of kind %u and %zu bytes where kind %u of at most %zu was expected",
             ntohl(heading.kind), *len, kind, room);
    return PIPEGAUGE_PROTOCOL;
}

/* Whether something that the peer told can be heard. */
static inline int can_hear(int fd)
{
    struct pollfd one = {fd, POLLIN, 0};
    char first;
    return poll(&one, 1, 0) > 0 && recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* ---- The listener's side. ---- */

static inline int resolved(const char *host, const char *port, struct addrinfo **at, struct pipegauge_error *e)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    const int came = getaddrinfo(host, port, &hints, at);
    if (came == 0)
        return PIPEGAUGE_OK;
    snprintf(e->text, sizeof e->text, "reading the address %.100s, port %.20s: %s", host, port, gai_strerror(came));
    return PIPEGAUGE_PROTOCOL;
}

static inline void close_door(struct door *door)
{
    for (unsigned i = 0; i < door->count; i++)
        close(door->guests[i].fd);
    door->count = 0;
    if (door->fd >= 0)
        close(door->fd);
    door->fd = -1;
}

/* Opens a door at a port of `host` that is free. */
static inline int open_door(struct door *door, const char *host, struct pipegauge_error *e)
{
    struct addrinfo *at;
    door->fd = -1;
    door->count = 0;
    int code = resolved(host, "0", &at, e);
    if (code != PIPEGAUGE_OK)
        return code;
    door->fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (door->fd < 0 || bind(door->fd, at->ai_addr, at->ai_addrlen) != 0 || listen(door->fd, GUESTS) != 0)
        code = failed_in_system(e, "listening for the peer's address");
    freeaddrinfo(at);
    if (code == PIPEGAUGE_OK && (getrandom(door->asked, SECRET, 0) != SECRET || getrandom(door->answer, SECRET, 0) != SECRET))
        code = failed(e, PIPEGAUGE_SYSTEM, "the system gives no random bytes for a secret");
    if (code != PIPEGAUGE_OK)
        close_door(door);
    return code;
}

/* Port and secrets of a door as a text. */
static inline int place_of_door(const struct door *door, char *out, size_t room, struct pipegauge_error *e)
{
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    if (getsockname(door->fd, (struct sockaddr *)&at, &len) != 0)
        return failed_in_system(e, "asking for the port of the listener");
    const in_port_t port =
        at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port : ((struct sockaddr_in *)&at)->sin_port;
    const int n = snprintf(out, room, "%u ", (unsigned)ntohs(port));
    if (n < 0 || (size_t)n + 4 * SECRET + 1 > room)
        return failed(e, PIPEGAUGE_SYSTEM, "no room for the address");
    char *to = out + n;
    for (int i = 0; i < SECRET; i++)
        to += sprintf(to, "%02x", door->asked[i]);
    for (int i = 0; i < SECRET; i++)
        to += sprintf(to, "%02x", door->answer[i]);
    return PIPEGAUGE_OK;
}

static inline void forget_guest(struct door *door, unsigned which, int closes)
{
    if (closes)
        close(door->guests[which].fd);
    door->guests[which] = door->guests[--door->count];
}

/* Lets a new connection show its secret. Where there are too many, the one that has been there for long goes. */
static inline void take_guest(struct door *door)
{
    const int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (door->count == GUESTS) {
        close(door->guests[0].fd);
        memmove(door->guests, door->guests + 1, (GUESTS - 1) * sizeof door->guests[0]);
        door->count--;
    }
    door->guests[door->count++] = (struct guest){.fd = fd};
}

/* What a guest shows: 1 once it is the secret, -1 where it is none, 0 where more is to come. */
static inline int look_at_guest(const struct door *door, struct guest *guest)
{
    const ssize_t n = recv(guest->fd, guest->shown + guest->have, SECRET - guest->have, 0);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    guest->have += (size_t)n;
    if (guest->have < SECRET)
        return 0;
    return same_secret(guest->shown, door->asked) ? 1 : -1;
}

static inline void set_up_meeting(int fd)
{
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* Waits for whoever shows the secret, and shows the other one. Strangers may come in between, and may say nothing at all. */
static inline int meet_at_door(struct door *door, int *out, const struct pipegauge_terms *terms, struct pipegauge_error *e)
{
    for (double since = 0;;) {
        struct pollfd all[1 + GUESTS] = {{door->fd, POLLIN, 0}};
        const unsigned count = door->count;
        for (unsigned i = 0; i < count; i++)
            all[1 + i] = (struct pollfd){door->guests[i].fd, POLLIN, 0};
        if (poll(all, 1 + count, SLICE) < 0 && errno != EINTR)
            return failed_in_system(e, "waiting for a connection");
        /* From the last on: one that is forgotten leaves its place to one that was looked at. */
        for (unsigned i = count; i-- > 0;) {
            const int is = all[1 + i].revents ? look_at_guest(door, &door->guests[i]) : 0;
            const int fd = door->guests[i].fd;
            if (is != 0)
                forget_guest(door, i, is < 0);
            if (is > 0) {
                set_up_meeting(fd);
                *out = fd;
                const int code = write_all(fd, door->answer, SECRET, terms, e);
                if (code != PIPEGAUGE_OK)
                    close(fd);
                return code;
            }
        }
        if (all[0].revents)
            take_guest(door);
        const int code = goes_on(&since, terms);
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

/* ---- The side that connects. ---- */

/* Reads a place as place_of_door() writes it. */
static inline int read_place(const char *text, char *port, unsigned char secrets[2 * SECRET], struct pipegauge_error *e)
{
    const size_t digits = strspn(text, "0123456789");
    const char *at = text + digits + 1;
    int right = digits >= 1 && digits <= 5 && text[digits] == ' ' && strlen(at) == 4 * SECRET &&
                strspn(at, "0123456789abcdef") == 4 * SECRET;
    for (int i = 0; right && i < 2 * SECRET; i++) {
        const char pair[] = {at[2 * i], at[2 * i + 1], 0};
        secrets[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    if (!right)
        return failed(e, PIPEGAUGE_PROTOCOL, "the address is not a port and two secrets");
    memcpy(port, text, digits);
    port[digits] = 0;
    return PIPEGAUGE_OK;
}

static inline int connected_to(const char *host, const char *port, int *out, const struct pipegauge_terms *terms,
                               struct pipegauge_error *e)
{
    struct addrinfo *at;
    int code = resolved(host, port, &at, e);
    if (code != PIPEGAUGE_OK)
        return code;
    const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        code = failed_in_system(e, "making a socket");
    } else if (connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
        code = errno == EINPROGRESS ? socket_ready(fd, POLLOUT, terms, e) : failed_in_system(e, "connecting to the listener");
        socklen_t len = sizeof errno;
        int why = 0;
        if (code == PIPEGAUGE_OK && getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) == 0 && (errno = why) != 0)
            code = failed_in_system(e, "connecting to the listener");
    }
    freeaddrinfo(at);
    if (code == PIPEGAUGE_OK)
        *out = fd;
    else if (fd >= 0)
        close(fd);
    return code;
}

/* Connects to a door, shows the secret and looks at the one that comes back. */
static inline int meet_at_place(const char *place, const char *host, int *out, const struct pipegauge_terms *terms,
                                struct pipegauge_error *e)
{
    char port[8];
    unsigned char secrets[2 * SECRET], shown[SECRET];
    int code = read_place(place, port, secrets, e), fd = -1;
    if (code == PIPEGAUGE_OK)
        code = connected_to(host, port, &fd, terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    set_up_meeting(fd);
    code = write_all(fd, secrets, SECRET, terms, e);
    if (code == PIPEGAUGE_OK)
        code = read_all(fd, shown, SECRET, terms, e);
    if (code == PIPEGAUGE_OK && !same_secret(shown, secrets + SECRET))
        code = failed(e, PIPEGAUGE_PROTOCOL, "who listens does not have the listener's secret");
    if (code == PIPEGAUGE_OK)
        *out = fd;
    else
        close(fd);
    return code;
}

#endif
