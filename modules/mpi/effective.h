/* What took effect on a link. */
#ifndef PIPEGAUGE_MPI_EFFECTIVE_H
#define PIPEGAUGE_MPI_EFFECTIVE_H

#include "window.h"

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

/* The interface that the library was told of as it began. */
static void interface_of(char *out, size_t room)
{
#ifdef OPEN_MPI
    const char *told = getenv("OMPI_MCA_btl_tcp_if_include");
#else
    const char *told = getenv("UCX_NET_DEVICES");
#endif
    snprintf(out, room, "%s", told ? told : "");
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
        snprintf(out, room, "%s", modes[link->wanted.mode]);
    /* It begins with no other. */
    if (strcmp(option, "over") == 0 && link->wanted.over >= 0)
        snprintf(out, room, "%s", overs[link->wanted.over]);
    if (strcmp(option, "interface") == 0 && link->wanted.over == TCP)
        interface_of(out, room);
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

#endif
