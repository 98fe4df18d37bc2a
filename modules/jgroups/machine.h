/* The Java machine of this process: found, started once, and entered by threads that are none of its own.
 *
 * A process has one at most, and it stays until the process ends.
 */
#ifndef PIPEGAUGE_JGROUPS_MACHINE_H
#define PIPEGAUGE_JGROUPS_MACHINE_H

#include "waiting.h"

#include <dlfcn.h>
#include <errno.h>
#include <jni.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file's name, with room for what is put behind a folder's. */
enum { FOLDER = PATH_MAX, FILE_NAME = PATH_MAX + 64 };

enum machine_state { NOT_STARTED, STARTS, RUNS, FAILED };

struct machine {
    pthread_mutex_t lock;
    enum machine_state state;
    /* Why it failed. */
    char why[200];
    JavaVM *vm;
    /* Ends a thread's stay. */
    pthread_key_t stays;
    jclass member;
    jmethodID begin, cast, leave, words;
};

static struct machine machine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What the class Member calls. */
static const JNINativeMethod called_by_java[3];

/* ---- Files. ---- */

/* The folder of this module: its jars are beside it. */
static int own_folder(char out[FOLDER])
{
    Dl_info is;
    if (!dladdr(&machine, &is) || !is.dli_fname || !realpath(is.dli_fname, out))
        return 0;
    *strrchr(out, '/') = 0;
    return 1;
}

/* A file beside this module. */
static int beside(const char *name, char out[FILE_NAME])
{
    char folder[FOLDER];
    if (!own_folder(folder))
        return 0;
    snprintf(out, FILE_NAME, "%s/%s", folder, name);
    return access(out, R_OK) == 0;
}

/* The library of the Java machine: JAVA_HOME's, the one that this was built with, or that of the program java. */
static int library_of_java(char out[FILE_NAME])
{
    char java[FOLDER] = "";
    const char *const set = getenv("JAVA_HOME");
    if (realpath("/usr/bin/java", java))
        for (int up = 0; up < 2 && strrchr(java, '/'); up++)
            *strrchr(java, '/') = 0;
    const char *const homes[] = {set ? set : "", JDK, java};
    for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++) {
        snprintf(out, FILE_NAME, "%s/lib/server/libjvm.so", homes[i]);
        if (homes[i][0] && access(out, R_OK) == 0)
            return 1;
    }
    return 0;
}

/* Whether all files are where they have to be. */
static int machine_is_there(struct pipegauge_error *e)
{
    static const char *const jars[] = {"jgroups.jar", "jgroups-member.jar"};
    char path[FILE_NAME];
    for (size_t i = 0; i < 2; i++)
        if (!beside(jars[i], path)) {
            snprintf(e->text, sizeof e->text, "%s is not beside the module, where make modules puts it: %.150s", jars[i], path);
            return PIPEGAUGE_UNSUPPORTED;
        }
    if (!library_of_java(path))
        return failed(e, PIPEGAUGE_UNSUPPORTED, "there is no Java machine (lib/server/libjvm.so) in JAVA_HOME, in " JDK
                                                " or with /usr/bin/java (apt install default-jre-headless)");
    return PIPEGAUGE_OK;
}

/* ---- What Java throws. ---- */

/* What was thrown, in words; 0 where nothing was. It is thrown no longer. */
static int thrown(JNIEnv *env, char *out, size_t room)
{
    const jthrowable what = (*env)->ExceptionOccurred(env);
    if (!what)
        return 0;
    (*env)->ExceptionClear(env);
    snprintf(out, room, "an exception");
    if (machine.words) {
        const jstring words = (*env)->CallStaticObjectMethod(env, machine.member, machine.words, what);
        const char *const text = words && !(*env)->ExceptionCheck(env) ? (*env)->GetStringUTFChars(env, words, NULL) : NULL;
        if (text) {
            snprintf(out, room, "%s", text);
            (*env)->ReleaseStringUTFChars(env, words, text);
        }
        (*env)->ExceptionClear(env);
        (*env)->DeleteLocalRef(env, words);
    }
    (*env)->DeleteLocalRef(env, what);
    return 1;
}

/* PIPEGAUGE_OK where nothing was thrown. */
static int nothing_thrown(JNIEnv *env, const char *doing, struct pipegauge_error *e)
{
    char what[200];
    return thrown(env, what, sizeof what) ? failed_with(e, doing, what) : PIPEGAUGE_OK;
}

/* ---- Starting. ---- */

static void end_stay(void *vm)
{
    (*(JavaVM *)vm)->DetachCurrentThread(vm);
}

/* Finds the class and what of it is called; 0 with its reason in `machine.why`. */
static int class_is_found(JNIEnv *env)
{
    const jclass found = (*env)->FindClass(env, "pipegauge/Member");
    if (found) {
        machine.member = (*env)->NewGlobalRef(env, found);
        machine.words = (*env)->GetStaticMethodID(env, found, "words", "(Ljava/lang/Throwable;)Ljava/lang/String;");
        machine.begin = (*env)->GetStaticMethodID(env, found, "begin", "(JLjava/lang/String;)Lpipegauge/Member;");
        machine.cast = (*env)->GetMethodID(env, found, "cast", "([B)V");
        machine.leave = (*env)->GetMethodID(env, found, "leave", "(J)V");
        (*env)->RegisterNatives(env, found, called_by_java, sizeof called_by_java / sizeof called_by_java[0]);
    }
    char what[150];
    if (!thrown(env, what, sizeof what))
        return 1;
    snprintf(machine.why, sizeof machine.why, "loading the class Member and JGroups: %s", what);
    return 0;
}

/* Starts the machine; 0 with its reason in `machine.why`. */
static int machine_starts(void)
{
    char library[FILE_NAME], folder[FOLDER], path[2 * FOLDER + 100];
    JNIEnv *env = NULL;
    if (!own_folder(folder) || !library_of_java(library)) {
        snprintf(machine.why, sizeof machine.why, "its files are gone");
        return 0;
    }
    snprintf(path, sizeof path, "-Djava.class.path=%s/jgroups-member.jar:%s/jgroups.jar", folder, folder);
    JavaVMOption words[] = {
        {path, NULL},
        /* Signals are the command's, and standard output is where a process answers it. */
        {"-Xrs", NULL},
        {"-XX:+DisplayVMOutputToStderr", NULL},
        {"-Xlog:disable", NULL},
        {"-Xlog:all=error:stderr", NULL},
        /* No files of its own; without memory it ends rather than to go on lame. (With -Xrs it would open a socket for debuggers when it starts, not when one asks:
         * /tmp/.java_pid and its number, which stays.) */
        {"-XX:-UsePerfData", NULL},
        {"-XX:+DisableAttachMechanism", NULL},
        {"-XX:ErrorFile=/dev/null", NULL},
        {"-XX:+ExitOnOutOfMemoryError", NULL},
        {"-Djava.net.preferIPv4Stack=true", NULL},
    };
    JavaVMInitArgs how = {JNI_VERSION_10, sizeof words / sizeof words[0], words, JNI_TRUE};
    void *const loaded = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    jint (*create)(JavaVM **, void **, void *) = NULL;
    if (loaded)
        *(void **)&create = dlsym(loaded, "JNI_CreateJavaVM");
    if (!create) {
        snprintf(machine.why, sizeof machine.why, "%.190s", dlerror());
        return 0;
    }
    const jint came = create(&machine.vm, (void **)&env, &how);
    if (came != JNI_OK) {
        snprintf(machine.why, sizeof machine.why, "%.150s refuses (JNI code %d)", library, (int)came);
        return 0;
    }
    const int found = class_is_found(env);
    (*machine.vm)->DetachCurrentThread(machine.vm);
    return found && pthread_key_create(&machine.stays, end_stay) == 0;
}

static void *starting(void *nothing)
{
    const int runs = machine_starts();
    pthread_mutex_lock(&machine.lock);
    machine.state = runs ? RUNS : FAILED;
    pthread_mutex_unlock(&machine.lock);
    return nothing;
}

/* Begins to start the machine, in a thread of its own, unless somebody has. */
static void start_machine(void)
{
    pthread_mutex_lock(&machine.lock);
    if (machine.state == NOT_STARTED) {
        pthread_t thread;
        machine.state = STARTS;
        if (pthread_create(&thread, NULL, starting, NULL) == 0) {
            pthread_detach(thread);
        } else {
            snprintf(machine.why, sizeof machine.why, "the system has no thread for it");
            machine.state = FAILED;
        }
    }
    pthread_mutex_unlock(&machine.lock);
}

/* Waits until the machine runs. */
static int machine_runs(const struct pipegauge_terms *terms, struct pipegauge_error *e)
{
    const struct timespec slice = {0, 2000000};
    for (double since = 0;; nanosleep(&slice, NULL)) {
        pthread_mutex_lock(&machine.lock);
        const enum machine_state state = machine.state;
        pthread_mutex_unlock(&machine.lock);
        if (state == RUNS)
            return PIPEGAUGE_OK;
        if (state == FAILED)
            return failed_with(e, "starting a Java machine", machine.why);
        const int code = goes_on(&since, terms);
        if (code == PIPEGAUGE_STALLED)
            return failed(e, PIPEGAUGE_SYSTEM, "the Java machine has not started within the patience (--patience)");
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

/* The machine as this thread calls it, which may be none of Java's; NULL where it takes no more. */
static JNIEnv *entered(void)
{
    static _Thread_local JNIEnv *here;
    if (here)
        return here;
    JNIEnv *env = NULL;
    if ((*machine.vm)->AttachCurrentThreadAsDaemon(machine.vm, (void **)&env, NULL) != JNI_OK)
        return NULL;
    pthread_setspecific(machine.stays, machine.vm);
    return here = env;
}

#endif
