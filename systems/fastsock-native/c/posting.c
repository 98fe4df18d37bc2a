/* Receive posting over a TCP connection of this host: two messages, the first into a buffer that the receiver posted, the second through the ring.
 *
 *   cargo build --release -p fastsock-native
 *   cc -I systems/fastsock/include -I systems/am/include systems/fastsock-native/c/posting.c target/release/libfastsock_native.a -lpthread -ldl -lm -o posting && ./posting
 */
#include <arpa/inet.h>
#include <fastsock.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEN = 100000 };

static void die(const char *what, const struct am_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error ? error->text : "");
    exit(1);
}

static void sender(const struct sockaddr_in *at)
{
    struct am_error error;
    struct am_received word;
    struct am_posting *posting;
    static char message[LEN];
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || connect(s, (const struct sockaddr *)at, sizeof *at)) die("connecting", NULL);
    if (!(posting = fastsock_connected(s, NULL, &error))) die("asking for receive posting", &error);
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
    struct am_posting *posting;
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    void *buffer;
    uint64_t token;
    pid_t child;
    int listener = socket(AF_INET, SOCK_STREAM, 0), s, status;
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1) || getsockname(listener, (struct sockaddr *)&at, &len)) die("listening", NULL);
    child = fork();
    if (child == 0) sender(&at);
    if ((s = accept(listener, NULL, NULL)) < 0) die("accepting", NULL);
    if (!(posting = fastsock_accepted(s, NULL, &error))) die("asking for receive posting", &error);
    if (!(buffer = am_posting_buffer(posting, LEN, &token, &error))) die("a buffer", &error);
    if (am_post(posting, token, &error)) die("posting", &error);
    if (am_send(posting, "go", 2, &error) < 0) die("sending", &error);
    for (int i = 1; i <= 2; i++) {
        struct am_received got;
        if (am_receive(posting, 10000, &got, &error) != 1) die("receiving", &error);
        if (got.len != LEN || ((const char *)got.bytes)[LEN - 1] != i || got.in_place != (got.bytes == buffer)) return 1;
        printf("message %d: %s\n", i, got.in_place ? "in place" : "through the ring");
    }
    am_posting_free(posting);
    /* A socket that is none of TCP's. */
    if (fastsock_accepted(0, NULL, &error) || fastsock_connected(-1, NULL, NULL)) return 1;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
