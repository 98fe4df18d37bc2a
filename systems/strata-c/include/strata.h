/* strata.h: group communication from composable protocol layers.
 *
 * Processes join a group by name; what one casts, all members are given, in the order and with the guarantees that the stack of layers names.
 * What holds of stacks, views and faults is in the README of systems/strata. Link with libstrata_c.so or libstrata_c.a (the package strata-c).
 *
 * Functions that can fail return 0 or more, or a negative enum strata_code, or a null pointer, and write a sentence into `error` (which may be null).
 * A group is used by one thread at a time. It answers the other members only within strata_next(): call that often, or whenever strata_fd() is readable.
 */
#ifndef STRATA_H
#define STRATA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum strata_code {
    /* The group is behind: call strata_next() until it returns 0, then try again. */
    STRATA_AGAIN = -1,
    /* What was asked for can't be: a stack that lacks something, a message that is too large, a null pointer. */
    STRATA_REFUSED = -2,
    /* No contact let this member in within the patience. */
    STRATA_NOBODY = -3,
    /* The system refused. */
    STRATA_SYSTEM = -4,
    /* This member has left. */
    STRATA_GONE = -5
};

struct strata_error {
    char text[512];
};

/* Null or 0 in any member stands for its default. */
struct strata_options {
    /* The group's name. Default "strata". */
    const char *group;
    /* The stack, the same for all members. Default "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:udp"; one that ends in "shm" is for processes of one user on one host. */
    const char *stack;
    /* This member's address, which the others must reach. Default "127.0.0.1:0"; port 0 lets a free one be chosen. Over shm it is
     * a name that others find this member by. */
    const char *bind;
    /* Addresses of members to ask, separated by commas. None: this member is the first. */
    const char *contacts;
    /* Where casts go, for stacks over multicast, such as "239.1.2.3:7000". */
    const char *multicast;
    /* The 32 bytes that members of stacks with SIGN or CRYPT share. */
    const uint8_t *key;
    /* Silence after which a member is suspected. Default 1000. */
    uint32_t suspect_ms;
    /* How long contacts are asked. Default 5000. Less than 0: strata_join() asks, and returns at once; a view with others tells when they have let
     * this member in. Stacks with MERGE go on asking, others give up after half a second. */
    int32_t patience_ms;
    /* Not 0: who joins is given the group's state (STRATA_WANTED, STRATA_STATE). The same for all members. */
    int state;
};

/* One life of one member. */
struct strata_member {
    /* Such as "127.0.0.1:40213"; ends with 0. */
    char address[64];
    uint64_t born;
};

enum strata_kind {
    /* A message: from, bytes, cast, transitional. */
    STRATA_MESSAGE = 1,
    /* The view from here on: members (the oldest first), view, primary. */
    STRATA_VIEW = 2,
    /* Something to tell a person: bytes, without a 0. */
    STRATA_NOTICE = 3,
    /* This member has left: nothing comes after it. */
    STRATA_LEFT = 4,
    /* Call strata_give() with the state as it is after all that came before. Nothing comes until then. */
    STRATA_WANTED = 5,
    /* The group's state: bytes. Put it in the place of what this member had. */
    STRATA_STATE = 6,
    /* The others know that this member has the state. */
    STRATA_COUNTED = 7,
    /* None in this view has the state. */
    STRATA_ORPHANED = 8
};

/* What it points to lives until the next call with this group. */
struct strata_event {
    enum strata_kind kind;
    struct strata_member from;
    /* 1: cast to all; 0: sent to this member. */
    int cast;
    /* 1: delivered as a view ended, by a promise among those alone that move on together. */
    int transitional;
    const uint8_t *bytes;
    size_t len;
    const struct strata_member *members;
    size_t member_count;
    /* The number of the view's name. */
    uint64_t view;
    /* With `state`: 1 where the view is primary. */
    int primary;
};

struct strata_group;

/* Joins. Where there are contacts, waits for one to let this member in, for the patience at most: members of the same thread don't answer meanwhile.
 * `options` may be null. */
struct strata_group *strata_join(const struct strata_options *options, struct strata_error *error);
/* Ends the member, as a crash would if it has not left. */
void strata_free(struct strata_group *group);

/* Who this is. */
int strata_self(const struct strata_group *group, struct strata_member *self, struct strata_error *error);

/* Casts to all members of the view, this one included; sends to one. Neither waits. They go out with the next strata_next() or strata_flush(). */
int strata_cast(struct strata_group *group, const void *bytes, size_t len, struct strata_error *error);
int strata_send(struct strata_group *group, const struct strata_member *to, const void *bytes, size_t len,
                struct strata_error *error);
int strata_flush(struct strata_group *group, struct strata_error *error);

/* The next event, at the latest after `limit_ms` (0: does not wait). 1: there is one; 0: there is none. */
int strata_next(struct strata_group *group, uint32_t limit_ms, struct strata_event *event, struct strata_error *error);

/* A descriptor for poll(), readable when strata_next() has something to do. Call strata_next() until it returns 0, then wait for it. It is the
 * group's: don't close it. */
int strata_fd(struct strata_group *group, struct strata_error *error);

/* Answers STRATA_WANTED. 1: somebody still needs it; 0: nobody does. */
int strata_give(struct strata_group *group, const void *state, size_t len, struct strata_error *error);

/* Begins to leave: STRATA_LEFT comes when the others have all that this member cast, or after 5 seconds (10 with a state) and a view change; then a
 * STRATA_NOTICE before it says how many casts may be lost. */
int strata_leave(struct strata_group *group, struct strata_error *error);

#ifdef __cplusplus
}
#endif
#endif
