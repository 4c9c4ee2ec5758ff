/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/console/signals.h"

#include <errno.h>
#include <string.h>

/* The only mutable globals: a handler has nowhere else to write. */
static volatile sig_atomic_t caught_signal, caught_count;

static const int asking[] = {SIGINT, SIGTERM, SIGHUP};

static void remember(int signal_number)
{
    caught_signal = signal_number;
    caught_count++;
}

void signals_catch(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    sigemptyset(&action.sa_mask);
    action.sa_handler = remember;
    action.sa_flags = SA_RESTART;
    for (size_t i = 0; i < sizeof(asking) / sizeof(asking[0]); i++) {
        struct sigaction before;
        /* nohup means it; a script's background job, whose SIGINT the shell
         * ignores, does not. */
        if (asking[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
            before.sa_handler == SIG_IGN)
            continue;
        sigaction(asking[i], &action, NULL);
    }
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

static void end_calls(bool end)
{
    for (size_t i = 0; i < sizeof(asking) / sizeof(asking[0]); i++) {
        struct sigaction action;
        sigaction(asking[i], NULL, &action);
        action.sa_flags = end ? 0 : SA_RESTART;
        sigaction(asking[i], &action, NULL);
    }
}

void signals_begin_wait(void)
{
    end_calls(true);
}

int signals_end_wait(int error, struct fault *why)
{
    end_calls(false);
    return caught_signal ? fault_set(why, FAULT_IO, -EINTR, "interrupted")
                         : error;
}

const volatile sig_atomic_t *signals_flag(void)
{
    return &caught_signal;
}

unsigned signals_count(void)
{
    return (unsigned)caught_count;
}
