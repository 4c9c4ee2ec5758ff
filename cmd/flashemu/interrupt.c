/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* One for the program, as signals are. Who holds the lock writes the document,
 * and never gives it back. */
static struct {
    pthread_t thread;
    bool watching;
    sigset_t signals;
    pthread_mutex_t writing;
    const struct options_given *given;
    interrupted *say;
} watch = {.writing = PTHREAD_MUTEX_INITIALIZER};

static void *wait_for_signal(void *unused)
{
    int taken = 0;
    (void)unused;
    if (sigwait(&watch.signals, &taken))
        return NULL;
    pthread_mutex_lock(&watch.writing);
    watch.say(watch.given, taken);
    _exit(EXIT_SIGNAL + taken); /* exit() would end what others still use */
}

void interrupt_watch(const struct options_given *given, interrupted *say)
{
    static const int asking[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction before;
    watch.given = given;
    watch.say = say;
    sigemptyset(&watch.signals);
    for (size_t i = 0; i < sizeof(asking) / sizeof(asking[0]); i++) {
        /* What the caller ignores (nohup, a script's background job) stays so;
         * sigwait would take it. */
        if (sigaction(asking[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN)
            sigaddset(&watch.signals, asking[i]);
    }
    if (pthread_sigmask(SIG_BLOCK, &watch.signals, NULL))
        return;
    watch.watching =
        pthread_create(&watch.thread, NULL, wait_for_signal, NULL) == 0;
    if (!watch.watching)
        pthread_sigmask(SIG_UNBLOCK, &watch.signals, NULL);
}

void interrupt_ignore(void)
{
    if (!watch.watching)
        return;
    pthread_mutex_lock(&watch.writing);
    watch.watching = false;
    pthread_cancel(watch.thread);
    pthread_sigmask(SIG_UNBLOCK, &watch.signals, NULL);
}
