/* MPI as a transport of pipegauge: messages between two ranks of one world, one-sided access to a window, and collectives of all ranks. The same source is the module
 * `openmpi` and the module `mpich` (see the Makefile).
 *
 * A listener is a tag of its rank; a link is a set of tags between two ranks, which the listener hands out. Every wait tests what it waits
 * for in a loop, as MPI's own blocking calls do, and looks at the clock now and then, so that no wait is without bound. The exceptions are
 * MPI_Win_flush, which MPI has no test for, and collectives, which with wait=poll are MPI's blocking calls, as programs use them: who watches over
 * this process ends one that is stuck.
 */
#define _GNU_SOURCE

#include "waiting.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

/* What a side says, each with a tag of its own: messages, that it leaves, that it exposes memory, and that it is done with the peer's. */
enum { DATA, BYE, REGION, LEFT, WORDS };
/* Each link has as many tags from its first on: those of the side that connected, and those of the other. */
enum { TAGS = 2 * WORDS };
/* The first tag that links take; those below are listeners'. */
enum { FIRST_TAG = 4096 };
/* Tests between two looks at the clock. A test that gives the CPU away may last as long as a turn of another process. */
enum { FEWEST_TESTS = 2048, FEWEST_YIELDS = 16 };
/* Receives that may be kept posted, and bytes of memory that they may take together. */
enum { MOST_AHEAD = 256, MOST_AHEAD_BYTES = 1 << 30 };
/* What a region of a window begins at a multiple of. */
enum { PAGE = 4096 };

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
    int synchronous;
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
};

/* Receives that are posted before anybody asks for a message. */
struct ahead {
    /* Of wanted.ahead messages each; NULL without. */
    MPI_Request *requests;
    unsigned char *memory;
    /* The one that the next message is in, and whether it is here: then its status. */
    size_t next;
    int here;
    MPI_Status status;
};

/* Sends under way, in a ring. */
struct posts {
    MPI_Request *ring;
    size_t room, first, count;
    uint64_t posted, done;
    /* Since when none was done, for patience; 0 where one was just now. */
    double since;
};

/* Memory that this side exposes or is to expose. */
struct region {
    unsigned char *memory;
    size_t len;
    /* Where it lies in the window. */
    MPI_Aint at;
    /* It is exposed: a thread works for the peer's accesses where the library needs one. */
    pthread_t thread;
    int has_thread;
    atomic_int over;
};

struct pipegauge_listener {
    int tag;
    const terms *terms;
    struct wanted wanted;
};

struct pipegauge_link {
    int peer;
    /* The first tags of what this side says, and of what it hears. */
    int out, in;
    int left; /* the peer has left */
    const terms *terms;
    struct wanted wanted;
    struct ahead ahead;
    struct posts posts;
    struct region own;
    /* Where in the window the peer's region lies. */
    MPI_Aint peers;
};

static int failed_in_mpi(error *e, const char *doing, int came)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;
    MPI_Error_string(came, text, &len);
    return failed_with(e, doing, text);
}

/* ---- The library: begun once in a process, and ended with it. ---- */

static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;
static int begun;
static int began = MPI_SUCCESS;
static int threads = MPI_THREAD_SINGLE;

/* The window of this world: making one takes all ranks at once, so that it is made when they begin together. Links have regions of it. */
static struct {
    MPI_Win win;
    /* Of `windows`. */
    int kind;
    /* What came of making it; MPI_ERR_WIN where there is none. */
    int came;
    /* Of this rank's part, where it is allocated. */
    unsigned char *memory;
    size_t len;
} window = {MPI_WIN_NULL, ALLOCATED, MPI_ERR_WIN, NULL, 0};

static void end(void)
{
    int is = 0;
    MPI_Finalized(&is);
    if (is)
        return;
    if (window.came == MPI_SUCCESS) {
        MPI_Win_unlock_all(window.win);
        MPI_Win_free(&window.win);
    }
    MPI_Finalize();
}

/* Whether there are one-sided operations: in Open MPI 4.1 a dynamic one fails to be made over TCP, and an allocated one bypasses it. */
static int has_window(struct wanted wanted)
{
#ifdef OPEN_MPI
    return wanted.over != TCP;
#else
    (void)wanted;
    return 1;
#endif
}

/* All ranks make the window, and begin the one epoch of accesses that it has: no lock ever conflicts. */
static void make_window(struct wanted wanted)
{
    if (!has_window(wanted))
        return;
    window.kind = wanted.window;
    if (window.kind == DYNAMIC) {
        window.came = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window.win);
    } else {
        window.len = wanted.window_size;
        window.came = MPI_Win_allocate((MPI_Aint)window.len, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window.memory, &window.win);
    }
    if (window.came != MPI_SUCCESS)
        return;
    MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
    window.came = MPI_Win_lock_all(MPI_MODE_NOCHECK, window.win);
}

static void begin(struct wanted wanted)
{
    int is = 0;
    MPI_Initialized(&is);
    if (!is)
        began = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &threads);
    if (began != MPI_SUCCESS)
        return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    make_window(wanted);
    atexit(end);
}

/* What the library reads from the environment when it begins. */
#ifdef OPEN_MPI
static int configure(struct wanted wanted, error *e)
{
    const char *below = wanted.over == TCP ? "tcp" : "vader";
    /* Sizes above this are sent in pieces: an eager message is one. */
    const uint64_t piece = wanted.over == TCP ? 131072 : 32768;
    char name[64], value[32];
    (void)e;
    if (wanted.over >= 0 || wanted.eager)
        setenv("OMPI_MCA_pml", "ob1", 1);
    if (wanted.over >= 0)
        setenv("OMPI_MCA_btl", wanted.over == TCP ? "self,tcp" : "self,vader", 1);
    /* By itself it leaves the loopback interface out. */
    if (wanted.over == TCP)
        setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
    if (wanted.eager) {
        snprintf(name, sizeof name, "OMPI_MCA_btl_%s_eager_limit", below);
        snprintf(value, sizeof value, "%llu", (unsigned long long)wanted.eager);
        setenv(name, value, 1);
        if (wanted.eager > piece) {
            snprintf(name, sizeof name, "OMPI_MCA_btl_%s_max_send_size", below);
            setenv(name, value, 1);
        }
    }
    return PIPEGAUGE_OK;
}
#else
static int configure(struct wanted wanted, error *e)
{
    char value[32];
    if (wanted.eager && wanted.over != TCP)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "MPICH's shared memory has no eager limit; mpich:over=tcp,eager-limit=... has one");
    if (wanted.over == TCP) {
        setenv("MPIR_CVAR_NOLOCAL", "1", 1);
        setenv("UCX_TLS", "tcp,self", 1);
        setenv("UCX_NET_DEVICES", "lo", 1);
    }
    if (wanted.eager) {
        snprintf(value, sizeof value, "%llu", (unsigned long long)wanted.eager);
        setenv("UCX_RNDV_THRESH", value, 1);
    }
    return PIPEGAUGE_OK;
}
#endif

static struct wanted read_settings(const settings *set);

static int ready_to_use(const settings *set, error *e)
{
    int code = PIPEGAUGE_OK;
    pthread_mutex_lock(&beginning);
    if (!begun) {
        code = configure(read_settings(set), e);
        if (code == PIPEGAUGE_OK) {
            begin(read_settings(set));
            begun = 1;
        }
    }
    pthread_mutex_unlock(&beginning);
    if (code != PIPEGAUGE_OK)
        return code;
    if (began != MPI_SUCCESS)
        return failed_in_mpi(e, "beginning to use MPI", began);
    if (threads < MPI_THREAD_MULTIPLE)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "this MPI was built without MPI_THREAD_MULTIPLE");
    return PIPEGAUGE_OK;
}

/* ---- Waiting. ---- */

/* How long a wait goes on; begins with the first look. */
struct wait {
    /* Of `waits`. */
    int kind;
    unsigned tests;
    double since;
};

/* Called after each test that found nothing: whether it is time to look at the clock, and at what else ends a wait. */
static inline int is_time(struct wait *wait)
{
    if (wait->kind == POLL)
        return ++wait->tests % FEWEST_TESTS == 0;
    /* Two processes on one CPU: the other one can go on only when this one lets it. */
    sched_yield();
    return ++wait->tests % FEWEST_YIELDS == 0;
}

/* Whether the peer has said that it leaves. */
static int has_left(pipegauge_link *link)
{
    int is = 0;
    if (!link->left && MPI_Iprobe(link->peer, link->in + BYE, MPI_COMM_WORLD, &is, MPI_STATUS_IGNORE) == MPI_SUCCESS && is)
        link->left = 1;
    return link->left;
}

/* Waits for a request of a link, which stays as it is where something else ends the wait: patience, or the peer that leaves. */
static int waited(pipegauge_link *link, MPI_Request *request, MPI_Status *status, const char *doing, error *e)
{
    struct wait wait = {link->wanted.wait, 0, 0};
    for (;;) {
        int is = 0;
        int came = MPI_Test(request, &is, status), class = 0;
        if (came != MPI_SUCCESS && MPI_Error_class(came, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE)
            return failed(e, PIPEGAUGE_PROTOCOL, "a longer message came than the one that was expected");
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, doing, came);
        if (is)
            return PIPEGAUGE_OK;
        if (!is_time(&wait))
            continue;
        int code = goes_on(&wait.since, link->terms);
        if (code == PIPEGAUGE_OK && has_left(link)) {
            /* What was sent before it left has come by now: messages of one peer keep their order. */
            came = MPI_Test(request, &is, status);
            if (came == MPI_SUCCESS && is)
                return PIPEGAUGE_OK;
            code = PIPEGAUGE_CLOSED;
        }
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

/* Nobody waits for a request any more. */
static void give_up(MPI_Request *request)
{
    if (*request == MPI_REQUEST_NULL)
        return;
    MPI_Cancel(request);
    MPI_Request_free(request);
}

/* The same; a request that is still there is given up. */
static int finished(pipegauge_link *link, MPI_Request *request, MPI_Status *status, const char *doing, error *e)
{
    int code = waited(link, request, status, doing, e);
    if (code != PIPEGAUGE_OK)
        give_up(request);
    return code;
}

/* Waits at most `seconds` until something with this tag is there, or the peer has left: *is becomes 1. */
static int probed(pipegauge_link *link, int tag, double seconds, int *is, error *e)
{
    const double until = now() + seconds;
    do {
        int came = MPI_Iprobe(link->peer, tag, MPI_COMM_WORLD, is, MPI_STATUS_IGNORE);
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, "looking for a message", came);
        if (*is || (*is = has_left(link)))
            return PIPEGAUGE_OK;
        if (pipegauge_stopped(link->terms))
            return PIPEGAUGE_INTERRUPTED;
        if (link->wanted.wait == YIELD)
            sched_yield();
    } while (now() < until);
    return PIPEGAUGE_OK;
}

/* ---- Settings. ---- */

static const char *const modes[] = {"standard", "synchronous", NULL};

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "mode",
     .help = "how messages are sent: MPI_Isend, or MPI_Issend, which waits for the receiver",
     .by_default = "standard",
     .form = PIPEGAUGE_ONE_OF,
     .words = modes},
    {.size = sizeof(struct pipegauge_option),
     .name = "over",
     .help = "what carries the messages: shared memory, or TCP over the loopback interface",
     .by_default = "shm",
     .form = PIPEGAUGE_ONE_OF,
     .words = overs},
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
     .form = PIPEGAUGE_WHOLE},
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

/* Which of these words it is. */
static int which(const char *const *words, const char *word)
{
    int at = 0;
    while (words[at + 1] && strcmp(words[at], word) != 0)
        at++;
    return at;
}

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {0, -1, 0, POLL, 0, 1 << 20, ALLOCATED, 64 << 20, PROGRESS};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "mode") == 0)
            wanted.synchronous = which(modes, one->text);
        if (strcmp(one->name, "over") == 0)
            wanted.over = which(overs, one->text);
        if (strcmp(one->name, "eager-limit") == 0)
            wanted.eager = one->whole;
        if (strcmp(one->name, "wait") == 0)
            wanted.wait = which(waits, one->text);
        if (strcmp(one->name, "ahead") == 0)
            wanted.ahead = one->whole;
        if (strcmp(one->name, "ahead-size") == 0)
            wanted.ahead_size = one->whole;
        if (strcmp(one->name, "window") == 0)
            wanted.window = which(windows, one->text);
        if (strcmp(one->name, "window-size") == 0)
            wanted.window_size = one->whole;
        if (strcmp(one->name, "progress") == 0)
            wanted.progress = which(progresses, one->text);
    }
    return wanted;
}

/* Whether receives can be kept posted as it is asked. */
static int possible(struct wanted wanted, error *e)
{
    if (wanted.ahead > MOST_AHEAD)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "ahead is a number from 0 to 256");
    if (wanted.ahead * wanted.ahead_size > MOST_AHEAD_BYTES)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "ahead times ahead-size is more than 1 GiB of memory: make one of them smaller");
    return PIPEGAUGE_OK;
}

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    const struct wanted wanted = read_settings(set);
    out->bits = PIPEGAUGE_MESSAGES | PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_DUPLEX | PIPEGAUGE_POLL | PIPEGAUGE_LOCAL_ONLY |
                PIPEGAUGE_QUEUED | PIPEGAUGE_COLLECTIVE;
    if (has_window(wanted))
        out->bits |= PIPEGAUGE_ONE_SIDED;
    /* Counts are an int. */
    out->largest = wanted.ahead ? wanted.ahead_size : 0x7fffffff;
    return possible(wanted, e);
}

/* ---- Meeting. ---- */

static atomic_int next_listener = 1;
static atomic_int next_link = FIRST_TAG;

static int listen_at(const settings *set, const char *host, const terms *terms, pipegauge_listener **out, error *e)
{
    (void)host;
    int code = possible(read_settings(set), e);
    if (code == PIPEGAUGE_OK)
        code = ready_to_use(set, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int tag = atomic_fetch_add(&next_listener, 1);
    if (tag >= FIRST_TAG)
        return failed(e, PIPEGAUGE_SYSTEM, "no tag is left to listen at");
    pipegauge_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a listener");
    *listener = (pipegauge_listener){tag, terms, read_settings(set)};
    *out = listener;
    return PIPEGAUGE_OK;
}

static int address(pipegauge_listener *listener, char *out, size_t room, error *e)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if ((size_t)snprintf(out, room, "rank %d tag %d", rank, listener->tag) >= room)
        return failed(e, PIPEGAUGE_SYSTEM, "no room for the address");
    return PIPEGAUGE_OK;
}

static void close_link(pipegauge_link *link);
static int post_ahead(pipegauge_link *link, error *e);

/* A link between this rank and another; *out is NULL where there is none to be had. */
static int link_of(int peer, int first, int accepted, const terms *terms, struct wanted wanted, pipegauge_link **out, error *e)
{
    pipegauge_link *link = calloc(1, sizeof *link);
    *out = link;
    if (!link)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
    link->peer = peer;
    link->out = first + (accepted ? WORDS : 0);
    link->in = first + (accepted ? 0 : WORDS);
    link->terms = terms;
    link->wanted = wanted;
    int code = post_ahead(link, e);
    if (code != PIPEGAUGE_OK) {
        close_link(link);
        *out = NULL;
    }
    return code;
}

/* Waits for a message that is no link's yet. */
static int came_from(int source, int tag, int *value, int *from, const terms *terms, int kind, error *e)
{
    struct wait wait = {kind, 0, 0};
    MPI_Request request;
    MPI_Status status;
    int came = MPI_Irecv(value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &request);
    if (came != MPI_SUCCESS)
        return failed_in_mpi(e, "meeting", came);
    for (int is = 0;;) {
        came = MPI_Test(&request, &is, &status);
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, "meeting", came);
        if (is) {
            *from = status.MPI_SOURCE;
            return PIPEGAUGE_OK;
        }
        int code = is_time(&wait) ? goes_on(&wait.since, terms) : PIPEGAUGE_OK;
        if (code != PIPEGAUGE_OK) {
            MPI_Cancel(&request);
            MPI_Request_free(&request);
            return code;
        }
    }
}

static int accept_next(pipegauge_listener *listener, pipegauge_link **out, error *e)
{
    int answer_at = 0, peer = 0;
    int code = came_from(MPI_ANY_SOURCE, listener->tag, &answer_at, &peer, listener->terms, listener->wanted.wait, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* Both ranks may hand out tags: those of one rank are told from the other's by their parity. */
    int first = FIRST_TAG + ((atomic_fetch_add(&next_link, 1) - FIRST_TAG) * 2 + (rank > peer)) * TAGS;
    pipegauge_link *link = NULL;
    code = link_of(peer, first, 1, listener->terms, listener->wanted, &link, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int came = MPI_Send(&first, 1, MPI_INT, peer, answer_at, MPI_COMM_WORLD);
    if (came != MPI_SUCCESS) {
        close_link(link);
        return failed_in_mpi(e, "answering", came);
    }
    *out = link;
    return PIPEGAUGE_OK;
}

static void unlisten(pipegauge_listener *listener)
{
    free(listener);
}

static int connect_to(const settings *set, const char *at, const char *host, const terms *terms, pipegauge_link **out, error *e)
{
    (void)host;
    const struct wanted wanted = read_settings(set);
    int code = possible(wanted, e);
    if (code == PIPEGAUGE_OK)
        code = ready_to_use(set, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int rank = 0, tag = 0, size = 0, first = 0, from = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (sscanf(at, "rank %d tag %d", &rank, &tag) != 2 || rank < 0 || rank >= size || tag < 1 || tag >= FIRST_TAG)
        return failed(e, PIPEGAUGE_PROTOCOL, "the address is of no rank of this world");
    int answer_at = atomic_fetch_add(&next_listener, 1);
    int came = MPI_Send(&answer_at, 1, MPI_INT, rank, tag, MPI_COMM_WORLD);
    if (came != MPI_SUCCESS)
        return failed_in_mpi(e, "connecting", came);
    code = came_from(rank, answer_at, &first, &from, terms, wanted.wait, e);
    return code == PIPEGAUGE_OK ? link_of(rank, first, 0, terms, wanted, out, e) : code;
}

/* ---- Messages. ---- */

static int start_sending(pipegauge_link *link, const void *message, size_t len, MPI_Request *request, error *e)
{
    if (link->wanted.ahead && len > link->wanted.ahead_size)
        return failed(e, PIPEGAUGE_TOO_LARGE, "the message is larger than the receives that are kept posted: set ahead-size");
    if (len > 0x7fffffff)
        return failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int");
    int (*start)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = link->wanted.synchronous ? MPI_Issend : MPI_Isend;
    int came = start(message, (int)len, MPI_BYTE, link->peer, link->out + DATA, MPI_COMM_WORLD, request);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "sending", came);
}

static int start_receiving(pipegauge_link *link, void *message, size_t len, MPI_Request *request, error *e)
{
    if (len > 0x7fffffff)
        return failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int");
    int came = MPI_Irecv(message, (int)len, MPI_BYTE, link->peer, link->in + DATA, MPI_COMM_WORLD, request);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "receiving", came);
}

static int whole(const MPI_Status *status, size_t len, error *e)
{
    int got = 0;
    MPI_Get_count(status, MPI_BYTE, &got);
    return of_length((size_t)got, len, e);
}

/* ---- Receives that are kept posted: messages are taken from them in turns, as MPI fills them. ---- */

static int post_one(pipegauge_link *link, size_t which, error *e)
{
    const size_t size = link->wanted.ahead_size;
    return start_receiving(link, link->ahead.memory + which * size, size, &link->ahead.requests[which], e);
}

/* Posts all of them. */
static int post_ahead(pipegauge_link *link, error *e)
{
    const size_t count = link->wanted.ahead;
    if (!count)
        return PIPEGAUGE_OK;
    link->ahead.memory = malloc(count * link->wanted.ahead_size);
    link->ahead.requests = malloc(count * sizeof *link->ahead.requests);
    if (!link->ahead.memory || !link->ahead.requests)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for receives that are kept posted");
    int code = PIPEGAUGE_OK;
    for (size_t i = 0; i < count; i++)
        link->ahead.requests[i] = MPI_REQUEST_NULL;
    for (size_t i = 0; i < count && code == PIPEGAUGE_OK; i++)
        code = post_one(link, i, e);
    return code;
}

/* Waits until the next message is in the receive that was posted for it. */
static int await_ahead(pipegauge_link *link, error *e)
{
    struct ahead *ahead = &link->ahead;
    if (ahead->here)
        return PIPEGAUGE_OK;
    int code = waited(link, &ahead->requests[ahead->next], &ahead->status, "receiving", e);
    ahead->here = code == PIPEGAUGE_OK;
    return code;
}

/* The next message, out of the receive that was posted for it, which is posted again. */
static int take_ahead(pipegauge_link *link, void *message, size_t len, error *e)
{
    struct ahead *ahead = &link->ahead;
    int code = await_ahead(link, e);
    if (code != PIPEGAUGE_OK)
        return code;
    code = whole(&ahead->status, len, e);
    if (code == PIPEGAUGE_OK)
        memcpy(message, ahead->memory + ahead->next * link->wanted.ahead_size, len);
    ahead->here = 0;
    /* A message of another length is the failure to tell of, whatever came of this. */
    int posted = post_one(link, ahead->next, code == PIPEGAUGE_OK ? e : &(error){.size = sizeof(error)});
    ahead->next = (ahead->next + 1) % link->wanted.ahead;
    return code == PIPEGAUGE_OK ? posted : code;
}

/* Gives up all of them. Memory that the library may still write to stays. */
static void cancel_ahead(pipegauge_link *link)
{
    struct ahead *ahead = &link->ahead;
    const double until = now() + 0.2;
    int all = 1;
    for (size_t i = 0; ahead->requests && i < link->wanted.ahead; i++) {
        int is = ahead->requests[i] == MPI_REQUEST_NULL;
        if (!is)
            MPI_Cancel(&ahead->requests[i]);
        while (!is && MPI_Test(&ahead->requests[i], &is, MPI_STATUS_IGNORE) == MPI_SUCCESS && now() < until)
            sched_yield();
        all &= is;
    }
    if (all)
        free(ahead->memory);
    free(ahead->requests);
}

/* ---- Messages that are sent and received. ---- */

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    MPI_Request request;
    if (link->left)
        return PIPEGAUGE_CLOSED;
    int code = start_sending(link, message, len, &request, e);
    return code == PIPEGAUGE_OK ? finished(link, &request, MPI_STATUS_IGNORE, "sending", e) : code;
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    MPI_Request request;
    MPI_Status status;
    if (link->wanted.ahead)
        return take_ahead(link, message, len, e);
    int code = start_receiving(link, message, len, &request, e);
    if (code == PIPEGAUGE_OK)
        code = finished(link, &request, &status, "receiving", e);
    return code == PIPEGAUGE_OK ? whole(&status, len, e) : code;
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    MPI_Request sent, received = MPI_REQUEST_NULL;
    MPI_Status status;
    const int ahead = link->wanted.ahead > 0;
    int code = ahead ? PIPEGAUGE_OK : start_receiving(link, into, into_len, &received, e);
    if (code != PIPEGAUGE_OK)
        return code;
    code = start_sending(link, out, out_len, &sent, e);
    if (code != PIPEGAUGE_OK) {
        give_up(&received);
        return code;
    }
    code = ahead ? await_ahead(link, e) : finished(link, &received, &status, "receiving", e);
    /* What is being sent is the caller's memory, which the library must not go on reading. */
    if (code == PIPEGAUGE_OK)
        code = finished(link, &sent, MPI_STATUS_IGNORE, "sending", e);
    else
        give_up(&sent);
    if (code != PIPEGAUGE_OK)
        return code;
    return ahead ? take_ahead(link, into, into_len, e) : whole(&status, into_len, e);
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    if (!link->wanted.ahead)
        return probed(link, link->in + DATA, seconds, is, e);
    /* A message that a posted receive has taken is there for no probe. */
    const double until = now() + seconds;
    struct ahead *ahead = &link->ahead;
    do {
        int came = ahead->here ? MPI_SUCCESS : MPI_Test(&ahead->requests[ahead->next], &ahead->here, &ahead->status);
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, "looking for a message", came);
        /* A receive finds that the peer has left. */
        *is = ahead->here || has_left(link);
        if (*is)
            return PIPEGAUGE_OK;
        if (pipegauge_stopped(link->terms))
            return PIPEGAUGE_INTERRUPTED;
        if (link->wanted.wait == YIELD)
            sched_yield();
    } while (now() < until);
    return PIPEGAUGE_OK;
}

/* ---- Sends that complete later. ---- */

/* Room in the ring for one more. */
static int room_for_one(struct posts *posts, error *e)
{
    if (posts->count < posts->room)
        return PIPEGAUGE_OK;
    const size_t room = posts->room ? posts->room * 2 : 64;
    MPI_Request *ring = malloc(room * sizeof *ring);
    if (!ring)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for one more post");
    for (size_t i = 0; i < posts->count; i++)
        ring[i] = posts->ring[(posts->first + i) % posts->room];
    free(posts->ring);
    posts->ring = ring;
    posts->room = room;
    posts->first = 0;
    return PIPEGAUGE_OK;
}

static int post(pipegauge_link *link, const void *message, size_t len, error *e)
{
    struct posts *posts = &link->posts;
    if (link->left)
        return PIPEGAUGE_CLOSED;
    int code = room_for_one(posts, e);
    if (code == PIPEGAUGE_OK)
        code = start_sending(link, message, len, &posts->ring[(posts->first + posts->count) % posts->room], e);
    if (code != PIPEGAUGE_OK)
        return code;
    posts->count++;
    posts->posted++;
    return PIPEGAUGE_OK;
}

static uint64_t posted(const pipegauge_link *link)
{
    return link->posts.posted;
}

/* Counts the first posts that are done. */
static int count_done(struct posts *posts, error *e)
{
    for (int is = 1; posts->count > 0;) {
        int came = MPI_Test(&posts->ring[posts->first], &is, MPI_STATUS_IGNORE);
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, "posting", came);
        if (!is)
            return PIPEGAUGE_OK;
        posts->first = (posts->first + 1) % posts->room;
        posts->count--;
        posts->done++;
        posts->since = 0;
    }
    return PIPEGAUGE_OK;
}

static int poll_posts(pipegauge_link *link, uint64_t until, double seconds, uint64_t *done, error *e)
{
    struct posts *posts = &link->posts;
    struct wait wait = {link->wanted.wait, 0, 0};
    const double end = now() + seconds;
    if (until > posts->posted)
        until = posts->posted;
    for (;;) {
        int code = count_done(posts, e);
        *done = posts->done;
        if (code != PIPEGAUGE_OK || posts->done >= until || seconds == 0)
            return code;
        if (!is_time(&wait))
            continue;
        /* Patience is of all polls in which nothing is done, not of this one alone. */
        code = goes_on(&posts->since, link->terms);
        if (code == PIPEGAUGE_OK && has_left(link)) {
            code = count_done(posts, e);
            *done = posts->done;
            return code != PIPEGAUGE_OK || posts->done >= until ? code : PIPEGAUGE_CLOSED;
        }
        if (code != PIPEGAUGE_OK || now() >= end)
            return code;
    }
}

static const struct pipegauge_queued queued = {.size = sizeof queued, .post = post, .posted = posted, .poll = poll_posts};

/* Nobody waits for those that are under way any more. */
static void leave_posts(struct posts *posts)
{
    for (size_t i = 0; i < posts->count; i++)
        MPI_Request_free(&posts->ring[(posts->first + i) % posts->room]);
    free(posts->ring);
}

/* ---- Memory that is exposed: a region of the window for each link. ---- */

/* Parts of an allocated window that links have, in the order of their places. */
struct part {
    size_t at, len;
    struct part *next;
};
static pthread_mutex_t parting = PTHREAD_MUTEX_INITIALIZER;
static struct part *parts;

/* A part of the window that no link has; NULL where there is no room for one. */
static unsigned char *part_of(size_t len)
{
    struct part **before = &parts, *part = malloc(sizeof *part);
    if (!part)
        return NULL;
    size_t at = 0;
    pthread_mutex_lock(&parting);
    for (; *before && (*before)->at - at < len; before = &(*before)->next)
        at = (*before)->at + (*before)->len;
    const int fits = at <= window.len && len <= window.len - at;
    if (fits) {
        *part = (struct part){at, len, *before};
        *before = part;
    }
    pthread_mutex_unlock(&parting);
    if (!fits)
        free(part);
    return fits ? window.memory + at : NULL;
}

static void give_part_back(const unsigned char *memory)
{
    struct part **before = &parts;
    pthread_mutex_lock(&parting);
    while (*before && window.memory + (*before)->at != memory)
        before = &(*before)->next;
    struct part *part = *before;
    if (part)
        *before = part->next;
    pthread_mutex_unlock(&parting);
    free(part);
}

static void give_region_back(struct region *own)
{
    if (!own->memory)
        return;
    if (window.kind == ALLOCATED) {
        give_part_back(own->memory);
    } else {
        MPI_Win_detach(window.win, own->memory);
        free(own->memory);
    }
    own->memory = NULL;
    own->len = 0;
}

static int no_room(size_t len, error *e)
{
    snprintf(e->text, sizeof e->text, "%zu bytes are to be exposed, for which a window of %zu bytes has no room left: set window-size, or window=dynamic",
             len, window.len);
    return PIPEGAUGE_SYSTEM;
}

/* New memory that the window holds. */
static int take_region(struct region *own, size_t len, error *e)
{
    int came = MPI_SUCCESS;
    if (window.kind == ALLOCATED) {
        own->memory = part_of(len);
        own->at = own->memory ? own->memory - window.memory : 0;
    } else if ((own->memory = aligned_alloc(PAGE, len))) {
        came = MPI_Win_attach(window.win, own->memory, (MPI_Aint)len);
        MPI_Get_address(own->memory, &own->at);
    }
    if (!own->memory)
        return window.kind == ALLOCATED ? no_room(len, e) : failed(e, PIPEGAUGE_SYSTEM, "no memory to expose");
    if (came != MPI_SUCCESS) {
        free(own->memory);
        own->memory = NULL;
        return failed_in_mpi(e, "attaching memory to the window", came);
    }
    memset(own->memory, 0, len);
    own->len = len;
    return PIPEGAUGE_OK;
}

/* Why there is no window, or that there is one. */
static int windowed(error *e)
{
    return window.came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "making a window", window.came);
}

static int reserve(pipegauge_link *link, size_t len, error *e)
{
    int code = windowed(e);
    if (code != PIPEGAUGE_OK || link->own.len >= len)
        return code;
    /* The old one goes first, so that both never take memory at once. */
    give_region_back(&link->own);
    return take_region(&link->own, (len + PAGE - 1) / PAGE * PAGE, e);
}

/* The thread of a region that is exposed: what the peer asks for is done within calls of the library. */
static void *progressing(void *of)
{
    pipegauge_link *link = of;
    int is;
    while (!atomic_load_explicit(&link->own.over, memory_order_relaxed)) {
        MPI_Iprobe(link->peer, link->in + BYE, MPI_COMM_WORLD, &is, MPI_STATUS_IGNORE);
        if (link->wanted.wait == YIELD)
            sched_yield();
    }
    return NULL;
}

static void end_progress(struct region *own)
{
    if (!own->has_thread)
        return;
    atomic_store(&own->over, 1);
    pthread_join(own->thread, NULL);
    own->has_thread = 0;
}

static int begin_progress(pipegauge_link *link, error *e)
{
    struct region *own = &link->own;
    if (link->wanted.progress != THREAD || own->has_thread)
        return PIPEGAUGE_OK;
    atomic_store(&own->over, 0);
    if (pthread_create(&own->thread, NULL, progressing, link) != 0)
        return failed(e, PIPEGAUGE_SYSTEM, "the system starts no thread that works for the peer's accesses (progress=none goes without)");
    own->has_thread = 1;
    return PIPEGAUGE_OK;
}

/* Says something to the peer of which it waits. */
static int say(pipegauge_link *link, int word, const void *text, int len, error *e)
{
    MPI_Request request;
    int came = MPI_Isend(text, len, MPI_BYTE, link->peer, link->out + word, MPI_COMM_WORLD, &request);
    return came == MPI_SUCCESS ? finished(link, &request, MPI_STATUS_IGNORE, "telling the peer", e) : failed_in_mpi(e, "telling the peer", came);
}

/* What is said of memory that is exposed. */
struct exposed {
    uint64_t at, len;
};

static int expose(pipegauge_link *link, size_t len, error *e)
{
    int code = reserve(link, len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    MPI_Win_sync(window.win);
    code = begin_progress(link, e);
    const struct exposed said = {(uint64_t)link->own.at, link->own.len};
    return code == PIPEGAUGE_OK ? say(link, REGION, &said, sizeof said, e) : code;
}

static int fill(pipegauge_link *link, size_t at, const void *from, size_t len, error *e)
{
    (void)e;
    memcpy(link->own.memory + at, from, len);
    MPI_Win_sync(window.win);
    return PIPEGAUGE_OK;
}

static int read_own(pipegauge_link *link, size_t at, void *into, size_t len, error *e)
{
    (void)e;
    MPI_Win_sync(window.win);
    memcpy(into, link->own.memory + at, len);
    return PIPEGAUGE_OK;
}

/* Waits for a word of the peer's. */
static int hear(pipegauge_link *link, int word, void *text, int len, error *e)
{
    MPI_Request request;
    MPI_Status status;
    int came = MPI_Irecv(text, len, MPI_BYTE, link->peer, link->in + word, MPI_COMM_WORLD, &request);
    if (came != MPI_SUCCESS)
        return failed_in_mpi(e, "waiting for the peer", came);
    int code = finished(link, &request, &status, "waiting for the peer", e);
    return code == PIPEGAUGE_OK ? whole(&status, (size_t)len, e) : code;
}

static int withdraw(pipegauge_link *link, double seconds, int *left, error *e)
{
    int is = 0;
    *left = 0;
    int code = probed(link, link->in + LEFT, seconds, &is, e);
    if (code != PIPEGAUGE_OK || !is)
        return code;
    end_progress(&link->own);
    code = hear(link, LEFT, NULL, 0, e);
    MPI_Win_sync(window.win);
    *left = code == PIPEGAUGE_OK;
    return code;
}

static int reach(pipegauge_link *link, size_t len, error *e)
{
    struct exposed said = {0, 0};
    int code = windowed(e);
    if (code == PIPEGAUGE_OK)
        code = hear(link, REGION, &said, sizeof said, e);
    if (code != PIPEGAUGE_OK)
        return code;
    if (said.len < len)
        return failed(e, PIPEGAUGE_PROTOCOL, "the peer exposes less than is needed");
    link->peers = (MPI_Aint)said.at;
    return PIPEGAUGE_OK;
}

/* Whether an access can begin. */
static int accessible(const pipegauge_link *link, size_t len, error *e)
{
    if (link->left)
        return PIPEGAUGE_CLOSED;
    return len > 0x7fffffff ? failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int") : PIPEGAUGE_OK;
}

static int put(pipegauge_link *link, size_t at, const void *from, size_t len, error *e)
{
    int code = accessible(link, len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int came = MPI_Put(from, (int)len, MPI_BYTE, link->peer, link->peers + (MPI_Aint)at, (int)len, MPI_BYTE, window.win);
    if (came == MPI_SUCCESS)
        came = MPI_Win_flush_local(link->peer, window.win);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "putting", came);
}

static int fence(pipegauge_link *link, error *e)
{
    int came = MPI_Win_flush(link->peer, window.win);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "waiting for what was put", came);
}

static int get(pipegauge_link *link, size_t at, void *into, size_t len, error *e)
{
    int code = accessible(link, len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int came = MPI_Get(into, (int)len, MPI_BYTE, link->peer, link->peers + (MPI_Aint)at, (int)len, MPI_BYTE, window.win);
    if (came == MPI_SUCCESS)
        came = MPI_Win_flush(link->peer, window.win);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "getting", came);
}

static int leave(pipegauge_link *link, error *e)
{
    int code = fence(link, e);
    return code == PIPEGAUGE_OK ? say(link, LEFT, NULL, 0, e) : code;
}

static const struct pipegauge_one_sided one_sided = {
    .size = sizeof one_sided,
    .reserve = reserve,
    .expose = expose,
    .fill = fill,
    .read = read_own,
    .withdraw = withdraw,
    .reach = reach,
    .put = put,
    .get = get,
    .fence = fence,
    .leave = leave,
};

/* ---- What all ranks do together. ---- */

/* All ranks of the world in the order of their places, as the first group found them: the same ranks always have the same places. */
static struct {
    MPI_Comm comm;
    uint32_t rank;
} group = {MPI_COMM_NULL, 0};

/* Waits for an operation of all ranks to be over, where waits give the CPU away. MPI lets nobody give one up. */
static int together(pipegauge_link *link, MPI_Request *request, int came, const char *doing, error *e)
{
    return came == MPI_SUCCESS ? waited(link, request, MPI_STATUS_IGNORE, doing, e) : failed_in_mpi(e, doing, came);
}

static int join(pipegauge_link *const *links, size_t count, uint32_t rank, uint32_t members, error *e)
{
    int size = 0;
    MPI_Request request;
    (void)count;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if ((uint32_t)size != members) {
        snprintf(e->text, sizeof e->text, "a group of %u members is to be all ranks of the world, which has %d", members, size);
        return PIPEGAUGE_UNSUPPORTED;
    }
    if (group.comm != MPI_COMM_NULL && group.rank == rank)
        return PIPEGAUGE_OK;
    /* MPI_Comm_split has no test: it is called when all ranks are about to. */
    int code = together(links[0], &request, MPI_Ibarrier(MPI_COMM_WORLD, &request), "waiting for all ranks", e);
    if (code != PIPEGAUGE_OK)
        return code;
    int came = MPI_Comm_split(MPI_COMM_WORLD, 0, (int)rank, &group.comm);
    if (came != MPI_SUCCESS)
        return failed_in_mpi(e, "making a communicator of all ranks", came);
    group.rank = rank;
    MPI_Comm_set_errhandler(group.comm, MPI_ERRORS_RETURN);
    return PIPEGAUGE_OK;
}

static int in_mpi(int came, const char *doing, error *e)
{
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, doing, came);
}

/* Whether a count holds it. */
static int countable(size_t len, error *e)
{
    return len > 0x7fffffff ? failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int") : PIPEGAUGE_OK;
}

static int barrier(pipegauge_link *link, error *e)
{
    MPI_Request request;
    if (link->wanted.wait == POLL)
        return in_mpi(MPI_Barrier(group.comm), "MPI_Barrier", e);
    return together(link, &request, MPI_Ibarrier(group.comm, &request), "MPI_Ibarrier", e);
}

static int broadcast(pipegauge_link *link, void *block, size_t len, error *e)
{
    MPI_Request request;
    int code = countable(len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    if (link->wanted.wait == POLL)
        return in_mpi(MPI_Bcast(block, (int)len, MPI_BYTE, 0, group.comm), "MPI_Bcast", e);
    return together(link, &request, MPI_Ibcast(block, (int)len, MPI_BYTE, 0, group.comm, &request), "MPI_Ibcast", e);
}

static int allreduce(pipegauge_link *link, const void *mine, void *sums, size_t len, error *e)
{
    MPI_Request request;
    int code = countable(len, e), count = (int)(len / sizeof(uint64_t));
    if (code != PIPEGAUGE_OK)
        return code;
    if (link->wanted.wait == POLL)
        return in_mpi(MPI_Allreduce(mine, sums, count, MPI_UINT64_T, MPI_SUM, group.comm), "MPI_Allreduce", e);
    int came = MPI_Iallreduce(mine, sums, count, MPI_UINT64_T, MPI_SUM, group.comm, &request);
    return together(link, &request, came, "MPI_Iallreduce", e);
}

static int allgather(pipegauge_link *link, const void *mine, void *all, size_t len, error *e)
{
    MPI_Request request;
    int code = countable(len, e), count = (int)len;
    if (code != PIPEGAUGE_OK)
        return code;
    if (link->wanted.wait == POLL)
        return in_mpi(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, group.comm), "MPI_Allgather", e);
    int came = MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, group.comm, &request);
    return together(link, &request, came, "MPI_Iallgather", e);
}

static int all_to_all(pipegauge_link *link, const void *out, void *into, size_t len, error *e)
{
    MPI_Request request;
    int code = countable(len, e), count = (int)len;
    if (code != PIPEGAUGE_OK)
        return code;
    if (link->wanted.wait == POLL)
        return in_mpi(MPI_Alltoall(out, count, MPI_BYTE, into, count, MPI_BYTE, group.comm), "MPI_Alltoall", e);
    int came = MPI_Ialltoall(out, count, MPI_BYTE, into, count, MPI_BYTE, group.comm, &request);
    return together(link, &request, came, "MPI_Ialltoall", e);
}

static const struct pipegauge_collective collective = {
    .size = sizeof collective,
    .join = join,
    .barrier = barrier,
    .broadcast = broadcast,
    .allreduce = allreduce,
    .allgather = allgather,
    .all_to_all = all_to_all,
};

/* ---- What took effect, and the end. ---- */

#ifdef OPEN_MPI
/* What the library says of a size that it was set to; 0 where it does not. */
static uint64_t said(const char *variable)
{
    int provided, index, count, bytes = 0;
    MPI_T_cvar_handle handle;
    uint64_t value = 0;
    int verbosity, binding, scope, name_len = 0, help_len = 0;
    MPI_Datatype type;
    MPI_T_enum of;
    if (MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
        return 0;
    if (MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS &&
        MPI_T_cvar_get_info(index, NULL, &name_len, &verbosity, &type, &of, NULL, &help_len, &binding, &scope) == MPI_SUCCESS &&
        MPI_Type_size(type, &bytes) == MPI_SUCCESS && MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        unsigned four = 0;
        if (count == 1 && bytes == sizeof four && MPI_T_cvar_read(handle, &four) == MPI_SUCCESS)
            value = four;
        else if (count == 1 && bytes == sizeof value && MPI_T_cvar_read(handle, &value) != MPI_SUCCESS)
            value = 0;
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value;
}
#endif

/* The eager limit that holds, as a value that could be typed. */
static void eager_of(const pipegauge_link *link, char *out, size_t room)
{
#ifdef OPEN_MPI
    uint64_t bytes = said(link->wanted.over == TCP ? "btl_tcp_eager_limit" : "btl_vader_eager_limit");
    if (bytes)
        snprintf(out, room, "%llu", (unsigned long long)bytes);
#else
    /* UCX, which carries MPICH's messages over TCP, reads it there and does not say it. */
    const char *read = link->wanted.over == TCP ? getenv("UCX_RNDV_THRESH") : NULL;
    if (read && *read && strspn(read, "0123456789") == strlen(read))
        snprintf(out, room, "%s", read);
#endif
}

/* What holds of the window, which is the first link's. */
static void window_of(const pipegauge_link *link, const char *option, char *out, size_t room)
{
    if (strcmp(option, "window") == 0)
        snprintf(out, room, "%s", windows[window.kind]);
    if (strcmp(option, "window-size") == 0 && window.kind == ALLOCATED)
        snprintf(out, room, "%zu", window.len);
    if (strcmp(option, "progress") == 0)
        snprintf(out, room, "%s", progresses[link->wanted.progress]);
}

static int effective(pipegauge_link *link, const char *option, char *out, size_t room, error *e)
{
    (void)e;
    out[0] = 0;
    if (strcmp(option, "mode") == 0)
        snprintf(out, room, "%s", modes[link->wanted.synchronous]);
    /* It begins with no other. */
    if (strcmp(option, "over") == 0 && link->wanted.over >= 0)
        snprintf(out, room, "%s", overs[link->wanted.over]);
    if (strcmp(option, "eager-limit") == 0)
        eager_of(link, out, room);
    if (strcmp(option, "wait") == 0)
        snprintf(out, room, "%s", waits[link->wanted.wait]);
    if (strcmp(option, "ahead") == 0)
        snprintf(out, room, "%llu", (unsigned long long)link->wanted.ahead);
    if (strcmp(option, "ahead-size") == 0 && link->wanted.ahead)
        snprintf(out, room, "%llu", (unsigned long long)link->wanted.ahead_size);
    if (window.came == MPI_SUCCESS)
        window_of(link, option, out, room);
    return PIPEGAUGE_OK;
}

static void close_link(pipegauge_link *link)
{
    MPI_Request request;
    end_progress(&link->own);
    /* Nobody waits for this one: the peer may be gone. */
    if (MPI_Isend(NULL, 0, MPI_BYTE, link->peer, link->out + BYE, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
    cancel_ahead(link);
    leave_posts(&link->posts);
    give_region_back(&link->own);
    free(link);
}

/* ---- The module. ---- */

static const char *const spoken[] = {SPOKEN, NULL};
static const char *const launch[] = {LAUNCH, NULL};

static int available(error *e)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len = 0;
    if (MPI_Get_library_version(version, &len) != MPI_SUCCESS)
        return failed(e, PIPEGAUGE_SYSTEM, "the MPI library does not say its version");
    return PIPEGAUGE_OK;
}

static const struct pipegauge_module module = {
    .size = sizeof module,
    .abi = PIPEGAUGE_ABI,
    .name = NAME,
    .version = "0.1.0",
    .summary = SUMMARY,
    .spoken = spoken,
    .option_count = sizeof options / sizeof options[0],
    .options = options,
    .available = available,
    .capabilities = capabilities,
    .listen = listen_at,
    .address = address,
    .accept = accept_next,
    .unlisten = unlisten,
    .connect = connect_to,
    .send = send_message,
    .recv = receive_message,
    .exchange = exchange,
    .ready = ready,
    .effective = effective,
    .close = close_link,
    .one_sided = &one_sided,
    .queued = &queued,
    .launch = launch,
    /* Ranks of one world begin together: each waits for the others. */
    .prepare = ready_to_use,
    .collective = &collective,
};

const struct pipegauge_module *pipegauge_module(uint32_t abi)
{
    /* MPI libraries load parts of themselves, which look for its symbols: they are made global. */
    static void *library;
    if (!library)
        library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    return abi >= PIPEGAUGE_ABI ? &module : NULL;
}
