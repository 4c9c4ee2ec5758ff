/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/plugin/load.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

static const char SYMBOL[] = "ssdprobe_plugin";

/* The kernel's bounds of a logical block: what it asks of disks, a plugin's
 * drive must have as well, for the layers above rely on them. */
enum { BLOCK_LEAST_BYTES = 512, BLOCK_MOST_BYTES = 4096 };

/* "FILE.so,key=value,@SETTINGS", taken apart. */
struct request_to_load {
    char text[PATH_MAX];     /* what the others point into, */
    char *file_text;         /* and the text of a file of settings; or NULL */
    char path[PATH_MAX + 2]; /* has a '/', so that dlopen() searches nothing */
    struct ssdprobe_plugin_setting *settings;
    size_t settings_count;
};

/* `text` is taken apart. -EINVAL: it is no KEY=VALUE; -ENOMEM. */
static int add_setting(struct request_to_load *wanted, char *text)
{
    struct ssdprobe_plugin_setting *grown =
        realloc(wanted->settings,
                (wanted->settings_count + 1) * sizeof(wanted->settings[0]));
    char *value = text;
    const char *key = strsep(&value, "=");

    if (!grown)
        return -ENOMEM;
    wanted->settings = grown;
    if (!*key || !value)
        return -EINVAL;
    grown[wanted->settings_count++] =
        (struct ssdprobe_plugin_setting){.key = key, .value = value};
    return 0;
}

/* A line for each setting, of any length; '#' begins a comment. */
static int read_settings(const char *path, struct request_to_load *wanted,
                         struct fault *why)
{
    FILE *file = fopen(path, "re");
    size_t room = 0, number = 0;
    struct stat status;
    int error = 0;

    if (!file)
        error = -errno;
    else if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
        error = -EINVAL;
    else if (getdelim(&wanted->file_text, &room, '\0', file) < 0 && !feof(file))
        error = -errno;
    if (file)
        fclose(file);
    if (error)
        return fault_set(why, FAULT_OPEN, error,
                         "Cannot read the plugin's settings in %.200s: %s. "
                         "Give a file with a line KEY=VALUE for each.",
                         path, strerror(-error));
    for (char *rest = wanted->file_text, *line; rest && !error;) {
        line = strsep(&rest, "\n");
        line[strcspn(line, "\r")] = '\0';
        number++;
        if (*line && *line != '#' && (error = add_setting(wanted, line)))
            fault_set(why, FAULT_USAGE, error,
                      "%.200s:%zu: '%.100s' is not KEY=VALUE: write each of "
                      "the plugin's settings so, on a line of its own.",
                      path, number, line);
    }
    return error;
}

static int take_apart(const char *spec, struct request_to_load *wanted,
                      struct fault *why)
{
    char *rest = wanted->text;

    if (!*spec || *spec == ',')
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "A plugin is given as plugin:FILE.so[,KEY=VALUE...], "
                         "and no file is given here.");
    if (strlen(spec) >= sizeof(wanted->text))
        return fault_set(why, FAULT_USAGE, -ENAMETOOLONG,
                         "The plugin's name is longer than %zu bytes: give a "
                         "shorter one.",
                         sizeof(wanted->text) - 1);
    snprintf(wanted->text, sizeof(wanted->text), "%s", spec);
    const char *file = strsep(&rest, ",");
    snprintf(wanted->path, sizeof(wanted->path), "%s%s",
             strchr(file, '/') ? "" : "./", file);
    int error = 0;
    while (rest && !error) {
        char *setting = strsep(&rest, ",");
        if (*setting == '@' && !wanted->file_text)
            error = read_settings(setting + 1, wanted, why);
        else if (*setting == '@' || (error = add_setting(wanted, setting)))
            error = fault_set(why, FAULT_USAGE, -EINVAL,
                              "'%.100s' after the plugin %.200s is not "
                              "KEY=VALUE, or a second file: write "
                              "plugin:FILE.so[,KEY=VALUE...][,@SETTINGS].",
                              setting, file);
    }
    return error;
}

static int check_file(const char *path, struct fault *why)
{
    struct stat status;

    /* Whoever may start a setuid program must not choose its code. */
    if (getauxval(AT_SECURE))
        return fault_set(why, FAULT_REFUSED, -EPERM,
                         "The plugin %.200s is not loaded, because this "
                         "program has rights that its user lacks (setuid): "
                         "start it as the user whose rights it needs.",
                         path);
    if (stat(path, &status) != 0) {
        const int error = -errno;
        return fault_set(why, FAULT_OPEN, error,
                         "Cannot open the plugin %.200s: %s. Give the path of "
                         "a shared object.",
                         path, strerror(-error));
    }
    /* To open a pipe would wait for someone to write to it. */
    if (!S_ISREG(status.st_mode))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "The plugin %.200s is not a regular file: give the "
                         "path of a shared object.",
                         path);
    return 0;
}

static int load_object(const char *path, struct loaded *loaded,
                       struct fault *why)
{
    const size_t length = strlen(path);

    loaded->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded->object) {
        const char *reason = dlerror();
        /* It begins with the path, mostly. */
        if (strncmp(reason, path, length) == 0 && reason[length] == ':')
            reason += length + 1 + strspn(reason + length + 1, " ");
        return fault_set(why, FAULT_OPEN, -ENOEXEC,
                         "Cannot load the plugin %.150s: %.200s. Is it a "
                         "shared object for this machine?",
                         path, reason);
    }
    const struct ssdprobe_plugin *own = dlsym(loaded->object, SYMBOL);
    if (!own)
        return fault_set(why, FAULT_OPEN, -ENOEXEC,
                         "%.200s is not a plugin of ssdprobe, because it does "
                         "not define '%s': build it with ssdprobe_plugin.h.",
                         path, SYMBOL);
    if (own->version < 1 || own->version > SSDPROBE_PLUGIN_VERSION)
        return fault_set(
            why, FAULT_OPEN, -ENOEXEC,
            "The plugin %.200s uses version %" PRIu32
            " of the interface, and this ssdprobe supports version 1 to %d: "
            "rebuild it with the ssdprobe_plugin.h of this ssdprobe.",
            path, own->version, SSDPROBE_PLUGIN_VERSION);
    memcpy(&loaded->plugin, own,
           own->version == 1 ? offsetof(struct ssdprobe_plugin, submit)
                             : sizeof(*own));
    const bool has_events = loaded->plugin.submit && loaded->plugin.advance;
    if (!loaded->plugin.open || !loaded->plugin.close ||
        (!loaded->plugin.io && !has_events))
        return fault_set(why, FAULT_OPEN, -ENOEXEC,
                         "The plugin %.200s lacks one of the functions open, "
                         "io and close, or submit and advance instead of io: "
                         "only idle is optional.",
                         path);
    if (loaded->plugin.io && (loaded->plugin.submit || loaded->plugin.advance))
        return fault_set(why, FAULT_OPEN, -ENOEXEC,
                         "The plugin %.200s has io beside submit or advance: "
                         "leave out one form.",
                         path);
    return 0;
}

static int check_geometry(const char *path,
                          const struct ssdprobe_plugin_geometry *geometry,
                          struct fault *why)
{
    const uint32_t block_bytes = geometry->block_bytes;
    const uint64_t capacity_bytes = geometry->capacity_bytes;
    const uint32_t limit_bytes = geometry->request_limit_bytes;

    if (block_bytes < BLOCK_LEAST_BYTES || block_bytes > BLOCK_MOST_BYTES ||
        (block_bytes & (block_bytes - 1)) != 0)
        return fault_set(
            why, FAULT_OPEN, -EINVAL,
            "The plugin %.200s states a block of %" PRIu32
            " bytes, and a disk's is 512, 1024, 2048 or 4096: fix its open().",
            path, block_bytes);
    if (capacity_bytes == 0 || capacity_bytes % block_bytes != 0 ||
        capacity_bytes > INT64_MAX)
        return fault_set(
            why, FAULT_OPEN, -EINVAL,
            "The plugin %.200s states a capacity of %" PRIu64
            " bytes, and a disk's is a multiple of its block (%" PRIu32
            " bytes) below 2^63, and not 0: fix its open().",
            path, capacity_bytes, block_bytes);
    if (geometry->keeps_contents > SSDPROBE_PLUGIN_HOST_KEEPS)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "The plugin %.200s states keeps_contents = %" PRIu32
                         ", which this ssdprobe does not know: fix its open().",
                         path, geometry->keeps_contents);
    if (limit_bytes != 0 && limit_bytes < block_bytes)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "The plugin %.200s takes requests of at most %" PRIu32
                         " bytes, which is less than its block of %" PRIu32
                         " bytes: fix its open().",
                         path, limit_bytes, block_bytes);
    return 0;
}

static int open_drive(const struct request_to_load *wanted,
                      struct loaded *loaded, struct fault *why)
{
    char reason[200] = "";
    int error = loaded->plugin.open(wanted->settings, wanted->settings_count,
                                    &loaded->drive, &loaded->geometry, reason,
                                    sizeof(reason));

    reason[sizeof(reason) - 1] = '\0';
    if (error) {
        const bool is_usage = error == -EINVAL;
        if (error > 0 || error < -4095) /* the kernel's range of -errno */
            error = -EIO;
        return fault_set(why, is_usage ? FAULT_USAGE : FAULT_OPEN, error,
                         "The plugin %.200s does not open a drive: %s.",
                         wanted->path, reason[0] ? reason : strerror(-error));
    }
    loaded->geometry.model[sizeof(loaded->geometry.model) - 1] = '\0';
    error = check_geometry(wanted->path, &loaded->geometry, why);
    if (error)
        loaded->plugin.close(loaded->drive);
    return error;
}

int plugin_load(const char *spec, struct loaded *loaded, struct fault *why)
{
    struct request_to_load wanted = {.settings = NULL};
    int error = take_apart(spec, &wanted, why);

    *loaded = (struct loaded){.object = NULL};
    if (!error)
        error = check_file(wanted.path, why);
    if (!error)
        error = load_object(wanted.path, loaded, why);
    if (!error)
        error = open_drive(&wanted, loaded, why);
    if (error && loaded->object)
        dlclose(loaded->object);
    free(wanted.settings);
    free(wanted.file_text);
    return error;
}

void plugin_unload(struct loaded *loaded)
{
    assert(loaded->object && loaded->plugin.close);
    loaded->plugin.close(loaded->drive);
    dlclose(loaded->object);
}
