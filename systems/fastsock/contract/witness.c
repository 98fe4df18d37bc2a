/* A library for LD_PRELOAD before libfastsock.so: of each connection with the port WITNESS_PORT at either end (of all, where there is none) it writes to the file WITNESS, as it is shut down or
 * closed, or the process ends, whether it was fast, in one direction at least: who only receives sends nothing that could be. Programs of other people's do not tell.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void tell(int fd)
{
    union { struct sockaddr any; struct sockaddr_in v4; struct sockaddr_in6 v6; } peer, own;
    socklen_t len = sizeof peer, own_len = sizeof own;
    const char *to = getenv("WITNESS"), *port = getenv("WITNESS_PORT");
    int (*fast_ways)(int), file, before = errno;
    if (to && getpeername(fd, &peer.any, &len) == 0 && getsockname(fd, &own.any, &own_len) == 0 && (peer.any.sa_family == AF_INET || peer.any.sa_family == AF_INET6)) {
        /* In the same place in both. */
        if ((!port || ntohs(peer.v4.sin_port) == atoi(port) || ntohs(own.v4.sin_port) == atoi(port)) && (file = open(to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) >= 0) {
            *(void **)&fast_ways = dlsym(RTLD_DEFAULT, "fastsock_fast_ways");
            (void)!(fast_ways && fast_ways(fd) ? write(file, "fast\n", 5) : write(file, "kernel\n", 7));
            ((int (*)(int))dlsym(RTLD_NEXT, "close"))(file);
        }
    }
    errno = before;
}
int close(int fd)
{
    tell(fd);
    return ((int (*)(int))dlsym(RTLD_NEXT, "close"))(fd);
}
/* A connection of which both ends are shut has no peer any more when it is closed. */
int shutdown(int fd, int how)
{
    tell(fd);
    return ((int (*)(int, int))dlsym(RTLD_NEXT, "shutdown"))(fd, how);
}
/* Java puts another descriptor in the place of one that it is about to close. */
int dup2(int from, int to)
{
    if (from != to) tell(to);
    return ((int (*)(int, int))dlsym(RTLD_NEXT, "dup2"))(from, to);
}
static __attribute__((destructor)) void end(void)
{
    for (int fd = 0; fd < 1024; fd++) tell(fd);
}
