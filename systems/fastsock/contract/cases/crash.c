/* A handler of a fault within the C library's malloc, as programs have that tell of their own crash: it forks, and begins a program. */
#include "cases.h"
#include <sys/mman.h>

extern char **environ;
extern void *__libc_malloc(size_t n), *__libc_calloc(size_t n, size_t size), *__libc_realloc(void *p, size_t n);
extern void __libc_free(void *p);

static volatile sig_atomic_t in_handler, faults_next;
static volatile int *missing;
static int left;
static pid_t begun;

/* Where a lock of the C library's, or half of a change, would be met. */
static void memory_is_free(void)
{
    static const char said[] = "FAILED the handler asks for memory\n";
    if (!in_handler) return;
    (void)!write(1, said, sizeof said - 1);
    _exit(1);
}
void *malloc(size_t n)
{
    memory_is_free();
    if (faults_next) { faults_next = 0; *missing = 1; }
    return __libc_malloc(n);
}
void *calloc(size_t n, size_t size) { memory_is_free(); return __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { memory_is_free(); return __libc_realloc(p, n); }
void free(void *p) { memory_is_free(); __libc_free(p); }

static void crash(int s)
{
    char number[16], *at = number + sizeof number - 1, *argv[] = {(char *)self, "exec", "x", NULL, "30000", NULL};
    (void)s;
    in_handler = 1;
    *at = 0;
    for (int n = left; n; n /= 10) *--at = (char)('0' + n % 10);
    argv[3] = at;
    begun = fork();
    if (begun == 0) { execve(self, argv, environ); _exit(9); }
    in_handler = 0;
    MUST(mprotect((void *)missing, 4096, PROT_READ | PROT_WRITE) == 0);
}
void crashed(int fd, int server)
{
    struct sockaddr_in a;
    struct sigaction handler = {0};
    char b[4];
    int l = door(fd, server, 5, &a), e = epoll_create1(0), status;
    /* Connections that are kept when they are closed. */
    for (int i = 0; i < 40; i++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        MUST(s >= 0);
        if (server) { sync_wait(s); sync_send(s); } else { sync_send(s); sync_wait(s); }
        close(s);
    }
    MUST((left = server ? accept(l, NULL, NULL) : connected(&a)) >= 0);
    warm(left, server);
    if (server) {
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN, 1);
        for (int there = 0; there < 30000; nap(1)) MUST(ioctl(left, FIONREAD, &there) == 0);
        missing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        MUST(missing != MAP_FAILED);
        handler.sa_handler = crash;
        MUST(sigaction(SIGSEGV, &handler, NULL) == 0);
        fflush(stdout);
        faults_next = 1;
        for (void *volatile p = malloc(100); p; p = NULL) free(p);
        close(left);
        MUST(waitpid(begun, &status, 0) == begun);
        printf("status %x\n", (unsigned)status);
        sync_send(fd);
    } else {
        stream_out(left, 0, 30000, 1000);
        all_in(left, b, 4);
        printf("%.4s\n", b);
        close(left);
        sync_wait(fd);
    }
    close(e);
}
