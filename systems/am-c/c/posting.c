/* Receive posting: two messages, the first into a buffer that the receiver posted, the second through the ring.
 *
 *   cargo build --release -p am-c
 *   cc -I systems/am/include systems/am-c/c/posting.c target/release/libam_c.a -lpthread -ldl -lm -o posting && ./posting
 */
#include <am.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEN = 100000 };

static void die(const char *what, const struct am_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->text);
    exit(1);
}

static void sender(const char *name)
{
    struct am_error error;
    struct am_received word;
    struct am_posting *posting = am_posting_connect(name, NULL, &error);
    static char message[LEN];
    if (!posting) die("connecting", &error);
    /* The receiver has posted. */
    if (am_receive(posting, 10000, &word, &error) != 1) die("waiting", &error);
    for (int i = 1; i <= 2; i++) {
        memset(message, i, sizeof message);
        if (am_send(posting, message, sizeof message, &error) < 0) die("sending", &error);
    }
    am_posting_free(posting);
    exit(0);
}

int main(void)
{
    struct am_error error;
    struct am_listener *listener;
    struct am_posting *posting;
    char name[64];
    void *buffer;
    uint64_t token;
    pid_t child;
    int status;
    snprintf(name, sizeof name, "posting-c-%d", (int)getpid());
    if (!(listener = am_listen(name, NULL, &error))) die("listening", &error);
    child = fork();
    if (child == 0) sender(name);
    if (!(posting = am_posting_accept(listener, &error))) die("accepting", &error);
    if (!(buffer = am_posting_buffer(posting, LEN, &token, &error))) die("a buffer", &error);
    if (am_post(posting, token, &error)) die("posting", &error);
    if (am_send(posting, "go", 2, &error) < 0) die("sending", &error);
    for (int i = 1; i <= 2; i++) {
        struct am_received got;
        struct am_copied copied;
        if (am_receive(posting, 10000, &got, &error) != 1) die("receiving", &error);
        am_posting_copied(posting, &copied);
        if (got.len != LEN || ((const char *)got.bytes)[LEN - 1] != i || got.in_place != (got.bytes == buffer)) return 1;
        printf("message %d: %s, %lu bytes copied by the receiver so far\n", i, got.in_place ? "in place" : "through the ring",
               (unsigned long)copied.out_of_ring);
    }
    if (am_posting_release(posting, token)) return 1;
    am_posting_free(posting);
    am_listener_free(listener);
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
