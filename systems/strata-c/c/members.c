/* Three members in one process, which poll() waits for: all cast, all are given all in one order; the third joins late and is given the state.
 * The stack may be given as an argument, such as FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:shm. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strata.h"

#define MEMBERS 3
#define CASTS 50
#define LOG (MEMBERS * CASTS)

struct replica {
    struct strata_group *group;
    struct strata_member self;
    /* The state: the first byte of each message, in order. */
    unsigned char log[LOG];
    size_t count;
    size_t members;
    int private_message;
    int left;
};

static struct strata_error error;
/* Null: the default. */
static const char *stack;

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, error.text);
    exit(1);
}

static void join(struct replica *at, const char *contacts) {
    struct strata_options options;
    memset(&options, 0, sizeof options);
    options.stack = stack;
    options.contacts = contacts;
    options.state = 1;
    options.suspect_ms = 20000;
    /* All are in one thread: none may wait for the others. */
    options.patience_ms = -1;
    memset(at, 0, sizeof *at);
    at->group = strata_join(&options, &error);
    if (at->group == NULL || strata_self(at->group, &at->self, &error) != 0) fail("join");
}

static void handle(struct replica *at, const struct strata_event *event) {
    switch (event->kind) {
    case STRATA_MESSAGE:
        if (!event->cast) {
            at->private_message = event->len == 2 && memcmp(event->bytes, "hi", 2) == 0;
        } else if (event->len == 1 && at->count < LOG) {
            at->log[at->count++] = event->bytes[0];
        }
        break;
    case STRATA_VIEW:
        at->members = event->member_count;
        break;
    case STRATA_WANTED:
        if (strata_give(at->group, at->log, at->count, &error) < 0) fail("give");
        break;
    case STRATA_STATE:
        if (event->len > LOG) fail("a state that is too long");
        memcpy(at->log, event->bytes, event->len);
        at->count = event->len;
        break;
    case STRATA_LEFT:
        at->left = 1;
        break;
    default:
        break;
    }
}

/* Handles what there is, then waits until one of them has more. */
static void turn(struct replica *all, size_t count) {
    struct pollfd fds[MEMBERS];
    for (size_t i = 0; i < count; i++) {
        struct strata_event event;
        int came;
        while ((came = strata_next(all[i].group, 0, &event, &error)) == 1) handle(&all[i], &event);
        if (came < 0) fail("next");
        fds[i].fd = strata_fd(all[i].group, &error);
        if (fds[i].fd < 0) fail("fd");
        fds[i].events = POLLIN;
    }
    if (poll(fds, (nfds_t)count, 60000) <= 0) fail("nothing came for a minute");
}

int main(int argc, char **argv) {
    struct replica all[MEMBERS];
    unsigned char byte;

    if (argc > 1) stack = argv[1];

    if (strata_cast(NULL, "x", 1, &error) != STRATA_REFUSED) fail("a null pointer was taken");
    struct strata_options bad;
    memset(&bad, 0, sizeof bad);
    bad.stack = "TOTAL:NAK:COM:udp";
    if (strata_join(&bad, &error) != NULL || strstr(error.text, "MBRSHIP") == NULL) fail("a stack that lacks something was taken");

    join(&all[0], NULL);
    join(&all[1], all[0].self.address);
    while (all[0].members != 2 || all[1].members != 2) turn(all, 2);
    for (int n = 0; n < CASTS; n++) {
        if (n == CASTS / 2) {
            /* The third is given what was cast before as the state. */
            while (all[0].count != 2 * (size_t)n || all[1].count != 2 * (size_t)n) turn(all, 2);
            join(&all[2], all[0].self.address);
            while (all[0].members != 3 || all[1].members != 3 || all[2].members != 3) turn(all, 3);
        }
        for (int i = 0; i < (n < CASTS / 2 ? 2 : 3); i++) {
            byte = (unsigned char)(i * CASTS + n);
            if (strata_cast(all[i].group, &byte, 1, &error) != 0) fail("cast");
            if (strata_flush(all[i].group, &error) != 0) fail("flush");
        }
    }
    const size_t casts = 2 * CASTS + CASTS / 2;
    while (all[0].count != casts || all[1].count != casts || all[2].count != casts) turn(all, 3);
    if (memcmp(all[0].log, all[1].log, casts) != 0 || memcmp(all[0].log, all[2].log, casts) != 0) fail("two orders");

    if (strata_send(all[0].group, &all[1].self, "hi", 2, &error) != 0) fail("send");
    if (strata_flush(all[0].group, &error) != 0) fail("flush");
    while (!all[1].private_message) turn(all, 3);

    if (strata_leave(all[2].group, &error) != 0) fail("leave");
    while (!all[2].left || all[0].members != 2 || all[1].members != 2) turn(all, all[2].left ? 2 : 3);
    if (strata_cast(all[2].group, "x", 1, &error) != STRATA_GONE) fail("who has left casts");
    for (int i = 0; i < MEMBERS; i++) strata_free(all[i].group);
    printf("%zu messages in one order\n", casts);
    return 0;
}
