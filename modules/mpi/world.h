/* The library: begun once in a process, and ended with it. */
#ifndef PIPEGAUGE_MPI_WORLD_H
#define PIPEGAUGE_MPI_WORLD_H

#include "window.h"

static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;
static int begun;
static int began = MPI_SUCCESS;
static int threads = MPI_THREAD_SINGLE;

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
        setenv("OMPI_MCA_btl_tcp_if_include", wanted.interface, 1);
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
        setenv("UCX_NET_DEVICES", wanted.interface, 1);
    }
    if (wanted.eager) {
        snprintf(value, sizeof value, "%llu", (unsigned long long)wanted.eager);
        setenv("UCX_RNDV_THRESH", value, 1);
    }
    return PIPEGAUGE_OK;
}
#endif

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

#endif
