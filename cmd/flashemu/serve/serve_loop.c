/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>

#include "cmd/flashemu/serve/attendant.h"
#include "cmd/flashemu/serve/served.h"
#include "cmd/flashemu/serve/service.h"

/* Everything a server by a loop device holds. */
struct server {
    struct service *service;
    struct served *served;
    struct attendant attendant;
    struct attendant_report report;
};

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
        {.fd = server->service->signal_fd, .events = POLLIN},
        {.fd = server->attendant.report_fd, .events = POLLIN},
        {.fd = served_ended_fd(server->served), .events = POLLIN}};
    while (poll(fds, 3, -1) < 0 && errno == EINTR)
        ;
    if (fds[0].revents && service_take_signal(server->service))
        return EVENT_SIGNAL;
    return fds[1].revents ? EVENT_ATTENDANT : EVENT_ENDED;
}

static int say_ready(struct server *server, struct fault *why)
{
    char path[32];
    struct service_device device = {
        .path = loop_path(&server->report.loop, path, sizeof(path)),
        .via = "loop",
        .how = "",
        .request_limit_bytes = server->report.request_limit_bytes};
    return service_say_ready(server->service, &device, why);
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
        int error = say_ready(server, why);
        if (error)
            return error;
        event = wait_event(server);
    }
    if (event == EVENT_SIGNAL)
        return 0;
    return fault_set(why, FAULT_IO, -EIO,
                     event == EVENT_ENDED
                         ? "the drive's file was unmounted"
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

static void wait_unused(const struct server *server)
{
    char path[32];
    service_wait_unused(
        server->service, loop_path(&server->report.loop, path, sizeof(path)),
        served_ended_fd(server->served), server->attendant.report_fd);
}

static int serve_until_signal(struct server *server, struct fault *why)
{
    int error = attendant_start(&server->service->place, server->served,
                                server->service->drive.request_limit_bytes,
                                &server->attendant, why);
    if (error)
        return error;
    error = served_start(server->served, why);
    if (!error) {
        error = attend_events(server, why);
        if (!error && server->service->announced)
            wait_unused(server);
        take_down(server);
    }
    served_stop(server->served);
    if (attendant_join(&server->attendant) == 0)
        return error;
    place_detach_loop(
        &server->service->place); /* what is left of it fails by now */
    if (!error)
        error = fault_set(why, FAULT_IO, -EIO,
                          "the process that tends the loop device was killed");
    return error;
}

int service_run_loop(struct service *service, struct fault *why)
{
    struct server server = {.service = service};
    int error;
    hide_mount();
    error = place_open(&service->place, 0, why);
    if (error)
        return error;
    error = served_open(service->flash, service->place.mount_path,
                        &server.served, why);
    if (!error)
        error = serve_until_signal(&server, why);
    served_close(server.served);
    place_close(&service->place);
    return error;
}
