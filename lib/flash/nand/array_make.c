/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an array is made of: its geometry, its times and its books. */
#include "lib/flash/nand/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/flash/drive/geometry.h"

static void set_geometry(struct array *array, const struct drive *drive)
{
    array->channels_count = (uint32_t)drive->channels_count;
    array->banks_count =
        (uint32_t)(drive->channels_count * drive->banks_per_channel_count);
    array->stripe_banks_count = (uint32_t)drive->stripe_banks_count;
    array->groups_count = array->banks_count / array->stripe_banks_count;
    array->groups = divisor_of(array->groups_count);
    array->stripe = divisor_of(array->stripe_banks_count);
    array->pages_per_block_count = (uint32_t)drive->pages_per_block_count;
    array->stripe_pages_count =
        array->pages_per_block_count * array->stripe_banks_count *
        (uint32_t)(drive->planes_count * drive_sections_count(drive));
    array->page_bytes = drive_section_bytes(drive);
    array->block_bytes = array->page_bytes * array->stripe_pages_count;
    array->page_parts_count =
        drive->content_unit_bytes
            ? (uint32_t)(array->page_bytes / drive->content_unit_bytes)
            : 1;
    array->registers_count =
        (uint32_t)(drive->cache_register_bytes / drive->page_bytes);
    if (array->registers_count == 0)
        array->registers_count = 1;
}

static void set_timing(struct array *array, const struct drive *drive)
{
    array->read_levels_count = (uint32_t)drive->read_levels_count;
    memcpy(array->read_ns, drive->read_ns, sizeof(array->read_ns));
    array->erase_ns = drive->erase_ns;
    array->slc_read_ns = drive->slc_read_ns;
    array->slc_program_ns = drive->slc_program_ns;
    array->slc_slow_program_ns = drive->slc_slow_program_ns;
    array->cache_copy_ns = drive->cache_copy_ns;
    array->controller_read_ns = drive->controller_read_page_ns;
    array->controller_write_ns = drive->controller_write_page_ns;
    array->controller_copy_ns = drive->controller_copy_page_ns;
    array->zero_copy_ns = drive->zero_copy_ns;
    array->bus_ns =
        array->page_bytes * 8 * 1000 / (drive->bus_width_bits * drive->bus_mhz);
    array->cache_read = drive->cache_read != 0;
    array->cache_program = drive->cache_program != 0;
    array->bus_held = drive->bus_policy == BUS_HELD;
    array->partial_read = drive->partial_read != 0;
    array->partial_program = drive->partial_program != 0;
    array->slowness = 1.0;
}

static int allocate(struct array *array, bool contents_matter)
{
    size_t registers = (size_t)array->banks_count * array->registers_count;
    size_t pages = (size_t)array_all_blocks(array) * array->stripe_pages_count;

    array->program_ns = calloc(array->pages_per_block_count, sizeof(uint64_t));
    array->programs_ns =
        calloc(array->pages_per_block_count + 1U, sizeof(uint64_t));
    array->banks = calloc(array->banks_count, sizeof(*array->banks));
    array->channel_free_ns = calloc(array->channels_count, sizeof(uint64_t));
    array->blocks = calloc(array_all_blocks(array), sizeof(*array->blocks));
    array->register_free_ns = calloc(registers, sizeof(uint64_t));
    array->sensing = calloc(array->stripe_banks_count, sizeof(bool));
    if (!array->program_ns || !array->programs_ns || !array->banks ||
        !array->channel_free_ns || !array->blocks || !array->register_free_ns ||
        !array->sensing)
        return -ENOMEM;
    if (array->slc_blocks_count > 0) {
        array->slc_slow = calloc(array->slc_blocks_count, sizeof(bool));
        if (!array->slc_slow)
            return -ENOMEM;
    }
    if (!contents_matter)
        return 0;
    array->other_parts = calloc(pages, 1);
    return array->other_parts ? 0 : -ENOMEM;
}

/* Planes, one-shot programs and other orders of allocation. Cells with one bit
 * are programmed page by page. */
static int allocate_layout(struct array *array, const struct drive *drive)
{
    uint32_t program_pages = (uint32_t)drive->program_pages_count;

    if (!drive_has_layout(drive))
        return 0;
    if (layout_create(drive, program_pages, &array->layout) ||
        layout_create(drive, 1, &array->slc_layout))
        return -ENOMEM;
    if (drive->planes_count * drive_sections_count(drive) == 1)
        return 0;
    struct array_sense *senses = calloc(array->banks_count, sizeof(*senses));
    if (!senses)
        return -ENOMEM;
    for (uint32_t i = 0; i < array->banks_count; i++)
        array->banks[i].sense = &senses[i];
    return 0;
}

/* Old data and weak blocks. */
static int allocate_retry(struct array *array, const struct drive *drive)
{
    if (!drive->retention_ns && drive->weak_blocks_share <= 0)
        return 0;
    array->retry = calloc(1, sizeof(*array->retry));
    if (!array->retry)
        return -ENOMEM;
    *array->retry = (struct array_retry){
        .retry_ns = drive->read_retry_ns,
        .retention_ns = drive->retention_ns,
        .initial_age_ns = drive->initial_age_ns,
        .seed = random_mix(drive->seed),
        .weak_below = drive->weak_blocks_share >= 1
                          ? UINT64_MAX
                          : (uint64_t)(drive->weak_blocks_share * 0x1p64),
        .begun_ns = calloc(array_all_blocks(array), sizeof(uint64_t))};
    return array->retry->begun_ns ? 0 : -ENOMEM;
}

int array_create(struct array *array, const struct drive *drive,
                 uint32_t blocks_count, struct flash_statistics *statistics)
{
    memset(array, 0, sizeof(*array));
    array->blocks_count = blocks_count;
    array->slc_blocks_count = (uint32_t)drive->slc_blocks_count;
    array->statistics = statistics;
    set_geometry(array, drive);
    set_timing(array, drive);
    if (allocate(array, drive->content_unit_bytes != 0) ||
        allocate_layout(array, drive) || allocate_retry(array, drive)) {
        array_destroy(array);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < array->banks_count; i++)
        array->banks[i].channel = i % array->channels_count;
    for (uint32_t i = 0; i < array->pages_per_block_count; i++) {
        array->program_ns[i] =
            drive->program_pages_count > 1
                ? drive->program_ns[0]
                : drive->program_ns[i % drive->program_levels_count];
        if (i >= drive->program_pages_count)
            array->program_ns[i] += drive->program_pass_ns;
        array->programs_ns[i + 1] =
            array->programs_ns[i] + array->program_ns[i];
    }
    return 0;
}

void array_destroy(struct array *array)
{
    free(array->program_ns);
    free(array->programs_ns);
    free(array->banks ? array->banks[0].sense : NULL);
    free(array->banks);
    layout_destroy(array->layout);
    layout_destroy(array->slc_layout);
    free(array->retry ? array->retry->begun_ns : NULL);
    free(array->retry);
    free(array->channel_free_ns);
    free(array->blocks);
    free(array->register_free_ns);
    free(array->sensing);
    free(array->slc_slow);
    free(array->other_parts);
    memset(array, 0, sizeof(*array));
}

uint64_t array_memory_bytes(const struct array *array)
{
    return 2 * array->pages_per_block_count * sizeof(uint64_t) +
           array->banks_count * sizeof(*array->banks) +
           array->channels_count * sizeof(uint64_t) +
           array_all_blocks(array) * sizeof(*array->blocks) +
           (array->other_parts
                ? (uint64_t)array_all_blocks(array) * array->stripe_pages_count
                : 0);
}

void array_erase_counts(const struct array *array, uint32_t *least,
                        uint32_t *most)
{
    *least = UINT32_MAX;
    *most = 0;
    for (uint32_t i = 0; i < array_all_blocks(array); i++) {
        uint32_t count = array->blocks[i].erase_count;
        *least = count < *least ? count : *least;
        *most = count > *most ? count : *most;
    }
}
