/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/run/keep.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/units.h"

/* Runs of one model that begin in the same second. */
enum { NAMES_MAX = 100, MODEL_MAX = 40 };

void keep_none(struct keep *keep)
{
    *keep = (struct keep){.samples = NULL};
    run_dir_none(&keep->dir);
}

/* "Samsung SSD 860" as part of a file's name: "Samsung-SSD-860". */
static void model_word(const struct device_info *device, char word[MODEL_MAX])
{
    const char *slash = strrchr(device->path, '/');
    const char *model = device->model[0] ? device->model
                        : slash          ? slash + 1
                                         : device->path;
    size_t length = 0;

    for (; *model && length + 1 < MODEL_MAX; model++) {
        const bool plain =
            isalnum((unsigned char)*model) || strchr("._+", *model);
        if (plain)
            word[length++] = *model;
        else if (length > 0 && word[length - 1] != '-')
            word[length++] = '-';
    }
    word[length] = '\0';
}

static int open_named(struct keep *keep, const struct device_info *device,
                      struct fault *why)
{
    char model[MODEL_MAX], date[32] = "", path[128];
    const time_t now = time(NULL);
    struct tm local;
    int error = -EEXIST;

    model_word(device, model);
    if (localtime_r(&now, &local))
        strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &local);
    for (int i = 1; i <= NAMES_MAX && error == -EEXIST; i++) {
        char suffix[16] = "";
        if (i > 1)
            snprintf(suffix, sizeof(suffix), "-%d", i);
        snprintf(path, sizeof(path), "ssdprobe-%s-%s%s", model, date, suffix);
        error = access(path, F_OK) == 0 ? -EEXIST
                                        : run_dir_create(path, &keep->dir, why);
    }
    return error;
}

int keep_open(struct keep *keep, const struct settings *settings,
              const struct device_info *device, struct fault *why)
{
    int error, file;

    if (!settings->output_dir && !settings->preserve && device->virtual_clock)
        return 0;
    error = settings->output_dir
                ? run_dir_create(settings->output_dir, &keep->dir, why)
                : open_named(keep, device, why);
    if (error)
        return error;
    file = run_dir_new_file(&keep->dir, RUN_DIR_SAMPLES, why);
    if (file < 0)
        return file;
    keep->samples = fdopen(file, "w");
    if (keep->samples)
        return 0;
    close(file);
    return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for the samples");
}

int keep_begin(struct keep *keep, const struct csv_header *header)
{
    return keep->samples ? csv_begin(&keep->csv, keep->samples, header) : 0;
}

int keep_row(struct keep *keep, const char *probe, const struct sample *sample)
{
    return keep->samples ? csv_row(&keep->csv, probe, sample) : 0;
}

int keep_end(struct keep *keep)
{
    return keep->samples ? csv_end(&keep->csv) : 0;
}

void keep_pack(const struct keep *keep)
{
    struct fault why = {FAULT_NONE, ""};

    if (keep->samples && run_dir_pack_samples(&keep->dir, &why))
        run_dir_log(&keep->dir, "the samples stay as they are: %s", why.text);
}

void keep_give(const struct keep *keep)
{
    const char *user = getenv("SUDO_UID"), *group = getenv("SUDO_GID");
    uint64_t user_id, group_id;

    if (geteuid() != 0 || !user || !group || !run_dir_is_open(&keep->dir) ||
        parse_integer(user, &user_id) || parse_integer(group, &group_id) ||
        run_dir_has(&keep->dir, RUN_DIR_JOURNAL) ||
        run_dir_has(&keep->dir, RUN_DIR_SETTINGS))
        return;
    run_dir_give(&keep->dir, (uid_t)user_id, (gid_t)group_id);
}

void keep_close(struct keep *keep)
{
    if (keep->samples)
        fclose(keep->samples);
    run_dir_close(&keep->dir);
    keep_none(keep);
}
