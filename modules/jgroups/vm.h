/* The Java machine of this process, in which members are: one, which stays until the process ends. */
#ifndef PIPEGAUGE_JGROUPS_VM_H
#define PIPEGAUGE_JGROUPS_VM_H

#include "wanted.h"

#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <unistd.h>

static struct {
    JavaVM *machine;
    jclass member;
    jmethodID begin, state, next, length, array, cast, close, words;
} vm;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

/* Where the library and the module's class lie: beside the module. */
static void folder(char *out, size_t room)
{
    Dl_info here = {0};
    dladdr((void *)folder, &here);
    const char *end = here.dli_fname ? strrchr(here.dli_fname, '/') : NULL;
    if (end)
        snprintf(out, room, "%.*s/jgroups", (int)(end - here.dli_fname), here.dli_fname);
    else
        snprintf(out, room, "jgroups");
}

/* Whether Java threw something: its words. */
static int threw(JNIEnv *java, error *e, const char *doing)
{
    jthrowable thrown = (*java)->ExceptionOccurred(java);
    if (!thrown)
        return PIPEGAUGE_OK;
    (*java)->ExceptionClear(java);
    jstring words = vm.words ? (*java)->CallObjectMethod(java, thrown, vm.words) : NULL;
    const char *text = words && !(*java)->ExceptionCheck(java) ? (*java)->GetStringUTFChars(java, words, NULL) : NULL;
    (*java)->ExceptionClear(java);
    const int code = failed_with(e, doing, text ? text : "an exception without words");
    if (text)
        (*java)->ReleaseStringUTFChars(java, words, text);
    (*java)->DeleteLocalRef(java, words);
    (*java)->DeleteLocalRef(java, thrown);
    return code;
}

/* The classes and methods that are called. */
static int found(JNIEnv *java, error *e)
{
    jclass throwable = (*java)->FindClass(java, "java/lang/Throwable");
    vm.words = throwable ? (*java)->GetMethodID(java, throwable, "toString", "()Ljava/lang/String;") : NULL;
    jclass buffer = (*java)->FindClass(java, "java/nio/ByteBuffer");
    vm.array = buffer ? (*java)->GetMethodID(java, buffer, "array", "()[B") : NULL;
    jclass member = (*java)->FindClass(java, "Member");
    int code = threw(java, e, "finding the module's class");
    if (code != PIPEGAUGE_OK)
        return code;
    vm.member = (*java)->NewGlobalRef(java, member);
    vm.begin = (*java)->GetMethodID(java, member, "<init>", "(Ljava/lang/String;Ljava/lang/String;IIZ)V");
    vm.state = (*java)->GetMethodID(java, member, "state", "()I");
    vm.next = (*java)->GetMethodID(java, member, "next", "(I)Ljava/nio/ByteBuffer;");
    vm.length = (*java)->GetStaticMethodID(java, member, "length", "(Ljava/nio/ByteBuffer;)I");
    vm.cast = (*java)->GetMethodID(java, member, "cast", "([B)V");
    vm.close = (*java)->GetMethodID(java, member, "close", "()V");
    return threw(java, e, "finding the methods of the module's class");
}

static int begun(error *e)
{
    char classes[8200], path[4000];
    folder(path, sizeof path);
    snprintf(classes, sizeof classes, "-Djava.class.path=%s:%s/jgroups-" JGROUPS ".jar", path, path);
    /* Signals stay the command's (-Xrs); members are of this host. */
    JavaVMOption words[] = {{.optionString = classes}, {.optionString = "-Xrs"}, {.optionString = "-Djava.net.preferIPv4Stack=true"},
                            {.optionString = "-Djgroups.bind_addr=127.0.0.1"}};
    JavaVMInitArgs all = {.version = JNI_VERSION_10, .nOptions = sizeof words / sizeof words[0], .options = words};
    JNIEnv *java;
    if (JNI_CreateJavaVM(&vm.machine, (void **)&java, &all) != JNI_OK) {
        vm.machine = NULL;
        return failed(e, PIPEGAUGE_SYSTEM, "starting a Java machine in this process failed");
    }
    return found(java, e);
}

/* This thread's way into the machine, which begins with the first call. */
static int enter_java(JNIEnv **java, error *e)
{
    static int came = -1;
    static struct pipegauge_error words;
    pthread_mutex_lock(&guard);
    if (came < 0) {
        words.size = sizeof words;
        came = begun(&words);
    }
    pthread_mutex_unlock(&guard);
    if (came != PIPEGAUGE_OK)
        return failed(e, came, words.text);
    if ((*vm.machine)->GetEnv(vm.machine, (void **)java, JNI_VERSION_10) == JNI_OK)
        return PIPEGAUGE_OK;
    if ((*vm.machine)->AttachCurrentThreadAsDaemon(vm.machine, (void **)java, NULL) == JNI_OK)
        return PIPEGAUGE_OK;
    return failed(e, PIPEGAUGE_SYSTEM, "the Java machine takes no more threads");
}

#endif
