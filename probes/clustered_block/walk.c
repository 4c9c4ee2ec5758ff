/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clustered-block, route (a): sequential writes of a page each. Every new block
 * brings an erase or a merge, so slow writes come at one distance. Page-mapped
 * drives show this, in random writes too, once their spare area is used up. */
#include "probes/clustered_block/clustered_block.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

enum {
    CHUNK_WRITES = BLOCK_CHUNK_WRITES,
    FIRST_WRITES = 4 * CHUNK_WRITES, /* of the first search in a sweep */
    /* Periods of fresh data for a certificate: as few as suffice, and as many
     * as it takes where noise hides some. */
    CERTIFY_FIRST = 8,
    CERTIFY_PERIODS = 16,
    TRIES_A_LENGTH = 2,
    PARTS_MAX = 4, /* a refuted period is divided by up to this */
    FILL_ROUND_WRITES = 64,
    FILL_PARTS = 64, /* the fill is checked after each of these */
    SLOW_PARTS = 3,  /* slow checks that end the fill */
    LATE_PARTS = 4,
    STALLS_MAX = 2, /* slowest rounds of a check, left out */
    FILL_WRITES_MAX = 200000,
    FILL_LATE_ROUNDS_MAX =
        LATE_PARTS * (FILL_WRITES_MAX / FILL_ROUND_WRITES / FILL_PARTS + 2)
};

/* Percent of the region that a fill writes; most drives have less to spare. */
enum { FILL_PERCENT = 35 };
/* The fill's part of the write budget; the sweeps need the rest. */
enum { FILL_BUDGET_PARTS = 4 };
static const uint64_t fill_most_bytes = 20 * GIB;
/* A check is slow from this ratio on: such writes wait for cleaning. */
static const double cleaning_least = 2;

/* ---- the walk ---------------------------------------------------------- */

struct walk {
    const struct block_course *course;
    char phase[LABEL_PHASE_MAX];
    uint64_t first_bytes; /* where a sequential sweep begins */
    size_t writes_most;   /* limit of the search, without certificate */
    size_t room_writes;   /* limit of search and certificate */
    double *values;       /* log cost of each write with its flush */
    size_t count, size;
    double writes_ns; /* sum of the chunks' medians, without flushes */
    double all_ns;    /* sum of all times */
};

static uint64_t pitch_of(const struct block_course *course)
{
    return course->pitch_bytes ? course->pitch_bytes : course->write_bytes;
}

/* A random place for a write. */
static uint64_t anywhere(const struct block_probe *state,
                         const struct block_course *course,
                         struct random *random)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t region_end =
        setting->region_offset_bytes + setting->region_length_bytes;
    const uint64_t pitch = pitch_of(course);
    const uint64_t first = (setting->region_offset_bytes + pitch - 1) / pitch;
    const uint64_t end =
        (region_end - course->shift_bytes - course->write_bytes) / pitch + 1;

    return (first + random_below(random, end - first)) * pitch +
           course->shift_bytes;
}

/* Where write i of a sequential sweep lies, behind the first one. */
static uint64_t in_round(const struct block_course *course, uint64_t i)
{
    const uint64_t round = course->round_bytes;

    return i * pitch_of(course) % (round ? round : UINT64_MAX);
}

/* Writes of which only the last is flushed. */
static uint64_t gather_of(const struct block_course *course)
{
    return course->gather_count ? course->gather_count : 1;
}

static void ask_chunk(struct block_probe *state, const struct walk *walk,
                      uint32_t chunk)
{
    const struct block_course *course = walk->course;
    const size_t leg_chunks = course->leg_chunks;
    const uint64_t gather = gather_of(course);
    const uint64_t writes = CHUNK_WRITES * gather;
    struct step pause =
        placing_unmeasured(OPERATION_IDLE, 0, 0, walk->phase, chunk);
    struct step step = {.operation = OPERATION_WRITE,
                        .length_bytes = course->write_bytes,
                        .label = {.cell = "page", .round = chunk}};
    struct random random;

    snprintf(step.label.phase, sizeof(step.label.phase), "%s", walk->phase);
    study_random(&state->study, walk->phase, step.label.cell, chunk, &random);
    pause.idle_ns = course->pause_ns;
    if (leg_chunks && chunk && chunk % leg_chunks == 0)
        study_ask(&state->study, &pause);
    for (uint64_t i = 0; i < writes; i++) {
        step.offset_bytes =
            course->scattered
                ? anywhere(state, course, &random)
                : walk->first_bytes + in_round(course, chunk * writes + i);
        if (course->round_bytes || (i + 1) % gather)
            study_ask(&state->study, &step);
        else
            placing_ask_flushed(&state->study, &step);
    }
}

static bool take_chunk(struct block_probe *state, struct walk *walk,
                       uint32_t chunk)
{
    const struct ledger_entry *entry =
        ledger_get(&state->study.ledger, walk->phase, "page", chunk);

    const size_t gather = gather_of(walk->course);
    const size_t rows_count = gather + !walk->course->round_bytes;
    double writes_ns[CHUNK_WRITES];

    if (!entry || entry->failed || entry->count != rows_count * CHUNK_WRITES)
        return false;
    for (size_t i = 0; i < CHUNK_WRITES; i++) {
        const struct timing *rows = &entry->timings[rows_count * i];
        writes_ns[i] = 0;
        for (size_t j = 0; j < gather; j++)
            writes_ns[i] += (double)rows[j].ns;
        const double ns =
            writes_ns[i] +
            (walk->course->round_bytes ? 0 : (double)rows[gather].ns);
        walk->values[walk->count++] = log(ns > 1 ? ns : 1);
        walk->all_ns += ns;
    }
    walk->writes_ns += stats_median(writes_ns, CHUNK_WRITES);
    return true;
}

/* Makes room for `count` values. */
static void grow(struct block_probe *state, struct walk *walk, size_t count)
{
    if (count <= walk->size)
        return;
    walk->size = count > 2 * walk->size ? count : 2 * walk->size;
    double *values =
        study_alloc(&state->study, walk->size * sizeof(*walk->values));
    if (walk->count)
        memcpy(values, walk->values, walk->count * sizeof(*values));
    walk->values = values;
}

/* Takes the first `writes` costs. Asks for missing chunks and leaves
 * think(). */
static void walk_to(struct block_probe *state, struct walk *walk, size_t writes)
{
    uint32_t chunks = (uint32_t)((writes + CHUNK_WRITES - 1) / CHUNK_WRITES);
    bool all = true;

    grow(state, walk, (size_t)chunks * CHUNK_WRITES);
    for (uint32_t i = (uint32_t)(walk->count / CHUNK_WRITES); i < chunks; i++) {
        if (all && take_chunk(state, walk, i))
            continue;
        all = false;
        ask_chunk(state, walk, i);
    }
    if (!all)
        study_leave(&state->study);
}

/* A length that failed on fresh data is tried once more, then never again. */
static void refute(struct period_dead *dead, size_t failed[],
                   size_t *failed_count, size_t length)
{
    size_t times = 0;

    if (*failed_count < PERIOD_DEAD_MAX)
        failed[(*failed_count)++] = length;
    for (size_t i = 0; i < *failed_count; i++)
        times += failed[i] == length;
    if (times >= TRIES_A_LENGTH && dead->count < PERIOD_DEAD_MAX)
        dead->lengths[dead->count++] = length;
}

/* Certifies the period on values[first .. end). Where more places are slow, it
 * may be a half, third or quarter as long. Returns 0 or -ENOMEM. */
static int certify_on(struct walk *walk, size_t first, size_t end,
                      const struct period_rule *rule, struct period *period,
                      bool *certified)
{
    struct period whole = *period;

    for (size_t part = 1; part <= PARTS_MAX; part++) {
        if (whole.length % part || whole.length / part < PERIOD_SHORTEST)
            continue;
        *period = whole;
        period->length = whole.length / part;
        int error =
            period_certify(walk->values, end, first, rule, period, certified);
        if (error || *certified)
            return error;
    }
    *period = whole;
    return 0;
}

/* What was found in a search; NULL: it is the first of its kind. */
static const struct block_search *searched(const struct block_probe *state,
                                           uint64_t key)
{
    for (size_t i = 0; i < state->searches_count; i++)
        if (state->searches[i].key == key)
            return &state->searches[i];
    return NULL;
}

static void keep(struct block_probe *state, const struct block_search *search)
{
    if (state->searches_count < BLOCK_SEARCHES_MAX)
        state->searches[state->searches_count++] = *search;
}

/* Searches values[from .. count) for a period. Repeats of think() reuse it. */
static int search(struct block_probe *state, const struct walk *walk,
                  size_t from, size_t count, const struct period_dead *dead,
                  struct period_rule *rule, struct period *period)
{
    const uint64_t key =
        random_mix(random_hash(walk->phase) ^
                   random_mix(from ^ random_mix(count ^ (dead->count << 56))));
    const struct block_search *known = searched(state, key);

    if (!known) {
        const int error = period_search(walk->values + from, count - from, dead,
                                        rule, period);
        keep(state, &(struct block_search){key, error, *rule, *period, {0}});
        return error;
    }
    *rule = known->rule;
    *period = known->period;
    return known->error;
}

/* Searches a period and certifies it on later writes. OPEN: none was found. */
static enum claim look_from(struct block_probe *state, struct walk *walk,
                            size_t from, size_t count, struct period_dead *dead,
                            struct period_rule *rule, struct period *period)
{
    bool certified = false;
    int error = search(state, walk, from, count, dead, rule, period);
    const size_t most = walk->course->certify_periods
                            ? walk->course->certify_periods
                            : CERTIFY_PERIODS;
    const struct period found = *period;

    for (size_t n = CERTIFY_FIRST; !error && !certified && n <= most; n *= 2) {
        *period = found;
        period->phase += from;
        const size_t end =
            count + larger_of(n * period->length, walk->course->certify_writes);
        if (end + CHUNK_WRITES > walk->room_writes)
            break;
        walk_to(state, walk, end);
        error = certify_on(walk, count, end, rule, period, &certified);
    }
    if (error == -ENOMEM)
        study_fail(&state->study);
    if (certified)
        return CLAIM_HOLDS;
    return error ? CLAIM_OPEN : CLAIM_FALLS;
}

static struct block_spikes spikes_of(const struct block_probe *state,
                                     const struct walk *walk,
                                     const struct period_rule *rule,
                                     const struct period *period)
{
    const uint64_t write = walk->course->write_bytes;

    return (struct block_spikes){
        .found = true,
        .scattered = walk->course->scattered,
        .rule = *rule,
        .period = *period,
        .write_bytes = write,
        .round_bytes = walk->course->round_bytes,
        .block_bytes = period->length * write,
        .phase_bytes =
            state->base_bytes + in_round(walk->course, period->phase),
        .count = walk->count,
        .write_ns = walk->writes_ns * CHUNK_WRITES / (double)walk->count};
}

/* The log cost of a pause that counts. */
static double least_of(const struct walk *walk)
{
    const double write_ns =
        walk->writes_ns * CHUNK_WRITES / (double)walk->count;

    /* An imagined drive may take no time. */
    return log1p(walk->course->least_ns / fmax(write_ns, 1));
}

/* Do all writes of a round together tell what no single one does? */
static bool recurs(struct block_probe *state, const struct walk *walk,
                   struct block_spikes *spikes)
{
    const size_t round =
        (size_t)(walk->course->round_bytes / walk->course->write_bytes);
    const uint64_t key = random_mix(random_hash(walk->phase) ^
                                    random_mix(~(uint64_t)walk->count));
    const struct block_search *known = searched(state, key);
    struct recurrence found =
        known ? known->recurrence : (struct recurrence){0};

    if (!known) {
        const int error =
            recurrence_find(walk->values, walk->count, round, &found);
        if (error == -ENOMEM)
            study_fail(&state->study);
        keep(state, &(struct block_search){
                        .key = key, .error = error, .recurrence = found});
    }
    if (found.length == 0)
        return false;
    const struct period_rule rule = {.lag = found.part, .ceiling = INFINITY};
    const struct period period = {.length = found.length};
    *spikes = spikes_of(state, walk, &rule, &period);
    spikes->period.excess = log1p(found.pause / fmax(spikes->write_ns, 1));
    spikes->recurrence = found;
    return true;
}

static bool follow(struct block_probe *state, struct walk *walk,
                   struct block_spikes *spikes)
{
    /* Slow writes get clearer later: searches the second half as well. */
    struct period_dead dead[2] = {{.count = 0}, {.count = 0}};
    size_t failed[2][PERIOD_DEAD_MAX], failed_count[2] = {0, 0};

    const size_t first = walk->course->first_writes;

    for (size_t n = first ? first : FIRST_WRITES;
         n <= walk->writes_most &&
         (walk->course->most_ns <= 0 || walk->all_ns < walk->course->most_ns);
         n = walk->count > 2 * n ? walk->count : 2 * n) {
        walk_to(state, walk, n);
        for (int later = 0; later < 2; later++) {
            struct period_rule rule = {.least = least_of(walk)};
            struct period period;
            const enum claim claim = look_from(state, walk, later ? n / 2 : 0,
                                               n, &dead[later], &rule, &period);
            if (claim == CLAIM_HOLDS) {
                *spikes = spikes_of(state, walk, &rule, &period);
                return true;
            }
            /* Round and round the drive changes until it must clean. */
            if (claim == CLAIM_FALLS && !walk->course->round_bytes)
                refute(&dead[later], failed[later], &failed_count[later],
                       period.length);
        }
        if (walk->course->round_bytes && recurs(state, walk, spikes))
            return true;
    }
    return false;
}

/* Sweeps of several kinds may have the same number. */
static void name_phase(const struct block_course *course,
                       char phase[LABEL_PHASE_MAX])
{
    snprintf(phase, LABEL_PHASE_MAX, "walk-%s%d",
             course->scattered     ? "any-"
             : course->round_bytes ? "round-"
                                   : "",
             course->number);
}

bool block_walk(struct block_probe *state, const struct block_course *course,
                struct block_spikes *spikes)
{
    struct walk walk = {.course = course,
                        .first_bytes = state->base_bytes,
                        .room_writes = SIZE_MAX};
    const uint64_t gather = gather_of(course);
    uint64_t writes = course->most_bytes / course->write_bytes / gather;

    *spikes = (struct block_spikes){.found = false};
    name_phase(course, walk.phase);
    writes = writes < course->most_writes ? writes : course->most_writes;
    if (course->scattered && writes < FIRST_WRITES)
        writes = FIRST_WRITES;
    if (!course->scattered && !course->round_bytes) {
        walk.room_writes =
            (size_t)(state->room_bytes / pitch_of(course) / gather);
        if (writes > walk.room_writes / 2)
            writes = walk.room_writes / 2;
    }
    walk.writes_most = (size_t)writes;
    return follow(state, &walk, spikes);
}

struct block_costs block_walk_costs(struct block_probe *state,
                                    const struct block_course *course,
                                    size_t chunks,
                                    const struct period_rule *rule)
{
    struct walk walk = {.course = course,
                        .first_bytes = state->base_bytes + course->skip_bytes};
    const size_t count = chunks * CHUNK_WRITES;

    name_phase(course, walk.phase);
    walk_to(state, &walk, count);
    double *residuals = study_alloc(&state->study, count * sizeof(*residuals));
    period_level(walk.values, count, rule, residuals);
    return (struct block_costs){walk.values, residuals, count};
}

/* ---- filling ----------------------------------------------------------- */

uint64_t block_fill_bytes(const struct setting *setting)
{
    uint64_t bytes = setting->region_length_bytes / 100 * FILL_PERCENT;
    uint64_t allowed = setting->write_budget_bytes / FILL_BUDGET_PARTS;

    bytes = bytes < allowed ? bytes : allowed;
    return bytes < fill_most_bytes ? bytes : fill_most_bytes;
}

/* The length of a fill write: short beside a block, so that blocks keep valid
 * pages, but long enough for FILL_WRITES_MAX writes, which take a few
 * minutes. */
static uint64_t fill_write_bytes(const struct block_probe *state,
                                 uint64_t unit_bytes)
{
    uint64_t least = block_fill_bytes(&state->study.setting) / FILL_WRITES_MAX;

    least = least > 16 * KIB ? least : 16 * KIB;
    return (least + unit_bytes - 1) / unit_bytes * unit_bytes;
}

/* Asks for a round of fill writes. False: it was measured before. */
static bool ask_fill(struct block_probe *state, uint64_t length, uint32_t round)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t slots = setting->region_length_bytes / length;
    const uint64_t first = (setting->region_offset_bytes + length - 1) / length;
    struct step step = {
        .operation = OPERATION_WRITE,
        .length_bytes = length,
        .label = {.phase = "fill", .cell = "random", .round = round}};
    const struct ledger_entry *entry = ledger_get(
        &state->study.ledger, step.label.phase, step.label.cell, round);
    struct random random;

    if (entry && entry->count == FILL_ROUND_WRITES)
        return false;
    study_random(&state->study, step.label.phase, step.label.cell, round,
                 &random);
    for (uint64_t i = 0; i < FILL_ROUND_WRITES; i++) {
        step.offset_bytes = (first + random_below(&random, slots - 1)) * length;
        study_ask(&state->study, &step);
    }
    return true;
}

/* The mean time of `count` rounds from `first` on, without the slowest: a drive
 * may stall. Only few are left out: with long blocks, few rounds clean. */
static double rounds_ns(const struct block_probe *state, uint32_t first,
                        uint32_t count)
{
    const uint32_t kept = count > STALLS_MAX ? count - STALLS_MAX : count;
    double ns[FILL_LATE_ROUNDS_MAX] = {0}, sum_ns = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct ledger_entry *entry =
            ledger_get(&state->study.ledger, "fill", "random", first + i);
        for (uint32_t k = 0; entry && k < entry->count; k++)
            ns[i] += (double)entry->timings[k].ns;
    }
    stats_sort(ns, count);
    for (uint32_t i = 0; i < kept; i++)
        sum_ns += ns[i];
    return sum_ns / kept;
}

/* Writes at random until the spare area is used up and blocks have valid pages
 * in them. From then on, a new block costs copies of these, which takes long
 * enough to be seen. (Sequential writes leave blocks without valid pages, whose
 * erase can hide behind writes to other banks.) After each part, the latest
 * parts are compared with the second one, for a buffer may have taken the
 * first. A few slow checks end the fill: cleaning has then reached all
 * blocks. */
void block_fill(struct block_probe *state, uint64_t unit_bytes)
{
    const uint64_t length = fill_write_bytes(state, unit_bytes);
    const uint32_t rounds = (uint32_t)(block_fill_bytes(&state->study.setting) /
                                       length / FILL_ROUND_WRITES);
    const uint32_t part = rounds / FILL_PARTS + 1;
    uint32_t slow_count = 0;
    double early_ns = 0;

    for (uint32_t begin = 0; begin < rounds; begin += part) {
        const uint32_t count = part < rounds - begin ? part : rounds - begin;
        const uint32_t late =
            begin > LATE_PARTS * part ? begin - (LATE_PARTS - 1) * part : part;
        bool asked = false;
        for (uint32_t i = 0; i < count; i++)
            asked = ask_fill(state, length, begin + i) || asked;
        if (asked)
            study_leave(&state->study);
        if (begin == 0)
            continue;
        const double ns = rounds_ns(state, late, begin + count - late);
        early_ns = begin == part ? ns : early_ns;
        slow_count += ns > cleaning_least * early_ns;
        if (slow_count == SLOW_PARTS)
            break;
    }
}
