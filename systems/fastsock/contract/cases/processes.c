/* Other processes and programs, other descriptors, other threads. */
#include "cases.h"

void duplicates(int fd, int server)
{
    if (!server) {
        int two = dup(fd), three = fcntl(fd, F_DUPFD, 100), null = open("/dev/null", O_RDWR);
        stream_out(fd, 0, 1000, 10);
        close(fd);
        stream_out(two, 1000, 1000, 10);
        MUST(dup2(null, two) == two);
        stream_out(three, 2000, 100000, 1000);
        sync_wait(three);
        MUST(dup3(null, three, O_CLOEXEC) == three);
        printf("null %zd\n", write(three, "x", 1));
    } else { stream_in(fd, 0, 102000); sync_send(fd); printf("end %lu\n", to_end(fd, 0)); }
}
void forks(int fd, int server)
{
    if (!server) {
        stream_out(fd, 0, 400000, 3000);
        sync_wait(fd); sync_wait(fd);
        stream_out(fd, 0, 1000, 10);
        printf("rest %lu\n", to_end(fd, 9));
    } else {
        pid_t child;
        int status;
        stream_in(fd, 0, 100000);
        child = fork();
        if (child == 0) { stream_in(fd, 100000, 100000); sync_send(fd); _exit(0); }
        waitpid(child, &status, 0);
        printf("child %d\n", status);
        stream_in(fd, 200000, 200000);
        sync_send(fd);
        child = fork();
        if (child == 0) { stream_in(fd, 0, 1000); nap(50); stream_out(fd, 9, 200000, 1000); _exit(0); }
        close(fd);
        waitpid(child, &status, 0);
        printf("child %d\n", status);
    }
}
void files(int fd, int server)
{
    if (!server) {
        FILE *f = tmpfile();
        unsigned char b[50000];
        off_t at = 0;
        fill(b, sizeof b, 3000);
        MUST(fwrite(b, 1, sizeof b, f) == sizeof b && fflush(f) == 0);
        stream_out(fd, 0, 3000, 100);
        for (size_t left = sizeof b; left;) { ssize_t n = sendfile(fd, fileno(f), &at, left); MUST(n > 0); left -= (size_t)n; }
        stream_out(fd, 53000, 100000, 1000);
        sync_wait(fd);
        stream_in(fd, 1, 20000);
        fclose(f);
    } else {
        int p[2];
        unsigned char b[20000];
        MUST(pipe(p) == 0);
        stream_in(fd, 0, 2000);
        for (size_t got = 0; got < 5000;) {
            ssize_t n = splice(fd, NULL, p[1], NULL, 5000 - got, 0);
            MUST(n > 0);
            all_in(p[0], b, (size_t)n);
            check(b, (size_t)n, 2000 + got);
            got += (size_t)n;
        }
        stream_in(fd, 7000, 146000);
        sync_send(fd);
        fill(b, sizeof b, 1);
        all_out(fd, b, sizeof b);
        printf("spliced, end %lu\n", to_end(fd, 0));
    }
}
void program(int fd, int server)
{
    if (!server) { stream_out(fd, 0, 1000, 100); sync_wait(fd); stream_out(fd, 1000, 50000, 1000); shutdown(fd, SHUT_WR); printf("answer %lu\n", to_end(fd, 4)); }
    else {
        char number[16];
        stream_in(fd, 0, 1000);
        fflush(stdout);
        sync_send(fd);
        snprintf(number, sizeof number, "%d", fd);
        execl(self, self, "exec", "x", number, (char *)NULL);
        die("exec");
    }
}
void spawned(int fd, int server)
{
    if (!server) { program(fd, 0); return; }
    {
        char number[16];
        char *argv[] = {(char *)self, "exec", "x", number, NULL};
        pid_t child;
        int status;
        stream_in(fd, 0, 1000);
        fflush(stdout);
        snprintf(number, sizeof number, "%d", fd);
        child = fork();
        if (child == 0) { sync_send(fd); execv(self, argv); _exit(9); }
        close(fd);
        waitpid(child, &status, 0);
        printf("status %d\n", status);
    }
}
void killed(int fd, int server)
{
    if (!server) { stream_out(fd, 0, 20000, 100); sync_wait(fd); fflush(stdout); kill(getpid(), SIGKILL); }
    else { stream_in(fd, 0, 20000); sync_send(fd); printf("end %lu\n", to_end(fd, 0)); }
}
void passed(int fd, int server)
{
    if (!server) { stream_in(fd, 0, 3000); sync_send(fd); printf("end %lu\n", to_end(fd, 0)); }
    else {
        int pair[2], status;
        char control[CMSG_SPACE(sizeof(int))] = {0}, c = 'x';
        struct iovec v = {&c, 1};
        struct msghdr m = {0};
        pid_t child;
        MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        stream_out(fd, 0, 1000, 100);
        m.msg_iov = &v; m.msg_iovlen = 1; m.msg_control = control; m.msg_controllen = sizeof control;
        child = fork();
        if (child == 0) {
            int got;
            close(fd); close(pair[0]);
            MUST(recvmsg(pair[1], &m, 0) == 1);
            memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof got);
            stream_out(got, 1000, 2000, 100);
            sync_wait(got);
            _exit(0);
        }
        CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
        CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
        CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof fd);
        MUST(sendmsg(pair[0], &m, 0) == 1);
        close(fd);
        waitpid(child, &status, 0);
        printf("status %d\n", status);
    }
}
struct both { int fd; unsigned long from; };
static void *reader(void *p) { struct both *b = p; stream_in(b->fd, b->from, 8000000); return NULL; }
void threads(int fd, int server)
{
    struct both b = {fd, server ? 0 : 99};
    pthread_t t;
    MUST(pthread_create(&t, NULL, reader, &b) == 0);
    stream_out(fd, server ? 99 : 0, 8000000, 70000);
    pthread_join(t, NULL);
    printf("both ways\n");
}
