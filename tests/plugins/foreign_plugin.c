/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drives as simulators of others have them, for test_foreign_drives.sh: written
 * from the papers, with nothing of lib/flash. Settings:
 *
 *   ftl=page  pages of 16 KiB that hold four units of 4 KiB, mapped one by one
 *             (DFTL: Gupta 2009), gathered in a buffer that survives a power
 *             cut and programs whole pages; cells of three bits, so that pages
 *             read and program in three times; greedy cleaning of superblocks
 *   ftl=fast  log blocks that any block may use, one of them for writes in
 *             order (FAST: Lee et al. 2007); programs each page at once
 *   dies=N, entries=N of the mapping that are cached (0: all), seed=N
 *   squeezes=1: pages of one repeated byte program five times as fast
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device/plugin/ssdprobe_plugin.h"

enum {
    UNIT_BYTES = 4096,
    PAGE_UNITS = 4,
    BLOCK_PAGES = 192, /* a multiple of the kinds of page */
    KINDS = 3,
    DIES_MAX = 64,
    BUFFER_UNITS = 1024,
    WAYS = 8,
    LOGS = 8,
    FREE_LEAST = 3
};
static const uint64_t capacity_bytes = UINT64_C(3) << 30;
static const uint32_t spare_percent = 12;
/* ns */
static const double command = 9e3, link_unit = 7e3, erase = 3.5e6,
                    reads[KINDS] = {42e3, 58e3, 85e3},
                    programs[KINDS] = {350e3, 800e3, 1700e3};
static const uint32_t nowhere = UINT32_MAX;

struct entry {
    uint32_t unit, age;
    int dirty;
};

struct foreign {
    uint32_t units, dies, entries, is_fast, squeezes;
    double program_share; /* of what a page takes, for this request's data */
    double die_free[DIES_MAX], link_free, buffer[BUFFER_UNITS];
    uint32_t buffer_at; /* the slot that is used next */
    uint64_t random;
    /* page: where units lie, and whose they are; by superblock. */
    uint32_t *place_of, *unit_at, *valid;
    uint32_t supers, super_units, open, open_units, free_count;
    unsigned char *is_free;
    struct entry *cache;
    uint32_t clock;
    /* fast: pages in logs, whose they are; the log of sequential writes. */
    uint32_t *log_of, *page_at, log_next, sequence_block, sequence_pages;
};

static double chance(struct foreign *f)
{
    f->random = f->random * UINT64_C(6364136223846793005) +
                UINT64_C(1442695040888963407);
    return (double)(f->random >> 11) / 0x1p53;
}

/* What a die does, beginning when it is free. */
static double work(struct foreign *f, uint32_t die, double now, double ns)
{
    f->die_free[die] = fmax(now, f->die_free[die]) + ns;
    return f->die_free[die];
}

/* ---- ftl=page ------------------------------------------------------------ */

/* Units of a superblock go page by page, from die to die. */
static uint32_t die_of(const struct foreign *f, uint32_t place)
{
    return place / PAGE_UNITS % f->dies;
}

static uint32_t kind_of(const struct foreign *f, uint32_t place)
{
    return place % f->super_units / PAGE_UNITS / f->dies % KINDS;
}

static void put(struct foreign *f, uint32_t unit, uint32_t place)
{
    const uint32_t old = f->place_of[unit];

    if (old != nowhere) {
        f->unit_at[old] = nowhere;
        f->valid[old / f->super_units]--;
    }
    f->place_of[unit] = place;
    f->unit_at[place] = unit;
    f->valid[place / f->super_units]++;
}

static void open_next(struct foreign *f)
{
    while (!f->is_free[f->open])
        f->open = (f->open + 1) % f->supers;
    f->is_free[f->open] = 0;
    f->free_count--;
    f->open_units = 0;
}

/* Takes the next place; with the last unit of a page that is programmed. */
static double append(struct foreign *f, uint32_t unit, double now)
{
    const uint32_t place = f->open * f->super_units + f->open_units;
    double done = now;

    put(f, unit, place);
    if (++f->open_units % PAGE_UNITS == 0)
        done = work(f, die_of(f, place), now,
                    programs[kind_of(f, place)] * f->program_share);
    if (f->open_units == f->super_units)
        open_next(f);
    return done;
}

/* Copies the valid units of the superblock with fewest, and erases it. */
static void clean(struct foreign *f, double now)
{
    uint32_t victim = nowhere;

    for (uint32_t i = 0; i < f->supers; i++)
        if (i != f->open && !f->is_free[i] &&
            (victim == nowhere || f->valid[i] < f->valid[victim]))
            victim = i;
    const uint32_t first = victim * f->super_units;
    for (uint32_t page = 0; page < f->super_units; page += PAGE_UNITS) {
        int any = 0;
        for (uint32_t i = first + page; i < first + page + PAGE_UNITS; i++)
            any |= f->unit_at[i] != nowhere;
        if (any)
            work(f, die_of(f, first + page), now,
                 reads[kind_of(f, first + page)]);
        for (uint32_t i = first + page; i < first + page + PAGE_UNITS; i++)
            if (f->unit_at[i] != nowhere)
                append(f, f->unit_at[i], now);
    }
    for (uint32_t die = 0; die < f->dies; die++)
        work(f, die, now, erase);
    f->is_free[victim] = 1;
    f->free_count++;
}

/* Brings the mapping of a unit to hand: a miss reads a page of the table, and
 * programs one where the entry that goes is dirty. */
static double find(struct foreign *f, uint32_t unit, int writes, double now)
{
    if (!f->cache)
        return now;
    const uint32_t set =
        (unit * UINT32_C(2654435761) >> 4) % (f->entries / WAYS) * WAYS;
    struct entry *old = &f->cache[set];
    f->clock++;
    for (uint32_t i = set; i < set + WAYS; i++) {
        struct entry *entry = &f->cache[i];
        if (entry->unit == unit) {
            entry->age = f->clock;
            entry->dirty |= writes;
            return now;
        }
        if (entry->age < old->age)
            old = entry;
    }
    const uint32_t die = unit / 1024 % f->dies;
    if (old->dirty)
        now = work(f, die, now, programs[0]);
    *old = (struct entry){unit, f->clock, writes};
    return work(f, die, now, reads[0]);
}

static double read_units(struct foreign *f, uint32_t unit, uint32_t count,
                         double now)
{
    uint32_t page = nowhere;
    double done = now;

    for (uint32_t i = unit; i < unit + count; i++) {
        const uint32_t place = f->place_of[i];
        const double known = find(f, i, 0, now);
        if (place == nowhere || place / PAGE_UNITS == page)
            continue; /* of the page that was just read */
        page = place / PAGE_UNITS;
        done = fmax(done,
                    work(f, die_of(f, place), known, reads[kind_of(f, place)]));
    }
    return done;
}

static double write_units(struct foreign *f, uint32_t unit, uint32_t count,
                          double now)
{
    for (uint32_t i = unit; i < unit + count; i++) {
        now = find(f, i, 1, now);
        while (f->free_count < FREE_LEAST)
            clean(f, now);
        /* A slot of the buffer is free when its page was programmed. */
        now = fmax(now, f->buffer[f->buffer_at]);
        const double done = append(f, i, now);
        for (uint32_t j = 0; j < PAGE_UNITS && done > now; j++)
            f->buffer[(f->buffer_at + BUFFER_UNITS - j) % BUFFER_UNITS] = done;
        f->buffer_at = (f->buffer_at + 1) % BUFFER_UNITS;
    }
    return now;
}

/* ---- ftl=fast ------------------------------------------------------------ */

static uint32_t page_kind(uint32_t page)
{
    return page % KINDS;
}

/* Gathers a block from its data and log pages. */
static double merge(struct foreign *f, uint32_t block, double now)
{
    for (uint32_t i = 0; i < BLOCK_PAGES; i++) {
        const uint32_t page = block * BLOCK_PAGES + i;
        if (f->log_of[page] != nowhere)
            f->page_at[f->log_of[page]] = nowhere;
        f->log_of[page] = nowhere;
        now += reads[page_kind(i)] + programs[page_kind(i)];
    }
    return now + 2 * erase;
}

/* The oldest log is emptied: each block that has a page in it is merged. */
static double make_room(struct foreign *f, double now)
{
    if (f->log_next % BLOCK_PAGES == 0)
        for (uint32_t i = f->log_next; i < f->log_next + BLOCK_PAGES; i++)
            if (f->page_at[i] != nowhere)
                now = merge(f, f->page_at[i] / BLOCK_PAGES, now);
    return now;
}

static double write_page(struct foreign *f, uint32_t page, int whole,
                         double now)
{
    const uint32_t block = page / BLOCK_PAGES, at = page % BLOCK_PAGES;

    if (!whole)
        now += reads[page_kind(page)];
    if (whole && at == 0) { /* sequential writes may begin */
        if (f->sequence_block != nowhere)
            now = merge(f, f->sequence_block, now);
        f->sequence_block = block;
        f->sequence_pages = 0;
    }
    if (block == f->sequence_block && at == f->sequence_pages) {
        now += programs[page_kind(at)];
        if (++f->sequence_pages < BLOCK_PAGES)
            return now;
        f->sequence_block = nowhere; /* it becomes the data block */
        return now + erase;
    }
    now = make_room(f, now);
    if (f->log_of[page] != nowhere)
        f->page_at[f->log_of[page]] = nowhere;
    f->log_of[page] = f->log_next;
    f->page_at[f->log_next] = page;
    now += programs[page_kind(f->log_next)];
    f->log_next = (f->log_next + 1) % (LOGS * BLOCK_PAGES);
    return now;
}

static double fast_io(struct foreign *f, uint32_t unit, uint32_t count,
                      int writes, double now)
{
    const uint32_t end = unit + count;

    now = fmax(now, f->die_free[0]);
    while (unit < end) {
        const uint32_t page = unit / PAGE_UNITS;
        const uint32_t next = (page + 1) * PAGE_UNITS;
        const int whole = unit % PAGE_UNITS == 0 && next <= end;
        now = writes ? write_page(f, page, whole, now)
                     : now + reads[page_kind(page)];
        unit = next;
    }
    f->die_free[0] = now;
    return now;
}

/* ---- the plugin -------------------------------------------------------- */

static int make_page(struct foreign *f)
{
    f->super_units = f->dies * BLOCK_PAGES * PAGE_UNITS;
    f->supers = f->units / f->super_units;
    f->supers += f->supers * spare_percent / 100 + FREE_LEAST + 1;
    const size_t places = (size_t)f->supers * f->super_units;
    f->place_of = malloc(f->units * sizeof(*f->place_of));
    f->unit_at = malloc(places * sizeof(*f->unit_at));
    f->valid = calloc(f->supers, sizeof(*f->valid));
    f->is_free = malloc(f->supers);
    f->cache = f->entries ? calloc(f->entries, sizeof(*f->cache)) : NULL;
    if (!f->place_of || !f->unit_at || !f->valid || !f->is_free)
        return -ENOMEM;
    memset(f->place_of, 0xff, f->units * sizeof(*f->place_of));
    memset(f->unit_at, 0xff, places * sizeof(*f->unit_at));
    memset(f->is_free, 1, f->supers);
    f->free_count = f->supers;
    open_next(f);
    for (uint32_t i = 0; i < f->units; i++) /* it was filled in order */
        append(f, i, 0);
    memset(f->die_free, 0, sizeof(f->die_free));
    return 0;
}

static int make_fast(struct foreign *f)
{
    const uint32_t pages = f->units / PAGE_UNITS;

    f->log_of = malloc(pages * sizeof(*f->log_of));
    f->page_at = malloc(LOGS * BLOCK_PAGES * sizeof(*f->page_at));
    if (!f->log_of || !f->page_at)
        return -ENOMEM;
    memset(f->log_of, 0xff, pages * sizeof(*f->log_of));
    memset(f->page_at, 0xff, LOGS * BLOCK_PAGES * sizeof(*f->page_at));
    f->sequence_block = nowhere;
    return 0;
}

static void foreign_close(void *drive)
{
    struct foreign *f = drive;

    free(f->place_of);
    free(f->unit_at);
    free(f->valid);
    free(f->is_free);
    free(f->cache);
    free(f->log_of);
    free(f->page_at);
    free(f);
}

static int foreign_open(const struct ssdprobe_plugin_setting settings[],
                        size_t settings_count, void **drive,
                        struct ssdprobe_plugin_geometry *geometry, char *why,
                        size_t why_bytes)
{
    struct foreign *f = calloc(1, sizeof(*f));

    (void)why;
    (void)why_bytes;
    if (!f)
        return -ENOMEM;
    f->dies = 4;
    f->random = 1;
    f->program_share = 1;
    for (size_t i = 0; i < settings_count; i++) {
        const char *key = settings[i].key, *value = settings[i].value;
        const uint32_t number = (uint32_t)strtoul(value, NULL, 10);
        if (strcmp(key, "ftl") == 0)
            f->is_fast = strcmp(value, "fast") == 0;
        else if (strcmp(key, "dies") == 0)
            f->dies = number;
        else if (strcmp(key, "entries") == 0)
            f->entries = number;
        else if (strcmp(key, "seed") == 0)
            f->random = number;
        else if (strcmp(key, "squeezes") == 0)
            f->squeezes = number;
    }
    /* Whole superblocks, and whole blocks. */
    const uint64_t grain = (uint64_t)f->dies * BLOCK_PAGES * PAGE_UNITS;
    f->units = (uint32_t)(capacity_bytes / UNIT_BYTES / grain * grain);
    const int error = f->is_fast ? make_fast(f) : make_page(f);
    if (error) {
        foreign_close(f);
        return error;
    }
    geometry->capacity_bytes = (uint64_t)f->units * UNIT_BYTES;
    geometry->keeps_contents = SSDPROBE_PLUGIN_HOST_KEEPS;
    geometry->block_bytes = 4096;
    geometry->request_limit_bytes = 1 << 20;
    *drive = f;
    return 0;
}

/* One request in a thousand is held up by the host. */
static double held_up(struct foreign *f, double ns)
{
    return chance(f) < 1e-3 ? ns * (1 + 20 * chance(f)) + 1e5 : ns;
}

static int foreign_io(void *drive,
                      const struct ssdprobe_plugin_request *request,
                      uint64_t *complete_ns)
{
    struct foreign *f = drive;
    const double now = (double)request->now_ns;
    const uint32_t unit = (uint32_t)(request->offset_bytes / UNIT_BYTES);
    const uint32_t count = (uint32_t)(request->length_bytes / UNIT_BYTES);
    const int writes = request->kind == SSDPROBE_PLUGIN_WRITE;
    double done = now + command;

    if (request->kind != SSDPROBE_PLUGIN_READ && !writes) {
        *complete_ns = (uint64_t)done;
        return 0;
    }
    f->program_share =
        writes && f->squeezes &&
                memcmp(request->data, (const char *)request->data + 1,
                       request->length_bytes - 1) == 0
            ? 0.2
            : 1;
    /* What is written passes the link first, what is read behind the flash. */
    if (writes)
        f->link_free = done = fmax(done, f->link_free) + link_unit * count;
    done = f->is_fast ? fast_io(f, unit, count, writes, done)
           : writes   ? write_units(f, unit, count, done)
                      : read_units(f, unit, count, done);
    if (!writes)
        f->link_free = done = fmax(done, f->link_free) + link_unit * count;
    *complete_ns = (uint64_t)ceil(now + held_up(f, done - now));
    return 0;
}

extern const struct ssdprobe_plugin ssdprobe_plugin;
const struct ssdprobe_plugin ssdprobe_plugin = {
    .version = SSDPROBE_PLUGIN_VERSION,
    .open = foreign_open,
    .io = foreign_io,
    .close = foreign_close,
};
