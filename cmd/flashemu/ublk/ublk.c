/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/ublk/ublk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "cmd/flashemu/ublk/control.h"
#include "cmd/flashemu/ublk/queues.h"

enum {
    SECTOR_SHIFT = 9,
    DEPTH_DEFAULT = 128,
    REQUEST_DEFAULT_BYTES = 1024 * 1024,
    /* For udev to make a node, for the kernel to notice a death. */
    ATTEMPTS = 1500,
    ATTEMPT_NS = 10 * 1000 * 1000
};

struct ublk {
    struct ublk_control control;
    struct ublksrv_ctrl_dev_info info;
    struct ublk_params params;
    struct ublk_queues *queues;
    int device; /* /dev/ublkcN; -1: closed */
    bool is_added, is_serving, is_stopping, was_taken_up;
};

static void pause_shortly(void)
{
    struct timespec pause = {.tv_nsec = ATTEMPT_NS};
    nanosleep(&pause, NULL);
}

/* ---- a new device ------------------------------------------------------ */

static uint64_t request_bytes(const struct ublk_wish *wish)
{
    uint64_t limit_bytes = wish->request_limit_bytes ? wish->request_limit_bytes
                                                     : REQUEST_DEFAULT_BYTES;
    return limit_bytes < UBLK_REQUEST_MAX_BYTES ? limit_bytes
                                                : UBLK_REQUEST_MAX_BYTES;
}

static struct ublk_params params_of(const struct flash *flash,
                                    const struct ublk_wish *wish)
{
    struct ublk_params params = {
        .types = UBLK_PARAM_TYPE_BASIC | UBLK_PARAM_TYPE_DISCARD,
        .basic = {.attrs = UBLK_ATTR_VOLATILE_CACHE | UBLK_ATTR_FUA,
                  .logical_bs_shift = SECTOR_SHIFT,
                  .physical_bs_shift = SECTOR_SHIFT,
                  .io_opt_shift = SECTOR_SHIFT,
                  .io_min_shift = SECTOR_SHIFT,
                  .max_sectors =
                      (uint32_t)(request_bytes(wish) >> SECTOR_SHIFT),
                  .dev_sectors = flash_capacity_bytes(flash) >> SECTOR_SHIFT},
        .discard = {.discard_granularity = 1 << SECTOR_SHIFT,
                    .max_discard_sectors = UINT32_MAX >> SECTOR_SHIFT,
                    .max_write_zeroes_sectors = UINT32_MAX >> SECTOR_SHIFT,
                    .max_discard_segments = 1}};
    return params;
}

static int add(struct ublk *ublk, const struct ublk_wish *wish,
               struct fault *why)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t buffer_bytes =
        (request_bytes(wish) + page_bytes - 1) / page_bytes * page_bytes;
    int error;
    ublk->info = (struct ublksrv_ctrl_dev_info){
        .nr_hw_queues = wish->queues_count ? wish->queues_count : 1,
        .queue_depth = wish->depth_count ? wish->depth_count : DEPTH_DEFAULT,
        .max_io_buf_bytes = (uint32_t)buffer_bytes,
        .flags = UBLK_FEATURE_ENCODING | UBLK_FEATURE_USER_COPY,
        .ublksrv_flags = wish->label};
    if (wish->is_recoverable)
        ublk->info.flags |= UBLK_FEATURE_RECOVERY | UBLK_FEATURE_REISSUE;
    error = ublk_add(&ublk->control, &ublk->info);
    if (error)
        return fault_set(why, FAULT_OPEN, error,
                         "the kernel creates no ublk device (%s)",
                         strerror(-error));
    ublk->is_added = true;
    error = ublk_set_params(&ublk->control, ublk->info.dev_id, &ublk->params);
    if (error)
        return fault_set(why, FAULT_OPEN, error,
                         "the kernel refuses the ublk device's parameters (%s)",
                         strerror(-error));
    return 0;
}

/* ---- a dead server's device -------------------------------------------- */

/* Sets ublk->info. 0: it is ours; -ENOENT: there is none. */
static int take_up(struct ublk *ublk, const struct ublk_wish *wish,
                   struct fault *why)
{
    struct ublk_params params = {.len = 0};
    int error = ublk_find(&ublk->control, wish->label, &ublk->info);
    if (error)
        return -ENOENT;
    error = ublk_get_params(&ublk->control, ublk->info.dev_id, &params);
    if (!error && params.basic.dev_sectors != ublk->params.basic.dev_sectors)
        error = -EINVAL;
    error = error ? error : -EBUSY;
    /* It takes a moment until the kernel knows that the server is dead. */
    for (int i = 0; error == -EBUSY && i < ATTEMPTS; i++) {
        error = ublk_start_recovery(&ublk->control, ublk->info.dev_id);
        if (error == -EBUSY)
            pause_shortly();
    }
    if (!error) {
        ublk->is_added = ublk->was_taken_up = true;
        return 0;
    }
    error = ublk_delete(&ublk->control, ublk->info.dev_id);
    if (error)
        return fault_set(why, FAULT_OPEN, error,
                         "a killed server left /dev/ublkb%" PRIu32
                         ", which can neither be taken over nor removed (%s)",
                         ublk->info.dev_id, strerror(-error));
    return -ENOENT;
}

/* ---- life -------------------------------------------------------------- */

static int open_device(struct ublk *ublk, struct fault *why)
{
    char path[32];
    int error = ENOENT;
    snprintf(path, sizeof(path), "/dev/ublkc%" PRIu32, ublk->info.dev_id);
    for (int i = 0;
         (error == ENOENT || error == EBUSY || error == EACCES) && i < ATTEMPTS;
         i++) {
        ublk->device = open(path, O_RDWR | O_CLOEXEC);
        if (ublk->device >= 0)
            return 0;
        error = errno;
        pause_shortly();
    }
    return fault_set(why, FAULT_OPEN, -error, "cannot open %s (%s)", path,
                     strerror(error));
}

int ublk_open(struct flash *flash, const struct ublk_wish *wish,
              struct ublk **result, struct fault *why)
{
    struct ublk *ublk = calloc(1, sizeof(*ublk));
    int error;
    if (!ublk)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "out of memory");
    ublk->device = -1;
    ublk->params = params_of(flash, wish);
    error = ublk_control_open(&ublk->control, wish->without, why);
    if (!error) {
        error = wish->is_recoverable ? take_up(ublk, wish, why) : -ENOENT;
        if (error == -ENOENT)
            error = add(ublk, wish, why);
    }
    if (!error)
        error = open_device(ublk, why);
    if (!error)
        error = ublk_queues_open(flash, ublk->device, &ublk->info,
                                 &ublk->queues, why);
    if (error) {
        ublk_close(ublk);
        return error;
    }
    *result = ublk;
    return 0;
}

int ublk_start(struct ublk *ublk, struct fault *why)
{
    int error = ublk_queues_start(ublk->queues, why);
    if (error)
        return error;
    ublk->is_serving = true;
    error = ublk->was_taken_up
                ? ublk_end_recovery(&ublk->control, ublk->info.dev_id)
                : ublk_start_device(&ublk->control, ublk->info.dev_id);
    if (error)
        return fault_set(why, FAULT_OPEN, error,
                         "the kernel does not start the ublk device (%s)",
                         strerror(-error));
    return 0;
}

char *ublk_path(const struct ublk *ublk, char *path, size_t size)
{
    snprintf(path, size, "/dev/ublkb%" PRIu32, ublk->info.dev_id);
    return path;
}

/* What the kernel made of the limit, or what it was told. */
static uint64_t real_limit_bytes(const struct ublk *ublk)
{
    uint64_t told_bytes = (uint64_t)ublk->params.basic.max_sectors
                          << SECTOR_SHIFT;
    char path[64], text[32] = "";
    uint64_t limit_kib;
    FILE *file;
    snprintf(path, sizeof(path),
             "/sys/block/ublkb%" PRIu32 "/queue/max_sectors_kb",
             ublk->info.dev_id);
    file = fopen(path, "re");
    if (!file)
        return told_bytes;
    if (fgets(text, sizeof(text), file))
        text[strcspn(text, "\n")] = '\0';
    fclose(file);
    if (parse_integer(text, &limit_kib) || limit_kib == 0 ||
        limit_kib > told_bytes / 1024)
        return told_bytes;
    return limit_kib * 1024;
}

struct ublk_facts ublk_facts(const struct ublk *ublk)
{
    return (struct ublk_facts){
        .request_limit_bytes = real_limit_bytes(ublk),
        .queues_count = ublk->info.nr_hw_queues,
        .depth_count = ublk->info.queue_depth,
        .was_taken_up = ublk->was_taken_up,
        .copies = (ublk->info.flags & UBLK_FEATURE_USER_COPY) != 0,
        .is_encoded = ublk->control.encoding == ENCODING_IOCTL};
}

int ublk_ended_fd(const struct ublk *ublk)
{
    return ublk_queues_ended_fd(ublk->queues);
}

int ublk_stop(struct ublk *ublk)
{
    int error = ublk_stop_begin(&ublk->control, ublk->info.dev_id);
    ublk->is_stopping = !error;
    return error;
}

void ublk_abandon(struct ublk *ublk)
{
    ublk_queues_abandon(ublk->queues);
}

/* Until its last reference is gone the kernel would wait in ublk_delete(). */
void ublk_close(struct ublk *ublk)
{
    if (!ublk)
        return;
    if (ublk->is_serving && !ublk->is_stopping)
        ublk_stop(ublk);
    if (ublk->is_stopping)
        ublk_stop_end(&ublk->control);
    ublk_queues_close(ublk->queues);
    if (ublk->device >= 0)
        close(ublk->device);
    if (ublk->is_added)
        ublk_delete(&ublk->control, ublk->info.dev_id);
    ublk_control_close(&ublk->control);
    free(ublk);
}
