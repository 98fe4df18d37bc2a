/* pipegauge.h: a transport of your own, in C or in anything that can be called from C.
 *
 * A module is a shared library, NAME.so, with one entry point, pipegauge_module(). pipegauge finds it by its name
 * (`pipegauge run NAME`) and measures it exactly as it measures the transports that it has built in: two processes load the
 * module, one listens, the other connects, and both send and receive messages. The command itself never loads it.
 *
 * `pipegauge module new NAME` writes a module that works; `pipegauge module check FILE` tries everything that is said here on
 * one and says what is wrong. docs/modules.md walks from the first to a finished module.
 *
 * Rules that hold throughout:
 * - This header needs nothing but C99 and is the same for every module. Members are only ever added at the end of a struct, whose
 *   first member is its size: what lies beyond the size that was given is not there. So modules that were compiled before a member
 *   was added go on working.
 * - A function that can fail returns a code of enum pipegauge_code: PIPEGAUGE_OK, or what went wrong, and writes a sentence into
 *   `error->text` (what was tried, what was found). The text may be left empty.
 * - Every wait is bounded: a function that has waited for `patience` seconds without progress returns PIPEGAUGE_STALLED, and one
 *   that waits looks at terms->stopped at least ten times a second and returns PIPEGAUGE_INTERRUPTED once that is not 0.
 * - A link is used by one thread at a time. Several links may be in use at once, by several threads.
 * - Texts are UTF-8 and end with 0. What a module returns as a pointer stays valid until it is unloaded.
 */
#ifndef PIPEGAUGE_H
#define PIPEGAUGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. */
#define PIPEGAUGE_ABI 1

/* What came of a call. */
enum pipegauge_code {
    PIPEGAUGE_OK = 0,
    /* The peer closed its end, or its process ended. */
    PIPEGAUGE_CLOSED = 1,
    /* Nothing moved for the whole of the patience. */
    PIPEGAUGE_STALLED = 2,
    /* terms->stopped was not 0. */
    PIPEGAUGE_INTERRUPTED = 3,
    /* A message of an unreliable path did not arrive within terms->loss_timeout. Only without PIPEGAUGE_RELIABLE. */
    PIPEGAUGE_LOST = 4,
    /* The message is larger than the path carries. */
    PIPEGAUGE_TOO_LARGE = 5,
    /* What is put or got lies outside of what is exposed. */
    PIPEGAUGE_OUTSIDE = 6,
    /* The module can't do this. */
    PIPEGAUGE_UNSUPPORTED = 7,
    /* What arrived breaks the path's own rules. */
    PIPEGAUGE_PROTOCOL = 8,
    /* The system or a library refused. */
    PIPEGAUGE_SYSTEM = 9
};

/* Why a call failed. */
struct pipegauge_error {
    /* Of this struct, as pipegauge knows it: no more is written. */
    size_t size;
    char text[240];
};

/* What a path can do: bits of pipegauge_capabilities.bits. A bit never changes its meaning. */
/* One receive returns one whole message. Without it the path is a stream of bytes. */
#define PIPEGAUGE_MESSAGES (UINT64_C(1) << 0)
/* Messages arrive in the order in which they were sent. */
#define PIPEGAUGE_ORDERED (UINT64_C(1) << 1)
/* Messages are neither lost nor duplicated. */
#define PIPEGAUGE_RELIABLE (UINT64_C(1) << 2)
/* Both ends can send at once: exchange() is there. */
#define PIPEGAUGE_DUPLEX (UINT64_C(1) << 3)
/* A receive can wait with a deadline: ready() is there. */
#define PIPEGAUGE_POLL (UINT64_C(1) << 4)
/* Both processes must be on one host. */
#define PIPEGAUGE_LOCAL_ONLY (UINT64_C(1) << 5)
/* The table of one-sided operations is there. */
#define PIPEGAUGE_ONE_SIDED (UINT64_C(1) << 6)
/* The table of queued operations is there. */
#define PIPEGAUGE_QUEUED (UINT64_C(1) << 7)
/* The table of collective operations is there. */
#define PIPEGAUGE_COLLECTIVE (UINT64_C(1) << 8)
/* The table of a group is there: a link is one member of several. Not beside PIPEGAUGE_COLLECTIVE. */
#define PIPEGAUGE_GROUP (UINT64_C(1) << 9)

struct pipegauge_capabilities {
    size_t size;
    uint64_t bits;
    /* Largest message, bytes; 0 where only memory limits it. At least 32, and 40 in a group: by messages of so many
       the two sides of a connection show each other that they are meant. */
    uint64_t largest;
};

/* What values an option takes. */
enum pipegauge_form {
    /* "on" or "off": setting.whole is 1 or 0. */
    PIPEGAUGE_SWITCH = 0,
    /* A size of `least` to `most` bytes: setting.whole. */
    PIPEGAUGE_BYTES = 1,
    /* A time of `low` to `high` seconds: setting.real. */
    PIPEGAUGE_SECONDS = 2,
    /* A whole number of `least` to `most`, of any size where `most` is 0: setting.whole. */
    PIPEGAUGE_WHOLE = 3,
    /* A share of 0 to 1: setting.real. */
    PIPEGAUGE_SHARE = 4,
    /* A rate above 0, bits a second: setting.real. */
    PIPEGAUGE_RATE = 5,
    /* One of `words`: setting.text. */
    PIPEGAUGE_ONE_OF = 6,
    /* A word of at most `most` letters, digits, '-' and '_': setting.text. */
    PIPEGAUGE_WORD = 7
};

/* What an option is a knob of, which `pipegauge explain` moves to see whether a dip or step goes along: an eager limit to twice what took
 * effect (effective()), the others to half of it. Where effective() says nothing, `by_default` counts if it is a size. */
enum pipegauge_knob {
    PIPEGAUGE_NO_KNOB = 0,
    /* A buffer of the path. */
    PIPEGAUGE_BUFFER = 1,
    /* The largest packet or frame. */
    PIPEGAUGE_PACKET = 2,
    /* The largest message that is sent before the receiver asks for it. */
    PIPEGAUGE_EAGER = 3
};

/* One thing that can be set on a path, as `NAME:option=value`. Members are named where one is filled in (`.name = "buffer"`): there may be more of them in
 * a later header. */
struct pipegauge_option {
    size_t size;
    /* Lower-case letters, digits and '-'. */
    const char *name;
    /* What it does, in one line. */
    const char *help;
    /* What holds where nobody sets it: a value as it is typed, or words ("the library's"). */
    const char *by_default;
    enum pipegauge_form form;
    enum pipegauge_knob knob;
    /* Bounds of a size and of a whole number, both included; `most` is also the longest word. */
    uint64_t least;
    uint64_t most;
    /* Bounds of a time, seconds. */
    double low;
    double high;
    /* The words that there are, NULL after the last. */
    const char *const *words;

    /* Added after the first modules: what a whole number counts ("messages", "us"), for lists and help. NULL where it is a mere number. Sizes are
       bytes, times seconds and rates bits a second anyway. */
    const char *unit;
};

/* One option as it was set. Only options that somebody set are handed over; values are within their bounds. */
struct pipegauge_setting {
    const char *name;
    uint64_t whole;
    double real;
    const char *text;
};

struct pipegauge_settings {
    size_t size;
    size_t count;
    const struct pipegauge_setting *all;
};

/* What bounds a link's waits. Valid as long as the listener or link that was made with it. */
struct pipegauge_terms {
    size_t size;
    /* Longest time without progress, seconds. */
    double patience;
    /* After so many seconds a message of an unreliable path counts as lost. */
    double loss_timeout;
    /* Not 0 once all waiting is to end. Read it with pipegauge_stopped(). */
    const volatile unsigned char *stopped;
};

/* Whether all waiting is to end. */
static inline int pipegauge_stopped(const struct pipegauge_terms *terms)
{
    return *terms->stopped != 0;
}

/* The module's own: what waits for connections, and one end of a connection. */
typedef struct pipegauge_listener pipegauge_listener;
typedef struct pipegauge_link pipegauge_link;

/* Memory that one side exposes and the other writes and reads without its help (PIPEGAUGE_ONE_SIDED). */
struct pipegauge_one_sided {
    size_t size;
    /* Makes `len` bytes ready to be exposed, so that they can be filled before the peer reaches them. New memory is all 0. */
    int (*reserve)(pipegauge_link *, size_t len, struct pipegauge_error *);
    /* Exposes `len` bytes to the peer, those that were made ready or exposed before where there are so many, with what is in them. */
    int (*expose)(pipegauge_link *, size_t len, struct pipegauge_error *);
    /* Writes and reads what this side reserved or exposes. Here, in put() and in get(), `at + len` lies within it. */
    int (*fill)(pipegauge_link *, size_t at, const void *from, size_t len, struct pipegauge_error *);
    int (*read)(pipegauge_link *, size_t at, void *into, size_t len, struct pipegauge_error *);
    /* Waits at most `seconds` until the peer has left what is exposed, and withdraws it: *left becomes 1. Else 0. */
    int (*withdraw)(pipegauge_link *, double seconds, int *left, struct pipegauge_error *);
    /* The other side: waits until the peer exposes `len` bytes. */
    int (*reach)(pipegauge_link *, size_t len, struct pipegauge_error *);
    /* Writes; returns when `from` may be used again, which may be before the bytes are there. */
    int (*put)(pipegauge_link *, size_t at, const void *from, size_t len, struct pipegauge_error *);
    /* Reads; returns when the bytes are here. */
    int (*get)(pipegauge_link *, size_t at, void *into, size_t len, struct pipegauge_error *);
    /* Returns when all that was put is there. */
    int (*fence)(pipegauge_link *, struct pipegauge_error *);
    /* Is done with what the peer exposes. */
    int (*leave)(pipegauge_link *, struct pipegauge_error *);
};

/* Sends that complete later (PIPEGAUGE_QUEUED). */
struct pipegauge_queued {
    size_t size;
    /* Begins to send. The memory is the path's until poll() says that the post is done. Posts are numbered from 1. */
    int (*post)(pipegauge_link *, const void *message, size_t len, struct pipegauge_error *);
    /* How many were posted so far. */
    uint64_t (*posted)(const pipegauge_link *);
    /* Waits at most `seconds` until the first `until` posts are done; *done is how many of the first are. */
    int (*poll)(pipegauge_link *, uint64_t until, double seconds, uint64_t *done, struct pipegauge_error *);
};

/* What all members of a group do together (PIPEGAUGE_COLLECTIVE). A group is joined over links that are connected already. Then all members
 * call the same functions in the same order with the same `len`; each returns when this member's part is done: its memory may be used
 * again, and what it gets is there. */
struct pipegauge_collective {
    size_t size;
    /* Makes the first of these links a member of a group of `members`. All members call it. That of rank 0 has a link to each other one,
       in the order of their ranks from 1 on; each other one has one link, to rank 0. The links stay until all of them are closed. */
    int (*join)(pipegauge_link *const *links, size_t count, uint32_t rank, uint32_t members, struct pipegauge_error *);
    /* Returns once all members have called it. */
    int (*barrier)(pipegauge_link *, struct pipegauge_error *);
    /* The `len` bytes of rank 0 go to all others. */
    int (*broadcast)(pipegauge_link *, void *message, size_t len, struct pipegauge_error *);
    /* Adds up the messages of all members as uint64_t, modulo 2^64, and gives each the sums. `len` is a multiple of 8. */
    int (*allreduce)(pipegauge_link *, const void *mine, void *sums, size_t len, struct pipegauge_error *);
    /* Gives each member the messages of all, `len` bytes each, in the order of their ranks. */
    int (*allgather)(pipegauge_link *, const void *mine, void *all, size_t len, struct pipegauge_error *);
    /* Each member has a message of `len` bytes for each, in the order of their ranks, and gets one of each. */
    int (*all_to_all)(pipegauge_link *, const void *out, void *into, size_t len, struct pipegauge_error *);
};

/* Which order of casts a group promises. */
enum pipegauge_order {
    /* Those of one sender come in its order. */
    PIPEGAUGE_OF_EACH_SENDER = 0,
    /* All come in one order at all members. */
    PIPEGAUGE_OF_ALL = 1
};

/* Members of a group that cast messages to each other (PIPEGAUGE_GROUP). send() and recv() are used before join() alone. */
struct pipegauge_group {
    size_t size;
    /* As `join` of the collectives: rank 0 has a link to each other member, in the order of their ranks, each other one has one link, to rank 0. It
       returns once all are members; casts and answers go through the first link from then on. Whoever leaves later ends the group:
       calls return PIPEGAUGE_CLOSED. */
    int (*join)(pipegauge_link *const *links, size_t count, uint32_t rank, uint32_t members, struct pipegauge_error *);
    /* Which order of casts it promises. */
    enum pipegauge_order (*order)(const pipegauge_link *);
    /* Whether this member's own casts are to be delivered to it, too, from here on; at first they are not. *hears is whether they are. */
    int (*hear_itself)(pipegauge_link *, int asked, int *hears, struct pipegauge_error *);
    /* Sends one message to all members; returns when the memory may be used again. It may be kept until flush() or the next wait, so that
       several leave together. */
    int (*cast)(pipegauge_link *, const void *message, size_t len, struct pipegauge_error *);
    /* The next cast, of exactly `len` bytes: its sender's rank, and which of that sender's casts it is, from 1 on and wrapping. Answers that come
       meanwhile are kept. */
    int (*deliver)(pipegauge_link *, void *message, size_t len, uint32_t *from, uint32_t *number, struct pipegauge_error *);
    /* Sends one message to rank 0, or from rank 0 to the member of that rank. */
    int (*answer)(pipegauge_link *, uint32_t to, const void *message, size_t len, struct pipegauge_error *);
    /* The next answer to this member, of exactly `len` bytes, and who sent it. Casts that come meanwhile are kept. */
    int (*answered)(pipegauge_link *, void *message, size_t len, uint32_t *from, struct pipegauge_error *);
};

/* A module. */
struct pipegauge_module {
    size_t size;
    /* PIPEGAUGE_ABI of the header that it was compiled with. */
    uint32_t abi;
    /* Its name: lower-case letters, digits, '-' and '_', a letter or digit first, at most 32. Its file is NAME.so. */
    const char *name;
    const char *version;
    /* What it is, in one line. */
    const char *summary;
    /* What people call it when they ask about it, NULL after the last; NULL itself where that is its name alone. */
    const char *const *spoken;
    size_t option_count;
    const struct pipegauge_option *options;

    /* Whether it can be used here, by trying what it needs. NULL where it always can. */
    int (*available)(struct pipegauge_error *);
    /* What a path with these settings can do. `out->size` is set. */
    int (*capabilities)(const struct pipegauge_settings *, struct pipegauge_capabilities *out, struct pipegauge_error *);

    /* Waits for connections. `host` is the address (IPv4 or IPv6, without a port) at which the other side reaches this one. */
    int (*listen)(const struct pipegauge_settings *, const char *host, const struct pipegauge_terms *, pipegauge_listener **,
                  struct pipegauge_error *);
    /* Where the listener waits: a text of the module's own that the other side is given. At most `room` bytes with the 0 at its end. */
    int (*address)(pipegauge_listener *, char *out, size_t room, struct pipegauge_error *);
    /* The next connection. Strangers may come too: both sides show each other a secret over the link before it is used. */
    int (*accept)(pipegauge_listener *, pipegauge_link **, struct pipegauge_error *);
    void (*unlisten)(pipegauge_listener *);
    /* Connects to the listener of this address. `host` is the other side's own address: what uses IP goes there and nowhere else. */
    int (*connect)(const struct pipegauge_settings *, const char *address, const char *host, const struct pipegauge_terms *,
                   pipegauge_link **, struct pipegauge_error *);

    /* Sends one message; returns when the memory may be used again. */
    int (*send)(pipegauge_link *, const void *message, size_t len, struct pipegauge_error *);
    /* Receives one message of exactly `len` bytes; one of another length is PIPEGAUGE_PROTOCOL. */
    int (*recv)(pipegauge_link *, void *message, size_t len, struct pipegauge_error *);
    /* Sends and receives at once: neither waits for the other. NULL without PIPEGAUGE_DUPLEX. */
    int (*exchange)(pipegauge_link *, const void *out, size_t out_len, void *into, size_t into_len, struct pipegauge_error *);
    /* Waits at most `seconds` until a receive would find something (0 only looks): *is becomes 1, or 0. NULL without PIPEGAUGE_POLL. */
    int (*ready)(pipegauge_link *, double seconds, int *is, struct pipegauge_error *);
    /* Hands all that was sent to the path. NULL where send() does. */
    int (*flush)(pipegauge_link *, struct pipegauge_error *);
    /* What took effect of an option on this link, as a value that could be typed: at most `room` bytes with the 0 at its end; empty where that
       is not known. NULL where nothing is. */
    int (*effective)(pipegauge_link *, const char *option, char *out, size_t room, struct pipegauge_error *);
    /* Ends the link and frees it; the peer's receives return PIPEGAUGE_CLOSED. */
    void (*close)(pipegauge_link *);

    /* Memory that messages lie in, where the path needs its own (registered, shared): `len` bytes, the first `offset` bytes after a multiple
       of `align`, a power of two. Both NULL where any memory will do. All of it is given back before close() is called. */
    int (*take)(pipegauge_link *, size_t len, size_t align, size_t offset, void **memory, struct pipegauge_error *);
    void (*give_back)(pipegauge_link *, void *memory, size_t len);

    const struct pipegauge_one_sided *one_sided;
    const struct pipegauge_queued *queued;

    /* The words of a command that starts the processes of a path together, as MPI needs it, NULL after the last; "{n}" in them stands for how many.
       A word "{OPTION:WORD}" is WORD where this option is set, with "{}" in it for what it is set to, and none where it is not.
       What it starts gets the command's environment. NULL where processes need nothing of that sort. */
    const char *const *launch;
    /* Called first of all, once, in each process that `launch` started, with what the path is set to: what a library reads when it begins is set
       here, and what takes all processes at once (MPI_Init) is done here. NULL where nothing is. */
    int (*prepare)(const struct pipegauge_settings *, struct pipegauge_error *);

    /* Added after the first modules: tables that end before it have none. */
    const struct pipegauge_collective *collective;
    const struct pipegauge_group *group;
};

/* The entry point. `abi` is the version that pipegauge has; NULL where the module can't serve it. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct pipegauge_module *pipegauge_module(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
