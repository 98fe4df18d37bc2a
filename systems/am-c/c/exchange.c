/* A request and its reply, and a bulk put, between two processes. Prints what came back.
 *
 *   cargo build --release -p am-c
 *   cc -I systems/am/include systems/am-c/c/exchange.c target/release/libam_c.a -lpthread -ldl -lm -o exchange && ./exchange
 */
#include <am.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ADD = 0, WHERE = 1, STORED = 2 };

struct server {
    uint64_t token;
    const char *bytes;
    int stored;
};
struct client {
    uint64_t sum, token;
    char word[16];
    int answers;
};

static int fail(const char *what, const struct am_error *error)
{
    fprintf(stderr, "exchange: %s: %s\n", what, error->text);
    return 1;
}

/* The server's handlers. */
static void add(void *user, const struct am_message *message, struct am_answer *answer)
{
    uint64_t sum = 0;
    char word[16];
    size_t i, len = am_copy(message->payload, word, sizeof word);
    (void)user;
    for (i = 0; i < message->argument_count; i++)
        sum += message->arguments[i];
    am_reply(answer, ADD, &sum, 1, word, len, NULL);
}
static void where(void *user, const struct am_message *message, struct am_answer *answer)
{
    struct server *server = user;
    (void)message;
    am_reply(answer, WHERE, &server->token, 1, NULL, 0, NULL);
}
static void stored(void *user, const struct am_message *message, struct am_answer *answer)
{
    struct server *server = user;
    server->stored = message->payload_len == 6 && memcmp(server->bytes + 100, "stored", 6) == 0;
    am_reply(answer, STORED, NULL, 0, NULL, 0, NULL);
    if (am_reply(answer, STORED, NULL, 0, NULL, 0, NULL) != AM_ANSWERED)
        server->stored = 0;
}

/* The client's. */
static void added(void *user, const struct am_message *message)
{
    struct client *client = user;
    client->sum = message->arguments[0];
    am_copy(message->payload, client->word, sizeof client->word - 1);
    client->answers++;
}
static void there(void *user, const struct am_message *message)
{
    struct client *client = user;
    client->token = message->arguments[0];
    client->answers++;
}
static void done(void *user, const struct am_message *message)
{
    struct client *client = user;
    (void)message;
    client->answers++;
}

static int serve(struct am_listener *listener)
{
    struct am_error error;
    struct server server = {0, NULL, 0};
    struct am_request_handler requests[] = {{ADD, add, NULL}, {WHERE, where, &server}, {STORED, stored, &server}, {0, NULL, NULL}};
    struct am_endpoint *endpoint = am_accept(listener, requests, NULL, &error);
    int code;
    if (!endpoint)
        return fail("accept", &error);
    server.bytes = am_register(endpoint, 4096, &server.token, &error);
    if (!server.bytes)
        return fail("register", &error);
    while ((code = am_wait_for(endpoint, 10000, &error)) > 0)
        ;
    if (code != AM_CLOSED)
        return fail("wait", &error);
    am_endpoint_free(endpoint);
    am_listener_free(listener);
    return !server.stored;
}

static int ask(const char *name)
{
    struct am_error error;
    struct client client = {0, 0, "", 0};
    struct am_reply_handler replies[] = {{ADD, added, &client}, {WHERE, there, &client}, {STORED, done, &client}, {0, NULL, NULL}};
    uint64_t numbers[] = {1, 2, 3};
    struct am_endpoint *endpoint = am_connect(name, NULL, replies, NULL, &error);
    if (!endpoint)
        return fail("connect", &error);
    if (am_request(endpoint, ADD, numbers, 3, "hello", 5, &error) || am_request(endpoint, WHERE, NULL, 0, NULL, 0, &error))
        return fail("request", &error);
    while (client.answers < 2)
        if (am_wait_for(endpoint, 10000, &error) <= 0)
            return fail("wait", &error);
    if (am_put(endpoint, client.token, 5000, "stored", 6, STORED, NULL, 0, &error) != AM_REFUSED)
        return fail("put outside", &error);
    if (am_put(endpoint, client.token, 100, "stored", 6, STORED, NULL, 0, &error))
        return fail("put", &error);
    while (client.answers < 3)
        if (am_wait_for(endpoint, 10000, &error) <= 0)
            return fail("wait", &error);
    printf("sum %u, word %s\n", (unsigned)client.sum, client.word);
    am_endpoint_free(endpoint);
    return 0;
}

int main(void)
{
    char name[64];
    struct am_error error;
    struct am_listener *listener;
    pid_t child;
    int status = 1, asked;
    snprintf(name, sizeof name, "c-exchange-%d", (int)getpid());
    listener = am_listen(name, NULL, &error);
    if (!listener)
        return fail("listen", &error);
    child = fork();
    if (child == 0)
        _exit(serve(listener));
    asked = ask(name);
    waitpid(child, &status, 0);
    return asked || status;
}
