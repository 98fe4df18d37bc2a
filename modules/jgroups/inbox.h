/* What threads of Java have for a link: casts that came, and how its joining went. Casts are counted and delivered by the link's own thread.
 *
 * Included behind `members.h`.
 */
#ifndef PIPEGAUGE_JGROUPS_INBOX_H
#define PIPEGAUGE_JGROUPS_INBOX_H

#include "group.h"

#include <jni.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

enum joining { JOINS, JOINED, REFUSED };

struct inbox {
    pthread_mutex_t lock;
    struct cast *first, **last;
    /* The link's thread waits: the next cast rings. */
    int waits;
    /* The link is closed: nothing is kept any more. */
    int closed;
    /* No memory for a cast. */
    atomic_int lost;
    /* Members of the view, and whether it ever had fewer than before. */
    size_t members;
    atomic_int left;
    enum joining joining;
    /* Once joined: where this member receives, and whether its stack has a total order. Refused: why. */
    int port, total;
    char why[200];
    /* What is readable once something came. */
    int bell;
};

/* A link's inbox stays for ever, since Java may know it for longer than there is a link: a process has few links. */
static struct inbox *new_inbox(void)
{
    struct inbox *inbox = calloc(1, sizeof *inbox);
    if (!inbox)
        return NULL;
    pthread_mutex_init(&inbox->lock, NULL);
    inbox->last = &inbox->first;
    inbox->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (inbox->bell >= 0)
        return inbox;
    free(inbox);
    return NULL;
}

static void end_casts(struct cast *first)
{
    while (first) {
        struct cast *next = first->next;
        free(first);
        first = next;
    }
}

static void close_inbox(struct inbox *inbox)
{
    pthread_mutex_lock(&inbox->lock);
    struct cast *first = inbox->first;
    inbox->first = NULL;
    inbox->last = &inbox->first;
    inbox->closed = 1;
    close(inbox->bell);
    pthread_mutex_unlock(&inbox->lock);
    end_casts(first);
}

/* Wakes the link's thread. Its lock is held: the bell is there as long as the inbox is not closed. */
static void ring(struct inbox *inbox)
{
    const uint64_t once = 1;
    inbox->waits = 0;
    /* A bell that takes no more has rung already. */
    if (!inbox->closed && write(inbox->bell, &once, sizeof once) < 0)
        return;
}

/* All that came so far. Where nothing did, and it is asked for, the next cast rings. */
static struct cast *taken(struct inbox *inbox, int waits)
{
    pthread_mutex_lock(&inbox->lock);
    struct cast *first = inbox->first;
    inbox->first = NULL;
    inbox->last = &inbox->first;
    inbox->waits = !first && waits;
    pthread_mutex_unlock(&inbox->lock);
    return first;
}

/* Waits at most so many milliseconds for the bell; whether it rang. */
static int rang(struct inbox *inbox, int wait)
{
    struct pollfd one = {inbox->bell, POLLIN, 0};
    uint64_t times;
    return poll(&one, 1, wait) > 0 && read(inbox->bell, &times, sizeof times) > 0;
}

/* ---- What Java calls, from threads of its own. ---- */

static struct inbox *inbox_at(jlong at)
{
    return (struct inbox *)(uintptr_t)at;
}

static void JNICALL java_arrived(JNIEnv *env, jclass of, jlong at, jint from, jbyteArray message, jint offset, jint len)
{
    (void)of;
    struct inbox *inbox = inbox_at(at);
    /* No cast is empty, and Java would end the process where there is no array. */
    if (!message || len <= 0)
        return;
    struct cast *cast = malloc(sizeof *cast + (size_t)len);
    if (cast) {
        *cast = (struct cast){.from = (uint32_t)from, .len = (size_t)len};
        (*env)->GetByteArrayRegion(env, message, offset, len, (jbyte *)cast->message);
        if ((*env)->ExceptionCheck(env)) {
            /* Not so many bytes are there; Java hears of it as this returns. */
            free(cast);
            return;
        }
    }
    pthread_mutex_lock(&inbox->lock);
    if (cast && !inbox->closed) {
        *inbox->last = cast;
        inbox->last = &cast->next;
        cast = NULL;
    } else if (!cast) {
        atomic_store(&inbox->lost, 1);
    }
    if (inbox->waits)
        ring(inbox);
    pthread_mutex_unlock(&inbox->lock);
    free(cast);
}

static void JNICALL java_viewed(JNIEnv *env, jclass of, jlong at, jint members)
{
    (void)env;
    (void)of;
    struct inbox *inbox = inbox_at(at);
    pthread_mutex_lock(&inbox->lock);
    if ((size_t)members < inbox->members)
        atomic_store(&inbox->left, 1);
    inbox->members = (size_t)members;
    ring(inbox);
    pthread_mutex_unlock(&inbox->lock);
}

static void JNICALL java_joined(JNIEnv *env, jclass of, jlong at, jint port, jboolean total, jstring failure)
{
    (void)of;
    struct inbox *inbox = inbox_at(at);
    const char *const why = failure ? (*env)->GetStringUTFChars(env, failure, NULL) : NULL;
    pthread_mutex_lock(&inbox->lock);
    inbox->joining = failure ? REFUSED : JOINED;
    inbox->port = port;
    inbox->total = total;
    snprintf(inbox->why, sizeof inbox->why, "%s", why ? why : "");
    ring(inbox);
    pthread_mutex_unlock(&inbox->lock);
    if (why)
        (*env)->ReleaseStringUTFChars(env, failure, why);
}

#endif
