/* The socket below a gRPC connection, which the library keeps to itself.
 *
 * A call is not over, even where it was cancelled, before what is being written has been: with a peer that reads nothing that takes for ever. Whoever
 * shuts the socket down ends it.
 */
#ifndef PIPEGAUGE_GRPC_SOCKET_H
#define PIPEGAUGE_GRPC_SOCKET_H

#include "meeting.h"

#include <dirent.h>

static int port_of(const struct sockaddr_storage *at)
{
    if (at->ss_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)at)->sin_port);
    return at->ss_family == AF_INET6 ? ntohs(((const struct sockaddr_in6 *)at)->sin6_port) : -1;
}

/* Whether a file is the connection to the server at this port, or the server's end of one. */
static int is_connection(int fd, int port, int serves)
{
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t of_here = sizeof here, of_there = sizeof there;
    if (getsockname(fd, (struct sockaddr *)&here, &of_here) != 0 || getpeername(fd, (struct sockaddr *)&there, &of_there) != 0)
        return 0;
    return port_of(serves ? &here : &there) == port;
}

/* The socket of this process that is connected to the server at this port, or is its end: a file of our own, or -1. */
static int socket_of(int port, int serves)
{
    DIR *all = opendir("/proc/self/fd");
    int found = -1;
    for (struct dirent *one; all && found < 0 && (one = readdir(all));) {
        const int fd = atoi(one->d_name);
        if (one->d_name[0] != '.' && is_connection(fd, port, serves))
            found = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    }
    if (all)
        closedir(all);
    return found;
}

#endif
