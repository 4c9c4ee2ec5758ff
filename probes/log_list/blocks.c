/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: the length and the phase of a log block. Two places share a log as
 * long as they are in the same block.
 */
#include "probes/log_list/log_list.h"

#include <math.h>

#include "lib/base/units.h"
#include "probes/lookup.h"
#include "probes/probes.h"

/* ---- is what shares a log one block? ------------------------------------ */

/*
 * is what shares a log one block? A drive may let several blocks
 * share a log. Their updates look like those of one long block, but a merge
 * copies only the blocks that were updated.
 *
 * Idea: write both ends of such a block, or two pages at one end. A block takes
 * as long to merge in both cases. Several blocks take twice as long to merge
 * when both ends were written.
 *
 * The writes are zeros. Where a drive moves zeros for less, the contents would
 * otherwise decide how long a merge takes.
 */

/* Two blocks take twice as long to merge, one takes no longer: halfway between
 * the two, as a log ratio. */
static const double shared_least = 0.3466;
/* The first end is anywhere in the first quarter: its block is not that of the
 * last page, if two or more make up the length. */
enum { FIRST_PART = 4, ROUND_PLACES = 2 };

/* Where a block begins that has no log. */
static uint64_t new_block(const struct trial *trial)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t block = trial->contrast->n[LOG_BLOCK];
    const uint64_t first = setting->region_offset_bytes;
    const uint64_t begin =
        first +
        (block + trial->contrast->n[LOG_FROM] % block - first % block) % block;
    const uint64_t end = first + setting->region_length_bytes;
    const uint64_t blocks = end > begin ? (end - begin) / block : 0;
    const uint64_t place =
        log_next_place((struct log_probe *)trial->study, trial->random);
    const uint64_t index = place > begin ? (place - begin) / block : 0;

    return blocks ? begin + smaller_of(index, blocks - 1) * block : begin;
}

static void write_as(const struct trial *trial, char arm,
                     enum step_content content, uint64_t at_bytes)
{
    trial_ask(trial, arm,
              (struct step){.operation = OPERATION_WRITE,
                            .offset_bytes = at_bytes,
                            .length_bytes =
                                ((struct log_probe *)trial->study)->page_bytes,
                            .content = content});
    trial_flush(trial, arm);
}

/* Writes the last page of a new block, and then a place at its beginning, or
 * the page before. Either way two writes follow the merge, so that erases are
 * waited for alike. The last page comes first: an update in page order is
 * merged for less. */
static void write_block(const struct trial *trial, char arm, bool both_ends)
{
    struct log_probe *state = (struct log_probe *)trial->study;
    const uint64_t page = state->page_bytes;
    const uint64_t length = trial->contrast->n[LOG_BLOCK];
    const uint64_t block = new_block(trial), last = block + length - page;
    const uint64_t begin =
        block +
        random_below(trial->random, larger_of(length / FIRST_PART / page, 1)) *
            page;

    write_as(trial, arm, arm ? CONTENT_RANDOM : CONTENT_ZEROS, last);
    log_remember(state, last);
    write_as(trial, '\0', CONTENT_ZEROS, both_ends ? begin : last - page);
}

/*
 * Two new blocks a round: of the first both ends are written, of the second one
 * end. With L logs, each new block makes the drive merge the one L before it.
 * So L blocks come first, in the same order.
 */
static void send(const struct trial *trial)
{
    for (uint32_t i = trial->contrast->repeats; trial->round == 0 && i > 0; i--)
        write_block(trial, '\0', i % ROUND_PLACES == 0);
    write_block(trial, 'a', true);
    write_block(trial, 'b', false);
}

/* Time of the merge of a block with both ends written : of one with one end. */
static bool ratio_of(const struct trial *trial, double *ratio)
{
    double first, second;

    if (!trial_flushed_ns(trial, 'a', 1, &first) ||
        !trial_flushed_ns(trial, 'b', 1, &second))
        return false;
    *ratio = log(first / second);
    /* With an odd number of logs the first place merges the other kind. */
    if (trial->contrast->repeats % ROUND_PLACES)
        *ratio = -*ratio;
    return true;
}

/*
 * Merges: of a log with both ends of a block of `block_bytes` written, to one
 * with one end written. Above: the ends belong to several blocks, which share
 * the log. Below: to one.
 */
static struct contrast log_sharing_of(uint32_t logs, uint64_t block_bytes,
                                      uint64_t phase_bytes)
{
    static const struct trial_kind kind =
        TRIAL_ROUND("ends{logs}", send, ratio_of);
    struct contrast contrast =
        trial_expect(trial_of(&kind, logs, phase_bytes, block_bytes), SIDE_OPEN,
                     shared_least, shared_least, NULL);

    contrast.repeats = logs;
    return contrast;
}

enum { ATTEMPTS_MAX = 4 };

/* Looks in votes; each two writes in turn are one vote. */
static const uint32_t vote_looks[] = {LOG_VOTES_FIRST, 32, 64, 128, 200, 0};
/* Share of opposite trials that noise alone does not reach. */
static const double contrary_most = 0.25;
/* Noise lets no larger share of merges look fast. */
static const double fast_most = 0.1;

/* Length and phase of the drive's log blocks. */
struct blocks {
    uint64_t bytes, phase_bytes; /* a block begins at phase_bytes */
};

/* ---- where a block ends ------------------------------------------------ */

struct end_query {
    struct log_probe *state;
    uint64_t offset_bytes;
    uint32_t logs;
    double middle;
};

static bool is_inside(void *context, const char *phase, uint32_t index,
                      uint64_t place_bytes)
{
    const struct end_query *query = context;
    struct contrast contrast = log_pair_of(query->logs, query->offset_bytes,
                                           place_bytes, query->middle);

    edge_name(&contrast, index, place_bytes);
    return log_is_fast(query->state, phase, &contrast);
}

/* Doubles the distance of the pair until it leaves the block. *last_bytes: last
 * distance inside; *distance_bytes: first one outside, 0 if none is. */
static void gallop(const struct end_query *query, const char *phase,
                   uint64_t *last_bytes, uint64_t *distance_bytes)
{
    struct log_probe *state = query->state;
    uint64_t most = log_slots_for(state, query->logs + 1).pitch_bytes;

    *last_bytes = 0;
    for (uint64_t distance = log_smallest_bytes, next; distance <= most;
         distance = next) {
        next = distance < most && 2 * distance > most ? most : 2 * distance;
        struct contrast contrast = log_pair_of(query->logs, query->offset_bytes,
                                               distance, query->middle);
        *distance_bytes = distance;
        if (!log_is_fast(state, phase, &contrast))
            return;
        *last_bytes = distance;
    }
    *distance_bytes = 0;
}

/* Does the log block have the length of the known erase unit? */
static bool ends_as_likely(const struct end_query *query, const char *phase)
{
    struct log_probe *state = query->state;
    uint64_t likely = state->likely_bytes;

    if (likely <= state->page_bytes || likely % state->page_bytes ||
        likely > log_slots_for(state, query->logs + 1).pitch_bytes)
        return false;
    struct contrast inside =
        log_pair_of(query->logs, query->offset_bytes,
                    likely - state->page_bytes, query->middle);
    struct contrast beyond =
        log_pair_of(query->logs, query->offset_bytes, likely, query->middle);
    return log_is_fast(state, phase, &inside) &&
           !log_is_fast(state, phase, &beyond);
}

/* Returns the distance from the offset to the end of its block; 0: beyond the
 * slots' pitch. */
static uint64_t find_end(const struct end_query *query, const char *phase)
{
    struct log_probe *state = query->state;
    uint64_t page = state->page_bytes, low, high;

    if (ends_as_likely(query, phase))
        return state->likely_bytes;
    gallop(query, phase, &low, &high);
    if (high == 0)
        return 0;
    /* A power of two is likely, so it is tested first. */
    struct contrast contrast = log_pair_of(query->logs, query->offset_bytes,
                                           high - page, query->middle);
    if (log_is_fast(state, phase, &contrast))
        return high;
    const struct edge_bisection search = {.bracket = {low, high - page},
                                          .grain_bytes = page,
                                          .reliability = 0.92,
                                          .holds = is_inside,
                                          .context = (void *)query};
    /* one page beyond the last distance inside */
    return edge_bisect(study_text(&state->study, "%s-bisect", phase), &search) +
           page;
}

/* ---- certifying -------------------------------------------------------- */

/* Share of a certificate's trials whose majority of votes contradicts it. The
 * majority counts because single slow votes are normal: a full log is merged
 * wherever it is, and a short block has a short log. */
static double contrary(const struct log_probe *state, const char *phase,
                       const struct contrast *contrast)
{
    const uint32_t rounds = contrast->rounds_count;
    const uint32_t each = log_votes_of(contrast);
    uint32_t trials = 0, contraries = 0;
    double ratio;

    for (uint32_t first = 0; first < rounds; first += each, trials++) {
        uint32_t votes = 0, others = 0;
        for (uint32_t i = first; i < rounds && i < first + each; i++) {
            if (!trial_value(&state->study, phase, contrast, i, NULL, &ratio))
                continue;
            votes++;
            others += (ratio > 0) != (contrast->expected == SIDE_ABOVE);
        }
        contraries += 2 * others >= votes;
    }
    return trials ? (double)contraries / trials : 1;
}

/* Do at most 25 % of the trials contradict each certificate? A wrong length
 * passes at some places and fails at others; if the true block is 1.5 times as
 * long, it passes at two of three. So a majority of all votes is not enough. */
static bool most_agree(const struct log_probe *state, const char *phase,
                       const struct contrast contrasts[LOG_CERTIFICATES])
{
    for (int i = 0; i < LOG_CERTIFICATES; i++)
        if (contrary(state, phase, &contrasts[i]) > contrary_most)
            return false;
    return true;
}

/* Where the next log to be merged follows an order, one block more makes each
 * write wait. Where many do not, there may be more logs than that. */
static bool may_be_more(struct log_probe *state, const char *phase,
                        const struct contrast *more, uint32_t logs)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    uint32_t fast = 0;

    study_ratios(&state->study, phase, more, more->rounds_count, ratios);
    for (uint32_t i = 0; i < more->rounds_count; i++)
        fast += ratios[i] < 0;
    return (double)fast > fast_most * more->rounds_count &&
           logs < LOG_SETTLED_MOST &&
           log_is_settled(state, logs + 1, more->predicted);
}

/* Does a merge copy the whole of what shares a log? HOLDS: `*is_one` says. */
static enum claim claim_sharing(struct log_probe *state, int certificate,
                                const struct blocks *blocks, uint32_t logs,
                                bool *is_one)
{
    const struct claim_rule rule = {.alpha = log_alpha,
                                    .looks = claim_long_looks};
    struct contrast contrast =
        log_sharing_of(logs, blocks->bytes, blocks->phase_bytes);
    const enum claim claim = study_claim(
        &state->study, study_text(&state->study, "ends-%d", certificate),
        &contrast, 1, &rule);

    *is_one = claim != CLAIM_HOLDS || contrast.side == SIDE_BELOW;
    return claim;
}

/* Does a write to one block more wait for what a read waits for as well? Then
 * it is no merge. Long waits are. */
static enum claim claim_lookup(struct log_probe *state, int certificate,
                               const struct blocks *blocks,
                               const struct end_query *query, double merge)
{
    /* `middle` is halfway between fast and slow, as a logarithm. */
    const double wait_ns = 2 * sinh(merge / 2) * exp(query->middle);
    struct contrast contrast =
        lookup_of(query->logs, blocks->bytes, blocks->phase_bytes);

    return wait_ns >= log_merge_shortest_ns
               ? CLAIM_FALLS
               : lookup_claim(
                     &state->study,
                     study_text(&state->study, "lookup-%d", certificate),
                     &contrast, wait_ns);
}

static void say_lookup(struct study *study, uint32_t logs,
                       const struct blocks *blocks, struct findings *findings)
{
    study_say_open(
        study->probe, findings,
        study_text(study,
                   "writes that alternate between %u areas of %s are fast, and "
                   "between %u areas they are not, but the first read in an "
                   "unused area takes longer as well: they wait for the "
                   "mapping, not for a merge",
                   logs, study_bytes(study, blocks->bytes), logs + 1));
}

static void conclude(struct study *study, const struct blocks *blocks,
                     bool is_one, uint32_t logs, double confidence,
                     double merge, struct findings *findings)
{
    const uint64_t phase_bytes = blocks->phase_bytes % blocks->bytes;
    const char *size = study_bytes(study, blocks->bytes);
    struct finding *finding = findings_add(findings, "log-list", "log_list");

    finding_found(finding, value_integer(logs), confidence);
    finding_why(
        finding,
        "writes that alternate between %u blocks are fast, and with %u blocks "
        "each write waits for a merge, which takes %.1f times as long",
        logs, logs + 1, exp(merge));
    finding = findings_add(findings, "log-list", "log_block");
    if (!is_one) {
        finding_why(
            finding,
            "updates of %s share a log, but a merge takes longer when both "
            "ends of it were written than when one was: several blocks share a "
            "log, and the length of each was not measured",
            size);
        return;
    }
    finding_found(finding, value_integer(blocks->bytes), confidence);
    finding_why(finding,
                "the first and the last page of %s share a log, and the page "
                "before it needs another, at random places of the region",
                size);
    if (phase_bytes)
        finding_extra(finding, "phase", value_integer(phase_bytes));
}

/* Finds a block near the middle of the region. Even attempts assume that a
 * block begins at the place and measure to its end. Odd attempts start from
 * that end and measure to the next one. Each pair of attempts uses another
 * place. */
static struct blocks find_blocks(struct log_probe *state,
                                 const struct end_query *start, int pass,
                                 int attempt)
{
    struct end_query query = *start;
    struct study *study = &state->study;
    const int end = (pass * ATTEMPTS_MAX + attempt) / 2;

    query.offset_bytes += (uint64_t)(attempt / 2) * 2 *
                          log_slots_for(state, query.logs + 1).pitch_bytes;
    struct blocks blocks = {find_end(&query, study_text(study, "end-%d", end)),
                            query.offset_bytes};
    if (attempt % 2 == 0 || blocks.bytes == 0)
        return blocks;
    query.offset_bytes += blocks.bytes;
    return (struct blocks){
        find_end(&query, study_text(study, "next-end-%d", end)),
        query.offset_bytes};
}

bool log_conclude(struct log_probe *state, int pass, uint32_t logs,
                  double middle, double merge, struct findings *findings)
{
    const struct claim_rule rule = {.alpha = log_alpha / 4,
                                    .looks = vote_looks};
    struct log_slots slots = log_slots_for(state, logs + 1);
    uint64_t aligned = log_smallest_bytes;

    /* Largest power of two within the pitch: a block of that length begins
     * there. */
    while (2 * aligned <= slots.pitch_bytes)
        aligned *= 2;
    const struct end_query query = {
        .state = state,
        .offset_bytes =
            (slots.first_bytes + slots.count / 2 * slots.pitch_bytes) /
            aligned * aligned,
        .logs = logs,
        .middle = middle};
    struct contrast contrasts[LOG_CERTIFICATES];

    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const struct blocks blocks = find_blocks(state, &query, pass, attempt);
        if (blocks.bytes < 2 * state->page_bytes)
            continue;
        for (int i = 0; i < LOG_CERTIFICATES; i++)
            contrasts[i] =
                log_certificate(i, logs, blocks.bytes, blocks.phase_bytes,
                                state->page_bytes, middle);
        const int certificate = pass * ATTEMPTS_MAX + attempt;
        const char *phase =
            study_text(&state->study, "certify-%d", certificate);
        enum claim claim = study_claim(&state->study, phase, contrasts,
                                       LOG_CERTIFICATES, &rule);
        if (claim != CLAIM_HOLDS || !most_agree(state, phase, contrasts) ||
            may_be_more(state, phase, &contrasts[1], logs))
            continue;
        bool is_one = true;
        if (claim_sharing(state, certificate, &blocks, logs, &is_one) ==
            CLAIM_OPEN)
            state->is_unsure = true;
        const enum claim lookup =
            claim_lookup(state, certificate, &blocks, &query, merge);
        if (lookup == CLAIM_HOLDS) {
            say_lookup(&state->study, logs, &blocks, findings);
            return true;
        }
        if (lookup == CLAIM_OPEN)
            state->is_unsure = true;
        conclude(&state->study, &blocks, is_one, logs,
                 fmin(claim_confidence(contrasts, LOG_CERTIFICATES, &rule),
                      state->is_unsure ? log_unsure_confidence : 1),
                 merge, findings);
        return true;
    }
    return false;
}
