/* Bytes left for a program that are not all to be had there, and programs that hand on what was left for them. */
#include "cases.h"
#include <sys/resource.h>

enum { LEFT = 30000, MANY = 20, ANY = 5000 };

/* So many bytes and nothing that is not theirs, or an error. Whether they came. */
static int whole_or_error(int s, unsigned long all)
{
    unsigned char b[5000];
    unsigned long total = 0;
    while (total < all) {
        ssize_t r = recv(s, b, all - total < sizeof b ? all - total : sizeof b, 0);
        if (r < 0) return 0;
        MUST(r > 0);
        check(b, (size_t)r, total);
        total += (unsigned long)r;
    }
    return 1;
}
/* More connections than the library has descriptors for in the new program, which may have few: with bytes left out it reads none of them. */
void program_many(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, MANY, &a), s[MANY];
    for (int i = 0; i < MANY; i++) {
        s[i] = server ? accept(l, NULL, NULL) : connected(&a);
        MUST(s[i] >= 0);
        warm(s[i], server);
    }
    if (server) {
        struct rlimit few = {64, 64};
        char word[MANY][12], *argv[MANY + 4] = {(char *)self, "begun", "many"};
        for (int i = 0; i < MANY; i++) { all_there(s[i], LEFT); snprintf(word[i], sizeof word[i], "%d", s[i]); argv[i + 3] = word[i]; }
        MUST(close(l) == 0 && setrlimit(RLIMIT_NOFILE, &few) == 0);
        fflush(stdout);
        execv(self, argv);
        die("execv");
    }
    for (int i = 0; i < MANY; i++) stream_out(s[i], 0, LEFT, 1000);
    for (int i = 0; i < MANY; i++) { char c; ssize_t r = recv(s[i], &c, 1, 0); MUST(r == 1 || (r < 0 && errno == ECONNRESET)); close(s[i]); }
    printf("each answered or reset\n");
}
static int many(int count, char **numbers)
{
    int cut = 0;
    for (int i = 0; i < count; i++) {
        int s = atoi(numbers[i]);
        if (whole_or_error(s, LEFT)) all_out(s, "o", 1);
        else cut++;
    }
    fprintf(stderr, "%d cut\n", cut);
    printf("each whole or an error\n");
    return 0;
}
/* A program that has the library begins one that has not, which reads nothing and begins one that has it: with all as it was, and with something else in the place of each
 * descriptor. */
void passed_on(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int way = 0; way < 2; way++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        char b[4];
        MUST(s >= 0);
        warm(s, server);
        if (server) {
            char number[12];
            pid_t child;
            all_there(s, LEFT);
            snprintf(number, sizeof number, "%d", s);
            fflush(stdout);
            MUST((child = fork()) >= 0);
            if (child == 0) { execl(self, self, "begun", way ? "instead" : "all", number, (char *)NULL); die("execl"); }
            close(s);
            ended(child);
            sync_send(fd);
        } else {
            stream_out(s, 0, LEFT, 1000);
            /* In no call on the connection. */
            sync_wait(fd);
            if (way == 0) { all_in(s, b, 4); printf("%.4s\n", b); }
            close(s);
        }
    }
}
/* The program after that may be another one (PASSED_TO). */
static int pass(int s, int instead)
{
    char passer[500], number[12], file[12] = "-", count[12], *end;
    FILE *f = tmpfile();
    unsigned char b[ANY];
    fill(b, ANY, 7);
    MUST(f && fwrite(b, 1, ANY, f) == ANY && fseek(f, 0, SEEK_SET) == 0);
    snprintf(passer, sizeof passer, "%s", self);
    MUST((end = strrchr(passer, '/')) != NULL);
    snprintf(end, 50, "/fastsock-passer");
    snprintf(number, sizeof number, "%d", s);
    snprintf(count, sizeof count, "%d", LEFT);
    if (instead) { snprintf(file, sizeof file, "%d", fileno(f)); execl(passer, "passer", file, self, "begun", "kept", (char *)NULL); }
    else execl(passer, "passer", file, getenv("PASSED_TO") ? getenv("PASSED_TO") : self, "exec", "x", number, count, (char *)NULL);
    die("execl");
}
/* All numbers mean the file, of which nothing was read. */
static int kept(void)
{
    unsigned char b[ANY];
    int open = 0;
    for (int n = 3; n < 1000; n++) open += fcntl(n, F_GETFD) >= 0;
    printf("open %d, read from %ld", open, (long)lseek(900, 0, SEEK_CUR));
    all_in(900, b, ANY);
    check(b, ANY, 7);
    printf(", all\n");
    return 0;
}
/* This program as it is begun by these cases. */
int begun_with(int argc, char **argv)
{
    if (!strcmp(argv[2], "many")) return many(argc - 3, argv + 3);
    if (!strcmp(argv[2], "kept")) return kept();
    return argc > 3 ? pass(atoi(argv[3]), !strcmp(argv[2], "instead")) : 2;
}
/* Actions that are used again, when the number that they copy means another connection. */
void spawned_again(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), number = -1;
    posix_spawn_file_actions_t actions;
    MUST(posix_spawn_file_actions_init(&actions) == 0);
    for (int way = 0; way < 3; way++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        char b[4];
        MUST(s >= 0);
        warm(s, server);
        if (server) {
            MUST(fcntl(s, F_SETFD, FD_CLOEXEC) == 0);
            if (way == 0) MUST(posix_spawn_file_actions_adddup2(&actions, number = s, 333) == 0);
            MUST(s == number);
            all_there(s, LEFT);
            ended(begin_reader(333, 0, LEFT, -1, &actions));
        } else {
            stream_out(s, 0, LEFT, 1000);
            all_in(s, b, 4);
            printf("%.4s\n", b);
        }
        close(s);
    }
    MUST(posix_spawn_file_actions_destroy(&actions) == 0);
}
