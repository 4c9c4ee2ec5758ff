/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "lib/flash/flash.h"
#include "cmd/flashemu_attendant.h"
#include "cmd/flashemu_place.h"
#include "cmd/flashemu_served.h"

enum { SPEC_SIZE = 4096 };

/* Everything a server holds. */
struct server {
    const struct options_given *given;
    struct drive drive;
    struct flash *flash;
    struct place place;
    struct served *served;
    struct attendant attendant;
    struct attendant_report report;
    int signal_fd;
    bool announced; /* standard output has had its line or document */
};

static int check_via(const struct options_given *given, struct fault *why)
{
    const struct option_given *via = options_find(given, OPTION_VIA);
    if (!via || strcmp(via->value, "auto") == 0 ||
        strcmp(via->value, "loop") == 0)
        return 0;
    if (strcmp(via->value, "ublk") == 0)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "this build serves drives via loop only, not ublk");
    return fault_set(why, FAULT_USAGE, -EINVAL,
                     "--via takes auto or loop, not '%.100s'", via->value);
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

/*
 * In a mount namespace of our own nobody trips over the file, and the mount
 * goes with the process. Where that is forbidden the common one does.
 */
static void hide_mount(void)
{
    if (unshare(CLONE_NEWNS) == 0)
        mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL);
}

enum event { EVENT_SIGNAL, EVENT_ATTENDANT, EVENT_ENDED };

/* Waits for one of these, the first that has happened. */
static enum event wait_event(const struct server *server)
{
    struct pollfd fds[] = {
        {.fd = server->signal_fd, .events = POLLIN},
        {.fd = server->attendant.report_fd, .events = POLLIN},
        {.fd = served_ended_fd(server->served), .events = POLLIN}};
    while (poll(fds, 3, -1) < 0 && errno == EINTR)
        ;
    if (fds[0].revents) {
        struct signalfd_siginfo taken;
        if (read(server->signal_fd, &taken, sizeof(taken)) > 0)
            return EVENT_SIGNAL;
    }
    return fds[1].revents ? EVENT_ATTENDANT : EVENT_ENDED;
}

static int say_ready(const struct server *server)
{
    const struct loop *loop = &server->report.loop;
    char path[32], size[32], limit[32];
    loop_path(loop, path, sizeof(path));
    fprintf(
        stderr,
        "flashemu: %s, %s, on %s; requests up to %s arrive whole, larger "
        "ones are split\n",
        server->drive.name,
        format_bytes(server->drive.capacity_bytes, size, sizeof(size)), path,
        format_bytes(server->report.request_limit_bytes, limit, sizeof(limit)));
    if (options_find(server->given, OPTION_JSON)) {
        struct json_object *document = flashemu_json(server->given);
        struct json_object *device = json_object_new_object();
        json_object_object_add(device, "path", json_object_new_string(path));
        json_object_object_add(device, "via", json_object_new_string("loop"));
        json_object_object_add(
            device, "capacity_bytes",
            json_object_new_uint64(server->drive.capacity_bytes));
        json_object_object_add(device, "logical_block_bytes",
                               json_object_new_int(LOOP_BLOCK_BYTES));
        json_object_object_add(
            device, "request_limit_bytes",
            json_object_new_uint64(server->report.request_limit_bytes));
        json_object_object_add(document, "device", device);
        return flashemu_print(server->given, document);
    }
    return printf("%s\n", path) < 0 || fflush(stdout) != 0;
}

/* Until a signal: 0, or why it ended before. */
static int attend_events(struct server *server, struct fault *why)
{
    enum event event = wait_event(server);
    if (event == EVENT_ATTENDANT &&
        attendant_read(&server->attendant, &server->report) == 0) {
        if (server->report.fault.kind != FAULT_NONE) {
            *why = server->report.fault;
            return -ENODEV;
        }
        server->announced = true;
        if (say_ready(server))
            return fault_set(why, FAULT_IO, -EIO,
                             "cannot write to standard output");
        event = wait_event(server);
    }
    if (event == EVENT_SIGNAL)
        return 0;
    return fault_set(why, FAULT_IO, -EIO,
                     event == EVENT_ENDED
                         ? "somebody unmounted the drive's file"
                         : "the process that tends the loop device was killed");
}

/*
 * The attendant takes the loop device down, which may write back what a client
 * left in the page cache, so the drive serves on. A second signal ends that.
 */
static void take_down(struct server *server)
{
    attendant_release(&server->attendant);
    if (wait_event(server) != EVENT_ATTENDANT)
        served_stop(server->served);
}

static int serve_until_signal(struct server *server, struct fault *why)
{
    int error = attendant_start(&server->place, server->served,
                                server->drive.request_limit_bytes,
                                &server->attendant, why);
    if (error)
        return error;
    error = served_start(server->served, why);
    if (!error) {
        error = attend_events(server, why);
        take_down(server);
    }
    served_stop(server->served);
    if (attendant_join(&server->attendant) == 0)
        return error;
    place_detach_loop(&server->place); /* what is left of it fails by now */
    if (!error)
        error = fault_set(why, FAULT_IO, -EIO,
                          "the process that tends the loop device was killed");
    return error;
}

static int run(struct server *server, struct fault *why)
{
    int error = catch_signals(&server->signal_fd, why);
    if (error)
        return error;
    hide_mount();
    error = place_open(&server->place, why);
    if (error)
        goto close_signals;
    error = served_open(server->flash, server->place.mount_path,
                        &server->served, why);
    if (error)
        goto close_place;
    error = serve_until_signal(server, why);
    served_close(server->served);
close_place:
    place_close(&server->place);
close_signals:
    close(server->signal_fd);
    return error;
}

int flashemu_serve(const struct options_given *given)
{
    static struct server server; /* too large for a stack */
    struct fault why = {.kind = FAULT_NONE};
    int error = check_via(given, &why);
    server.given = given;
    if (!error)
        error = load_drive(given, &server.drive, &why);
    if (!error)
        error = flash_create(&server.drive, &server.flash, &why);
    if (!error)
        error = run(&server, &why);
    flash_destroy(server.flash);
    if (!error)
        return 0;
    return server.announced ? flashemu_fail_late(&why)
                            : flashemu_fail(given, &why);
}
