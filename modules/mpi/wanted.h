/* What options ask of a link, and of the library. */
#ifndef PIPEGAUGE_MPI_WANTED_H
#define PIPEGAUGE_MPI_WANTED_H

#include "settings.h"
#include "waiting.h"

#include <string.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

/* Receives that may be kept posted, and bytes of memory that they may take together. */
enum { MOST_AHEAD = 256, MOST_AHEAD_BYTES = 1 << 30 };

/* Of a network interface's name (IFNAMSIZ, less its end). */
enum { MOST_INTERFACE = 15 };
#define LOOPBACK "lo"

enum { STANDARD, SYNCHRONOUS, BLOCKING };
static const char *const modes[] = {"standard", "synchronous", "blocking", NULL};
enum { SHM, TCP };
static const char *const overs[] = {"shm", "tcp", NULL};
enum { POLL, YIELD };
static const char *const waits[] = {"poll", "yield", NULL};
enum { ALLOCATED, DYNAMIC };
static const char *const windows[] = {"allocated", "dynamic", NULL};
enum { NONE, THREAD };
static const char *const progresses[] = {"none", "thread", NULL};

/* MPICH's one-sided operations are messages that the target's library acts upon, whatever carries them; Open MPI's are copies by the origin. */
#ifdef OPEN_MPI
enum { PROGRESS = NONE };
#define PROGRESS_WORDS "none"
#else
enum { PROGRESS = THREAD };
#define PROGRESS_WORDS "thread"
#endif

/* What options ask of a link, and of the library. */
struct wanted {
    /* Of `modes`. */
    int mode;
    /* Of `overs`; -1 where the library chooses. */
    int over;
    /* Bytes; 0 where it is the library's own. */
    uint64_t eager;
    /* Of `waits`. */
    int wait;
    /* Receives that are kept posted, and the largest message of each. */
    uint64_t ahead, ahead_size;
    /* Of `windows`, and the bytes of one that is allocated. */
    int window;
    uint64_t window_size;
    /* Of `progresses`. */
    int progress;
    /* The interface of messages over TCP. */
    const char *interface;
};

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "mode",
     .help = "how messages are sent: MPI_Isend; MPI_Issend, which waits for the receiver; or MPI_Send, and MPI_Recv, which wait in the library",
     .by_default = "standard",
     .form = PIPEGAUGE_ONE_OF,
     .words = modes},
    {.size = sizeof(struct pipegauge_option),
     .name = "over",
     .help = "what carries the messages: shared memory, or TCP over the loopback interface or another (interface)",
     .by_default = "shm",
     .form = PIPEGAUGE_ONE_OF,
     .words = overs},
    {.size = sizeof(struct pipegauge_option),
     .name = "interface",
     .help = "with over=tcp: the network interface that carries the messages, which has this name where each rank runs",
     .by_default = LOOPBACK,
     .form = PIPEGAUGE_WORD,
     .most = MOST_INTERFACE},
    {.size = sizeof(struct pipegauge_option),
     .name = "eager-limit",
     .help = EAGER_HELP,
     .by_default = EAGER,
     .form = PIPEGAUGE_BYTES,
     .knob = PIPEGAUGE_EAGER,
     .least = 256,
     .most = 1 << 20},
    {.size = sizeof(struct pipegauge_option),
     .name = "wait",
     .help = "what a wait does between two tests: nothing, or sched_yield(), so that two ranks on one CPU take turns",
     .by_default = "poll",
     .form = PIPEGAUGE_ONE_OF,
     .words = waits},
    {.size = sizeof(struct pipegauge_option),
     .name = "ahead",
     .help = "receives that are kept posted, 1 to 256, from which messages are copied; 0: each is posted when it is asked for",
     .by_default = "0",
     .form = PIPEGAUGE_WHOLE,
     .least = 0,
     .most = MOST_AHEAD,
     .unit = "receives"},
    {.size = sizeof(struct pipegauge_option),
     .name = "ahead-size",
     .help = "with ahead=N: bytes of each receive that is kept posted, which are the largest message then",
     .by_default = "1MiB",
     .form = PIPEGAUGE_BYTES,
     .least = 1 << 10,
     .most = MOST_AHEAD_BYTES},
    {.size = sizeof(struct pipegauge_option),
     .name = "window",
     .help = "the memory of put and get: of MPI_Win_allocate, or attached to a window of MPI_Win_create_dynamic",
     .by_default = "allocated",
     .form = PIPEGAUGE_ONE_OF,
     .words = windows},
    {.size = sizeof(struct pipegauge_option),
     .name = "window-size",
     .help = "with window=allocated: bytes of each rank that put and get can reach",
     .by_default = "64MiB",
     .form = PIPEGAUGE_BYTES,
     .least = 1 << 20,
     .most = UINT64_C(1) << 36},
    {.size = sizeof(struct pipegauge_option),
     .name = "progress",
     .help = "put and get: a thread of the side that is reached calls the library all along, or none does",
     .by_default = PROGRESS_WORDS,
     .form = PIPEGAUGE_ONE_OF,
     .words = progresses},
};

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {STANDARD, -1, 0, POLL, 0, 1 << 20, ALLOCATED, 64 << 20, PROGRESS, LOOPBACK};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "mode") == 0)
            wanted.mode = word_of(modes, one->text);
        if (strcmp(one->name, "over") == 0)
            wanted.over = word_of(overs, one->text);
        if (strcmp(one->name, "eager-limit") == 0)
            wanted.eager = one->whole;
        if (strcmp(one->name, "wait") == 0)
            wanted.wait = word_of(waits, one->text);
        if (strcmp(one->name, "ahead") == 0)
            wanted.ahead = one->whole;
        if (strcmp(one->name, "ahead-size") == 0)
            wanted.ahead_size = one->whole;
        if (strcmp(one->name, "window") == 0)
            wanted.window = word_of(windows, one->text);
        if (strcmp(one->name, "window-size") == 0)
            wanted.window_size = one->whole;
        if (strcmp(one->name, "progress") == 0)
            wanted.progress = word_of(progresses, one->text);
        if (strcmp(one->name, "interface") == 0)
            wanted.interface = one->text;
    }
    return wanted;
}

/* Whether what is asked goes together. */
static int possible(struct wanted wanted, error *e)
{
    if (wanted.ahead > MOST_AHEAD)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "ahead is a number from 0 to 256");
    if (wanted.ahead * wanted.ahead_size > MOST_AHEAD_BYTES)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "ahead times ahead-size is more than 1 GiB of memory: make one of them smaller");
    if (wanted.mode == BLOCKING && wanted.ahead)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "MPI_Recv takes no message from a receive that is kept posted: leave out mode=blocking, or ahead");
    if (wanted.mode == BLOCKING && wanted.wait == YIELD)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "MPI_Send and MPI_Recv wait in the library, as it does: leave out mode=blocking, or wait=yield");
    if (wanted.over != TCP && strcmp(wanted.interface, LOOPBACK) != 0)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "an interface carries messages over TCP alone: set over=tcp, too");
    return PIPEGAUGE_OK;
}

#endif
