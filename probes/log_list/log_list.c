/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: how many blocks can be updated side by side before the drive must
 * merge (Sun & Zhang 4.3), and how long is such a block?
 *
 * Idea: a block that is updated gets a log block, and a drive has few of those.
 * Write to m blocks in turn, over and over. While each block has its log,
 * writes are fast. With one block more, each write waits for a merge.
 *
 *   slow writes        The block: L - 1 distant places and two at distance d
 *    all |     +----   stay fast while the two share a block. So the ends of
 *        |     |       a block are found to the page.
 *   none +-----+
 *         m =  L  L+1
 *
 * Assumes: the drive is written; a flush waits for the write. The end of a
 * block is found only if the log merged first is the oldest or the least
 * recently used one, and if a block is shorter than the distance of the places.
 */
#include "probes/log_list/log_list.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/method/line.h"
#include "lib/infer/statistics/stats.h"
#include "probes/papers/papers.h"
#include "probes/placing.h"
#include "probes/probes.h"

/* ---- how many places stay fast? ----------------------------------------- */

/* Least log ratio of a merge to a lesser wait. With one log the lesser wait is
 * a switch between logs (0.1); with more logs, another kind of merge (0.4). */
static const double above_one_least = 0.1, above_more_least = 0.4;
/* Writes to many places and to few wait for the same thing if they differ by
 * less than this log ratio, half of the smallest step looked for. */
static const double step_least = 0.05;
/* Votes of each kind, fast and slow, for the threshold between them. */
enum { SPLIT_VOTES = 24, STEP_LOOKS = 8 };
static const char *const count_phases[] = {"count", "wide-count"};
static const char *const above_phases[] = {"above", "wide-above"};

/*
 * Returns the largest number of places that stay fast in turn; 0: none was
 * slow. It grows in steps of a quarter: beyond the limit every write waits for
 * a merge, while below it only the new places do.
 */
static uint32_t count_fast(struct log_probe *state, const char *phase,
                           double middle)
{
    uint32_t low = 1, high = 2;

    for (;; low = high, high += log_has_choice(state) ? 1 + high / 4 : high) {
        struct contrast contrast;
        if (high > state->places_max)
            high = state->places_max;
        contrast = log_in_turn(high, middle);
        if (!log_is_fast(state, phase, &contrast))
            break;
        if (high == state->places_max)
            return 0;
    }
    while (high - low > 1) {
        uint32_t half = (low + high) / 2;
        struct contrast contrast = log_in_turn(half, middle);
        *(log_is_fast(state, phase, &contrast) ? &low : &high) = half;
    }
    return low;
}

/* Largest number of places that stay fast when written in turn; 0: as many as
 * were tried. */
static uint32_t log_count(struct log_probe *state, double middle)
{
    return count_fast(state, count_phases[state->is_wide], middle);
}

/*
 * Do writes to places_max places in turn take longer than `slow`, which were
 * called slow at fewer places? *higher: the threshold between the two, as a
 * logarithm.
 */
static enum claim claim_step(struct log_probe *state,
                             const struct contrast *slow, double *higher)
{
    const struct contrast all = log_in_turn(state->places_max, slow->predicted);
    double few[CONTRAST_ROUNDS_MAX], many[CONTRAST_ROUNDS_MAX],
        steps[CONTRAST_ROUNDS_MAX];

    for (const uint32_t *look = claim_looks; *look; look++) {
        const bool is_few = study_ask_ratios(
            &state->study, count_phases[state->is_wide], slow, *look, few);
        if (!study_ask_ratios(&state->study, above_phases[state->is_wide], &all,
                              *look, many) ||
            !is_few)
            study_leave(&state->study);
        for (uint32_t i = 0; i < *look; i++)
            steps[i] = many[i] - few[i];
        const struct interval step =
            stats_median_interval(steps, *look, log_alpha / STEP_LOOKS);
        if (step.high < step_least)
            return CLAIM_FALLS;
        *higher = slow->predicted +
                  0.5 * (stats_median(few, *look) + stats_median(many, *look));
        if (step.low > step_least)
            return CLAIM_HOLDS;
    }
    return CLAIM_OPEN;
}

/*
 * Looks for a second, higher step in cost. A drive may take time to switch
 * between log blocks, so that writes to two blocks in turn look slow without a
 * merge. If such writes cost less than a write to a new place, which waits for
 * a merge, the real step lies at a higher count.
 *
 * Returns CLAIM_HOLDS (there is a higher step), CLAIM_OPEN (there may be) or
 * CLAIM_FALLS (there is none). Unless it returns CLAIM_FALLS, `logs` and
 * `middle` become those of the higher step if its count is larger.
 */
static enum claim log_count_above(struct log_probe *state, double cost_of_new,
                                  double *middle, uint32_t *logs)
{
    const struct contrast slow = log_in_turn(*logs + 1, *middle);
    const uint32_t votes = log_votes_of(&slow);
    double ratios[CONTRAST_ROUNDS_MAX], higher = 0;

    study_ratios(&state->study, count_phases[state->is_wide], &slow, votes,
                 ratios);
    if (cost_of_new - stats_median(ratios, votes) - *middle <
        (*logs == 1 ? above_one_least : above_more_least))
        return CLAIM_FALLS;
    const enum claim claim = claim_step(state, &slow, &higher);
    if (claim == CLAIM_FALLS)
        return claim;
    const uint32_t above =
        count_fast(state, above_phases[state->is_wide], higher);
    if (above > *logs) {
        *logs = above;
        *middle = higher;
    }
    return claim;
}

/* Returns the threshold with the fewest values on the wrong side. */
static double best_boundary(const double fast[], const double slow[],
                            uint32_t count)
{
    double all[2 * SPLIT_VOTES], best = 0;
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++) {
        all[i] = fast[i];
        all[count + i] = slow[i];
    }
    stats_sort(all, 2 * count);
    for (uint32_t i = 0; i + 1 < 2 * count; i++) {
        const double boundary = 0.5 * (all[i] + all[i + 1]);
        uint32_t wrong = 0;
        for (uint32_t j = 0; j < count; j++)
            wrong +=
                (fast[j] > boundary ? 1U : 0U) + (slow[j] > boundary ? 0U : 1U);
        if (wrong < least) {
            least = wrong;
            best = boundary;
        }
    }
    return best;
}

/*
 * Returns a better threshold `middle`. A write to a new place may wait for
 * another kind of merge than writes in turn, such as of a log that was written
 * twice, or in the same bank. So the threshold is taken from writes in turn: to
 * `logs` places and to one more; if `logs` is 0, to one place and to as many as
 * were tried.
 */
static double log_refine_middle(struct log_probe *state, uint32_t logs,
                                double middle)
{
    double ratios[2][SPLIT_VOTES];
    const uint32_t places[] = {logs ? logs : 1,
                               logs ? logs + 1 : state->places_max};

    for (int i = 0; i < 2; i++) {
        const struct contrast contrast = log_in_turn(places[i], middle);
        study_ratios(&state->study, "split", &contrast, SPLIT_VOTES, ratios[i]);
    }
    return middle + best_boundary(ratios[0], ratios[1], SPLIT_VOTES);
}

/* Places per round, increased while the result stays open. */
static const uint32_t closer_looks[] = {1, 5, 15, 0};

/* Rounds of the first look, for drives that merge from the start. */
static const uint32_t early_looks[] = {18, 28, 0};

/* A merge is seen when a write to a new place takes 1.3 times as long as a
 * rewrite (log ratio 0.2624). It is excluded below 1.25 times (0.2231). */
static const double merge_least = 0.2624, merge_none = 0.2231;
/* New places that suffice for the cost of one, once all logs are in use. */
enum { NEW_PLACES = 12 };
/* Passes: the threshold between fast and slow comes from the cost of a new
 * place; then from writes in turn; then places are farther apart. */
enum { FIRST_PASS, REFINED_PASS, WIDE_PASS, PASSES };
/* Least log ratio that shows extra work of the drive. */
static const double work_least = 0.05;
/* Number of writes of 1 MiB: more than a write buffer holds. */
enum { MEMORY_WRITES = 64 };
static const uint32_t memory_looks[] = {MEMORY_WRITES, 0};
/* Longest write without a merge: two programs of a page, which take at most 10
 * ms each, with four bits a cell. */
static const double program_longest_ns = 20e6;
/* The same 64 MiB in short writes, in rounds so that it can stop early. */
enum {
    STEADY_ROUNDS = 16,
    STEADY_WRITES = MEMORY_WRITES * MIB / LOG_STEADY_BYTES / STEADY_ROUNDS
};
/* Share of rewrites that count as fast; the rest met slow pages. */
static const double fast_share = 0.8;

/* ---- what is said ------------------------------------------------------ */

/* Says that no block has a log of its own, which is all that was tested: an SLC
 * cache takes this probe's writes without a merge, and logs that all blocks
 * share (FAST, Lee et al. 2007) merge once in hundreds of pages, wherever
 * these go. */
static void say_none(const struct log_probe *state, double confidence,
                     struct findings *findings)
{
    study_say_absent(
        &probe_log_list, findings, fmin(confidence, log_none_confidence),
        "after writes to %u places, a write to another place costs no more "
        "than a rewrite of the same place: nothing is merged, unless a cache, "
        "or a log shared by all blocks, takes such writes first",
        state->places_max);
    findings_up_to(findings, "log_list", state->places_max);
}

/* ---- the two costs ----------------------------------------------------- */

/* Collects the times of all new writes ('a') or rewrites ('b') of a contrast,
 * ascending. Returns their number. */
static uint32_t all_costs(struct log_probe *state,
                          const struct contrast *contrast, char arm,
                          double costs[STATS_MAX])
{
    const uint32_t each = contrast->repeats;
    uint32_t count = 0;

    for (uint32_t round = 0; round < contrast->rounds_count; round++) {
        const struct trial trial =
            trial_round(&state->study, "costs", contrast, round);
        if (count + each <= STATS_MAX &&
            trial_flushed_ns(&trial, arm, each, &costs[count]))
            count += each;
    }
    stats_sort(costs, count);
    return count;
}

/* Threshold between fast and slow writes, as a logarithm. Page times differ, so
 * all but the slowest fifth of the rewrites count as fast. */
static double middle_of(struct log_probe *state,
                        const struct contrast *contrast)
{
    double again[STATS_MAX], fresh[STATS_MAX];
    uint32_t count = all_costs(state, contrast, 'b', again);
    double fast = again[(uint32_t)(fast_share * count)];

    count = all_costs(state, contrast, 'a', fresh);
    double slow = line_middle_mean(fresh, count);
    if (slow < fast)
        fast = stats_median(again, count);
    return 0.5 * (log(fast) + log(slow));
}

static struct contrast fresh_costs(const struct trial_kind *kind,
                                   uint32_t places)
{
    struct contrast contrast = trial_expect(trial_of(kind, places), SIDE_OPEN,
                                            merge_least, merge_none, NULL);

    contrast.repeats = places;
    return contrast;
}

static enum claim claim_fresh(struct log_probe *state,
                              const struct trial_kind *kind, uint32_t places,
                              const uint32_t *looks, struct contrast *contrast,
                              double *confidence)
{
    const struct claim_rule rule = {.alpha = log_alpha / 8, .looks = looks};

    *contrast = fresh_costs(kind, places);
    const enum claim claim =
        study_claim(&state->study, "costs", contrast, 1, &rule);
    *confidence = claim_confidence(contrast, 1, &rule);
    return claim;
}

/* Do single writes to new places cost more at all (sign test)? The quickest of
 * several may meet no merge, so more places would not help. */
static bool new_places_cost_more(struct log_probe *state,
                                 const struct contrast *contrast)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    uint32_t more = 0;

    study_ratios(&state->study, "costs", contrast, contrast->rounds_count,
                 ratios);
    for (uint32_t i = 0; i < contrast->rounds_count; i++)
        more += ratios[i] > 0;
    return stats_sign_test(more, contrast->rounds_count) < log_alpha;
}

/* Decides whether writes to new places wait for merges. A single write shows a
 * merge. To exclude merges takes more places per round, as page times differ
 * but the quickest of several seldom do, and all possible logs used up first,
 * which takes long on a drive that merges; so the short look comes first. */
static enum claim look_at_costs(struct log_probe *state,
                                struct contrast *contrast, double *confidence)
{
    enum claim claim =
        claim_fresh(state, &log_early, 1, early_looks, contrast, confidence);

    if (claim == CLAIM_HOLDS && contrast->side == SIDE_ABOVE)
        return claim;
    claim = CLAIM_OPEN;
    for (const uint32_t *places = closer_looks; *places && claim == CLAIM_OPEN;
         places++) {
        claim = claim_fresh(state, &log_fresh, *places, claim_looks, contrast,
                            confidence);
        if (*places == 1 && claim == CLAIM_OPEN &&
            new_places_cost_more(state, contrast))
            break;
    }
    return claim;
}

/* Cost of a write to a new place once all logs are used up, as a logarithm. */
static double new_costs(struct log_probe *state, const struct contrast *first,
                        uint32_t logs)
{
    struct contrast fresh = *first;
    double costs[STATS_MAX], ratios[CONTRAST_ROUNDS_MAX];

    /* The first look may have ended before all logs were used up. */
    if (first->trial == &log_early && logs == 1) {
        fresh = fresh_costs(&log_fresh, 1);
        fresh.rounds_count = NEW_PLACES;
        study_ratios(&state->study, "costs", &fresh, NEW_PLACES, ratios);
    }
    return log(line_middle_mean(costs, all_costs(state, &fresh, 'a', costs)));
}

/*
 * Would merges show? Writes more than any buffer holds; if each write made a
 * merge, the mean would not be below the shortest merge.
 */
static bool merges_would_show(struct log_probe *state)
{
    struct contrast steady = trial_of(&log_steady, 0, LOG_STEADY_BYTES);
    double ratios[STEADY_ROUNDS], taken = 0;

    steady.repeats = STEADY_WRITES;
    steady.predicted = log(log_merge_shortest_ns);
    for (uint32_t i = 0; i < STEADY_ROUNDS && taken < STEADY_ROUNDS; i++) {
        study_ratios(&state->study, "arrive", &steady, i + 1, ratios);
        taken += exp(ratios[i]);
    }
    return taken < STEADY_ROUNDS;
}

/*
 * Do the writes reach the flash? A buffer that flushes do not empty would take
 * them at the speed of the interface. They reach it if any of these holds:
 * - a flush takes longer after a write than after nothing
 * - a write alone takes longer than a read
 * - 64 writes of 1 MiB, more than a buffer holds, are slower than reads (then
 *   only if merges_would_show())
 */
static bool writes_arrive(struct log_probe *state)
{
    static const struct trial_kind *const kinds[] = {&log_flush, &log_read,
                                                     &log_much};
    enum claim claim = CLAIM_OPEN;

    for (int i = 0; i < 3; i++) {
        const bool is_much = i == 2;
        const double threshold = is_much ? merge_none : work_least;
        const struct claim_rule rule = {.alpha = log_alpha / 8,
                                        .looks = is_much ? memory_looks
                                                         : claim_long_looks};
        struct contrast contrast = trial_expect(
            trial_of(kinds[i], 0, is_much ? MIB : state->page_bytes),
            is_much ? SIDE_BELOW : SIDE_ABOVE, threshold, threshold, NULL);
        claim = study_claim(&state->study, "arrive", &contrast, 1, &rule);
        if (claim == CLAIM_HOLDS)
            return true;
    }
    return claim == CLAIM_FALLS && merges_would_show(state);
}

/*
 * Does every write wait for a merge, rewrites too? Then all cost the same, and
 * too much for a page: all but the quickest tenth of the rewrites take longer
 * than program_longest_ns beyond a flush with nothing to do. writes_arrive()
 * has measured that flush. *again_ns: median of the rewrites.
 */
static bool all_merge(struct log_probe *state, const struct contrast *contrast,
                      double *again_ns)
{
    const double quick_share = 0.1;
    double costs[STATS_MAX], idle_ns = 0;
    const struct contrast flush = trial_of(&log_flush, 0);
    const struct trial idle = trial_round(&state->study, "arrive", &flush, 0);
    const uint32_t count = all_costs(state, contrast, 'b', costs);

    trial_ns(&idle, 'b', 1, &idle_ns);
    *again_ns = count > 0 ? stats_median(costs, count) : 0;
    return count > 0 && costs[(uint32_t)(quick_share * count)] - idle_ns >
                            program_longest_ns;
}

static void say_all_merge(struct study *study, double again_ns,
                          struct findings *findings)
{
    study_say_open(
        &probe_log_list, findings,
        study_text(study,
                   "a page write takes %s at every place, rewrites of the same "
                   "place included, but programming a page takes at most 10 "
                   "ms: each write seems to rewrite its block, so log blocks "
                   "would not show; write whole blocks sequentially",
                   study_ns(study, again_ns)));
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].parameter, "log_list") == 0)
            finding_extra(&findings->items[i], "every_write_merges",
                          value_boolean(true));
}

static void say_stalls(struct study *study, double gap,
                       struct findings *findings)
{
    study_say_open(
        &probe_log_list, findings,
        study_text(study,
                   "no write to a new place costs more than a rewrite, but one "
                   "in %.0f stalls, at any place: logs that all blocks share "
                   "may be merged then, or a cache or a buffer emptied",
                   gap));
}

/* ---- merges ------------------------------------------------------------ */

/*
 * Concludes with the higher step of log_count_above() if there is one, else
 * with the first count. A first count of one log does not count if a higher
 * step is certain: it may be the cost of switching between logs.
 */
static bool conclude_count(struct log_probe *state,
                           const struct contrast *fresh, int pass,
                           double *middle, uint32_t *logs,
                           struct findings *findings)
{
    const double first_middle = *middle;
    const uint32_t first_logs = *logs;
    const double cost_of_new = new_costs(state, fresh, *logs);
    const enum claim step = log_count_above(state, cost_of_new, middle, logs);

    state->is_unsure = false;
    if (log_conclude(state, pass, *logs, *middle, fresh->median, findings))
        return true;
    if (*logs == first_logs || (first_logs == 1 && step == CLAIM_HOLDS))
        return false;
    state->is_unsure = first_logs == 1;
    return log_conclude(state, PASSES + pass, first_logs, first_middle,
                        fresh->median, findings);
}

/* Concludes with the number of logs alone, where they follow no order. */
static bool say_settled(struct log_probe *state, double middle,
                        struct findings *findings)
{
    double confidence;
    const uint32_t logs = log_count_settled(state, middle, &confidence);

    if (logs == 0)
        return false;
    struct finding *finding = findings_add(findings, "log-list", "log_list");
    finding_found(finding, value_integer(logs), confidence);
    finding_why(finding,
                "after many turns writes to %u places in turn wait for no "
                "merge, and of %u places one does in each turn: which log is "
                "merged next follows no order",
                logs, logs + 1);
    finding_why(findings_add(findings, "log-list", "log_block"),
                "the logs are not replaced in order, so the ends of a block do "
                "not show");
    return true;
}

/* Concludes when writes wait for merges: counts logs, then finds their
 * blocks. */
static void conclude_merges(struct log_probe *state,
                            const struct contrast *fresh,
                            struct findings *findings)
{
    double middle = middle_of(state, fresh);
    uint32_t logs = 0;

    for (int pass = FIRST_PASS; pass < PASSES; pass++) {
        state->is_wide = pass == WIDE_PASS;
        if (state->is_wide)
            middle = middle_of(state, fresh);
        if (pass == REFINED_PASS)
            middle = log_refine_middle(state, logs, middle);
        logs = log_count(state, middle);
        if (logs > 0 &&
            conclude_count(state, fresh, pass, &middle, &logs, findings))
            return;
        /* Where a random log is merged, these are too many places, or too
         * few. */
        if (pass == FIRST_PASS && logs > 0 && logs <= LOG_SETTLED_MOST &&
            (!log_is_settled(state, logs, middle) ||
             log_is_settled(state, logs + 1, middle)) &&
            say_settled(state, middle, findings))
            return;
    }
    if (logs > 0 && say_settled(state, middle, findings))
        return;
    study_say_open(&probe_log_list, findings,
                   logs == 0
                       ? "writes to new places wait for merges, but "
                         "alternating writes stay fast for as many places as "
                         "were tried: there are more log blocks than that"
                       : "writes wait for merges, but fresh data confirms no "
                         "number and no length of blocks: logs are not "
                         "replaced in order, or the noise is too large");
}

/* Concludes when rewrites cost as much as writes to new places: no write
 * merges, or all do. */
static void conclude_no_merges(struct log_probe *state,
                               const struct contrast *fresh, double confidence,
                               struct findings *findings)
{
    const bool arrive = writes_arrive(state);
    double again_ns, gap;

    if (all_merge(state, fresh, &again_ns))
        say_all_merge(&state->study, again_ns, findings);
    else if (arrive && (gap = log_stall_gap(state)) > 0)
        say_stalls(&state->study, gap, findings);
    else if (arrive)
        say_none(state, confidence, findings);
    else
        study_say_open(&probe_log_list, findings,
                       "no write waits for a merge, but writes and their "
                       "flushes are quicker than flash would be: a buffer that "
                       "no flush empties may take them all; if the device "
                       "allows it, turn it off with --write-cache=off");
}

static void think(struct study *study, struct findings *findings)
{
    struct log_probe *state = (struct log_probe *)study;
    struct contrast fresh;
    double confidence;

    if (study->setting.flush_untrue)
        log_conclude_beyond(state, findings);
    else if (look_at_costs(state, &fresh, &confidence) != CLAIM_HOLDS)
        study_say_open(&probe_log_list, findings,
                       "whether a write to a new place waits for a merge could "
                       "not be decided: some cost more, but not clearly "
                       "enough; try a quieter host or another port");
    else if (fresh.side == SIDE_BELOW)
        conclude_no_merges(state, &fresh, confidence, findings);
    else
        conclude_merges(state, &fresh, findings);
}

/* ---- the probe --------------------------------------------------------- */

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct log_probe *state = memory;

    state->page_bytes = placing_small_bytes(setting);
    state->likely_bytes = findings_integer(known, "clustered_block");
    state->places_max = LOG_PLACES_MAX - 1;
}

const struct probe probe_log_list = {
    .name = "log-list",
    .question = "How many blocks can be updated in turn, and how large is such "
                "a block?",
    .idea =
        "Writes that alternate between a few blocks are fast as long as each "
        "has a log block. With one block more, each write waits for a merge.",
    .writes = true,
    .budget_share = 4,
    .region_min_bytes = 64 * MIB,
    .answers = {"log_list", "log_block"},
    .by_flush = {"log_list", "log_block"},
    .without_flush = true,
    .literal = &paper_log_list,
    /* Half of the requests write; at most with the memory, the steady, and the
     * stall rounds, and as many again where logs follow no order; or streams
     * beyond a buffer of 64 MiB. */
    .usual = {.requests = 1000,
              .requests_max = 120000 + STEADY_ROUNDS * STEADY_WRITES +
                              2 * LOG_STALL_ROUNDS_MOST * LOG_STALL_WRITES,
              .bytes_written = 500 * 4 * KIB,
              .bytes_written_max = 4 * GIB,
              .bytes_read_max = 30000 * 4 * KIB + MEMORY_WRITES * MIB},
    .begin = begin,
    TRIAL_PROBE(struct log_probe, think),
};
