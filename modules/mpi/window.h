/* The window of this world, and the parts of it that links have. */
#ifndef PIPEGAUGE_MPI_WINDOW_H
#define PIPEGAUGE_MPI_WINDOW_H

#include "link.h"

/* What a region of a window begins at a multiple of. */
enum { PAGE = 4096 };

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

#endif
