/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs one probe on a device, without the program ssdprobe:
 *
 *     cc example.c $(pkg-config --cflags --libs libssdprobe) -o example
 *     ./example sim:ssd-a
 */
#include <stdio.h>

#include "lib/device/device.h"
#include "lib/session/run/session.h"
#include "probes/probes.h"

static void print_findings(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        char value[64];
        printf("%s: %s", finding->parameter, verdict_name(finding->verdict));
        if (finding->verdict == VERDICT_FOUND)
            printf(" %s %s (confidence %.3f)",
                   value_format(&finding->value, value, sizeof(value)),
                   finding->unit, finding->confidence);
        printf("\n    %s\n", finding->why);
    }
}

int main(int argc, char **argv)
{
    const struct probe *const chosen[] = {&probe_read_buffer, NULL};
    const struct session_options session_options = {.seed = 1};
    struct session *session = NULL;
    struct device *device = NULL;
    struct fault why = {.kind = FAULT_NONE};
    int error;

    if (argc != 2) {
        fprintf(stderr, "usage: %s DEVICE\n", argv[0]);
        return 1;
    }
    /* Opened for reading only: no write can pass. */
    error = device_open(argv[1], &(struct device_options){.write = false},
                        &device, &why);
    if (!error)
        error = session_open(device, &session_options, &session, &why);
    if (!error)
        error = session_run(session, chosen, &why);
    if (session)
        print_findings(session_findings(session));
    if (error)
        fprintf(stderr, "%s: %s\n", argv[0], why.text);
    session_close(session);
    device_close(device);
    return error ? 2 : 0;
}
