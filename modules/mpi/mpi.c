/* MPI as a transport of pipegauge: two-sided messages between two ranks of one world. The same source is the module `openmpi` and the
 * module `mpich` (see the Makefile).
 *
 * A listener is a tag of its rank; a link is a set of tags between two ranks, which the listener hands out. Every wait tests what it waits
 * for in a loop, as MPI's own blocking calls do, and looks at the clock now and then, so that no wait is without bound.
 */
#define _GNU_SOURCE

#include "waiting.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

/* What a link's tags are for; each link has as many from its first on. */
enum { THERE, BACK, BYE_THERE, BYE_BACK, TAGS };
/* The first tag that links take; those below are listeners'. */
enum { FIRST_TAG = 4096, FEWEST_TESTS = 2048 };

/* What options ask of a link, and of the library. */
struct wanted {
    int synchronous;
    /* Of `overs`; -1 where the library chooses. */
    int over;
    /* Bytes; 0 where it is the library's own. */
    uint64_t eager;
};
enum { SHM, TCP };
static const char *const overs[] = {"shm", "tcp", NULL};

struct pipegauge_listener {
    int tag;
    const terms *terms;
    struct wanted wanted;
};

struct pipegauge_link {
    int peer;
    /* Tags of what this side sends and receives, and of what each says when it leaves. */
    int out, in, bye_out, bye_in;
    int left; /* the peer has left */
    const terms *terms;
    struct wanted wanted;
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

static void end(void)
{
    int is = 0;
    MPI_Finalized(&is);
    if (!is)
        MPI_Finalize();
}

static void begin(void)
{
    int is = 0;
    MPI_Initialized(&is);
    if (!is)
        began = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &threads);
    if (began != MPI_SUCCESS)
        return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
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
            begin();
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
    unsigned tests;
    double since;
};

/* Called after each test that found nothing: what ends the wait, or PIPEGAUGE_OK. */
static inline int tested(struct wait *wait, const terms *terms)
{
    return ++wait->tests % FEWEST_TESTS ? PIPEGAUGE_OK : goes_on(&wait->since, terms);
}

/* Whether the peer has said that it leaves. */
static int has_left(pipegauge_link *link)
{
    int is = 0;
    if (!link->left && MPI_Iprobe(link->peer, link->bye_in, MPI_COMM_WORLD, &is, MPI_STATUS_IGNORE) == MPI_SUCCESS && is)
        link->left = 1;
    return link->left;
}

/* Waits for a request of a link. `receives`: it ends with the peer's leaving, too. */
static int finished(pipegauge_link *link, MPI_Request *request, MPI_Status *status, int receives, error *e)
{
    struct wait wait = {0, 0};
    for (;;) {
        int is = 0;
        int came = MPI_Test(request, &is, status), class = 0;
        if (came != MPI_SUCCESS && MPI_Error_class(came, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE)
            return failed(e, PIPEGAUGE_PROTOCOL, "a longer message came than the one that was expected");
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, receives ? "receiving" : "sending", came);
        if (is)
            return PIPEGAUGE_OK;
        int code = tested(&wait, link->terms);
        if (code == PIPEGAUGE_OK && wait.tests % FEWEST_TESTS == 0 && has_left(link)) {
            /* What was sent before it left has come by now: messages of one peer keep their order. */
            came = MPI_Test(request, &is, status);
            if (came == MPI_SUCCESS && is)
                return PIPEGAUGE_OK;
            code = PIPEGAUGE_CLOSED;
        }
        if (code != PIPEGAUGE_OK) {
            MPI_Cancel(request);
            MPI_Request_free(request);
            return code;
        }
    }
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
};

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {0, -1, 0};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "mode") == 0)
            wanted.synchronous = strcmp(one->text, "synchronous") == 0;
        if (strcmp(one->name, "over") == 0)
            wanted.over = strcmp(one->text, overs[TCP]) == 0 ? TCP : SHM;
        if (strcmp(one->name, "eager-limit") == 0)
            wanted.eager = one->whole;
    }
    return wanted;
}

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    (void)set, (void)e;
    out->bits = PIPEGAUGE_MESSAGES | PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_DUPLEX | PIPEGAUGE_POLL | PIPEGAUGE_LOCAL_ONLY;
    /* Counts are an int. */
    out->largest = 0x7fffffff;
    return PIPEGAUGE_OK;
}

/* ---- Meeting. ---- */

static atomic_int next_listener = 1;
static atomic_int next_link = FIRST_TAG;

static int listen_at(const settings *set, const char *host, const terms *terms, pipegauge_listener **out, error *e)
{
    (void)host;
    int code = ready_to_use(set, e);
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

static pipegauge_link *link_of(int peer, int first, int accepted, const terms *terms, struct wanted wanted)
{
    pipegauge_link *link = calloc(1, sizeof *link);
    if (link)
        *link = (pipegauge_link){peer,
                                 first + (accepted ? BACK : THERE),
                                 first + (accepted ? THERE : BACK),
                                 first + (accepted ? BYE_BACK : BYE_THERE),
                                 first + (accepted ? BYE_THERE : BYE_BACK),
                                 0,
                                 terms,
                                 wanted};
    return link;
}

/* Waits for a message that is no link's yet. */
static int came_from(int source, int tag, int *value, int *from, const terms *terms, error *e)
{
    struct wait wait = {0, 0};
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
        int code = tested(&wait, terms);
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
    int code = came_from(MPI_ANY_SOURCE, listener->tag, &answer_at, &peer, listener->terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* Both ranks may hand out tags: those of one rank are told from the other's by their parity. */
    int first = FIRST_TAG + ((atomic_fetch_add(&next_link, 1) - FIRST_TAG) * 2 + (rank > peer)) * TAGS;
    pipegauge_link *link = link_of(peer, first, 1, listener->terms, listener->wanted);
    if (!link)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
    int came = MPI_Send(&first, 1, MPI_INT, peer, answer_at, MPI_COMM_WORLD);
    if (came != MPI_SUCCESS) {
        free(link);
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
    int code = ready_to_use(set, e);
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
    code = came_from(rank, answer_at, &first, &from, terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    *out = link_of(rank, first, 0, terms, read_settings(set));
    return *out ? PIPEGAUGE_OK : failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
}

/* ---- Messages. ---- */

static int start_sending(pipegauge_link *link, const void *message, size_t len, MPI_Request *request, error *e)
{
    if (len > 0x7fffffff)
        return failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int");
    int (*start)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = link->wanted.synchronous ? MPI_Issend : MPI_Isend;
    int came = start(message, (int)len, MPI_BYTE, link->peer, link->out, MPI_COMM_WORLD, request);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "sending", came);
}

static int start_receiving(pipegauge_link *link, void *message, size_t len, MPI_Request *request, error *e)
{
    if (len > 0x7fffffff)
        return failed(e, PIPEGAUGE_TOO_LARGE, "an MPI count is an int");
    int came = MPI_Irecv(message, (int)len, MPI_BYTE, link->peer, link->in, MPI_COMM_WORLD, request);
    return came == MPI_SUCCESS ? PIPEGAUGE_OK : failed_in_mpi(e, "receiving", came);
}

static int whole(const MPI_Status *status, size_t len, error *e)
{
    int got = 0;
    MPI_Get_count(status, MPI_BYTE, &got);
    return of_length((size_t)got, len, e);
}

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    MPI_Request request;
    if (link->left)
        return PIPEGAUGE_CLOSED;
    int code = start_sending(link, message, len, &request, e);
    return code == PIPEGAUGE_OK ? finished(link, &request, MPI_STATUS_IGNORE, 0, e) : code;
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    MPI_Request request;
    MPI_Status status;
    int code = start_receiving(link, message, len, &request, e);
    if (code == PIPEGAUGE_OK)
        code = finished(link, &request, &status, 1, e);
    return code == PIPEGAUGE_OK ? whole(&status, len, e) : code;
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    MPI_Request sent, received;
    MPI_Status status;
    int code = start_receiving(link, into, into_len, &received, e);
    if (code != PIPEGAUGE_OK)
        return code;
    code = start_sending(link, out, out_len, &sent, e);
    if (code == PIPEGAUGE_OK)
        code = finished(link, &received, &status, 1, e);
    if (code == PIPEGAUGE_OK)
        code = finished(link, &sent, MPI_STATUS_IGNORE, 0, e);
    return code == PIPEGAUGE_OK ? whole(&status, into_len, e) : code;
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    double until = now() + seconds;
    do {
        int came = MPI_Iprobe(link->peer, link->in, MPI_COMM_WORLD, is, MPI_STATUS_IGNORE);
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, "looking for a message", came);
        if (*is)
            return PIPEGAUGE_OK;
        if (has_left(link)) {
            /* A receive finds that the peer has left. */
            *is = 1;
            return PIPEGAUGE_OK;
        }
        if (pipegauge_stopped(link->terms))
            return PIPEGAUGE_INTERRUPTED;
    } while (now() < until);
    return PIPEGAUGE_OK;
}

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
    return PIPEGAUGE_OK;
}

static void close_link(pipegauge_link *link)
{
    MPI_Request request;
    /* Nobody waits for this one: the peer may be gone. */
    if (MPI_Isend(NULL, 0, MPI_BYTE, link->peer, link->bye_out, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
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
    .launch = launch,
    /* Ranks of one world begin together: each waits for the others. */
    .prepare = ready_to_use,
};

const struct pipegauge_module *pipegauge_module(uint32_t abi)
{
    /* MPI libraries load parts of themselves, which look for its symbols: they are made global. */
    static void *library;
    if (!library)
        library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    return abi >= PIPEGAUGE_ABI ? &module : NULL;
}
