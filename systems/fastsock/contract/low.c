/* A library for LD_PRELOAD, behind the one under test: SO_SNDBUF as a system grants it whose net.core.wmem_max is the least that it may be. (The system's own is one for all
 * of its namespaces, so no test may change it.) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>

enum { MOST = 2304 };

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
    int (*next)(int, int, int, const void *, socklen_t), most = MOST;
    *(void **)&next = dlsym(RTLD_NEXT, "setsockopt");
    if (level == SOL_SOCKET && name == SO_SNDBUF && len >= sizeof(int) && *(const int *)value > MOST) value = &most;
    return next(fd, level, name, value, len);
}
