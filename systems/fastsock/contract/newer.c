/* A library for LD_PRELOAD, behind the one under test: calls of a C library newer than the one that may be here (glibc 2.39), made of those that it has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The next call of its kind gives the process's number: the one under test lies before this library. */
static int spawn(const char *call, int *fd, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    int (*next)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]), failed;
    pid_t child;
    *(void **)&next = dlsym(RTLD_NEXT, call);
    failed = next(&child, path, actions, attributes, argv, envp);
    if (!failed) *fd = (int)syscall(SYS_pidfd_open, child, 0);
    return failed;
}
int pidfd_spawn(int *fd, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    return spawn("posix_spawn", fd, path, actions, attributes, argv, envp);
}
int pidfd_spawnp(int *fd, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    return spawn("posix_spawnp", fd, file, actions, attributes, argv, envp);
}
