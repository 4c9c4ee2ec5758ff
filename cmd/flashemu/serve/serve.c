/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/flashemu.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "cmd/flashemu/live/contents.h"
#include "cmd/flashemu/serve/service.h"
#include "cmd/flashemu/ublk/control.h"

enum { SPEC_SIZE = 4096 };

/* ---- what is asked for --------------------------------------------------- */

enum via { VIA_AUTO, VIA_UBLK, VIA_LOOP };

static int parse_via(const struct options_given *given, enum via *via,
                     struct fault *why)
{
    static const char *const names[] = {"auto", "ublk", "loop"};
    const struct option_given *found = options_find(given, OPTION_VIA);
    *via = VIA_AUTO;
    for (size_t i = 0; found && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(found->value, names[i]) == 0) {
            *via = (enum via)i;
            return 0;
        }
    if (!found)
        return 0;
    return fault_set(why, FAULT_USAGE, -EINVAL,
                     "--via takes auto, ublk or loop, not '%.100s'",
                     found->value);
}

/* What only ublk can do, loop must not seem to do. */
static int check_options(const struct options_given *given, enum via via,
                         struct fault *why)
{
    static const struct {
        int option;
        const char *name;
    } rows[] = {{OPTION_QUEUES, "queues"},
                {OPTION_QUEUE_DEPTH, "queue-depth"},
                {OPTION_WITHOUT, "without"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (via != VIA_UBLK && options_find(given, rows[i].option))
            return fault_set(why, FAULT_USAGE, -EINVAL,
                             "--%s is for --via=ublk only", rows[i].name);
    return 0;
}

/* The drive as asked for: operand and --size. */
static int load_drive(const struct options_given *given, struct drive *drive,
                      struct fault *why)
{
    const struct option_given *size = options_find(given, OPTION_SIZE);
    const char *operand = given->operands[0];
    char spec[SPEC_SIZE];
    uint64_t size_bytes = 0;
    int length;
    if (!size)
        return drive_load(operand, drive, why);
    if (parse_bytes(size->value, &size_bytes) || size_bytes == 0)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--size takes a size such as 512M or 8GiB, not "
                         "'%.100s'",
                         size->value);
    length = snprintf(spec, sizeof(spec), "%s,capacity_bytes=%" PRIu64, operand,
                      size_bytes);
    if ((size_t)length >= sizeof(spec))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "the description of the drive is too long");
    return drive_load(spec, drive, why);
}

static int open_contents(struct service *service, struct fault *why)
{
    const struct option_given *found =
        options_find(service->given, OPTION_CONTENTS);
    if (!found)
        return 0;
    return contents_open(found->value, service->flash, &service->contents_fd,
                         why);
}

/* ---- signals ------------------------------------------------------------- */

/* Signals that end the server; handled nowhere, read from a descriptor. */
static int catch_signals(int *signal_fd, struct fault *why)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return fault_set(why, FAULT_OPEN, -errno, "cannot block signals");
    *signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (*signal_fd < 0)
        return fault_set(why, FAULT_OPEN, -errno, "cannot read signals (%s)",
                         strerror(errno));
    return 0;
}

/* ---- serving ------------------------------------------------------------- */

/* Has this kernel ublk, and may we use it? Else says why not. */
static bool has_ublk(void)
{
    struct ublk_control control;
    struct fault why;
    if (ublk_control_open(&control, 0, &why)) {
        fprintf(stderr, "flashemu: via loop, because %s\n", why.text);
        return false;
    }
    ublk_control_close(&control);
    return true;
}

static int run(struct service *service, enum via via, struct fault *why)
{
    int error = catch_signals(&service->signal_fd, why);
    if (error)
        return error;
    error = open_contents(service, why);
    if (!error && (via == VIA_UBLK || (via == VIA_AUTO && has_ublk())))
        error = service_run_ublk(service, why);
    else if (!error)
        error = service_run_loop(service, why);
    if (service->contents_fd >= 0)
        close(service->contents_fd);
    close(service->signal_fd);
    return error;
}

int flashemu_serve(const struct options_given *given)
{
    static struct service service; /* too large for a stack */
    struct fault why = {.kind = FAULT_NONE};
    enum via via;
    int error = parse_via(given, &via, &why);
    service.given = given;
    service.contents_fd = -1;
    if (!error)
        error = check_options(given, via, &why);
    if (!error)
        error = load_drive(given, &service.drive, &why);
    if (!error)
        error = flash_create(&service.drive, &service.flash, &why);
    if (!error)
        error = run(&service, via, &why);
    flash_destroy(service.flash);
    if (!error)
        return 0;
    return service.announced ? flashemu_fail_late(&why)
                             : flashemu_fail(given, &why);
}
