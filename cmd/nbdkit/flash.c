/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An nbdkit plugin: `nbdkit flash drive=ssd-a` serves an emulated drive in real
 * time, so that a virtual machine can have it behind any kind of disk. */
#define NBDKIT_API_VERSION 2
#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

#include <errno.h>
#include <inttypes.h>
#include <nbdkit-plugin.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"
#include "cmd/flashemu/live/contents.h"
#include "cmd/flashemu/live/live_shared.h"

enum {
    SPEC_BYTES = 4096,
    BLOCK_BYTES = 512,
    PREFERRED_BYTES = 4096,
    REQUEST_MAX_BYTES = 32 << 20,
    STATISTICS_BYTES = 4096
};

static const char STATISTICS_EXPORT[] = "statistics";

/* nbdkit calls without a context, and loads a plugin once. */
static struct {
    char name[SPEC_BYTES], overrides[SPEC_BYTES];
    char *contents; /* a path; NULL: contents go with the server */
    int contents_fd;
    struct drive drive;
    struct flash *flash;
    struct live_shared *shared;
} plugin = {.contents_fd = -1};

/* A client is connected to the drive or to its statistics. */
struct connection {
    bool is_statistics;
};

/* ---- from the command line to the drive ------------------------------- */

/* nbdkit leaves the folder it was started in. */
static int config_contents(const char *path)
{
    free(plugin.contents);
    plugin.contents = nbdkit_absolute_path(path);
    return plugin.contents ? 0 : -1;
}

static int config(const char *key, const char *value)
{
    if (strcmp(key, "contents-file") == 0)
        return config_contents(value);
    const bool is_drive = strcmp(key, "drive") == 0;
    const size_t used = strlen(plugin.overrides);
    const int length =
        is_drive
            ? snprintf(plugin.name, sizeof(plugin.name), "%s", value)
            : snprintf(plugin.overrides + used, sizeof(plugin.overrides) - used,
                       ",%s=%s", key, value);
    if ((size_t)length < sizeof(plugin.overrides) - (is_drive ? 0 : used))
        return 0;
    nbdkit_error("the description of the drive is too long");
    return -1;
}

static int config_complete(void)
{
    char spec[2 * SPEC_BYTES];
    struct fault why;
    if (plugin.name[0] == '\0') {
        nbdkit_error("which drive? Give drive=NAME or drive=FILE; `flashemu "
                     "list` lists the names.");
        return -1;
    }
    snprintf(spec, sizeof(spec), "%s%s", plugin.name, plugin.overrides);
    if (drive_load(spec, &plugin.drive, &why) == 0)
        return 0;
    nbdkit_error("%s", why.text);
    return -1;
}

static int get_ready(void)
{
    struct fault why;
    int error = flash_create(&plugin.drive, &plugin.flash, &why);
    if (!error && plugin.contents)
        error = contents_open(plugin.contents, plugin.flash,
                              &plugin.contents_fd, &why);
    if (!error)
        return 0;
    nbdkit_error("%s", why.text);
    return -1;
}

/* ---- requests ---------------------------------------------------------- */

/* A request and the thread of nbdkit that waits for its answer. */
struct call {
    struct live_request request; /* first: answers come with its address */
    sem_t answered;
    int error;
};

static void answer(void *server, struct live_request *request, int error)
{
    struct call *call = (struct call *)request;
    (void)server;
    call->error = error;
    sem_post(&call->answered);
}

static int after_fork(void)
{
    struct fault why;
    if (live_shared_open(plugin.flash, answer, NULL, &plugin.shared, &why) == 0)
        return 0;
    nbdkit_error("%s", why.text);
    return -1;
}

static void unload(void)
{
    live_shared_close(plugin.shared);
    flash_destroy(plugin.flash);
    if (plugin.contents_fd >= 0)
        close(plugin.contents_fd);
    free(plugin.contents);
}

static int do_request(const struct flash_request *flash, uint32_t flags)
{
    struct call call = {
        .request = {.flash = *flash, .is_fua = (flags & NBDKIT_FLAG_FUA) != 0}};
    sem_init(&call.answered, 0, 0);
    live_shared_submit(plugin.shared, &call.request);
    while (sem_wait(&call.answered) != 0)
        ; /* a signal */
    sem_destroy(&call.answered);
    if (call.error == 0)
        return 0;
    nbdkit_error("%s", strerror(-call.error));
    /* NBD has no word for a disk that is gone. */
    nbdkit_set_error(call.error == -ENODEV ? EIO : -call.error);
    return -1;
}

static int flash_pwrite(void *handle, const void *data, uint32_t length_bytes,
                        uint64_t offset_bytes, uint32_t flags)
{
    (void)handle;
    return do_request(&(struct flash_request){.operation = FLASH_WRITE,
                                              .offset_bytes = offset_bytes,
                                              .length_bytes = length_bytes,
                                              .data = (void *)(uintptr_t)data},
                      flags);
}

static int flash_flush_cache(void *handle, uint32_t flags)
{
    (void)handle;
    return do_request(&(struct flash_request){.operation = FLASH_FLUSH}, flags);
}

static int flash_trim(void *handle, uint32_t length_bytes,
                      uint64_t offset_bytes, uint32_t flags)
{
    (void)handle;
    return do_request(&(struct flash_request){.operation = FLASH_DISCARD,
                                              .offset_bytes = offset_bytes,
                                              .length_bytes = length_bytes},
                      flags);
}

/* What was discarded reads as zeros, of most drives. */
static int flash_zero(void *handle, uint32_t length_bytes,
                      uint64_t offset_bytes, uint32_t flags)
{
    if ((flags & NBDKIT_FLAG_MAY_TRIM) && plugin.drive.discard == DISCARD_ZEROS)
        return flash_trim(handle, length_bytes, offset_bytes, flags);
    return do_request(&(struct flash_request){.operation = FLASH_WRITE_ZEROES,
                                              .offset_bytes = offset_bytes,
                                              .length_bytes = length_bytes},
                      flags);
}

/* One line of JSON, then blanks up to the size of the export. */
static void print_statistics(char text[STATISTICS_BYTES])
{
    struct live_counts got;
    struct flash_statistics did;
    live_shared_statistics(plugin.shared, &got, &did);
    const int length = snprintf(
        text, STATISTICS_BYTES,
        "{\"received\": {\"reads_count\": %" PRIu64
        ", \"writes_count\": %" PRIu64 ", \"zeros_count\": %" PRIu64
        ", \"discards_count\": %" PRIu64 ", \"flushes_count\": %" PRIu64
        ", \"fua_count\": %" PRIu64 ", \"read_bytes\": %" PRIu64
        ", \"written_bytes\": %" PRIu64
        "}, \"flash\": {\"pages_read_count\": %" PRIu64
        ", \"pages_programmed_count\": %" PRIu64
        ", \"blocks_erased_count\": %" PRIu64
        ", \"pages_copied_count\": %" PRIu64 "}}",
        got.reads_count, got.writes_count, got.zeros_count, got.discards_count,
        got.flushes_count, got.fua_count, got.read_bytes, got.written_bytes,
        did.pages_read_count, did.pages_programmed_count,
        did.blocks_erased_count, did.pages_copied_count);
    memset(text + length, ' ', STATISTICS_BYTES - (size_t)length);
    text[STATISTICS_BYTES - 1] = '\n';
}

static int flash_pread(void *handle, void *data, uint32_t length_bytes,
                       uint64_t offset_bytes, uint32_t flags)
{
    const struct connection *connection = handle;
    char text[STATISTICS_BYTES];
    if (!connection->is_statistics)
        return do_request(&(struct flash_request){.operation = FLASH_READ,
                                                  .offset_bytes = offset_bytes,
                                                  .length_bytes = length_bytes,
                                                  .data = data},
                          flags);
    print_statistics(text);
    memcpy(data, text + offset_bytes, length_bytes);
    return 0;
}

/* ---- exports ----------------------------------------------------------- */

static int list_exports(int readonly, int is_tls,
                        struct nbdkit_exports *exports)
{
    (void)readonly;
    (void)is_tls;
    if (nbdkit_add_export(exports, "", plugin.drive.description) != 0)
        return -1;
    return nbdkit_add_export(
        exports, STATISTICS_EXPORT,
        "requests that the drive has received so far, as JSON");
}

static void *open_export(int readonly)
{
    const char *name = nbdkit_export_name();
    struct connection *connection;
    (void)readonly;
    if (!name || (name[0] && strcmp(name, STATISTICS_EXPORT) != 0)) {
        nbdkit_error("there is no export '%s': the drive has no name, its "
                     "counters are '%s'",
                     name ? name : "", STATISTICS_EXPORT);
        nbdkit_set_error(ENOENT);
        return NULL;
    }
    connection = calloc(1, sizeof(*connection));
    if (!connection)
        nbdkit_error("out of memory");
    else
        connection->is_statistics = name[0] != '\0';
    return connection;
}

static void close_export(void *handle)
{
    free(handle);
}

static int64_t get_size(void *handle)
{
    const struct connection *connection = handle;
    return connection->is_statistics
               ? (int64_t)STATISTICS_BYTES
               : (int64_t)flash_capacity_bytes(plugin.flash);
}

static int block_size(void *handle, uint32_t *minimum, uint32_t *preferred,
                      uint32_t *maximum)
{
    const uint64_t limit_bytes = plugin.drive.request_limit_bytes;
    (void)handle;
    *minimum = BLOCK_BYTES;
    *preferred = PREFERRED_BYTES;
    *maximum = limit_bytes >= PREFERRED_BYTES && limit_bytes < REQUEST_MAX_BYTES
                   ? (uint32_t)limit_bytes
                   : REQUEST_MAX_BYTES;
    return 0;
}

static int is_drive(void *handle)
{
    const struct connection *connection = handle;
    return !connection->is_statistics;
}

static int say_yes(void *handle)
{
    (void)handle;
    return 1;
}

static int can_fua(void *handle)
{
    return is_drive(handle) ? NBDKIT_FUA_NATIVE : NBDKIT_FUA_NONE;
}

static struct nbdkit_plugin table = {
    .name = "flash",
    .longname = "an emulated flash drive in real time",
    .version = SSDPROBE_VERSION,
    .description = "Serves a drive of flashemu, whose insides are known.",
    .magic_config_key = "drive",
    .config_help =
        "drive=NAME|FILE  (required) `flashemu list` names the drives\n"
        "contents-file=FILE\n"
        "                 keep the contents in FILE, for the next server\n"
        "KEY=VALUE        overrides a key of the drive, noise or timing=off;\n"
        "                 `flashemu show NAME` explains them",
    .config = config,
    .config_complete = config_complete,
    .get_ready = get_ready,
    .after_fork = after_fork,
    .unload = unload,
    .list_exports = list_exports,
    .open = open_export,
    .close = close_export,
    .get_size = get_size,
    .block_size = block_size,
    .can_write = is_drive,
    .can_flush = is_drive,
    .can_trim = is_drive,
    .can_zero = is_drive,
    .can_fua = can_fua,
    .can_multi_conn = say_yes,
    .pread = flash_pread,
    .pwrite = flash_pwrite,
    .flush = flash_flush_cache,
    .trim = flash_trim,
    .zero = flash_zero,
};

struct nbdkit_plugin *plugin_init(void);
NBDKIT_REGISTER_PLUGIN(table)
