/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/study.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"

void study_init(struct study *study, const struct probe *probe,
                const struct study_ops *ops, const struct setting *setting)
{
    memset(study, 0, sizeof(*study));
    study->probe = probe;
    study->ops = ops;
    study->setting = *setting;
    study->seed = random_mix(setting->seed ^ random_hash(probe->name));
}

void *study_create(size_t size, const struct probe *probe,
                   const struct study_ops *ops, const struct setting *setting)
{
    struct study *state;

    assert(size >= sizeof(struct study));
    state = calloc(1, size);
    if (!state)
        return NULL;
    study_init(state, probe, ops, setting);
    return state;
}

bool probe_endures(const struct probe *probe, enum operation operation,
                   int error)
{
    return sample_is_refused(operation, error) ||
           (probe->surveys && sample_is_of_place(operation, error));
}

struct setting setting_measured(const struct setting *setting)
{
    struct setting measured = *setting;

    if (setting->part_length_bytes > 0)
        measured.region_length_bytes = setting->part_length_bytes;
    measured.part_length_bytes = 0;
    return measured;
}

struct setting setting_for(const struct probe *probe,
                           const struct setting *setting)
{
    struct setting own = probe->compares ? *setting : setting_measured(setting);

    if (probe->budget_parts)
        own.write_budget_bytes /= probe->budget_parts;
    if (probe->region_parts)
        own.write_budget_bytes =
            smaller_of(own.write_budget_bytes,
                       own.region_length_bytes / probe->region_parts);
    return own;
}

static const struct probe *probe_by(enum probe_method method,
                                    const struct probe *probe)
{
    return method == METHOD_PAPER && probe->literal ? probe->literal : probe;
}

uint64_t setting_piece(const struct setting *setting, uint64_t usual_bytes)
{
    const uint64_t block = setting->logical_block_bytes;
    const uint64_t limit = setting->request_limit_bytes;
    const uint64_t most = limit ? smaller_of(limit, usual_bytes) : usual_bytes;

    return most > block ? most / block * block : block;
}

/* Adds what goes over the whole region, each 128 MiB with a row that settles
 * it. A survey looks again at no more than twice as much as there is. */
static void plan_passes(const struct probe *probe, const struct setting *own,
                        struct probe_plan *plan)
{
    const uint64_t region = own->region_length_bytes;
    const uint64_t pieces =
        region / setting_piece(own, MIB) + region / (128 * MIB) + 2;
    const uint64_t writes = probe->usual_fills, reads = probe->surveys;

    plan->bytes_written += writes * region;
    plan->bytes_written_max += writes * region;
    plan->bytes_read += reads * region;
    plan->bytes_read_max += 3 * reads * region;
    plan->requests += (writes + reads) * pieces;
    plan->requests_max += (writes + 3 * reads) * pieces;
}

/* A probe writes so little besides its part of the budget. */
static const uint64_t aside_most_bytes = 32 * MIB;

static void cut_plan(const struct probe *probe, const struct setting *own,
                     struct probe_plan *plan)
{
    const uint64_t budget = own->write_budget_bytes;

    if (probe->budget_parts && plan->bytes_written > budget) {
        plan->requests = plan->requests * budget / plan->bytes_written;
        plan->bytes_written = budget;
    }
    if (probe->budget_parts)
        plan->bytes_written_max =
            smaller_of(plan->bytes_written_max, budget + aside_most_bytes);
    if (own->read_only)
        plan->bytes_written = plan->bytes_written_max = 0;
}

struct probe_plan probe_planned(const struct probe *probe,
                                const struct setting *setting)
{
    const struct probe *counts = probe_by(setting->method, probe);
    const struct setting own = setting_for(probe, setting);
    const uint64_t longer =
        counts->plan ? 1 : larger_of(1, own.logical_block_bytes / (4 * KIB));
    const uint64_t more =
        counts->patient ? 1 + own.patience_ns / SETTING_PATIENCE_NS : 1;
    struct probe_plan plan = counts->usual;

    if (counts->plan)
        counts->plan(&own, &plan);
    plan.requests_max = more * larger_of(plan.requests_max, plan.requests);
    if (!plan.bytes_read && !plan.bytes_written && !plan.bytes_written_max) {
        plan.bytes_read = plan.requests * 4 * KIB;
        plan.bytes_read_max = plan.requests_max * 4 * KIB;
    }
    plan.bytes_read_max =
        longer * larger_of(plan.bytes_read_max, plan.bytes_read);
    plan.bytes_written_max =
        longer * more * larger_of(plan.bytes_written_max, plan.bytes_written);
    plan.bytes_read *= longer;
    plan.bytes_written *= longer;
    plan_passes(counts, &own, &plan);
    cut_plan(counts, &own, &plan);
    return plan;
}

int probe_start(const struct probe *probe, const struct setting *setting,
                const struct findings *known, void **state)
{
    const struct probe *counts = probe_by(setting->method, probe);
    const struct setting own = setting_for(probe, setting);

    *state = NULL;
    if (counts->start)
        return counts->start(&own, known, state);
    *state = study_create(counts->state_bytes, counts, counts->ops, &own);
    if (!*state)
        return -ENOMEM;
    if (counts->begin)
        counts->begin(*state, &own, known);
    return 0;
}

void study_free(struct study *study)
{
    ledger_free(&study->ledger);
    free(study->asked);
    free(study->rounds);
    study->asked = NULL;
    study->rounds = NULL;
}

void study_ask(struct study *study, const struct step *step)
{
    if (study->asked_count == study->asked_size) {
        size_t size = study->asked_size ? 2 * study->asked_size : 256;
        struct step *asked = realloc(study->asked, size * sizeof(*asked));
        if (!asked) {
            study->failed = true;
            return;
        }
        study->asked = asked;
        study->asked_size = size;
    }
    study->asked[study->asked_count++] = *step;
}

/* Forgets what is still asked for. */
static void drop_asked(struct study *study)
{
    study->asked_head = study->asked_count = 0;
}

bool study_next(struct study *study, struct step *step)
{
    if (study->asked_head == study->asked_count) {
        drop_asked(study);
        return false;
    }
    *step = study->asked[study->asked_head++];
    study->given_count++;
    return true;
}

int study_probe_feed(void *state, const struct sample *sample)
{
    struct study *study = state;

    study->rows_count++;
    study->written_bytes +=
        sample->operation == OPERATION_WRITE ? sample->length_bytes : 0;
    const uint64_t ns = sample->complete_ns - sample->submit_ns;
    if (sample->label.cell[0] && !sample->error &&
        (sample->operation == OPERATION_READ ||
         sample->operation == OPERATION_WRITE) &&
        (study->quickest_ns == 0 || ns < study->quickest_ns)) {
        study->quickest_ns = ns;
        study->quickest_bytes = sample->length_bytes;
    }
    if (sample->error && !sample_is_refused(sample->operation, sample->error))
        study->io_failed = true;
    return ledger_add(&study->ledger, sample);
}

/* ---- reasoning ---------------------------------------------------------- */

/* A piece of memory, and the one before it. */
struct study_memory {
    struct study_memory *before;
    max_align_t bytes[];
};

void *study_alloc(struct study *study, size_t bytes)
{
    struct study_memory *memory = calloc(1, sizeof(*memory) + bytes);

    if (!memory)
        study_fail(study);
    memory->before = study->memory;
    study->memory = memory;
    return memory->bytes;
}

const char *study_text(struct study *study, const char *format, ...)
{
    enum { TEXT_MAX = 256 };
    char *text = study_alloc(study, TEXT_MAX);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, TEXT_MAX, format, arguments);
    va_end(arguments);
    return text;
}

enum { QUANTITY_MAX = 24 };

const char *study_bytes(struct study *study, uint64_t bytes)
{
    return format_bytes(bytes, study_alloc(study, QUANTITY_MAX), QUANTITY_MAX);
}

const char *study_ns(struct study *study, double ns)
{
    return format_ns((uint64_t)ns, study_alloc(study, QUANTITY_MAX),
                     QUANTITY_MAX);
}

static void free_memory(struct study *study)
{
    struct study_memory *memory = study->memory;

    study->memory = NULL;
    while (memory) {
        struct study_memory *before = memory->before;
        free(memory);
        memory = before;
    }
}

void study_leave(struct study *study)
{
    assert(study->away);
    longjmp(*study->away, 1);
}

void study_fail(struct study *study)
{
    study->failed = true;
    study_leave(study);
}

static bool end_reasoning(struct study *study, bool concluded)
{
    study->away = NULL;
    free_memory(study);
    return concluded;
}

/* False when the reasoning left: rows are missing, or memory. */
static bool reason(struct study *study, struct findings *findings)
{
    jmp_buf away;

    /* end_reasoning takes it back before it goes out of scope. */
    /* cppcheck-suppress autoVariables */
    study->away = &away;
    study->denies = false;
    study->passed_over = 0;
    if (setjmp(away) != 0)
        return end_reasoning(study, false);
    study->ops->think(study, findings);
    return end_reasoning(study, true);
}

enum probe_next study_probe_next(void *state, struct step *step)
{
    struct study *study = state;
    struct findings *scratch;

    if (study_next(study, step))
        return PROBE_STEP;
    if (study->concluded || study->failed || study->io_failed)
        return PROBE_DONE;
    if (study->given_count > study->rows_count)
        return PROBE_WAIT;
    scratch = calloc(1, sizeof(*scratch));
    if (!scratch) {
        study->failed = true;
        return PROBE_DONE;
    }
    study->concluded = reason(study, scratch);
    free(scratch);
    if (study->concluded)
        drop_asked(study);
    return study_next(study, step) ? PROBE_STEP : PROBE_DONE;
}

void study_say_open(const struct probe *probe, struct findings *findings,
                    const char *reason)
{
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->answers[i]; i++)
        finding_why(findings_add(findings, probe->name, probe->answers[i]),
                    "%s", reason);
}

void study_say_absent(const struct probe *probe, struct findings *findings,
                      double confidence, const char *format, ...)
{
    char why[sizeof(findings->items[0].why)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->answers[i]; i++) {
        struct finding *finding =
            findings_add(findings, probe->name, probe->answers[i]);
        finding_absent(finding, confidence);
        finding_why(finding, "%s", why);
    }
}

/* Is it among the findings from `first` on? */
static bool is_said(const struct findings *findings, size_t first,
                    const char *parameter)
{
    for (size_t i = first; i < findings->count; i++)
        if (strcmp(findings->items[i].parameter, parameter) == 0)
            return true;
    return false;
}

/* A search that was cut off may need as many times the budget. */
enum { BUDGET_TIMES = 4 };

/* What was said from `first` on stands: only the rest is left open. */
static void say_unfinished(const struct study *study, struct findings *findings,
                           size_t first)
{
    const struct probe *probe = study->probe;
    char reason[200], budget[24];

    snprintf(
        reason, sizeof(reason),
        "the measurement ended after %llu requests, too early for an answer",
        (unsigned long long)study->rows_count);
    /* A probe that has a part of the budget does not know all of it. */
    if (study->written_bytes > 0 && !probe->budget_parts)
        snprintf(reason, sizeof(reason),
                 "the measurement ended after %s of writes, too early for an "
                 "answer; if the write budget ended it, --write-budget=%s "
                 "allows more",
                 TEXT_BYTES(study->written_bytes),
                 format_bytes_option(BUDGET_TIMES *
                                         study->setting.write_budget_bytes,
                                     budget, sizeof(budget)));
    if (study->failed)
        snprintf(reason, sizeof(reason),
                 "there was too little memory to continue");
    if (study->io_failed)
        snprintf(reason, sizeof(reason),
                 "a request failed, so the measurement is incomplete; check "
                 "the drive's errors first");
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->answers[i]; i++)
        if (!is_said(findings, first, probe->answers[i]))
            finding_why(findings_add(findings, probe->name, probe->answers[i]),
                        "%s", reason);
}

/* What reads do not tell, in a run that only reads. */
static void skip_writes(const struct probe *probe, struct findings *findings,
                        size_t first)
{
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->by_write[i]; i++) {
        if (is_said(findings, first, probe->by_write[i]))
            continue;
        struct finding *finding =
            findings_add(findings, probe->name, probe->by_write[i]);
        finding->verdict = VERDICT_SKIPPED;
        finding_why(finding, "it needs to write, and this run is read-only");
    }
}

/* The least that a flash operation costs: a page is sensed and moved (Dirik
 * table 3.1: 25 us and the transfer). */
static const double operation_least_ns = 50e3;
/* A probe that compares in another way passes over such an effect, as a share
 * of a request. */
static const double usual_passed_over = 0.05;
/* A longer request takes its time for its bytes. */
static const uint64_t short_bytes = 64 * KIB;

/* Absence is shown against what the flash would cost, and not as a share of
 * requests that take much longer for the host's or the controller's sake. Then
 * an effect of the flash is less than what counts as none. */
static void doubt_absences(const struct study *study, struct findings *findings,
                           size_t first)
{
    const double quickest_ns = (double)study->quickest_ns;
    char least[24];

    const double hidden_ns =
        (study->denies ? study->passed_over : usual_passed_over) * quickest_ns;

    if (!study->probe->by_operation || study->quickest_bytes > short_bytes ||
        hidden_ns <= operation_least_ns)
        return;
    format_ns(study->quickest_ns, least, sizeof(least));
    for (size_t i = first; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        if (!finding_denies(finding))
            continue;
        finding_withdraw(finding);
        finding_why(finding,
                    "each request takes at least %s, so a flash operation of "
                    "some 50 us would not show beside it, and absence cannot "
                    "be proved; try another port, reader or driver",
                    least);
    }
}

void study_probe_conclude(void *state, struct findings *findings)
{
    struct study *study = state;
    const size_t first = findings->count;
    bool concluded =
        !study->failed && !study->io_failed && reason(study, findings);

    drop_asked(study);
    doubt_absences(study, findings, first);
    if (study->setting.read_only)
        skip_writes(study->probe, findings, first);
    if (!concluded)
        say_unfinished(study, findings, first);
}

void study_probe_finish(void *state)
{
    if (state)
        study_free(state);
    free(state);
}

const struct timing *study_rows(const struct study *study, const char *phase,
                                const char *cell, uint32_t round,
                                uint32_t count)
{
    const struct ledger_entry *entry =
        ledger_get(&study->ledger, phase, cell, round);

    return entry && !entry->failed && entry->count == count ? entry->timings
                                                            : NULL;
}

void study_random(const struct study *study, const char *phase,
                  const char *name, uint32_t round, struct random *random)
{
    random_seed(random, study->seed ^ random_hash(phase) ^
                            random_mix(random_hash(name) + round));
}
