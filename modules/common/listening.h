/* Listeners at a door (meeting.h), of modules that make a link over the connection that both sides met on.
 *
 * Included behind the module's `struct wanted` (what options ask of a link), read_settings(), possible() and link_over().
 */
#ifndef PIPEGAUGE_LISTENING_H
#define PIPEGAUGE_LISTENING_H

#include "meeting.h"

struct pipegauge_listener {
    struct door door;
    const struct pipegauge_terms *terms;
    struct wanted wanted;
};

/* Whether what is wanted goes together. */
static int possible(struct wanted wanted, struct pipegauge_error *e);
/* A link over a meeting's connection, which it takes over; whether this side accepted it. */
static int link_over(int fd, int accepted, struct wanted wanted, const struct pipegauge_terms *terms, pipegauge_link **out,
                     struct pipegauge_error *e);

static void unlisten(pipegauge_listener *listener)
{
    close_door(&listener->door);
    free(listener);
}

static int listen_at(const struct pipegauge_settings *set, const char *host, const struct pipegauge_terms *terms,
                     pipegauge_listener **out, struct pipegauge_error *e)
{
    const struct wanted wanted = read_settings(set);
    int code = possible(wanted, e);
    if (code != PIPEGAUGE_OK)
        return code;
    pipegauge_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a listener");
    listener->terms = terms;
    listener->wanted = wanted;
    code = open_door(&listener->door, host, e);
    if (code == PIPEGAUGE_OK)
        *out = listener;
    else
        free(listener);
    return code;
}

static int address(pipegauge_listener *listener, char *out, size_t room, struct pipegauge_error *e)
{
    return place_of_door(&listener->door, out, room, e);
}

static int accept_next(pipegauge_listener *listener, pipegauge_link **out, struct pipegauge_error *e)
{
    for (;;) {
        int fd = -1;
        int code = meet_at_door(&listener->door, &fd, listener->terms, e);
        if (code == PIPEGAUGE_OK)
            code = link_over(fd, 1, listener->wanted, listener->terms, out, e);
        /* Who leaves as soon as it has come is no reason to end. */
        if (code != PIPEGAUGE_CLOSED)
            return code;
    }
}

static int connect_to(const struct pipegauge_settings *set, const char *at, const char *host, const struct pipegauge_terms *terms,
                      pipegauge_link **out, struct pipegauge_error *e)
{
    const struct wanted wanted = read_settings(set);
    int fd = -1, code = possible(wanted, e);
    if (code == PIPEGAUGE_OK)
        code = meet_at_place(at, host, &fd, terms, e);
    return code == PIPEGAUGE_OK ? link_over(fd, 0, wanted, terms, out, e) : code;
}

#endif
