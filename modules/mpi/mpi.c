/* MPI as a transport of pipegauge: messages between two ranks of one world, one-sided access to a window, and collectives of all ranks. The same source is the module
 * `openmpi` and the module `mpich` (see the Makefile).
 *
 * A listener is a tag of its rank; a link is a set of tags between two ranks, which the listener hands out. Every wait tests what it waits
 * for in a loop, as MPI's own blocking calls do, and looks at the clock now and then, so that no wait is without bound. The exceptions are
 * MPI_Win_flush, which MPI has no test for, collectives with wait=poll, and messages with mode=blocking, which are MPI's blocking calls, as programs
 * use them: who watches over this process ends one that is stuck.
 */
#define _GNU_SOURCE

#include "collectives.h"
#include "effective.h"
#include "messages.h"
#include "ranks.h"

#include <dlfcn.h>

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    const struct wanted wanted = read_settings(set);
    out->bits = PIPEGAUGE_MESSAGES | PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_DUPLEX | PIPEGAUGE_POLL | PIPEGAUGE_LOCAL_ONLY |
                PIPEGAUGE_COLLECTIVE;
    /* A post is a send that does not block. */
    if (wanted.mode != BLOCKING)
        out->bits |= PIPEGAUGE_QUEUED;
    if (has_window(wanted))
        out->bits |= PIPEGAUGE_ONE_SIDED;
    /* Counts are an int. */
    out->largest = wanted.ahead ? wanted.ahead_size : 0x7fffffff;
    return possible(wanted, e);
}

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
