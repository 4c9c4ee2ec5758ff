/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu_service.h"

#include <errno.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "cmd/flashemu.h"

enum { LOGICAL_BLOCK_BYTES = 512 };

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
            format_bytes(service->drive.capacity_bytes, size, sizeof(size)),
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
