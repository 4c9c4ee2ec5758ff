/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe restore`: what a run could not put back itself. */
#include <errno.h>
#include <string.h>

#include "cmd/common_json.h"
#include "cmd/ssdprobe_commands.h"
#include "cmd/ssdprobe_confirm.h"
#include "cmd/ssdprobe_patience.h"
#include "cmd/ssdprobe_progress.h"
#include "lib/base/units.h"
#include "lib/device/disk.h"
#include "lib/device/pin.h"
#include "lib/session/journal.h"
#include "lib/session/preserve.h"
#include "lib/session/tune.h"

struct restore {
    struct invocation invocation;
    struct run_dir dir;
    struct device *device;
    struct progress progress;
    struct patience patience;
    struct fault why;
};

/* How surely is this the disk that the journal is of? */
enum likeness { OTHER, LIKELY, SAME };

static bool same_text(const char *a, const char *b)
{
    return a[0] && strcmp(a, b) == 0;
}

static enum likeness compare(const struct journal_header *header,
                             const char *path)
{
    struct device_info info = {.path = ""};
    struct disk disk;
    struct pin pin;

    if (disk_find(path, &disk, NULL) != 0 || !disk.folder[0] ||
        disk.parent[0] || pin_take(&disk, -1, &pin) != 0)
        return OTHER;
    disk_describe(&disk, &info);
    if (info.capacity_bytes != header->capacity_bytes ||
        strcmp(info.model, header->model) != 0)
        return OTHER;
    if (header->serial[0] || header->wwid[0])
        return (!header->serial[0] || same_text(header->serial, info.serial)) &&
                       (!header->wwid[0] || same_text(header->wwid, pin.wwid))
                   ? SAME
                   : OTHER;
    /* It says nothing of itself: only the kernel's number is sure. */
    if (strcmp(path, header->path) != 0)
        return OTHER;
    return same_text(header->sequence, pin.sequence) ? SAME : LIKELY;
}

/* Where it was, or wherever it came up again. */
static enum likeness find_disk(const struct journal_header *header,
                               char path[128])
{
    enum likeness likeness = compare(header, header->path);
    struct disk_list list;

    snprintf(path, 128, "%s", header->path);
    if (likeness != OTHER || disk_list_read(&list) != 0)
        return likeness;
    for (size_t i = 0; i < list.count && likeness == OTHER; i++) {
        likeness = compare(header, list.paths[i]);
        if (likeness != OTHER)
            snprintf(path, 128, "%s", list.paths[i]);
    }
    return likeness;
}

static int open_disk(struct restore *restore,
                     const struct journal_header *header)
{
    const struct settings *settings = &restore->invocation.settings;
    /* The run had these answers, and this only puts back what was there. */
    const struct device_options options = {.write = true,
                                           .allow_virtual = true,
                                           .force_signature = true,
                                           .force_unhealthy = true,
                                           .flush = FLUSH_AUTO,
                                           .wait_on = patience_wait_on,
                                           .wait_context = &restore->patience};
    char path[128];
    enum likeness likeness;

    restore->patience = (struct patience){.output = &restore->invocation.output,
                                          .progress = &restore->progress};
    if (strncmp(header->path, "sim:", 4) == 0)
        return fault_set(&restore->why, FAULT_RESTORE, -ENODEV,
                         "%.100s was an emulated drive, which ended with its "
                         "run: there is nothing to put the contents back to",
                         header->path);
    likeness = find_disk(header, path);
    if (likeness == OTHER)
        return fault_set(&restore->why, FAULT_RESTORE, -ENODEV,
                         "the disk that was %.100s (%.60s) is not there; plug "
                         "it in and try again",
                         header->path,
                         header->model[0] ? header->model : "no model name");
    if (likeness == LIKELY && !settings->yes && !settings->confirm)
        return fault_set(&restore->why, FAULT_REFUSED, -EPERM,
                         "%.100s has no serial number and was plugged in "
                         "again, so it may be another disk; if it is the right "
                         "one, add --confirm=%.60s",
                         path, strrchr(path, '/') + 1);
    int error = device_open(path, &options, &restore->device, &restore->why);
    if (!error && settings->confirm)
        error = confirm_device(settings, device_info(restore->device), NULL,
                               true, &restore->why);
    return error;
}

static void show(void *context, const char *what, double share)
{
    const struct session_progress now = {
        .probe = what, .share = share, .seconds_left = -1};

    progress_update(context, &now);
}

static int put_back_contents(struct restore *restore)
{
    const struct preserve_watch watch = {.progress = show,
                                         .context = &restore->progress};
    struct journal journal;
    uint64_t changed_bytes;
    char text[400], size[24];
    int error = journal_open(&restore->dir, &journal, &restore->why);

    if (error)
        return error;
    error = open_disk(restore, &journal.header);
    journal_close(&journal);
    if (error)
        return error;
    restore->invocation.report.device = device_info(restore->device);
    progress_begin(&restore->progress, &restore->invocation.settings, false);
    error = preserve_put_back(restore->device, &restore->dir, &watch,
                              &changed_bytes, &restore->why);
    progress_end(&restore->progress);
    if (error)
        return error;
    snprintf(text, sizeof(text),
             "the contents of %.100s are as they were; %s had to be written",
             device_info(restore->device)->path,
             format_bytes(changed_bytes, size, sizeof(size)));
    output_message(&restore->invocation.output, "note", text);
    return 0;
}

static int restore_all(struct restore *restore, const char *path)
{
    int error = run_dir_open(path, &restore->dir, &restore->why);
    bool has_journal;

    if (error)
        return error;
    error = tune_restore(&restore->dir, &restore->why);
    if (error)
        return error;
    has_journal = run_dir_has(&restore->dir, RUN_DIR_JOURNAL);
    if (has_journal)
        error = put_back_contents(restore);
    else
        output_message(&restore->invocation.output, "note",
                       "there are no contents to put back");
    /* A copy that was not finished: nothing had been written yet. */
    if (!error)
        (void)run_dir_remove(&restore->dir, RUN_DIR_UNFINISHED);
    return error;
}

int command_restore(const struct options_given *given)
{
    struct restore restore = {.device = NULL};
    int error = invocation_begin(&restore.invocation, given, &restore.why);
    int status;

    run_dir_none(&restore.dir);
    restore.invocation.output.text_done = true;
    if (!error)
        error = restore_all(&restore, given->operands[0]);
    status = error ? invocation_fail(&restore.invocation, error, &restore.why)
                   : invocation_end(&restore.invocation, 0);
    device_close(restore.device);
    run_dir_close(&restore.dir);
    return status;
}
