/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/console/confirm.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cmd/ssdprobe/console/signals.h"
#include "lib/base/units.h"

enum { ASKED_LETTERS = 4 };

const double confirm_unmeasured_factor = 3;
/* The same of bytes, down and up. */
enum { LESS_BYTES = 2, MORE_BYTES = 4 };

char *confirm_size(const struct settings *settings, uint64_t bytes, char *text,
                   size_t size)
{
    if (settings->plain_bytes)
        snprintf(text, size, "%" PRIu64 " B", bytes);
    else
        format_bytes(bytes, text, size);
    return text;
}

/* The range around what is planned: "32 MiB to 256 MiB, at most 1 GiB". What is
 * the same in every run is no range. */
static void print_range(FILE *out, const struct settings *settings,
                        const char *label, uint64_t planned, uint64_t most)
{
    const uint64_t more =
        planned < most / MORE_BYTES ? MORE_BYTES * planned : most;
    char a[32], b[32], c[32];

    confirm_size(settings, planned / LESS_BYTES, a, sizeof(a));
    confirm_size(settings, more, b, sizeof(b));
    confirm_size(settings, most, c, sizeof(c));
    if (planned == most)
        fprintf(out, "  %-10s%s\n", label, c);
    else
        fprintf(out, "  %-10s%s to %s, at most %s\n", label, a, b, c);
}

static void print_seconds(double seconds, char *text, size_t size)
{
    if (seconds < 120)
        snprintf(text, size, "%.0f s", seconds < 1 ? 1.0 : seconds);
    else if (seconds < 7200)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

char *confirm_seconds(double seconds, double factor, uint64_t limit_ns,
                      char *text, size_t size)
{
    char low[24], high[24];

    const double most = limit_ns ? (double)limit_ns / 1e9 : INFINITY;

    print_seconds(fmin(seconds / factor, most), low, sizeof(low));
    print_seconds(fmin(seconds * factor, most), high, sizeof(high));
    if (strcmp(low, high) == 0)
        snprintf(text, size, "%s", low);
    else
        snprintf(text, size, "%s to %s", low, high);
    return text;
}

void confirm_print_plan(FILE *out, const struct settings *settings,
                        const struct device_info *device,
                        const struct cost_plan *plan)
{
    char a[32], b[32], path[PATH_MAX], model[128];
    uint64_t end = plan->region_offset_bytes + plan->region_length_bytes;

    fprintf(out, "Plan for %s%s%s:\n",
            report_utf8(device->path, path, sizeof(path)),
            device->model[0] ? ", " : "",
            report_utf8(device->model, model, sizeof(model)));
    fprintf(out, "  %-10s%s to %s\n", "region",
            confirm_size(settings, plan->region_offset_bytes, a, sizeof(a)),
            confirm_size(settings, end, b, sizeof(b)));
    print_range(out, settings, "writes", plan->bytes_written,
                plan->bytes_written_max);
    print_range(out, settings, "reads", plan->bytes_read, plan->bytes_read_max);
    fprintf(out, "  %-10s%" PRIu64 ", at most %" PRIu64 "\n", "requests",
            plan->requests, plan->requests_max);
    if (settings->preserve)
        fprintf(
            out,
            "  %-10s%s are copied first and restored at the end, beyond the "
            "budget\n",
            "contents",
            confirm_size(settings, plan->region_length_bytes, a, sizeof(a)));
    confirm_seconds(plan->seconds, confirm_unmeasured_factor,
                    settings->time_limit_ns, a, sizeof(a));
    fprintf(out, "  %-10s%s%s\n", "time", a,
            device->virtual_clock ? " of the emulated drive's time" : "");
    for (size_t i = 0; i < plan->parts_count; i++)
        if (!plan->parts[i].fits)
            fprintf(out,
                    "  %-10s%s, which needs to write %s: more than is left of "
                    "the budget of %s (--write-budget)\n",
                    "left out", plan->parts[i].name,
                    confirm_size(settings, plan->parts[i].plan.bytes_written, a,
                                 sizeof(a)),
                    confirm_size(settings, plan->budget_bytes, b, sizeof(b)));
    if (settings->verbose)
        fprintf(out, "  %-10s%" PRIu64 "\n", "seed", settings->seed);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* What identifies the device, and whether that is a serial number. */
static const char *identity(const struct settings *settings,
                            const struct device_info *device, bool asking,
                            bool *is_serial)
{
    *is_serial = device->serial[0] != '\0' && !(asking && settings->no_serial);
    return *is_serial ? device->serial : last_part(device->path);
}

static int check_confirm(const struct settings *settings,
                         const struct device_info *device, struct fault *why)
{
    bool is_serial;
    const char *name = identity(settings, device, false, &is_serial);

    if (strcmp(settings->confirm, name) == 0 ||
        (!is_serial && strcmp(settings->confirm, device->path) == 0))
        return 0;
    return fault_set(why, FAULT_REFUSED, -EPERM,
                     "--confirm does not name this device: its %s is another",
                     is_serial ? "serial number" : "name");
}

/* Reads a line from the terminal. Not restarted by a signal, unlike read(). */
static int read_answer(char *answer, size_t size)
{
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    ssize_t length;

    if (*signals_flag() || poll(&wait, 1, -1) < 0)
        return -EINTR;
    length = read(STDIN_FILENO, answer, size - 1);
    if (length < 0)
        return -errno;
    answer[length] = '\0';
    answer[strcspn(answer, "\r\n")] = '\0';
    return 0;
}

/* Names come from the drive and from what is on it. */
static void print_line(const char *label, const char *text)
{
    char copy[PATH_MAX];

    fprintf(stderr, "  %-12s%s\n", label,
            report_utf8(text, copy, sizeof(copy)));
}

/* What is at stake. */
static void print_stake(const struct device_info *device, const char *serial,
                        const struct interlock_outcomes *outcomes)
{
    char size[32];

    format_capacity(device->capacity_bytes, size, sizeof(size));
    fputs("\nThis OVERWRITES data on the device, within the region above:\n",
          stderr);
    print_line("model", device->model[0] ? device->model : "(not known)");
    print_line("serial", serial);
    print_line("size", size);
    print_line("path", device->path);
    print_line("partitions",
               device->partitions[0] ? device->partitions : "none");
    for (size_t i = 0; i < outcomes->count; i++)
        if (outcomes->items[i].verdict == INTERLOCK_NOTE)
            print_line(outcomes->items[i].name, outcomes->items[i].text);
}

static int ask(const struct settings *settings,
               const struct device_info *device,
               const struct interlock_outcomes *outcomes, struct fault *why)
{
    char answer[128] = "";
    bool is_serial;
    const char *name = identity(settings, device, true, &is_serial);
    size_t length = strlen(name);

    print_stake(device, is_serial ? device->serial : "-", outcomes);
    if (is_serial && length > ASKED_LETTERS)
        name += length - ASKED_LETTERS;
    fprintf(stderr, "Type %s to go on: ",
            is_serial ? "the last four characters of the serial"
                      : "the name of the device (the last part of its path)");
    fflush(stderr);
    int error = read_answer(answer, sizeof(answer));
    if (error == -EINTR)
        fputc('\n', stderr);
    if (error)
        return error;
    if (strcmp(answer, name) == 0)
        return 0;
    return fault_set(why, FAULT_REFUSED, -EPERM,
                     "not confirmed; nothing was written");
}

int confirm_device(const struct settings *settings,
                   const struct device_info *device,
                   const struct interlock_outcomes *outcomes, bool writes,
                   struct fault *why)
{
    if (settings->confirm)
        return check_confirm(settings, device, why);
    if (!writes || device->virtual_clock || settings->yes)
        return 0;
    if (!isatty(STDIN_FILENO))
        return fault_set(
            why, FAULT_REFUSED, -EPERM,
            "this would overwrite %.100s, and there is no terminal for the "
            "question: add --confirm=SERIAL or --yes",
            device->path);
    return ask(settings, device, outcomes, why);
}

int confirm_disk(const struct settings *settings, struct device *device,
                 const struct fingerprint *fingerprint, const char *run_path,
                 struct fault *why)
{
    const struct device_info *info = device_info(device);
    struct fingerprint_match match;
    char doubt[160];
    bool is_serial;

    if (settings->confirm)
        return check_confirm(settings, info, why);
    if (info->virtual_clock)
        return 0;
    fingerprint_compare(device, fingerprint, &match);
    if (match.likeness == LIKENESS_SAME)
        return 0;
    const char *name = identity(settings, info, false, &is_serial);
    return fault_set(why, FAULT_REFUSED, -EPERM,
                     "%.100s may not be the disk of the run in %.200s: %s; if "
                     "it is, add --confirm=%.64s",
                     info->path, run_path,
                     fingerprint_doubt(&match, doubt, sizeof(doubt)),
                     is_serial && settings->no_serial ? "SERIAL" : name);
}
