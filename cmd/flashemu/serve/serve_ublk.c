/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "cmd/flashemu/flashemu.h"
#include "cmd/flashemu/serve/service.h"
#include "cmd/flashemu/ublk/ublk.h"
#include "cmd/flashemu/ublk/abi.h"
#include "cmd/flashemu/serve/ublk_guard.h"

/* ---- what is asked for --------------------------------------------------- */

static const struct {
    const char *name;
    uint64_t bits;
} features[] = {{"encoding", UBLK_FEATURE_ENCODING},
                {"user-copy", UBLK_FEATURE_USER_COPY},
                {"recovery", UBLK_FEATURE_RECOVERY | UBLK_FEATURE_REISSUE}};

/* Names by commas. */
static int parse_features(const char *text, uint64_t *bits, struct fault *why)
{
    while (*text) {
        size_t length = strcspn(text, ",");
        size_t i = 0;
        while (i < sizeof(features) / sizeof(features[0]) &&
               (strlen(features[i].name) != length ||
                strncmp(text, features[i].name, length) != 0))
            i++;
        if (i == sizeof(features) / sizeof(features[0]))
            return fault_set(why, FAULT_USAGE, -EINVAL,
                             "--without takes encoding, user-copy and "
                             "recovery, not '%.*s'",
                             (int)(length < 100 ? length : 100), text);
        *bits |= features[i].bits;
        text += length + (text[length] == ',');
    }
    return 0;
}

static int parse_count(const struct options_given *given, int option,
                       const char *name, uint16_t *count, struct fault *why)
{
    const struct option_given *found = options_find(given, option);
    uint64_t value;
    if (!found)
        return 0;
    if (parse_integer(found->value, &value) || value == 0 ||
        value > UBLK_MAX_QUEUE_DEPTH)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--%s takes a number from 1 to %d, not '%.100s'", name,
                         UBLK_MAX_QUEUE_DEPTH, found->value);
    *count = (uint16_t)value;
    return 0;
}

/* The contents' file, or else this process at this time, whoever asks. */
static uint64_t make_label(int contents_fd)
{
    struct timespec now;
    struct stat status;
    struct random random;
    clock_gettime(CLOCK_REALTIME, &now);
    if (contents_fd >= 0 && fstat(contents_fd, &status) == 0)
        random_seed(&random, (uint64_t)status.st_ino * 0x10001 +
                                 (uint64_t)status.st_dev);
    else
        random_seed(&random, (uint64_t)now.tv_sec * 1000000000u +
                                 (uint64_t)now.tv_nsec + (uint64_t)getpid());
    return random_u64(&random) | 1; /* never 0 */
}

static int make_wish(const struct service *service, struct ublk_wish *wish,
                     struct fault *why)
{
    const struct options_given *given = service->given;
    const struct option_given *without = options_find(given, OPTION_WITHOUT);
    int error;
    *wish = (struct ublk_wish){.request_limit_bytes =
                                   service->drive.request_limit_bytes,
                               .label = make_label(service->contents_fd),
                               .is_recoverable = service->contents_fd >= 0};
    error =
        parse_count(given, OPTION_QUEUES, "queues", &wish->queues_count, why);
    if (!error)
        error = parse_count(given, OPTION_QUEUE_DEPTH, "queue-depth",
                            &wish->depth_count, why);
    if (!error && without)
        error = parse_features(without->value, &wish->without, why);
    return error;
}

/* ---- serving ------------------------------------------------------------- */

static int say_ready(struct service *service, const struct ublk *ublk,
                     struct fault *why)
{
    struct ublk_facts facts = ublk_facts(ublk);
    char path[32], how[160];
    struct service_device device = {.path = ublk_path(ublk, path, sizeof(path)),
                                    .via = "ublk",
                                    .how = how,
                                    .request_limit_bytes =
                                        facts.request_limit_bytes};
    snprintf(how, sizeof(how), ", %u queue%s of %u%s%s%s", facts.queues_count,
             facts.queues_count == 1 ? "" : "s", facts.depth_count,
             facts.copies ? ", user copy" : "",
             facts.is_encoded ? "" : ", plain command numbers",
             facts.was_taken_up ? ", taken over from a killed server" : "");
    return service_say_ready(service, &device, why);
}

enum event { EVENT_SIGNAL, EVENT_ENDED };

static enum event wait_event(const struct service *service,
                             const struct ublk *ublk)
{
    struct pollfd fds[] = {{.fd = service->signal_fd, .events = POLLIN},
                           {.fd = ublk_ended_fd(ublk), .events = POLLIN}};
    for (;;) {
        while (poll(fds, 2, -1) < 0 && errno == EINTR)
            ;
        if (fds[0].revents && service_take_signal(service))
            return EVENT_SIGNAL;
        if (fds[1].revents)
            return EVENT_ENDED;
    }
}

static void wait_unused(const struct service *service, const struct ublk *ublk)
{
    char path[32];
    service_wait_unused(service, ublk_path(ublk, path, sizeof(path)),
                        ublk_ended_fd(ublk), -1);
}

/* A second signal does not wait for what the kernel still writes. */
static void take_down(const struct service *service, struct ublk *ublk)
{
    if (ublk_stop(ublk) == 0 && wait_event(service, ublk) == EVENT_SIGNAL)
        ublk_abandon(ublk);
}

static int serve(struct service *service, const struct ublk_wish *wish,
                 struct fault *why)
{
    struct ublk *ublk;
    int error = ublk_open(service->flash, wish, &ublk, why);
    if (error)
        return error;
    error = ublk_start(ublk, why);
    if (!error)
        error = say_ready(service, ublk, why);
    if (!error && wait_event(service, ublk) == EVENT_ENDED)
        error = fault_set(why, FAULT_IO, -EIO, "the ublk device was removed");
    if (!error) {
        wait_unused(service, ublk);
        take_down(service, ublk);
    }
    ublk_close(ublk);
    return error;
}

int service_run_ublk(struct service *service, struct fault *why)
{
    const struct option_given *contents =
        options_find(service->given, OPTION_CONTENTS);
    struct ublk_guard guard;
    struct ublk_wish wish;
    int error = make_wish(service, &wish, why);
    if (error)
        return error;
    error = place_open(&service->place, wish.label, why);
    if (error)
        return error;
    error = ublk_guard_start(&guard, &service->place,
                             contents ? contents->value : NULL,
                             service->contents_fd, why);
    if (!error) {
        error = serve(service, &wish, why);
        ublk_guard_end(&guard);
    }
    place_close(&service->place);
    return error;
}
