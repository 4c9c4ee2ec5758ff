/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: in which unit does the drive erase? (Kim et al. III-C)
 *
 * Idea, by two routes that must agree. (a) Written page by page in order, every
 * new block brings an erase or a merge: slow writes at one distance. (b) Random
 * aligned writes of a size that is no multiple of the block leave parts behind
 * that must be copied: they cost more than the same writes in order.
 *
 * Assumes: the drive has been written, flush works. A page-mapped drive cleans
 * only when its spare area is used up: it is then filled that far, and only
 * route (a) speaks, at lower confidence. Where the page is not known, walks in
 * writes of several lengths must agree. Where log-list has found the block that
 * a log belongs to, that is the block, and nothing is written.
 *
 *   cost                      cost of random over sequential writes of s
 *    |    x         x           |  o  o
 *    |                          |        o  o
 *    | ...|.........|....       |_____________ o__o__
 *        page by page ->              s ->     block
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/period.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

enum {
    CHUNK_WRITES = 256,   /* of a walk, under one label */
    FIRST_CHUNKS = 4,     /* of the first look at a walk */
    CERTIFY_PERIODS = 16, /* fresh ones */
    TRIES_A_LENGTH = 2,
    PARTS_MAX = 4,          /* of a period that fell */
    WALKS_MAX = 2,          /* as the drive was found, and after a fill */
    PIECES = 5,             /* lengths of writes where the page is not known */
    AGREED_LENGTH_MIN = 16, /* of the coarser walk, in writes */
    WARM_UNITS = 16,
    WASH_BLOCKS = 12,
    GAPS_MAX = 8,
    CANDIDATES_MAX = 3,
    FILL_ROUND_WRITES = 64,
    FILL_PARTS = 16,  /* after each it may be enough, */
    SLOW_PARTS = 3,   /* if so many were slow */
    STALLS_PARTS = 8, /* one of so many rounds may stall */
    FILL_WRITES_MAX = 200000,
    FILL_PART_ROUNDS_MAX = FILL_WRITES_MAX / FILL_ROUND_WRITES / FILL_PARTS + 2
};

static const double alpha = 1e-4, search_error = 0.004;
/* A gap of 6 % between random and sequential writes matters. */
static const double gap_least = 0.06, gap_most = 0.5;
/* So much of the drive uses up the spare area of most; no more than this. */
enum { FILL_PERCENT = 35 };
/* Of what the whole run may write: the walks and other probes need theirs. */
enum { FILL_BUDGET_PARTS = 4 };
static const uint64_t fill_most_bytes = 20 * GIB;
/* Writes that wait for a block to be cleaned cost so many times as much. */
static const double cleaning_least = 2;
/* Of one walk where the page is not known. */
static const uint64_t piece_walk_bytes = 512 * MIB;
static const size_t piece_walk_writes = 16384;
static const uint64_t largest_block_bytes = 64 * MIB;
/* What one route alone says is stated with less confidence. */
static const double one_route_confidence = 0.95;
/* Slow writes may also come several times a block, and without the page there is
 * nothing to tell: so it was with five of twelve drives made at random. */
static const double pieces_confidence = 0.6;

static const uint32_t gap_looks[] = {18, 26, 36, 54, 72, 0};
static const uint32_t quick_looks[] = {9, 12, 18, 0};

struct state {
    struct study study;
    uint64_t page_bytes, base_bytes, room_bytes;
    bool page_is_absent;      /* there is none: not the same as not known */
    uint64_t log_block_bytes; /* where it is known; else 0 */
    double log_block_confidence;
};

/* ---- route (a): the walk ------------------------------------------------ */

struct walk {
    char phase[LABEL_PHASE_MAX];
    size_t writes_most; /* of the search; the certificate comes on top */
    double *values;     /* log cost of each write with its flush */
    size_t count, size;
};

struct spikes {
    bool found;
    struct period period;
    uint64_t block_bytes, phase_bytes; /* of the first slow write */
};

static void ask_chunk(struct state *state, const char *phase, uint32_t chunk)
{
    uint64_t at =
        state->base_bytes + (uint64_t)chunk * CHUNK_WRITES * state->page_bytes;
    struct step step = {.operation = OPERATION_WRITE,
                        .length_bytes = state->page_bytes,
                        .label = {.cell = "page", .round = chunk}};

    snprintf(step.label.phase, sizeof(step.label.phase), "%s", phase);
    for (int i = 0; i < CHUNK_WRITES; i++, at += state->page_bytes) {
        struct step flush = step;
        step.offset_bytes = at;
        flush.operation = OPERATION_FLUSH;
        flush.length_bytes = 0;
        study_ask(&state->study, &step);
        study_ask(&state->study, &flush);
    }
}

static bool take_chunk(struct state *state, struct walk *walk, uint32_t chunk)
{
    const struct ledger_entry *entry =
        ledger_get(&state->study.ledger, walk->phase, "page", chunk);

    if (!entry || entry->failed || entry->count != 2 * CHUNK_WRITES)
        return false;
    for (int i = 0; i < CHUNK_WRITES; i++) {
        double ns =
            (double)(entry->timings[2 * i].ns + entry->timings[2 * i + 1].ns);
        walk->values[walk->count++] = log(ns > 1 ? ns : 1);
    }
    return true;
}

/* The first `writes` of the walk. False: they were asked for, or no memory. */
static bool walk_to(struct state *state, struct walk *walk, size_t writes)
{
    uint32_t chunks = (uint32_t)((writes + CHUNK_WRITES - 1) / CHUNK_WRITES);
    bool all = true;

    if (chunks * CHUNK_WRITES > walk->size) {
        size_t size = (size_t)chunks * CHUNK_WRITES;
        double *values = realloc(walk->values, size * sizeof(*values));
        if (!values) {
            state->study.failed = true;
            return false;
        }
        walk->values = values;
        walk->size = size;
    }
    for (uint32_t i = (uint32_t)(walk->count / CHUNK_WRITES); i < chunks; i++) {
        if (all && take_chunk(state, walk, i))
            continue;
        all = false;
        ask_chunk(state, walk->phase, i);
    }
    return all;
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

/* Walks on for some periods: are they there? Where more places are slow than
 * one of each period, a part of it may be the period. -ENOMEM, or 0. */
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

/* Looks for a period in the writes from `from` to `count`. CLAIM_OPEN: none. */
static enum claim look_from(struct state *state, struct walk *walk, size_t from,
                            size_t count, struct period_dead *dead,
                            struct period *period)
{
    size_t room = (size_t)(state->room_bytes / state->page_bytes);
    struct period_rule rule;
    bool certified = false;
    int error =
        period_search(walk->values + from, count - from, dead, &rule, period);
    size_t end = count + CERTIFY_PERIODS * period->length;

    period->phase += from;
    if (!error && end + CHUNK_WRITES <= room) {
        if (!walk_to(state, walk, end))
            return CLAIM_MEASURING;
        error = certify_on(walk, count, end, &rule, period, &certified);
    }
    if (error == -ENOMEM) {
        state->study.failed = true;
        return CLAIM_MEASURING;
    }
    if (certified)
        return CLAIM_HOLDS;
    return error ? CLAIM_OPEN : CLAIM_FALLS;
}

static enum claim follow(struct state *state, struct walk *walk,
                         struct spikes *spikes)
{
    /* As the drive goes on, it cleans more: what comes later may be clearer. */
    struct period_dead dead[2] = {{.count = 0}, {.count = 0}};
    size_t failed[2][PERIOD_DEAD_MAX], failed_count[2] = {0, 0};

    for (size_t n = FIRST_CHUNKS * CHUNK_WRITES; n <= walk->writes_most;
         n = walk->count > 2 * n ? walk->count : 2 * n) {
        if (!walk_to(state, walk, n))
            return CLAIM_MEASURING;
        for (int later = 0; later < 2; later++) {
            struct period period;
            switch (look_from(state, walk, later ? n / 2 : 0, n, &dead[later],
                              &period)) {
            case CLAIM_MEASURING:
                return CLAIM_MEASURING;
            case CLAIM_HOLDS:
                *spikes = (struct spikes){
                    .found = true,
                    .period = period,
                    .block_bytes = period.length * state->page_bytes,
                    .phase_bytes =
                        state->base_bytes + period.phase * state->page_bytes};
                return CLAIM_HOLDS;
            case CLAIM_FALLS:
                refute(&dead[later], failed[later], &failed_count[later],
                       period.length);
                break;
            case CLAIM_OPEN:
                break;
            }
        }
    }
    return CLAIM_OPEN;
}

static enum claim walk(struct state *state, int number, uint64_t most_bytes,
                       size_t most_writes, struct spikes *spikes)
{
    struct walk walk = {.count = 0};
    uint64_t writes = most_bytes / state->page_bytes;
    uint64_t room = state->room_bytes / state->page_bytes / 2;

    *spikes = (struct spikes){.found = false};
    snprintf(walk.phase, sizeof(walk.phase), "walk-%d", number);
    writes = writes < most_writes ? writes : most_writes;
    walk.writes_most = (size_t)(writes < room ? writes : room);
    enum claim claim = follow(state, &walk, spikes);
    free(walk.values);
    return claim;
}

/* ---- route (b): random against sequential ------------------------------- */

/*
 * One group of rounds is one sequential run and one random run of as many
 * units, for a cost that is paid when the log of an earlier write is evicted
 * belongs to a run and not to a request. Random runs are warmed up; before a
 * sequential one, whole blocks wash the remains of random ones out.
 */
static struct contrast gap_at(uint64_t size_bytes, uint64_t block_bytes,
                              uint64_t phase_bytes, enum side expected)
{
    uint64_t parts = (block_bytes + size_bytes - 1) / size_bytes;
    uint64_t group = (gap_looks[0] + parts - 1) / parts * parts;
    struct contrast contrast = {.size_bytes = size_bytes,
                                .other_bytes = block_bytes,
                                .shift_bytes = phase_bytes % block_bytes,
                                .pitch_bytes =
                                    parts > gap_looks[0] ? gap_looks[0] : group,
                                .expected = expected,
                                .low = gap_least,
                                .high = gap_least};

    snprintf(contrast.name, sizeof(contrast.name), "g%llu",
             (unsigned long long)size_bytes);
    return contrast;
}

/* Where the units of a contrast may lie: multiples of their size from the
 * first block boundary of the region on. */
struct ground {
    uint64_t first_bytes, slots, blocks;
};

static struct ground ground_of(const struct state *state,
                               const struct contrast *contrast)
{
    const struct setting *setting = &state->study.setting;
    uint64_t block = contrast->other_bytes;
    uint64_t first = setting->region_offset_bytes;
    uint64_t end = first + setting->region_length_bytes;
    struct ground ground;

    first =
        (first - contrast->shift_bytes % block + block - 1) / block * block +
        contrast->shift_bytes % block;
    uint64_t length = end > first ? end - first : 0;
    uint64_t most = 4 * GIB > 128 * block ? 4 * GIB : 128 * block;
    length = length < most ? length : most;
    ground.first_bytes = first;
    ground.blocks = length / block;
    ground.slots = ground.blocks * block / contrast->size_bytes;
    return ground;
}

static void ask_unit(struct study *study, struct step step, bool measured)
{
    if (!measured)
        step.label.cell[0] = '\0';
    study_ask(study, &step);
    step.operation = OPERATION_FLUSH;
    step.offset_bytes = step.length_bytes = 0;
    study_ask(study, &step);
}

static void ask_wash(struct study *study, const struct contrast *contrast,
                     const struct ground *ground, const char *phase,
                     uint32_t group, struct random *random)
{
    uint64_t block = contrast->other_bytes;
    uint64_t run = ground->blocks < WASH_BLOCKS ? ground->blocks : WASH_BLOCKS;
    uint64_t at = ground->first_bytes +
                  random_below(random, ground->blocks - run + 1) * block;
    uint64_t end = at + run * block;

    while (at < end) {
        uint64_t length = end - at < MIB ? end - at : MIB;
        struct step step =
            placing_unmeasured(OPERATION_WRITE, at, length, phase, group);
        study_ask(study, &step);
        at += length;
    }
    struct step flush = placing_unmeasured(OPERATION_FLUSH, 0, 0, phase, group);
    study_ask(study, &flush);
}

static void ask_sequential(struct study *study, const struct contrast *contrast,
                           const struct ground *ground, const char *phase,
                           uint32_t group, struct random *random)
{
    uint64_t size = contrast->size_bytes, units = contrast->pitch_bytes;
    uint64_t blocks =
        (units * size + contrast->other_bytes - 1) / contrast->other_bytes;
    uint64_t choices = ground->blocks > blocks ? ground->blocks - blocks : 1;
    uint64_t at = ground->first_bytes +
                  random_below(random, choices) * contrast->other_bytes;

    ask_wash(study, contrast, ground, phase, group, random);
    for (uint64_t i = 0; i < units; i++, at += size)
        ask_unit(study,
                 placing_step(OPERATION_WRITE, at, size, phase, contrast, 'a',
                              group),
                 true);
}

static void ask_random(struct study *study, const struct contrast *contrast,
                       const struct ground *ground, const char *phase,
                       uint32_t group, struct random *random)
{
    uint64_t size = contrast->size_bytes;

    for (uint64_t i = 0; i < WARM_UNITS + contrast->pitch_bytes; i++) {
        uint64_t at =
            ground->first_bytes + random_below(random, ground->slots) * size;
        ask_unit(study,
                 placing_step(OPERATION_WRITE, at, size, phase, contrast, 'b',
                              group),
                 i >= WARM_UNITS);
    }
}

static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    const struct state *state = (const struct state *)study;
    struct ground ground = ground_of(state, contrast);
    uint32_t group = round / (uint32_t)contrast->pitch_bytes;

    if (round % contrast->pitch_bytes)
        return;
    if (group % 2)
        ask_random(study, contrast, &ground, phase, group, random);
    ask_sequential(study, contrast, &ground, phase, group, random);
    if (group % 2 == 0)
        ask_random(study, contrast, &ground, phase, group, random);
}

/* Units are paired by lot: in order, the pattern of fast and slow pages would
 * set the same ones against each other in every round. */
static size_t partner(const struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round)
{
    enum { UNITS_MAX = 64 };
    size_t order[UNITS_MAX], units = (size_t)contrast->pitch_bytes;
    struct random random;

    study_random(study, phase, contrast->name, round / (uint32_t)units,
                 &random);
    random_order(&random, order, units < UNITS_MAX ? units : UNITS_MAX);
    return order[round % units];
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    uint32_t units = (uint32_t)contrast->pitch_bytes, group = round / units;
    size_t i = 2 * (size_t)(round % units);
    size_t j = 2 * partner(study, phase, contrast, round);
    const struct timing *a =
        placing_rows(study, phase, contrast, 'a', group, 2 * units);
    const struct timing *b =
        placing_rows(study, phase, contrast, 'b', group, 2 * units);

    (void)random;
    if (!a || !b)
        return false;
    *ratio =
        log((double)(b[j].ns + b[j + 1].ns) / (double)(a[i].ns + a[i + 1].ns));
    return true;
}

/* Is there room for runs of whole blocks at random places? */
static bool has_ground(const struct state *state, uint64_t block_bytes,
                       uint64_t phase_bytes)
{
    struct contrast contrast =
        gap_at(block_bytes, block_bytes, phase_bytes, SIDE_OPEN);

    return ground_of(state, &contrast).blocks >= 4 * gap_looks[0];
}

/* ---- reasoning --------------------------------------------------------- */

struct verdict_on {
    enum claim claim;
    double effect, confidence; /* of the open gap nearest to the block */
    const struct contrast *culprit;
    struct contrast contrasts[GAPS_MAX];
    size_t count;
};

/* Half of the smallest gap that stands open decides what counts as closed. */
static void closed_within_half(struct contrast contrasts[], size_t count)
{
    double least = INFINITY;

    for (size_t i = 0; i < count; i++)
        if (contrasts[i].expected == SIDE_ABOVE && contrasts[i].median < least)
            least = contrasts[i].median;
    double threshold = 0.5 * least;
    threshold = threshold < gap_least ? gap_least : threshold;
    threshold = threshold > gap_most ? gap_most : threshold;
    for (size_t i = 0; i < count; i++)
        if (contrasts[i].expected == SIDE_BELOW)
            contrasts[i].low = contrasts[i].high = threshold;
}

/*
 * Is `block` the unit? Random writes of it cost no more than sequential ones
 * (the unit divides it), random writes of block / q do, for each prime q (it is
 * no smaller part).
 */
static enum claim certify_gaps(struct state *state, uint64_t block_bytes,
                               uint64_t phase_bytes, struct verdict_on *verdict)
{
    const struct claim_rule rule = {
        .alpha = alpha, .looks = gap_looks, .adapt = closed_within_half};
    uint64_t pages = block_bytes / state->page_bytes;
    char phase[LABEL_PHASE_MAX];

    verdict->count = 0;
    for (uint64_t q = 2; pages > 1 && verdict->count < GAPS_MAX - 1; q++) {
        if (pages % q)
            continue;
        while (pages % q == 0)
            pages /= q;
        verdict->contrasts[verdict->count++] =
            gap_at(block_bytes / q, block_bytes, phase_bytes, SIDE_ABOVE);
    }
    verdict->contrasts[verdict->count++] =
        gap_at(block_bytes, block_bytes, phase_bytes, SIDE_BELOW);
    snprintf(phase, sizeof(phase), "gap-%llu",
             (unsigned long long)(block_bytes / KIB));
    verdict->claim = study_claim(&state->study, phase, verdict->contrasts,
                                 verdict->count, &rule);
    verdict->effect = exp(verdict->contrasts[0].median);
    verdict->confidence =
        claim_confidence(verdict->contrasts, verdict->count, &rule);
    verdict->culprit = claim_culprit(verdict->contrasts, verdict->count);
    return verdict->claim;
}

/* Do random writes of a part of `block` cost more than sequential ones at all?
 * Not of too small a part: runs must cover the pattern of fast and slow pages.
 */
static enum claim any_gap(struct state *state, uint64_t block_bytes,
                          uint64_t phase_bytes, enum side *side)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = gap_looks};
    uint64_t size = block_bytes / 8 / state->page_bytes * state->page_bytes;
    char phase[LABEL_PHASE_MAX];

    if (size < state->page_bytes)
        size = state->page_bytes;
    struct contrast contrast =
        gap_at(size, block_bytes, phase_bytes, SIDE_OPEN);
    contrast.high = 2 * gap_least;
    snprintf(phase, sizeof(phase), "any-%llu",
             (unsigned long long)(block_bytes / KIB));
    enum claim claim = study_claim(&state->study, phase, &contrast, 1, &rule);
    *side = contrast.side;
    return claim;
}

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings)
{
    return findings_add(findings, "clustered-block", "clustered_block");
}

static struct finding *add_found(struct findings *findings, uint64_t bytes,
                                 double confidence)
{
    struct finding *finding = add(findings);

    finding_found(finding, value_integer(bytes), confidence);
    return finding;
}

static bool say_both(struct findings *findings, uint64_t block_bytes,
                     const struct spikes *spikes,
                     const struct verdict_on *verdict)
{
    char size[24];
    double confidence =
        spikes->found && 1 - spikes->period.error < verdict->confidence
            ? 1 - spikes->period.error
            : verdict->confidence;
    struct finding *finding = add_found(findings, block_bytes, confidence);

    format_bytes(block_bytes, size, sizeof(size));
    if (spikes->found && spikes->block_bytes == block_bytes)
        finding_why(finding,
                    "written in order, every %s brings one slow write (%zu of "
                    "%zu fresh ones); random writes of a part of it cost %.2f "
                    "times as much as sequential ones, whole ones no more",
                    size, spikes->period.hits, spikes->period.trials,
                    verdict->effect);
    else
        finding_why(finding,
                    "random writes of %s, aligned, cost no more than "
                    "sequential ones, and those of a part of it %.2f times as "
                    "much",
                    size, verdict->effect);
    return true;
}

static bool say_spikes(struct findings *findings, const struct spikes *spikes,
                       const char *why_alone)
{
    char size[24];
    struct finding *finding =
        add_found(findings, spikes->block_bytes, one_route_confidence);

    finding_why(finding,
                "written in order, every %s brings one slow write, %.2f times "
                "its neighbours (%zu of %zu fresh ones); %s",
                format_bytes(spikes->block_bytes, size, sizeof(size)),
                exp(spikes->period.excess), spikes->period.hits,
                spikes->period.trials, why_alone);
    return true;
}

static bool say_open(struct findings *findings, const char *reason)
{
    finding_why(add(findings), "%s", reason);
    return true;
}

/* ---- both routes ------------------------------------------------------- */

static const char no_gap_yet[] =
    "random writes cost no more than sequential ones yet, as on a page-mapped "
    "drive with spare area, so nothing else could confirm it";

/* Blocks that share a log are merged as one, and what is merged is erased. The
 * ends of that block were seen to the page. */
static bool say_log_block(const struct state *state, struct findings *findings)
{
    char size[24];
    struct finding *finding = add_found(findings, state->log_block_bytes,
                                        state->log_block_confidence);

    finding_why(finding,
                "the drive collects updates in logs and merges each with its "
                "block: what is merged and erased as one is %s (log_block)",
                format_bytes(state->log_block_bytes, size, sizeof(size)));
    return true;
}

/* Spikes were certified: what does the gap between random and sequential say?
 */
static bool conclude_spikes(struct state *state, const struct spikes *spikes,
                            struct findings *findings)
{
    uint64_t block = spikes->block_bytes, phase = spikes->phase_bytes;
    struct verdict_on verdict;
    enum side side;

    if (!has_ground(state, block, phase))
        return say_spikes(findings, spikes,
                          "the region is too small to compare random writes");
    for (int i = 0; i < CANDIDATES_MAX; i++) {
        switch (certify_gaps(state, block, phase, &verdict)) {
        case CLAIM_MEASURING:
            return false;
        case CLAIM_HOLDS:
            return say_both(findings, block, spikes, &verdict);
        case CLAIM_OPEN:
            return say_spikes(findings, spikes,
                              "the noise is too large to compare random "
                              "writes with sequential ones as well");
        case CLAIM_FALLS:
            break;
        }
        if (verdict.culprit->expected == SIDE_BELOW)
            return say_open(findings,
                            "slow writes come at a fixed distance, but random "
                            "writes of that size still cost more than "
                            "sequential ones, so the two disagree");
        if (any_gap(state, block, phase, &side) == CLAIM_MEASURING)
            return false;
        if (side != SIDE_ABOVE)
            return say_spikes(findings, spikes, no_gap_yet);
        block = verdict.culprit->size_bytes;
    }
    return say_open(findings, "slow writes come at a fixed distance, but where "
                              "random writes begin to cost more fits no part "
                              "of it");
}

enum closing { CLOSING_MEASURING, CLOSING_AT, CLOSING_NEVER };

/* The smallest odd x 2^k pages whose gap is closed, from large to small. */
static enum closing closes(struct state *state, uint64_t odd,
                           uint64_t *block_bytes)
{
    const struct claim_rule rule = {.alpha = search_error * 3,
                                    .looks = quick_looks};
    uint64_t size = odd * state->page_bytes;
    enum closing closing = CLOSING_NEVER;
    char phase[LABEL_PHASE_MAX];

    while (2 * size <= largest_block_bytes / 2 &&
           has_ground(state, 2 * size, 0))
        size *= 2;
    snprintf(phase, sizeof(phase), "ladder-%u", (unsigned)odd);
    for (; size >= 4 * state->page_bytes; size /= 2) {
        struct contrast contrast = gap_at(size, size, 0, SIDE_OPEN);
        contrast.high = 2 * gap_least;
        if (study_claim(&state->study, phase, &contrast, 1, &rule) ==
            CLAIM_MEASURING)
            return CLOSING_MEASURING;
        if (contrast.side != SIDE_BELOW)
            break;
        *block_bytes = size;
        closing = CLOSING_AT;
    }
    return closing;
}

/* No spikes, but random writes cost more: up to which size? */
static bool conclude_ladder(struct state *state, struct findings *findings)
{
    static const uint64_t odds[] = {1, 5, 3, 7, 9};
    const struct spikes none = {.found = false};
    struct verdict_on verdict;
    uint64_t block = 0;

    for (size_t i = 0; i < sizeof(odds) / sizeof(odds[0]); i++) {
        switch (closes(state, odds[i], &block)) {
        case CLOSING_MEASURING:
            return false;
        case CLOSING_NEVER:
            continue;
        case CLOSING_AT:
            break;
        }
        switch (certify_gaps(state, block, 0, &verdict)) {
        case CLAIM_MEASURING:
            return false;
        case CLAIM_HOLDS:
            return say_both(findings, block, &none, &verdict);
        case CLAIM_FALLS:
        case CLAIM_OPEN:
            break;
        }
    }
    return say_open(findings, "random writes cost more than sequential ones, "
                              "but no size was found from which on they do "
                              "not");
}

/* ---- filling ----------------------------------------------------------- */

static uint64_t fill_bytes(const struct setting *setting)
{
    uint64_t bytes = setting->region_length_bytes / 100 * FILL_PERCENT;
    uint64_t allowed = setting->write_budget_bytes / FILL_BUDGET_PARTS;

    bytes = bytes < allowed ? bytes : allowed;
    return bytes < fill_most_bytes ? bytes : fill_most_bytes;
}

/* How long the writes are: short beside a block, that parts of it stay valid
 * and must be copied; but not more of them than take a few minutes. */
static uint64_t fill_write_bytes(const struct state *state)
{
    uint64_t page = state->page_bytes;
    uint64_t least = fill_bytes(&state->study.setting) / FILL_WRITES_MAX;

    least = least > 16 * KIB ? least : 16 * KIB;
    return (least + page - 1) / page * page;
}

static bool ask_fill(struct state *state, uint32_t round)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t length = fill_write_bytes(state);
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

/* What a round took on average, of `count` from `first` on. The slowest are left
 * out: a drive that stalls now and then is not one that cleans. */
static double rounds_ns(const struct state *state, uint32_t first,
                        uint32_t count)
{
    const uint32_t kept = count - count / STALLS_PARTS;
    double ns[FILL_PART_ROUNDS_MAX] = {0}, sum_ns = 0;

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

/*
 * Writes at random that use up the spare area and leave no block without some
 * pages that are still valid: from then on a new block is had only by copying
 * those, and that takes long enough to be seen. (Written in order, old blocks
 * have none, and their erase can hide behind writes to other banks.) That it is
 * so far shows in the writes themselves: whole parts of them take much longer
 * than the first part did. A few such parts, and each block has met it.
 */
static bool filled(struct state *state)
{
    const uint32_t rounds =
        (uint32_t)(fill_bytes(&state->study.setting) / fill_write_bytes(state) /
                   FILL_ROUND_WRITES);
    const uint32_t part = rounds / FILL_PARTS + 1;
    uint32_t slow_count = 0;
    double first_ns = 0;

    for (uint32_t begin = 0; begin < rounds; begin += part) {
        const uint32_t count = part < rounds - begin ? part : rounds - begin;
        bool asked = false;
        for (uint32_t i = 0; i < count; i++)
            asked = ask_fill(state, begin + i) || asked;
        if (asked)
            return false;
        const double ns = rounds_ns(state, begin, count);
        first_ns = begin == 0 ? ns : first_ns;
        slow_count += ns > cleaning_least * first_ns;
        if (slow_count == SLOW_PARTS)
            break;
    }
    return true;
}

/* A stand-in for the block where none is known: 8 MiB or more, in pages. */
static uint64_t unknown_block(const struct state *state)
{
    uint64_t eighth = MIB / state->page_bytes * state->page_bytes;

    return 8 * (eighth ? eighth : state->page_bytes);
}

static bool think_with_page(struct state *state, struct findings *findings)
{
    struct spikes spikes;
    enum side side;

    for (int number = 1; number <= WALKS_MAX; number++) {
        bool first = number == 1;
        if (!first && !filled(state))
            return false;
        switch (walk(state, number, first ? 512 * MIB : GIB,
                     first ? 16384 : 65536, &spikes)) {
        case CLAIM_MEASURING:
            return false;
        case CLAIM_HOLDS:
            return conclude_spikes(state, &spikes, findings);
        case CLAIM_FALLS:
        case CLAIM_OPEN:
            break;
        }
        if (!first)
            continue;
        if (any_gap(state, unknown_block(state), 0, &side) == CLAIM_MEASURING)
            return false;
        if (side == SIDE_ABOVE)
            return conclude_ladder(state, findings);
    }
    return say_open(findings,
                    "no slow write comes at a fixed distance, also after many "
                    "writes, and random writes cost no more than sequential "
                    "ones: the drive did not have to clean, or does so unseen");
}

/* ---- where the page is not known ---------------------------------------- */

/*
 * Written in pieces, a drive that maps pages uses up a page for each part of
 * one. So as long as the piece divides the page, as many pieces fill a block,
 * whatever their length; from the page on, as many bytes. The block is what two
 * lengths agree on, where no other says that pieces neither divide the page nor
 * are multiples of it.
 */
static bool agree(const struct spikes *spikes, const struct spikes *before)
{
    return spikes->found && before->found &&
           spikes->block_bytes == before->block_bytes;
}

static bool contradict(const struct spikes *spikes, const struct spikes *before)
{
    return spikes->found && before->found &&
           spikes->block_bytes != before->block_bytes &&
           spikes->period.length != before->period.length;
}

static bool say_agreed(struct findings *findings, const struct spikes *spikes,
                       uint64_t piece_bytes)
{
    char size[24], piece[24], half[24];
    struct finding *finding =
        add_found(findings, spikes->block_bytes, pieces_confidence);

    finding_why(finding,
                "written in order, in pieces of %s as in those of %s, every %s "
                "brings one slow write, %.2f times its neighbours (%zu of %zu "
                "fresh ones)",
                format_bytes(piece_bytes / 2, half, sizeof(half)),
                format_bytes(piece_bytes, piece, sizeof(piece)),
                format_bytes(spikes->block_bytes, size, sizeof(size)),
                exp(spikes->period.excess), spikes->period.hits,
                spikes->period.trials);
    return true;
}

/* Walks in pieces of doubled length: CLAIM_HOLDS with what they agree on. */
static enum claim compare_pieces(struct state *state, uint64_t first_bytes,
                                 int first_number, struct spikes *agreed,
                                 uint64_t *piece_bytes)
{
    struct spikes before = {.found = false}, spikes;

    *agreed = before;
    for (int k = 0; k < PIECES; k++, before = spikes) {
        state->page_bytes = first_bytes << k;
        if (walk(state, first_number + k, piece_walk_bytes, piece_walk_writes,
                 &spikes) == CLAIM_MEASURING)
            return CLAIM_MEASURING;
        if (contradict(&spikes, &before))
            return CLAIM_FALLS;
        if (agreed->found)
            break; /* the next length has not spoken against it */
        if (!agree(&spikes, &before))
            continue;
        *agreed = spikes;
        *piece_bytes = state->page_bytes;
        if (spikes.period.length < 2 * PERIOD_SHORTEST)
            break; /* the next length would be too coarse to tell */
    }
    return agreed->found ? CLAIM_HOLDS : CLAIM_OPEN;
}

static bool think_without_page(struct state *state, struct findings *findings)
{
    static const uint64_t first_bytes[] = {32 * KIB, 48 * KIB};
    struct spikes agreed;
    uint64_t piece_bytes = 0, coarse_bytes = 0;

    state->page_bytes = first_bytes[0];
    if (!filled(state))
        return false;
    for (int i = 0; i < 2; i++)
        switch (compare_pieces(state, first_bytes[i],
                               WALKS_MAX + 1 + i * PIECES, &agreed,
                               &piece_bytes)) {
        case CLAIM_MEASURING:
            return false;
        case CLAIM_HOLDS:
            /* Few pieces fit many a length: then others must say the same. */
            if (agreed.period.length >= AGREED_LENGTH_MIN ||
                agreed.block_bytes == coarse_bytes)
                return say_agreed(findings, &agreed, piece_bytes);
            coarse_bytes = agreed.block_bytes;
            break;
        case CLAIM_FALLS:
        case CLAIM_OPEN:
            break;
        }
    return say_open(findings,
                    "without clustered_page it is not known what to write in "
                    "order, and no two lengths of writes agree on a distance "
                    "of slow ones; if you know it, pass "
                    "--assume=clustered_page=VALUE");
}

/* ---- the probe --------------------------------------------------------- */

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;

    if (study->setting.method == METHOD_PAPER)
        return paper_clustered_block(
            study, state->page_bytes ? state->page_bytes : 4 * KIB, findings);
    if (state->log_block_bytes)
        return say_log_block(state, findings);
    if (state->page_is_absent)
        return say_open(findings,
                        "there is no clustered_page, so it is not known what "
                        "to write in order; if you know it, pass "
                        "--assume=clustered_page=VALUE");
    if (state->page_bytes)
        return think_with_page(state, findings);
    bool done = think_without_page(state, findings);
    state->page_bytes = 0; /* it only stood for each walk */
    return done;
}

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    if (setting->method == METHOD_PAPER) {
        paper_clustered_block_plan(setting, plan);
        return;
    }
    plan->requests = 20000;
    plan->requests_max = 600000;
    /* Where logs were found, nothing; else a walk, and after a fill another. */
    plan->bytes_written = 256 * MIB;
    plan->bytes_written_max = 24 * GIB + fill_bytes(setting);
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    uint64_t page = findings_integer(known, "clustered_page");
    const struct finding *log_block = findings_get(known, "log_block");
    const struct finding *known_page = findings_get(known, "clustered_page");
    struct state *state =
        study_create(sizeof(*state), &probe_clustered_block, &ops, setting);

    if (!state)
        return -ENOMEM;
    state->page_bytes = page;
    state->page_is_absent = known_page && known_page->verdict == VERDICT_ABSENT;
    state->log_block_bytes = findings_integer(known, "log_block");
    state->log_block_confidence =
        state->log_block_bytes ? log_block->confidence : 0;
    state->room_bytes = setting->region_length_bytes / 2;
    if (state->room_bytes > 4 * GIB)
        state->room_bytes = 4 * GIB;
    state->base_bytes =
        placing_base(setting, state->study.seed, state->room_bytes);
    *result = state;
    return 0;
}

const struct probe probe_clustered_block = {
    .name = "clustered-block",
    .question = "In which unit does the drive erase?",
    .idea = "Written in order, every new block brings a slow write; random "
            "writes cost more than sequential ones until they are as long as "
            "the block.",
    .writes = true,
    .region_min_bytes = 256 * MIB,
    .answers = {"clustered_block"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
