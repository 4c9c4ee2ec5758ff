/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drives like those that are sold: what shares.c says of them, made a drive. */
#include "lib/flash/random/draw_sold.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/flash/drive/geometry.h"
#include "lib/flash/ftl/mapping.h"
#include "lib/flash/random/shares.h"

/* A drive is drawn as it is sold, and made so many times smaller: its capacity,
 * its blocks, its caches; but not its times, channels, dies, buffers and pages.
 * So a run takes seconds, and shares stay what they are. */
enum { SSD_SCALE = 64, CARD_SCALE = 16 };

/* Superblocks of a drive: at least 400 are sold. Blocks of one that has log
 * blocks are larger, and not made smaller. */
enum { BLOCKS_LEAST = 400, LOG_UNITS_LEAST = 32 };

/* Programs of a die that a buffer has room for. */
enum { PROGRAMS_BUFFERED = 2 };

/* A mapping cache holds so many pages of the mapping. They are made smaller,
 * but know a MiB: no sold one knows less. */
enum { FETCHES_LEAST = 8, FETCH_LEAST_BYTES = 1024, FETCH_MOST_BYTES = 4096 };

enum { VALUE_MAX = 48 };

struct sold {
    uint64_t seed, scale;
    const char *kind;
    char class[VALUE_MAX];
    struct drive *drive;
};

/* ---- the table ---------------------------------------------------------- */

static bool is_listed(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; *at; at += strspn(at, " ")) {
        const size_t part = strcspn(at, " ");
        if (part == length && strncmp(at, word, length) == 0)
            return true;
        at += part;
    }
    return false;
}

static const struct share *find(const struct sold *sold, const char *name)
{
    for (size_t i = 0; i < shares_count; i++)
        if (strcmp(shares[i].name, name) == 0 &&
            (is_listed(shares[i].classes, sold->class) ||
             is_listed(shares[i].classes, sold->kind) ||
             is_listed(shares[i].classes, "*")))
            return &shares[i];
    return NULL;
}

/* A number with the unit of a drive file, in that unit's base. */
static double number_of(const char *text)
{
    uint64_t whole = 0;
    double real = 0;

    if (parse_real(text, &real) == 0)
        return real;
    const int error = parse_ns(text, &whole) ? parse_bytes(text, &whole) : 0;
    assert(error == 0); /* or the table has a number that is none */
    return error ? 0 : (double)whole;
}

/* What one of the values is, which begins at `text`: a word, a number, or any
 * number between two. */
static void take(struct random *random, const char *text, char value[VALUE_MAX])
{
    char *dots, *weight;

    snprintf(value, VALUE_MAX, "%.*s", (int)strcspn(text, " "), text);
    weight = strchr(value, ':');
    if (weight)
        *weight = '\0';
    dots = strstr(value, "..");
    if (!dots)
        return;
    *dots = '\0';
    const bool whole = !strchr(value, '.') && !strchr(dots + 2, '.');
    const double low = number_of(value), high = number_of(dots + 2);
    const double drawn = low * pow(high / low, random_unit(random));
    if (whole)
        snprintf(value, VALUE_MAX, "%.0f", drawn);
    else
        snprintf(value, VALUE_MAX, "%.4f", drawn);
}

/* Each name has a chance of its own, so that another row changes no other. */
static bool draw_value(const struct sold *sold, const char *name,
                       char value[VALUE_MAX])
{
    const struct share *share = find(sold, name);
    struct random random;
    double all = 0, at;

    if (!share)
        return false;
    random_seed(&random, random_mix(sold->seed ^ random_hash(name)));
    for (const char *text = share->values; *text;
         text += strcspn(text, " "), text += strspn(text, " ")) {
        const char *weight = strpbrk(text, ": ");
        all += weight && *weight == ':' ? strtod(weight + 1, NULL) : 1;
    }
    at = random_unit(&random) * all;
    for (const char *text = share->values; *text;
         text += strcspn(text, " "), text += strspn(text, " ")) {
        const char *weight = strpbrk(text, ": ");
        at -= weight && *weight == ':' ? strtod(weight + 1, NULL) : 1;
        take(&random, text, value);
        if (at < 0)
            break;
    }
    return true;
}

static double number(const struct sold *sold, const char *name)
{
    char value[VALUE_MAX];

    const bool has_row = draw_value(sold, name, value);
    assert(has_row);
    return has_row ? number_of(value) : 0;
}

static uint64_t count_of(const struct sold *sold, const char *name)
{
    return (uint64_t)llround(number(sold, name));
}

static bool is(const struct sold *sold, const char *name, const char *wanted)
{
    char value[VALUE_MAX];

    return draw_value(sold, name, value) && strcmp(value, wanted) == 0;
}

/* Every row that is a key of a drive file. */
static int set_keys(struct sold *sold, struct fault *why)
{
    char value[VALUE_MAX], text[2 * VALUE_MAX];
    int error = 0;

    struct drive_key key;
    for (size_t i = 0; !error && drive_key_at(sold->drive, i, &key); i++) {
        if (!draw_value(sold, key.name, value))
            continue;
        snprintf(text, sizeof(text), "%s=%s", key.name, value);
        error = drive_set(sold->drive, text, why);
    }
    return error;
}

/* ---- flash -------------------------------------------------------------- */

static uint64_t down_to(uint64_t value, uint64_t step)
{
    return value / step * step;
}

static uint64_t power_below(uint64_t value)
{
    uint64_t power = 1;

    while (2 * power <= value)
        power *= 2;
    return power;
}

static void draw_dies(const struct sold *sold)
{
    struct drive *drive = sold->drive;
    const double bytes = number(sold, "real_gb") * 1e9;
    const double raw = bytes * (1 + (double)drive->spare_permille / 1000);
    uint64_t dies =
        (uint64_t)llround(raw / (number(sold, "die_gib") * (double)GIB));
    uint64_t channels = count_of(sold, "channels");

    dies = larger_of(dies, 1);
    while (channels > dies)
        channels = larger_of(channels / 2, 1);
    drive->channels_count = channels;
    drive->banks_per_channel_count =
        larger_of((dies + channels / 2) / channels, 1);
    drive->stripe_banks_count = drive_banks_count(drive);
    drive->capacity_bytes =
        down_to((uint64_t)(bytes / (double)sold->scale), 4096);
}

/* The page kinds of a cell take longer, one after the other. */
static void draw_times(const struct sold *sold, uint64_t levels, bool one_shot)
{
    static const char *const ratios[] = {
        NULL, "read_second_ratio", "read_third_ratio", "read_fourth_ratio"};
    struct drive *drive = sold->drive;
    const double read_ns = number(sold, "read_us") * 1000;
    const double program_ns = number(sold, "program_us") * 1000;
    const double ratio = number(sold, "program_ratio");
    double all = 0;

    drive->read_levels_count = drive->program_levels_count = levels;
    drive->read_ns[0] = (uint64_t)read_ns;
    for (uint64_t i = 1; i < levels; i++)
        drive->read_ns[i] =
            larger_of((uint64_t)(read_ns * number(sold, ratios[i])),
                      drive->read_ns[i - 1]);
    for (uint64_t i = 0; i < levels; i++)
        all += pow(ratio, (double)i);
    for (uint64_t i = 0; i < levels; i++)
        drive->program_ns[i] =
            one_shot ? (uint64_t)program_ns
                     : (uint64_t)(program_ns * pow(ratio, (double)i) / all);
    if (one_shot && levels == 4 && is(sold, "qlc_second_pass", "yes")) {
        drive->program_pass_ns = drive->program_ns[0] * 3 / 4;
        drive->program_ns[0] -= drive->program_pass_ns;
    }
}

/* How many pages an erase block of a plane has: as many as are sold, made
 * smaller, and whole programs. */
static void draw_block(const struct sold *sold)
{
    struct drive *drive = sold->drive;
    const double block_bytes = number(sold, "block_mib") * (double)MIB;
    const uint64_t row_bytes = drive_page_bytes(drive) * drive->planes_count *
                               drive->stripe_banks_count;
    const uint64_t levels = drive->program_levels_count;
    uint64_t pages = (uint64_t)(block_bytes / (double)drive->page_bytes /
                                (double)sold->scale);

    pages = smaller_of(pages, drive->capacity_bytes / BLOCKS_LEAST / row_bytes);
    drive->pages_per_block_count =
        larger_of(down_to(pages, levels), levels == 1 ? 4 : 2 * levels);
}

static void draw_page_map(const struct sold *sold, uint64_t levels)
{
    struct drive *drive = sold->drive;
    const bool server = strcmp(sold->class, "plp") == 0 && levels == 4;
    uint64_t map_bytes = count_of(sold, server ? "qlc_map_bytes" : "map_bytes");

    drive->mapping = MAPPING_PAGE;
    snprintf(drive->allocation_order, sizeof(drive->allocation_order), "pcwd");
    draw_block(sold);
    const uint64_t program_bytes =
        drive_page_bytes(drive) * drive->planes_count *
        drive->program_pages_count * drive->stripe_banks_count;
    while (map_bytes > drive->page_bytes && program_bytes % map_bytes)
        map_bytes /= 2;
    drive->clustered_page_bytes = map_bytes;
}

/* Blocks as large as they are sold: what a user sees of them is their size. */
static void draw_log_map(const struct sold *sold)
{
    struct drive *drive = sold->drive;
    uint64_t unit_bytes = count_of(sold, "unit_mib") * MIB;

    while (unit_bytes * LOG_UNITS_LEAST > drive->capacity_bytes)
        unit_bytes /= 2;
    drive->mapping = MAPPING_LOG_BLOCK;
    drive->planes_count = drive->program_pages_count = 1;
    drive->program_pass_ns = 0;
    drive->clustered_page_bytes = drive->page_bytes;
    drive->stripe_banks_count = power_below(drive->stripe_banks_count);
    while (drive_banks_count(drive) % drive->stripe_banks_count)
        drive->stripe_banks_count /= 2;
    drive->pages_per_block_count =
        unit_bytes / drive->page_bytes / drive->stripe_banks_count;
    drive->die_queue = DIE_QUEUE_NONE;
    snprintf(drive->allocation_order, sizeof(drive->allocation_order), "cwdp");
}

static void draw_flash(const struct sold *sold)
{
    struct drive *drive = sold->drive;
    const uint64_t levels = count_of(sold, "levels");
    const bool logs = is(sold, "log_blocks", "yes");
    const bool one_shot = !logs && is(sold, "one_shot", "yes");

    draw_dies(sold);
    drive->program_pages_count = one_shot ? levels : 1;
    draw_times(sold, levels, one_shot);
    if (logs)
        draw_log_map(sold);
    else
        draw_page_map(sold, levels);
    drive->merge_copy = MERGE_COPY_BUS;
    drive->partial_read = 1;
    drive->initial_phase = PHASE_SEED;
}

/* ---- caches ------------------------------------------------------------- */

static void draw_slc_cache(const struct sold *sold)
{
    struct drive *drive = sold->drive;
    const double percent = number(sold, "slc_percent");

    if (percent <= 0 || drive->mapping != MAPPING_PAGE)
        return;
    const double block_bytes =
        (double)mapping_slc_units(drive) * (double)drive->clustered_page_bytes;
    const double least = number(sold, "slc_least_percent") / 100;
    const double blocks =
        ceil(percent / 100 * (double)drive->capacity_bytes / block_bytes);
    drive->slc_blocks_count = (uint64_t)blocks;
    if (least < 1)
        drive->slc_least_blocks_count = (uint64_t)ceil(least * blocks);
    drive->slc_full = is(sold, "slc_kind", "bypass")        ? SLC_BYPASS
                      : is(sold, "slc_kind", "bypass-fold") ? SLC_BYPASS_FOLD
                                                            : SLC_FOLD;
    if (is(sold, "slc_kind", "turns"))
        drive->slc_turn_blocks_count =
            larger_of(drive->slc_blocks_count / 4, 1);
    if (is(sold, "slc_two_rates", "yes")) {
        drive->slc_fast_blocks_count =
            larger_of(drive->slc_blocks_count / 4, 1);
        drive->slc_slow_program_ns = drive->slc_program_ns * 3 / 2;
    }
}

static void draw_map_cache(const struct sold *sold)
{
    struct drive *drive = sold->drive;
    const uint64_t own = count_of(sold, "map_kib") * KIB / sold->scale;
    const uint64_t host = count_of(sold, "host_map_mib") * MIB / sold->scale;
    const uint64_t table = drive->capacity_bytes / drive->clustered_page_bytes *
                           drive->mapping_entry_bytes;

    if (own == 0 || own >= table || drive->mapping != MAPPING_PAGE)
        return;
    uint64_t fetch = power_below(own / FETCHES_LEAST);
    fetch = smaller_of(larger_of(fetch, FETCH_LEAST_BYTES), FETCH_MOST_BYTES);
    drive->mapping_fetch_bytes = fetch;
    drive->mapping_cache_bytes = larger_of(down_to(own, fetch), 2 * fetch);
    drive->host_memory_bytes = down_to(host, fetch);
}

/* A buffer that a program of a die does not fit into would waste flash. */
static void draw_buffer(const struct sold *sold)
{
    struct drive *drive = sold->drive;
    const uint64_t program_bytes = drive_page_bytes(drive) *
                                   drive->planes_count *
                                   drive->program_pages_count;
    const uint64_t bytes = count_of(sold, "buffer_kib") * KIB;

    drive->write_buffer_drain = DRAIN_STEADY;
    if (bytes > 0)
        drive->write_buffer_bytes = larger_of(
            down_to(bytes, 4 * KIB),
            PROGRAMS_BUFFERED *
                larger_of(program_bytes, drive->clustered_page_bytes));
}

/* ---- the rest ----------------------------------------------------------- */

/* "100ms/8ms/2s/60ms": when it falls asleep, what waking takes, and again. */
static void draw_sleep(const struct sold *sold)
{
    char value[VALUE_MAX], *rest = value;
    const double ratio = number(sold, "wake_ratio");

    if (!draw_value(sold, "sleep", value) || strcmp(value, "none") == 0)
        return;
    for (int i = 0; i < DRIVE_SLEEPS_MAX && rest; i++) {
        const char *after = strsep(&rest, "/"), *wake = strsep(&rest, "/");
        sold->drive->sleep_after_ns[i] = (uint64_t)number_of(after);
        sold->drive->wake_ns[i] = (uint64_t)(number_of(wake) * ratio);
    }
}

static void draw_fake(const struct sold *sold)
{
    struct drive *drive = sold->drive;
    uint64_t real = drive->capacity_bytes / count_of(sold, "fake_ratio");
    const bool loses = drive->fake_capacity == FAKE_DROPS ||
                       drive->fake_capacity == FAKE_CHAIN;
    const uint64_t late = drive->fake_cache_bytes / sold->scale;

    drive->fake_cache_bytes = 0;
    if (!is(sold, "fake", "yes"))
        return;
    if (loses)
        drive->fake_cache_bytes = down_to(late, 64 * KIB);
    if (is(sold, "fake_power_of_two", "yes"))
        real = power_below(real);
    drive->real_capacity_bytes = larger_of(down_to(real, 4096), 4096);
}

/* What a drive has only sometimes was set for all. */
static void leave_out(const struct sold *sold)
{
    struct drive *drive = sold->drive;

    if (!is(sold, "bursts", "yes"))
        drive->burst_share = 0;
    if (!is(sold, "bridge", "yes"))
        drive->bridge_share = 0;
    if (!is(sold, "throttle", "yes"))
        drive->throttle_heat_ns[0] = drive->throttle_heat_ns[1] = 0;
    if (drive->die_queue == DIE_QUEUE_NONE)
        drive->suspend = drive->cleaning_yields = 0;
}

int draw_sold(uint64_t seed, const char *kind, struct drive *drive,
              struct fault *why)
{
    struct sold sold = {.seed = random_mix(seed), .kind = kind, .drive = drive};

    if (!draw_value(&sold, "class", sold.class))
        return -ENOENT;
    const bool small = strcmp(kind, "card") == 0 || strcmp(kind, "stick") == 0;
    sold.scale = small ? CARD_SCALE : SSD_SCALE;
    const int error = set_keys(&sold, why);
    if (error)
        return error;
    drive->interface_bytes_per_second =
        count_of(&sold, "interface_mb_s") * 1000000;
    draw_flash(&sold);
    draw_slc_cache(&sold);
    draw_map_cache(&sold);
    draw_buffer(&sold);
    draw_sleep(&sold);
    draw_fake(&sold);
    leave_out(&sold);
    snprintf(drive->description, sizeof(drive->description),
             "drawn: %s of %.0f GB at 1/%" PRIu64
             " (flashemu random --seed=%" PRIu64 " --kind=%s)",
             sold.class, number(&sold, "real_gb"), sold.scale, seed, kind);
    return 0;
}
