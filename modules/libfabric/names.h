/* Names of endpoints: what a peer tells is its own, or is not handed to the library. */
#ifndef PIPEGAUGE_LIBFABRIC_NAMES_H
#define PIPEGAUGE_LIBFABRIC_NAMES_H

#include "link.h"

/* Whether a socket address is of the host at the other end of the meeting's connection. */
static int of_peer(int fd, const void *name, size_t len)
{
    struct sockaddr_storage met;
    socklen_t met_len = sizeof met;
    if (getpeername(fd, (struct sockaddr *)&met, &met_len) != 0)
        return 0;
    if (met.ss_family == AF_INET && len == sizeof(struct sockaddr_in)) {
        struct sockaddr_in one;
        memcpy(&one, name, len);
        return one.sin_family == AF_INET && one.sin_addr.s_addr == ((struct sockaddr_in *)&met)->sin_addr.s_addr;
    }
    if (met.ss_family == AF_INET6 && len == sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 one;
        memcpy(&one, name, len);
        return one.sin6_family == AF_INET6 && memcmp(&one.sin6_addr, &((struct sockaddr_in6 *)&met)->sin6_addr, 16) == 0;
    }
    return 0;
}

static const char in_memory[] = "fi_shm://";

/* Whether a name is of an endpoint in shared memory: numbers and colons behind the scheme. */
static int of_memory(const char *name, size_t len)
{
    const size_t scheme = sizeof in_memory - 1;
    return len > scheme + 1 && name[len - 1] == 0 &&
           strncmp(name, in_memory, scheme) == 0 && strspn(name + scheme, "0123456789:") == len - scheme - 1;
}

/* A peer's endpoint is at its own address, or in this host's memory: nothing else is handed to the library. */
static int valid_name(const pipegauge_link *link, const char *name, size_t len, error *e)
{
    const int right = link->wanted.provider == SHM ? of_memory(name, len) : of_peer(link->peer.fd, name, len);
    return right ? PIPEGAUGE_OK : failed(e, PIPEGAUGE_PROTOCOL, "the peer tells the name of an endpoint that is not its own");
}

/* Tells the peer a name and hears its own. */
static int swap_names(pipegauge_link *link, fid_t named, char *theirs, size_t *len, error *e)
{
    char mine[MOST_NAME];
    *len = sizeof mine;
    const int came = fi_getname(named, mine, len);
    if (came != 0)
        return failed_in_fabric(e, "asking for the endpoint's name", came);
    int code = tell(link->peer.fd, NAMED, mine, *len, link->peer.terms, e);
    if (code == PIPEGAUGE_OK)
        code = hear(link->peer.fd, NAMED, theirs, MOST_NAME, len, link->peer.terms, e);
    return code == PIPEGAUGE_OK ? valid_name(link, theirs, *len, e) : code;
}

#endif
