/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/serve/service.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "lib/device/identity/disk.h"
#include "lib/device/interlocks/users.h"
#include "cmd/flashemu/flashemu.h"

enum { LOGICAL_BLOCK_BYTES = 512 };

/* Short beside what a person notices, long beside a look at all mounts. */
enum { UNUSED_POLL_MS = 200 };

bool service_take_signal(const struct service *service)
{
    struct signalfd_siginfo taken;
    return read(service->signal_fd, &taken, sizeof(taken)) > 0;
}

static int print_document(const struct service *service,
                          const struct service_device *ready)
{
    struct json_object *document = flashemu_json(service->given);
    struct json_object *device = json_object_new_object();
    json_object_object_add(device, "path", json_object_new_string(ready->path));
    json_object_object_add(device, "via", json_object_new_string(ready->via));
    json_object_object_add(
        device, "capacity_bytes",
        json_object_new_uint64(service->drive.capacity_bytes));
    json_object_object_add(device, "logical_block_bytes",
                           json_object_new_int(LOGICAL_BLOCK_BYTES));
    json_object_object_add(device, "request_limit_bytes",
                           json_object_new_uint64(ready->request_limit_bytes));
    json_object_object_add(document, "device", device);
    return flashemu_print(service->given, document);
}

int service_say_ready(struct service *service,
                      const struct service_device *device, struct fault *why)
{
    char size[32], limit[32];
    int error;
    fprintf(stderr,
            "flashemu: %s, %s, on %s (%s%s); requests up to %s arrive whole, "
            "larger ones are split\n",
            service->drive.name,
            format_capacity(service->drive.capacity_bytes, size, sizeof(size)),
            device->path, device->via, device->how,
            format_bytes(device->request_limit_bytes, limit, sizeof(limit)));
    service->announced = true;
    if (options_find(service->given, OPTION_JSON))
        error = print_document(service, device);
    else
        error = printf("%s\n", device->path) < 0 || fflush(stdout) != 0;
    return error ? fault_set(why, FAULT_IO, -EIO,
                             "cannot write to standard output")
                 : 0;
}

static bool is_used(const char *path, char *user, size_t size)
{
    struct disk disk;
    return disk_find(path, &disk, NULL) == 0 &&
           users_find(&disk, user, size) > 0;
}

void service_wait_unused(const struct service *service, const char *path,
                         int ended_fd, int other_fd)
{
    struct pollfd fds[] = {{.fd = service->signal_fd, .events = POLLIN},
                           {.fd = ended_fd, .events = POLLIN},
                           {.fd = other_fd, .events = POLLIN}};
    char user[320];
    if (!is_used(path, user, sizeof(user)))
        return;
    /* What a file system has not written yet only unmounting saves. */
    fprintf(
        stderr,
        "flashemu: asked to end while in use: %s; the server ends once nobody "
        "uses %s, or at a second interrupt, which loses unwritten data\n",
        user, path);
    do {
        if (poll(fds, sizeof(fds) / sizeof(fds[0]), UNUSED_POLL_MS) <= 0)
            continue;
        if (!fds[0].revents || service_take_signal(service))
            return;
    } while (is_used(path, user, sizeof(user)));
}
