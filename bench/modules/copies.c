/* copies: what the built-in `memcpy` does, as a module, so that a message over either does the same work and what is left
 * between them is what a module's message costs (`bench/bench.py module`). Both ends are one memory in one process: a send
 * copies into it, a receive copies out of it. It is no transport to measure with: nothing leaves the process. */
#include "pipegauge.h"

#include <stdlib.h>
#include <string.h>

struct pipegauge_link {
    char *memory;
    size_t room;
};

static int capabilities(const struct pipegauge_settings *set, struct pipegauge_capabilities *out, struct pipegauge_error *e)
{
    (void)set, (void)e;
    out->bits = PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE;
    return PIPEGAUGE_OK;
}

static int listen_at(const struct pipegauge_settings *set, const char *host, const struct pipegauge_terms *terms,
                     pipegauge_listener **out, struct pipegauge_error *e)
{
    (void)set, (void)host, (void)terms, (void)e;
    *out = NULL;
    return PIPEGAUGE_UNSUPPORTED;
}

static int address(pipegauge_listener *listener, char *out, size_t room, struct pipegauge_error *e)
{
    (void)listener, (void)out, (void)room, (void)e;
    return PIPEGAUGE_UNSUPPORTED;
}

static int accept_next(pipegauge_listener *listener, pipegauge_link **out, struct pipegauge_error *e)
{
    (void)listener, (void)out, (void)e;
    return PIPEGAUGE_UNSUPPORTED;
}

static void unlisten(pipegauge_listener *listener)
{
    (void)listener;
}

static int connect_to(const struct pipegauge_settings *set, const char *at, const char *host, const struct pipegauge_terms *terms,
                      pipegauge_link **out, struct pipegauge_error *e)
{
    (void)set, (void)at, (void)host, (void)terms, (void)e;
    *out = calloc(1, sizeof **out);
    return *out ? PIPEGAUGE_OK : PIPEGAUGE_SYSTEM;
}

static int grow(pipegauge_link *link, size_t len)
{
    char *larger = realloc(link->memory, len);
    if (!larger)
        return PIPEGAUGE_SYSTEM;
    link->memory = larger;
    link->room = len;
    return PIPEGAUGE_OK;
}

static int send_message(pipegauge_link *link, const void *message, size_t len, struct pipegauge_error *e)
{
    (void)e;
    if (link->room < len && grow(link, len) != PIPEGAUGE_OK)
        return PIPEGAUGE_SYSTEM;
    memcpy(link->memory, message, len);
    return PIPEGAUGE_OK;
}

static int receive_message(pipegauge_link *link, void *message, size_t len, struct pipegauge_error *e)
{
    (void)e;
    if (link->room < len && grow(link, len) != PIPEGAUGE_OK)
        return PIPEGAUGE_SYSTEM;
    memcpy(message, link->memory, len);
    return PIPEGAUGE_OK;
}

static void close_link(pipegauge_link *link)
{
    free(link->memory);
    free(link);
}

static const struct pipegauge_module module = {
    .size = sizeof module,
    .abi = PIPEGAUGE_ABI,
    .name = "copies",
    .version = "1",
    .summary = "what memcpy does, behind the table of a module",
    .capabilities = capabilities,
    .listen = listen_at,
    .address = address,
    .accept = accept_next,
    .unlisten = unlisten,
    .connect = connect_to,
    .send = send_message,
    .recv = receive_message,
    .close = close_link,
};

const struct pipegauge_module *pipegauge_module(uint32_t abi)
{
    return abi >= PIPEGAUGE_ABI ? &module : NULL;
}
