/* A group of JGroups as a group of pipegauge: each member is a channel of JGroups in a Java machine of its own process.
 *
 * The machine runs within the process (machine.h). The class Member joins the channel and casts; its threads put what comes into an inbox
 * (inbox.h), from which the link's thread delivers. Rank 0's channel is the first of its group and tells the others where it is. Answers go over the
 * connections on which members met (members.h): JGroups has messages to one member, but what is told there is in no measured time.
 *
 * SEQUENCER promises one order of all casts within a view, the stack without it that of each sender. Neither has virtual synchrony: JGroups has
 * no flush. All is on this host: whatever a stack listens at or sends from is 127.0.0.1 (java/pipegauge/Stack.java), but for casts of UDP, which go to a
 * multicast address and leave no interface. Members are not authenticated: any process of this host can talk to one.
 */
#include "wanted.h"

#include "group.h"

#include "inbox.h"
#include "machine.h"
#include "watch.h"

/* Largest cast; a machine has memory for a number of them. */
enum { LARGEST = 16 << 20 };
/* Casts between two looks at what came; casts of a member in one turn of its warm-up, and their bytes. */
enum { LOOK_AFTER = 16, TURN = 25, WARM_BYTES = 64 };
/* What members tell each other: where rank 0 is, that a member is in the group, and that all are. */
enum { WHERE = 1, HERE, ALL_HERE };
/* How long what a member cast before its process ended may be on its way: retransmissions take their time. How long a member's leaving is waited
 * for, and how long a warm-up may take; seconds. */
#define GONE_FOR 2.0
#define LEAVING 2.0
#define WARMING 10.0

/* Where rank 0 waits: a number that no other group has, and the port of its channel. */
struct where {
    uint64_t group, port;
};

struct pipegauge_link {
    /* To the other side of the meeting. */
    int fd;
    const terms *terms;
    struct wanted wanted;
    struct group group;
    struct inbox *inbox;
    /* The object of the class Member; NULL before. */
    jobject member;
    struct watch watch;
    unsigned casts;
    /* When another member's process was found to have ended; 0 as long as all are there. */
    double gone_since;
    /* Casts are those of the warm-up; its last turn, from 1 on, once that is known. */
    int warms_up;
    uint32_t last_turn;
};

#include "members.h"

static const JNINativeMethod called_by_java[3] = {
    {"arrived", "(JI[BII)V", java_arrived},
    {"viewed", "(JI)V", java_viewed},
    {"joined", "(JIZLjava/lang/String;)V", java_joined},
};

/* ---- What came. ---- */

static int readable_at(const pipegauge_link *link)
{
    return link->inbox->bell;
}

/* A cast of the warm-up came: it is counted. Rank 0 says which turn is the last. */
static void warmed(pipegauge_link *link, const struct cast *cast)
{
    struct group *group = &link->group;
    uint32_t number;
    if (counted(group, cast->from, &number) && cast->from == 0 && cast->message[0])
        link->last_turn = (number + TURN - 1) / TURN;
}

/* Looks at the connections to others: a process that ended leaves no view at once. */
static void look_at_others(pipegauge_link *link)
{
    struct group *group = &link->group;
    for (size_t i = 0; i < group->others && link->gone_since == 0; i++)
        if (peer_ended(group->fds[i]))
            link->gone_since = now();
    if (link->gone_since != 0 && now() - link->gone_since > GONE_FOR)
        group->gone = 1;
}

static int pumped(pipegauge_link *link, int wait, error *e)
{
    (void)e;
    struct group *group = &link->group;
    /* First: what came before a member left is delivered. */
    const int left = atomic_load(&link->inbox->left);
    struct cast *cast = taken(link->inbox, wait > 0);
    if (!cast && !rang(link->inbox, wait) && wait > 0)
        look_at_others(link);
    while (cast) {
        struct cast *next = cast->next;
        if (link->warms_up) {
            warmed(link, cast);
            free(cast);
        } else {
            cast_arrived(group, cast);
        }
        cast = next;
    }
    if (left)
        group->gone = 1;
    if (atomic_load(&link->inbox->lost))
        group->lost = "no memory for a cast that came";
    return PIPEGAUGE_OK;
}

/* Lets what comes in come, for one slice at most; ends as a wait does that has lasted since *since. */
static int awaited(pipegauge_link *link, double *since, error *e)
{
    int code = pumped(link, SLICE, e);
    if (code == PIPEGAUGE_OK)
        code = group_goes_on(link, e);
    return code == PIPEGAUGE_OK ? goes_on(since, link->terms) : code;
}

/* ---- Casting. ---- */

static void cut(void *of)
{
    pipegauge_link *link = of;
    JNIEnv *const env = entered();
    char what[100];
    if (!env)
        return;
    (*env)->CallVoidMethod(env, link->member, machine.leave, (jlong)0);
    thrown(env, what, sizeof what);
}

static int cast(pipegauge_link *link, const void *message, size_t len, error *e)
{
    JNIEnv *const env = entered();
    if (!env)
        return failed(e, PIPEGAUGE_SYSTEM, "the Java machine takes no more threads");
    const jbyteArray copy = (*env)->NewByteArray(env, (jsize)len);
    if (copy) {
        (*env)->SetByteArrayRegion(env, copy, 0, (jsize)len, message);
        link->casts++;
        /* 0 is none. */
        atomic_store(&link->watch.under_way, link->casts ? link->casts : 1);
        (*env)->CallVoidMethod(env, link->member, machine.cast, copy);
        atomic_store(&link->watch.under_way, 0);
        (*env)->DeleteLocalRef(env, copy);
    }
    int code = nothing_thrown(env, "casting", e);
    /* What a cast throws that was cut says less than that. */
    if (atomic_load(&link->watch.code) != PIPEGAUGE_OK)
        return atomic_load(&link->watch.code);
    if (code != PIPEGAUGE_OK || link->casts % LOOK_AFTER)
        return code;
    code = pumped(link, 0, e);
    return code == PIPEGAUGE_OK ? group_goes_on(link, e) : code;
}

static enum pipegauge_order order(const pipegauge_link *link)
{
    return link->inbox && link->inbox->total ? PIPEGAUGE_OF_ALL : PIPEGAUGE_OF_EACH_SENDER;
}

/* ---- Joining. ---- */

/* Begins to join: the member's channel connects in a thread of its own. */
static int begin_member(pipegauge_link *link, struct where where, error *e)
{
    const struct wanted *wanted = &link->wanted;
    char text[600];
    snprintf(text, sizeof text,
             "rank=%u\nmembers=%u\ngroup=%llu\nport=%llu\nstack=%s\nconfig=%s\norder=%s\nretransmit=%.0f\ncredits=%llu\nbundler=%s\nnodelay=%s\npatience=%.0f\n",
             link->group.rank, link->group.members, (unsigned long long)where.group, (unsigned long long)where.port,
             wanted->stack[0] ? wanted->stack : stacks[0], wanted->config, wanted->order == UNSAID ? "" : orders[wanted->order - TOTAL],
             wanted->retransmit * 1e3, (unsigned long long)wanted->credits, wanted->bundler,
             wanted->nodelay < 0 ? "" : wanted->nodelay ? "true" : "false", link->terms->patience * 1e3);
    JNIEnv *const env = entered();
    if (!env)
        return failed(e, PIPEGAUGE_SYSTEM, "the Java machine takes no more threads");
    const jstring set = (*env)->NewStringUTF(env, text);
    const jobject member =
        set ? (*env)->CallStaticObjectMethod(env, machine.member, machine.begin, (jlong)(uintptr_t)link->inbox, set) : NULL;
    const int code = nothing_thrown(env, "beginning to join the group", e);
    if (code == PIPEGAUGE_OK)
        link->member = (*env)->NewGlobalRef(env, member);
    (*env)->DeleteLocalRef(env, member);
    (*env)->DeleteLocalRef(env, set);
    return code;
}

/* How joining stands, and how many members the view has. */
static enum joining joining(struct inbox *inbox, size_t *members)
{
    pthread_mutex_lock(&inbox->lock);
    const enum joining is = inbox->joining;
    *members = inbox->members;
    pthread_mutex_unlock(&inbox->lock);
    return is;
}

/* Waits until this member's channel is connected and, where all are waited for, until they are in its view. */
static int wait_for_view(pipegauge_link *link, size_t members, error *e)
{
    double since = 0;
    for (;;) {
        size_t seen;
        const enum joining is = joining(link->inbox, &seen);
        if (is == REFUSED)
            return failed_with(e, "joining the group with JGroups", link->inbox->why);
        if (is == JOINED && seen >= members)
            return PIPEGAUGE_OK;
        const int code = awaited(link, &since, e);
        if (code == PIPEGAUGE_STALLED) {
            snprintf(e->text, sizeof e->text, "JGroups has %zu of %u members in its view, which is all within the patience (--patience)", seen,
                     link->group.members);
            return PIPEGAUGE_SYSTEM;
        }
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

/* Waits until all members see all: what one casts before another sees it would be sent again later. */
static int wait_for_all(pipegauge_link *link, error *e)
{
    struct group *group = &link->group;
    size_t len;
    int code = PIPEGAUGE_OK;
    if (group->rank != 0) {
        code = tell(link->fd, HERE, "", 0, link->terms, e);
        return code == PIPEGAUGE_OK ? hear(link->fd, ALL_HERE, &len, 0, &len, link->terms, e) : code;
    }
    for (size_t i = 0; i < group->others && code == PIPEGAUGE_OK; i++)
        code = hear(group->fds[i], HERE, &len, 0, &len, link->terms, e);
    for (size_t i = 0; i < group->others && code == PIPEGAUGE_OK; i++)
        code = tell(group->fds[i], ALL_HERE, "", 0, link->terms, e);
    return code;
}

/* Whether so many casts of each member came. */
static int came_of_all(const struct group *group, uint32_t casts)
{
    for (uint32_t i = 0; i < group->members; i++)
        if (group->counts[i] < casts)
            return 0;
    return 1;
}

/* Casts and takes casts as a measurement does, until Java has compiled what that runs: no count or time of the link holds these. Where casts are lost they
 * may take long: so rank 0 ends it after some time. */
static int warm_up(pipegauge_link *link, error *e)
{
    struct group *group = &link->group;
    const double wait = link->terms->patience / 2, until = now() + (wait < WARMING ? wait : WARMING);
    char message[WARM_BYTES] = {0};
    int code = PIPEGAUGE_OK;
    if (link->wanted.warm == 0)
        return code;
    /* Rank 0 hears itself say which turn is the last. */
    link->warms_up = group->hears = 1;
    for (uint32_t turn = 1, ended = 0; code == PIPEGAUGE_OK && !ended; turn++) {
        message[0] = group->rank == 0 && ((uint64_t)turn * TURN >= link->wanted.warm || now() > until);
        for (int i = 0; i < TURN && code == PIPEGAUGE_OK; i++)
            code = cast(link, message, sizeof message, e);
        for (double since = 0; code == PIPEGAUGE_OK && !came_of_all(group, turn * TURN);)
            code = awaited(link, &since, e);
        ended = turn == link->last_turn;
    }
    link->warms_up = group->hears = 0;
    memset(group->counts, 0, group->members * sizeof *group->counts);
    /* Nobody casts anything else before all are here. */
    return code == PIPEGAUGE_OK ? wait_for_all(link, e) : code;
}

static int join(pipegauge_link *const *links, size_t count, uint32_t rank, uint32_t members, error *e)
{
    pipegauge_link *link = links[0];
    struct where where = {0, 0};
    size_t len = 0;
    int code = begin_group(links, count, rank, members, e);
    if (code != PIPEGAUGE_OK || (code = machine_is_there(e)) != PIPEGAUGE_OK)
        return code;
    if (!(link->inbox = new_inbox()))
        return failed(e, PIPEGAUGE_SYSTEM, "no memory or no event for what comes");
    /* All machines start at once. */
    start_machine();
    if (rank == 0 && getrandom(&where.group, sizeof where.group, 0) != sizeof where.group)
        return failed(e, PIPEGAUGE_SYSTEM, "the system gives no random bytes for a group's name");
    if (rank != 0 && (code = hear(link->fd, WHERE, &where, sizeof where, &len, link->terms, e)) == PIPEGAUGE_OK &&
        (len != sizeof where || where.port == 0 || where.port > 65535))
        code = failed(e, PIPEGAUGE_PROTOCOL, "rank 0 does not say where its channel is");
    if (code == PIPEGAUGE_OK)
        code = machine_runs(link->terms, e);
    if (code == PIPEGAUGE_OK)
        code = begin_member(link, where, e);
    if (code == PIPEGAUGE_OK)
        code = begin_watch(&link->watch, cut, link, link->terms, e);
    if (code == PIPEGAUGE_OK)
        code = wait_for_view(link, 1, e);
    if (rank == 0)
        where.port = (uint64_t)link->inbox->port;
    for (size_t i = 0; rank == 0 && i < count && code == PIPEGAUGE_OK; i++)
        code = tell(links[i]->fd, WHERE, &where, sizeof where, link->terms, e);
    if (code == PIPEGAUGE_OK)
        code = wait_for_view(link, members, e);
    if (code == PIPEGAUGE_OK)
        code = wait_for_all(link, e);
    return code == PIPEGAUGE_OK ? warm_up(link, e) : code;
}

static const struct pipegauge_group group = {
    .size = sizeof group,
    .join = join,
    .order = order,
    .hear_itself = hear_itself,
    .cast = cast,
    .deliver = deliver,
    .answer = answer,
    .answered = answered,
};

/* ---- The module. ---- */

static void close_link(pipegauge_link *link)
{
    if (!link)
        return;
    end_watch(&link->watch);
    JNIEnv *const env = link->member ? entered() : NULL;
    if (env) {
        const double wait = link->terms->patience / 2;
        char what[100];
        (*env)->CallVoidMethod(env, link->member, machine.leave, (jlong)(1e3 * (wait < LEAVING ? wait : LEAVING)));
        thrown(env, what, sizeof what);
        (*env)->DeleteGlobalRef(env, link->member);
    }
    if (link->inbox)
        close_inbox(link->inbox);
    end_group(&link->group);
    close(link->fd);
    free(link);
}

static int link_over(int fd, int accepted, struct wanted wanted, const terms *terms, pipegauge_link **out, error *e)
{
    (void)accepted;
    pipegauge_link *link = calloc(1, sizeof *link);
    if (!link) {
        close(fd);
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
    }
    link->fd = fd;
    link->terms = terms;
    link->wanted = wanted;
    *out = link;
    return PIPEGAUGE_OK;
}

#include "listening.h"

/* Whatever is set: what does not go together is told as members meet, with its reason (listening.h). */
static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    (void)set;
    (void)e;
    out->bits = PIPEGAUGE_MESSAGES | PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_LOCAL_ONLY | PIPEGAUGE_GROUP;
    out->largest = LARGEST;
    return PIPEGAUGE_OK;
}

static int effective(pipegauge_link *link, const char *option, char *out, size_t room, error *e)
{
    (void)e;
    const struct wanted *wanted = &link->wanted;
    out[0] = 0;
    if (strcmp(option, "stack") == 0 && !wanted->config[0])
        snprintf(out, room, "%s", wanted->stack[0] ? wanted->stack : stacks[0]);
    if (strcmp(option, "order") == 0 && link->member)
        snprintf(out, room, "%s", orders[order(link) == PIPEGAUGE_OF_ALL ? 0 : 1]);
    if (strcmp(option, "warm") == 0)
        snprintf(out, room, "%llu", (unsigned long long)wanted->warm);
    return PIPEGAUGE_OK;
}

static const char *const spoken[] = {"jgroups", "jchannel", NULL};

static const struct pipegauge_module module = {
    .size = sizeof module,
    .abi = PIPEGAUGE_ABI,
    .name = "jgroups",
    .version = "0.1.0",
    .summary = "JGroups: casts over a stack of Java's, each member with a Java machine in its process",
    .spoken = spoken,
    .option_count = sizeof options / sizeof options[0],
    .options = options,
    .available = machine_is_there,
    .capabilities = capabilities,
    .listen = listen_at,
    .address = address,
    .accept = accept_next,
    .unlisten = unlisten,
    .connect = connect_to,
    .send = send_message,
    .recv = receive_message,
    .effective = effective,
    .close = close_link,
    .group = &group,
};

const struct pipegauge_module *pipegauge_module(uint32_t abi)
{
    return abi >= PIPEGAUGE_ABI ? &module : NULL;
}
