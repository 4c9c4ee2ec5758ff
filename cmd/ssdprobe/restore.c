/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe restore`: what a run could not put back itself. */
#include <errno.h>
#include <string.h>

#include "cmd/common/json.h"
#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/console/confirm.h"
#include "cmd/ssdprobe/console/patience.h"
#include "cmd/ssdprobe/console/progress.h"
#include "lib/base/units.h"
#include "lib/device/identity/disk.h"
#include "lib/device/interlocks/pin.h"
#include "lib/session/keep/journal.h"
#include "lib/session/keep/preserve.h"
#include "lib/session/keep/tune.h"

struct restore {
    struct invocation invocation;
    struct run_dir dir;
    struct device *device;
    struct progress progress;
    struct patience patience;
    struct fault why;
};

static bool same_where_known(const char *known, const char *now)
{
    return !known[0] || strcmp(known, now) == 0;
}

/* Could it be the disk that the journal is of, by what it says of itself? A
 * card reader says the same of every card. */
static bool is_alike(const struct journal_header *header, const char *path)
{
    struct device_info info = {.path = ""};
    struct disk disk;
    struct pin pin;

    if (disk_find(path, &disk, NULL) != 0 || !disk.folder[0] ||
        disk.parent[0] || pin_take(&disk, -1, &pin) != 0)
        return false;
    disk_describe(&disk, &info);
    return info.capacity_bytes == header->capacity_bytes &&
           strcmp(info.model, header->model) == 0 &&
           same_where_known(header->serial, info.serial) &&
           same_where_known(header->wwid, pin.wwid);
}

/* Opens it, when it is surely the right one. */
static int try_disk(struct restore *restore,
                    const struct journal_header *header, const char *path,
                    struct fault *why)
{
    /* The run had these answers, and this only puts back what was there. */
    const struct device_options options = {.write = true,
                                           .allow_virtual = true,
                                           .force_signature = true,
                                           .force_unhealthy = true,
                                           .flush = FLUSH_AUTO,
                                           .wait_on = patience_wait_on,
                                           .wait_context = &restore->patience};
    int error = device_open(path, &options, &restore->device, why);

    if (error)
        return error;
    error = confirm_disk(&restore->invocation.settings, restore->device,
                         &header->fingerprint, restore->dir.path, why);
    if (error) {
        device_close(restore->device);
        restore->device = NULL;
    }
    return error;
}

/* Where it was, or wherever it came up again. Several may be alike: the first
 * that is surely the one counts, else what is to be said of the first. */
static int find_disk(struct restore *restore,
                     const struct journal_header *header)
{
    struct disk_list list = {.count = 0};
    struct fault why = {FAULT_NONE, ""};
    int error = fault_set(&restore->why, FAULT_RESTORE, -ENODEV,
                          "the disk that was %.100s (%.60s) is not connected; "
                          "plug it in and try again",
                          header->path,
                          header->model[0] ? header->model : "no model name");
    bool found = false;

    (void)disk_list_read(&list);
    for (size_t i = 0; i <= list.count; i++) {
        const char *path = i ? list.paths[i - 1] : header->path;
        if ((i && strcmp(path, header->path) == 0) || !is_alike(header, path))
            continue;
        const int refusal = try_disk(restore, header, path, &why);
        if (!refusal)
            return 0;
        if (found)
            continue;
        restore->why = why;
        error = refusal;
        found = true;
    }
    return error;
}

static int open_disk(struct restore *restore,
                     const struct journal_header *header)
{
    restore->patience = (struct patience){.output = &restore->invocation.output,
                                          .progress = &restore->progress};
    if (device_is_emulated(header->path))
        return fault_set(&restore->why, FAULT_RESTORE, -ENODEV,
                         "%.100s was an emulated drive, which ended with its "
                         "run: there is no drive to restore the contents to",
                         header->path);
    return find_disk(restore, header);
}

static void show(void *context, const char *what, uint64_t done_bytes,
                 uint64_t all_bytes)
{
    progress_copy(context, what, done_bytes, all_bytes);
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
    if (error) {
        journal_close(&journal);
        return error;
    }
    restore->invocation.report.device = device_info(restore->device);
    progress_begin(&restore->progress, &restore->invocation.settings, false);
    error = preserve_put_back(restore->device, &journal, &restore->dir, &watch,
                              &changed_bytes, &restore->why);
    journal_close(&journal);
    progress_end(&restore->progress);
    if (error)
        return error;
    snprintf(text, sizeof(text),
             "the contents of %.100s are restored; %s had to be written",
             device_info(restore->device)->path,
             format_bytes(changed_bytes, size, sizeof(size)));
    output_message(&restore->invocation.output, "note", text);
    return 0;
}

/* Contents come back, too, where a setting does not. */
static int restore_all(struct restore *restore, const char *path)
{
    struct fault settings_why = {FAULT_NONE, ""};
    int error = run_dir_open_own(path, &restore->dir, &restore->why);

    if (error)
        return error;
    const int settings_error = tune_restore(&restore->dir, &settings_why);
    if (run_dir_has(&restore->dir, RUN_DIR_JOURNAL))
        error = put_back_contents(restore);
    else
        output_message(&restore->invocation.output, "note",
                       "there are no contents to restore");
    /* A copy that was not finished: nothing had been written yet. */
    if (!error)
        (void)run_dir_remove(&restore->dir, RUN_DIR_UNFINISHED);
    if (error && settings_error)
        output_message(&restore->invocation.output, "error", settings_why.text);
    if (error || !settings_error)
        return error;
    restore->why = settings_why;
    return settings_error;
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
