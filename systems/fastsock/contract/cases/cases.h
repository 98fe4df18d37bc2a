/* What the sockets interface promises, as a program: a server and a client that go through the cases in step and print what they saw.
 * It knows nothing of libfastsock.so, but for asking at the end of a warm-up whether the connection is fast (to standard error).
 * What is printed to standard output must be the same with and without the library, on either side.
 *
 *   contract server CASE     prints its port, serves one connection
 *   contract client CASE PORT
 *
 * Here is what the files share: main.c begins, help.c has what the cases have in common, the others have the cases.
 */
#ifndef CASES_H
#define CASES_H
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* This program's name, and how many signals count() has seen. */
extern const char *self;
extern volatile sig_atomic_t signals;

void die(const char *what) __attribute__((noreturn));
#define MUST(x) do { if (!(x)) die(#x); } while (0)
const char *name(int e);
unsigned char byte_at(unsigned long i);
void fill(unsigned char *to, size_t n, unsigned long from);
void check(const unsigned char *got, size_t n, unsigned long from);
void all_out(int fd, const void *p, size_t n);
void all_in(int fd, void *p, size_t n);
unsigned long to_end(int fd, unsigned long from);
void stream_out(int fd, unsigned long from, unsigned long n, size_t most);
void stream_in(int fd, unsigned long from, unsigned long n);
void sync_send(int fd);
void sync_wait(int fd);
void nap(int ms);
double now(void);
void count(int s);
void set_nonblocking(int fd);
unsigned long fill_up(int fd, unsigned long from);
int waits(int e, int ms);
void in_set(int e, int op, int fd, unsigned events, unsigned word);
void all_there(int fd, int n);
extern const char *begin_by;
pid_t begin_reader(int number, unsigned long from, unsigned long all, int told, posix_spawn_file_actions_t *actions);
void ended(pid_t child);
int begun_with(int argc, char **argv);
int door(int fd, int server, int backlog, struct sockaddr_in *a);
int handed_over(int s);
int connected(struct sockaddr_in *a);
int fast_now(int fd);
int own_ring(void);
long by_instruction(long number, long a, long b, long c);
void warm(int fd, int server);

/* The cases. `server` says which side this is. */
void echo(int fd, int server);
void stream(int fd, int server);
void lists(int fd, int server);
void half_close(int fd, int server);
void peek(int fd, int server);
void nonblocking(int fd, int server);
void timeouts(int fd, int server);
void signalled(int fd, int server);
void reset(int fd, int server);
void broken_pipe(int fd, int server);
void duplicates(int fd, int server);
void forks(int fd, int server);
void polled(int fd, int server);
void selected(int fd, int server);
void epolled(int fd, int server);
void files(int fd, int server);
void program(int fd, int server);
void spawned(int fd, int server);
void killed(int fd, int server);
void threads(int fd, int server);
void urgent(int fd, int server);
void urgent_mark(int fd, int server);
void streams(int fd, int server);
void passed(int fd, int server);
void linger(int fd, int server);
void changed(int fd, int server);
void edges(int fd, int server);
void once(int fd, int server);
void once_early(int fd, int server);
void exclusive(int fd, int server);
void nested(int fd, int server);
void mixed(int fd, int server);
void room(int fd, int server);
void early(int fd, int server);
void set_forked(int fd, int server);
void set_filled(int fd, int server);
void set_altered(int fd, int server);
void set_outlives(int fd, int server);
void crew(int fd, int server);
void two_waits(int fd, int server);
void interrupted(int fd, int server);
void endings(int fd, int server);
void killed_in_set(int fd, int server);
void again(int fd, int server);
void again_order(int fd, int server);
void again_forked(int fd, int server);
void again_polled(int fd, int server);
void again_loop(int fd, int server);
void again_threads(int fd, int server);
void held(int fd, int server);
void standard(int fd, int server);
void standard_free(int fd, int server);
void shells(int fd, int server);
void vectors(int fd, int server);
void lists_wrong(int fd, int server);
void handlers(int fd, int server);
void kernels_own(int fd, int server);
void left_to_come(int fd, int server);
void stamped(int fd, int server);
void told_of(int fd, int server);
void handler_sends(int fd, int server);
void jumped(int fd, int server);
void at_once(int fd, int server);
void cancelled(int fd, int server);
void strict(int fd, int server);
void strict_early(int fd, int server);
void numbers(int fd, int server);
void numbers_set(int fd, int server);
void program_limited(int fd, int server);
void vector_flags(int fd, int server);
void queued(int fd, int server);
void faults(int fd, int server);
void strict_one_way(int fd, int server);
void probed(int fd, int server);
void again_cancelled(int fd, int server);
void served(int fd, int server);
void preforked(int fd, int server);
void left_unread(int fd, int server);
void urgent_behind(int fd, int server);
void left_half(int fd, int server);
void left_looked(int fd, int server);
void little_room(int fd, int server);
void little_room_ends(int fd, int server);
void program_at(int fd, int server);
void program_few(int fd, int server);
void crashed(int fd, int server);
void served_reading(int fd, int server);
void number_high(int fd, int server);
void connected_twice(int fd, int server);
void again_loop_forks(int fd, int server);
void messages_limit(int fd, int server);
void ranges(int fd, int server);
void cloned(int fd, int server);
void cloned_numbers(int fd, int server);
void cloned_memory(int fd, int server);
void cloned_waits(int fd, int server);
void program_none(int fd, int server);
void other_user(int fd, int server);
void numbers_high(int fd, int server);
void handed(int fd, int server);
void handed_late(int fd, int server);
void handed_input(int fd, int server);
void handed_leaves(int fd, int server);
void allowed(int fd, int server);
void program_many(int fd, int server);
void passed_on(int fd, int server);
void spawned_again(int fd, int server);
void little_room_jumped(int fd, int server);
void little_room_cut(int fd, int server);
void cloned_asked(int fd, int server);
void numbered(int fd, int server);
void submitted(int fd, int server);
void asked_unseen(int fd, int server);
void upper(int fd, int server);
void lingers(int fd, int server);
void drained(int fd, int server);
void vforks(int fd, int server);
void fortified(int fd, int server);
void counted(int fd, int server);

#endif
