/* Members of a group over a library that has its own membership and casts. The connections on which they met carry what is said before the
 * group is there, and answers.
 *
 * Included behind the module's `struct pipegauge_link`, whose members `fd`, `terms` and `group` it uses.
 */
#ifndef PIPEGAUGE_MEMBERS_H
#define PIPEGAUGE_MEMBERS_H

/* Lets the library hand over what came (arrived()), for which it waits at most so many milliseconds. */
static int pumped(pipegauge_link *link, int wait, struct pipegauge_error *e);
/* What becomes readable when something has come; -1 where there is nothing of that sort. */
static int readable_at(const pipegauge_link *link);

/* ---- Messages on the connection of a meeting. ---- */

static int send_plain(int fd, const void *message, size_t len, const struct pipegauge_terms *terms, struct pipegauge_error *e)
{
    const uint32_t heading = htonl((uint32_t)len);
    const int code = write_all(fd, &heading, sizeof heading, terms, e);
    return code == PIPEGAUGE_OK ? write_all(fd, message, len, terms, e) : code;
}

static int receive_plain(int fd, void *message, size_t len, const struct pipegauge_terms *terms, struct pipegauge_error *e)
{
    uint32_t heading;
    int code = read_all(fd, &heading, sizeof heading, terms, e);
    if (code == PIPEGAUGE_OK)
        code = of_length(ntohl(heading), len, e);
    return code == PIPEGAUGE_OK ? read_all(fd, message, len, terms, e) : code;
}

static int send_message(pipegauge_link *link, const void *message, size_t len, struct pipegauge_error *e)
{
    return send_plain(link->fd, message, len, link->terms, e);
}

static int receive_message(pipegauge_link *link, void *message, size_t len, struct pipegauge_error *e)
{
    return receive_plain(link->fd, message, len, link->terms, e);
}

/* ---- Casts that came. ---- */

static int begin_group(pipegauge_link *const *links, size_t count, uint32_t rank, uint32_t members, struct pipegauge_error *e)
{
    struct group *group = &links[0]->group;
    group->last = &group->first;
    group->fds = calloc(count, sizeof *group->fds);
    group->counts = calloc(members, sizeof *group->counts);
    if (!group->fds || !group->counts)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a group");
    for (size_t i = 0; i < count; i++)
        group->fds[i] = links[i]->fd;
    group->others = count;
    group->rank = rank;
    group->members = members;
    return PIPEGAUGE_OK;
}

static void end_group(struct group *group)
{
    while (group->first) {
        struct cast *next = group->first->next;
        free(group->first);
        group->first = next;
    }
    free(group->fds);
    free(group->counts);
}

/* Counts a cast that came; whether it is to be delivered. */
static int counted(struct group *group, uint32_t from, uint32_t *number)
{
    if (from >= group->members) {
        group->lost = "a cast came of a member that is none of the group";
        return 0;
    }
    *number = ++group->counts[from];
    return from != group->rank || group->hears;
}

/* Puts a cast into the memory that waits for it; 0 where none does. */
static int placed(struct group *group, uint32_t from, uint32_t number, const void *message, size_t len)
{
    if (!group->into)
        return 0;
    if (len == group->len)
        memcpy(group->into, message, len);
    group->into = NULL;
    group->len = len;
    group->from = from;
    group->number = number;
    return 1;
}

static void queue_cast(struct group *group, struct cast *cast)
{
    cast->next = NULL;
    *group->last = cast;
    group->last = &cast->next;
}

/* A cast came: it goes into the memory that waits for it, or into the queue. */
static inline void arrived(struct group *group, uint32_t from, const void *message, size_t len)
{
    uint32_t number;
    if (!counted(group, from, &number) || placed(group, from, number, message, len))
        return;
    struct cast *cast = malloc(sizeof *cast + len);
    if (!cast) {
        group->lost = "no memory for a cast that came";
        return;
    }
    *cast = (struct cast){NULL, from, number, len};
    memcpy(cast->message, message, len);
    queue_cast(group, cast);
}

/* The same of one that lies in memory of its own, which is the group's from then on. */
static inline void cast_arrived(struct group *group, struct cast *cast)
{
    if (counted(group, cast->from, &cast->number) && !placed(group, cast->from, cast->number, cast->message, cast->len))
        queue_cast(group, cast);
    else
        free(cast);
}

/* What of the group ends all waits. */
static int group_goes_on(pipegauge_link *link, struct pipegauge_error *e)
{
    if (link->group.lost)
        return failed(e, PIPEGAUGE_PROTOCOL, link->group.lost);
    return link->group.gone ? PIPEGAUGE_CLOSED : PIPEGAUGE_OK;
}

static int hear_itself(pipegauge_link *link, int asked, int *hears, struct pipegauge_error *e)
{
    (void)e;
    *hears = link->group.hears = asked;
    return PIPEGAUGE_OK;
}

static int deliver(pipegauge_link *link, void *message, size_t len, uint32_t *from, uint32_t *number, struct pipegauge_error *e)
{
    struct group *group = &link->group;
    struct cast *cast = group->first;
    if (cast) {
        const size_t came = cast->len;
        if (came == len)
            memcpy(message, cast->message, len);
        *from = cast->from;
        *number = cast->number;
        group->first = cast->next;
        if (!group->first)
            group->last = &group->first;
        free(cast);
        return of_length(came, len, e);
    }
    group->into = message;
    group->len = len;
    int code = PIPEGAUGE_OK;
    for (double since = 0; code == PIPEGAUGE_OK && group->into;) {
        code = pumped(link, SLICE, e);
        if (code == PIPEGAUGE_OK && group->into)
            code = group_goes_on(link, e);
        if (code == PIPEGAUGE_OK && group->into)
            code = goes_on(&since, link->terms);
    }
    group->into = NULL;
    *from = group->from;
    *number = group->number;
    return code == PIPEGAUGE_OK ? of_length(group->len, len, e) : code;
}

/* ---- Answers. ---- */

static int answer(pipegauge_link *link, uint32_t to, const void *message, size_t len, struct pipegauge_error *e)
{
    return send_plain(link->group.fds[to == 0 ? 0 : to - 1], message, len, link->terms, e);
}

static int answered(pipegauge_link *link, void *message, size_t len, uint32_t *from, struct pipegauge_error *e)
{
    struct group *group = &link->group;
    struct pollfd all[group->others + 1];
    for (double since = 0;;) {
        for (size_t i = 0; i < group->others; i++)
            all[i] = (struct pollfd){group->fds[i], POLLIN, 0};
        all[group->others] = (struct pollfd){readable_at(link), POLLIN, 0};
        if (poll(all, group->others + 1, SLICE) < 0 && errno != EINTR)
            return failed_in_system(e, "waiting for an answer");
        for (size_t i = 0; i < group->others; i++) {
            if (!all[i].revents)
                continue;
            *from = group->rank == 0 ? (uint32_t)i + 1 : 0;
            return receive_plain(group->fds[i], message, len, link->terms, e);
        }
        /* Own casts come, too. */
        int code = all[group->others].revents ? pumped(link, 0, e) : PIPEGAUGE_OK;
        if (code == PIPEGAUGE_OK)
            code = group_goes_on(link, e);
        if (code == PIPEGAUGE_OK)
            code = goes_on(&since, link->terms);
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

#endif
