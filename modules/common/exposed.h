/* Memory that a link exposes, as its own side uses it, of modules whose library reaches the peer's memory by a key.
 *
 * Included behind the module's `struct pipegauge_link`, which has the memory as `exposed`, and behind progress.h.
 */
#ifndef PIPEGAUGE_EXPOSED_H
#define PIPEGAUGE_EXPOSED_H

#include <string.h>

static int fill(pipegauge_link *link, size_t at, const void *from, size_t len, struct pipegauge_error *e)
{
    (void)e;
    memcpy(link->exposed + at, from, len);
    return PIPEGAUGE_OK;
}

static int read_exposed(pipegauge_link *link, size_t at, void *into, size_t len, struct pipegauge_error *e)
{
    (void)e;
    memcpy(into, link->exposed + at, len);
    return PIPEGAUGE_OK;
}

/* Waits until the peer has left the memory (wait_for_leave()). */
static int withdraw(pipegauge_link *link, double seconds, int *left, struct pipegauge_error *e)
{
    return wait_for_leave(link, LEFT, seconds, left, e);
}

#endif
