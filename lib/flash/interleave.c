/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/interleave.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/flash/interleave_inside.h"

/* ---- time passes ------------------------------------------------------- */

uint64_t interleave_next_ns(const struct interleave *il)
{
    if (il->complete_count > 0)
        return il->now_ns;
    return agenda_next_ns(&il->agenda);
}

bool interleave_step(struct interleave *il, struct interleave_done *done)
{
    if (il->complete_count == 0 && il->agenda.count > 0) {
        struct event event = agenda_take(&il->agenda);
        assert(event.ns >= il->now_ns);
        il->now_ns = event.ns;
        interleave_happen(il, &event);
    }
    if (il->complete_count == 0)
        return false;
    uint32_t at = il->complete[--il->complete_count];
    struct job *job = &il->jobs[at];
    *done = (struct interleave_done){at, job->begin_ns, job->end_ns, job->why};
    job->next = il->free_job;
    il->free_job = at;
    return true;
}

/* ---- what is asked for ------------------------------------------------- */

uint32_t interleave_open(struct interleave *il,
                         const struct interleave_extent *extent)
{
    uint32_t at = il->free_job;
    struct job *job = &il->jobs[at];

    assert(at != NONE && il->open == NONE);
    il->free_job = job->next;
    *job =
        (struct job){.offset_bytes = extent->offset_bytes,
                     .end_bytes = extent->offset_bytes + extent->length_bytes,
                     .order = il->jobs_order++,
                     .previous = il->newest,
                     .next = NONE};
    for (uint32_t i = il->newest; i != NONE; i = il->jobs[i].previous)
        job->older_count += overlap(job, &il->jobs[i]);
    if (il->newest != NONE)
        il->jobs[il->newest].next = at;
    il->newest = il->open = at;
    il->error = 0;
    return at;
}

static int grow(struct interleave *il)
{
    uint32_t count = il->steps_count ? 2 * il->steps_count : 1024;
    struct step *steps = realloc(il->steps, count * sizeof(*steps));

    if (!steps)
        return -ENOMEM;
    for (uint32_t i = il->steps_count; i < count; i++)
        steps[i].next = i + 1 < count ? i + 1 : NONE;
    il->free_step = il->steps_count;
    il->steps = steps;
    il->steps_count = count;
    return 0;
}

static void insert(struct interleave *il, struct bank *bank, uint32_t behind,
                   uint32_t slot)
{
    uint32_t *link = behind == NONE ? &bank->head : &il->steps[behind].next;

    il->steps[slot].next = *link;
    *link = slot;
}

/* To the end of the bank's queue; a read goes before the programs of its own
 * job, which wait for it. */
static void append(struct interleave *il, uint32_t at, const struct step *step)
{
    struct bank *bank = &il->banks[at];
    struct job *job = &il->jobs[il->open];

    if (il->free_step == NONE && grow(il)) {
        il->error = -ENOMEM;
        return;
    }
    uint32_t slot = il->free_step;
    il->free_step = il->steps[slot].next;
    il->steps[slot] = *step;
    il->steps[slot].job = il->open;
    il->steps[slot].next = NONE;
    job->steps_left_count++;
    job->reads_left_count += step->kind == STEP_READ;
    if (step->kind == STEP_PROGRAM && bank->program_order != job->order) {
        bank->program_order = job->order;
        bank->before_program = bank->head == NONE ? NONE : bank->tail;
    }
    if (step->kind == STEP_READ && bank->program_order == job->order) {
        insert(il, bank, bank->before_program, slot);
        bank->before_program = slot;
    } else {
        insert(il, bank, bank->head == NONE ? NONE : bank->tail, slot);
        bank->tail = slot;
    }
    if (!bank->busy)
        expect(il, step->begin_ns, EVENT_BEGIN, at);
    bank->busy = true;
}

static uint64_t bus_ns(const struct interleave *il, uint64_t bytes)
{
    return bytes * 8 * 1000 / il->bits_per_us;
}

void interleave_read(struct interleave *il, uint32_t bank, uint64_t bytes,
                     uint64_t begin_ns)
{
    il->array->banks[bank].did.pages_read_count++;
    append(il, bank,
           &(struct step){.kind = STEP_READ,
                          .bus_ns = bus_ns(il, bytes),
                          .bytes = bytes,
                          .begin_ns = begin_ns});
}

void interleave_program(struct interleave *il, uint32_t bank, uint64_t bytes,
                        uint64_t program_ns, uint64_t begin_ns)
{
    il->array->banks[bank].did.pages_programmed_count++;
    append(il, bank,
           &(struct step){.kind = STEP_PROGRAM,
                          .bus_ns = bus_ns(il, bytes),
                          .work_ns = program_ns,
                          .begin_ns = begin_ns});
}

void interleave_busy(struct interleave *il, uint32_t bank, uint64_t ns,
                     uint64_t begin_ns)
{
    append(
        il, bank,
        &(struct step){.kind = STEP_BUSY, .work_ns = ns, .begin_ns = begin_ns});
}

int interleave_close(struct interleave *il, uint64_t least_ns)
{
    struct job *job = &il->jobs[il->open];
    uint32_t at = il->open;

    il->open = NONE;
    job->closed = true;
    job->begin_ns = job->least_ns = least_ns;
    interleave_settle(il, at);
    return il->error;
}

/* ---- making and unmaking ----------------------------------------------- */

static int allocate(struct interleave *il)
{
    /* A bank has a transfer or a beginning, a copy or a program. */
    uint32_t events = 2 * il->banks_count + il->jobs_count;

    il->banks = calloc(il->banks_count, sizeof(*il->banks));
    il->channels = calloc(il->channels_count, sizeof(*il->channels));
    il->jobs = calloc(il->jobs_count, sizeof(*il->jobs));
    il->complete = calloc(il->jobs_count, sizeof(*il->complete));
    if (!il->banks || !il->channels || !il->jobs || !il->complete ||
        agenda_create(&il->agenda, events))
        return -ENOMEM;
    for (uint32_t i = 0; i < il->banks_count; i++) {
        il->banks[i].head = il->banks[i].sending = NONE;
        il->banks[i].program_order = UINT64_MAX;
    }
    for (uint32_t i = 0; i < il->channels_count; i++)
        il->channels[i].first = NONE;
    for (uint32_t i = 0; i < il->jobs_count; i++)
        il->jobs[i].next = i + 1 < il->jobs_count ? i + 1 : NONE;
    il->open = il->newest = il->free_step = NONE;
    return 0;
}

int interleave_create(const struct drive *drive, struct array *array,
                      uint64_t *link_free_ns, struct interleave **interleave)
{
    struct interleave *il = calloc(1, sizeof(*il));

    if (!il)
        return -ENOMEM;
    il->array = array;
    il->link_free_ns = link_free_ns;
    il->link_bytes_per_second = drive->interface_bytes_per_second;
    il->read_ns = drive->read_ns;
    il->copy_ns = drive->cache_copy_ns;
    il->bits_per_us = drive->bus_width_bits * drive->bus_mhz;
    il->registers_count =
        (uint32_t)(drive->cache_register_bytes / drive->page_bytes);
    if (il->registers_count == 0 || !drive->cache_program)
        il->registers_count = 1;
    il->cache_read = drive->cache_read != 0;
    il->cache_program = drive->cache_program != 0;
    il->held = drive->bus_policy == BUS_HELD;
    il->channels_count = (uint32_t)drive->channels_count;
    il->banks_count =
        (uint32_t)(drive->channels_count * drive->banks_per_channel_count);
    il->jobs_count = (uint32_t)drive->queue_depth_count;
    if (allocate(il)) {
        interleave_destroy(il);
        return -ENOMEM;
    }
    *interleave = il;
    return 0;
}

void interleave_destroy(struct interleave *il)
{
    if (!il)
        return;
    free(il->banks);
    free(il->channels);
    free(il->steps);
    free(il->jobs);
    free(il->complete);
    agenda_destroy(&il->agenda);
    free(il);
}

uint64_t interleave_memory_bytes(const struct interleave *il)
{
    return sizeof(*il) + il->banks_count * sizeof(*il->banks) +
           il->channels_count * sizeof(*il->channels) +
           il->steps_count * sizeof(*il->steps) +
           il->jobs_count * (sizeof(*il->jobs) + sizeof(*il->complete)) +
           agenda_memory_bytes(&il->agenda);
}
