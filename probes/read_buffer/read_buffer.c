/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read-buffer: how many bytes does the drive keep from what it read last? (Kim
 * et al. III-E)
 *
 * Idea: read a fresh random place twice. The second read is served from the
 * buffer as long as it fits: first / second is large up to the buffer's size,
 * and 1 beyond, because a longer read pushes its own beginning out.
 *
 * Assumes: the places were written before; a small read elsewhere comes first,
 * so that nothing of the place is in the buffer, and short ones near the place,
 * so that its mapping is cached (DFTL): else the second read would be faster
 * on a drive that keeps no data.
 *
 *   first / second
 *      2.0 -------------+
 *                       |
 *      1.0              +-----------
 *               size -> buffer
 *
 * If reads profit only from some size on, that is the smallest request that
 * uses the buffer (Kim's SSD-C: 512 KiB, SSD-D: 16 KiB).
 *
 * The host sends a long read in parts, each of which continues the one before.
 * A drive that reads ahead keeps more than was asked for, so the step comes too
 * early. Read from the last part to the first, no part continues another.
 */
#include "probes/read_buffer/read_buffer.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"
#include "probes/papers/papers.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum { SIZES_MAX = 32, PILOT_ROUNDS = 3 };

static const double search_error = 0.004;
/* A request may take longer than this only if there is something to see: else a
 * slow drive takes hours. */
static const double longest_ns = 250e6;
/* Sizes up to this are certified to have no profit. A buffer that only longer
 * reads use would be odd, so for these the survey will do. */
static const uint64_t certified_most_bytes = 4 * MIB;

static struct finding *add(struct findings *findings)
{
    return findings_add(findings, "read-buffer", "read_buffer");
}

/* The largest size of the survey: one that does not take too long. */
static uint64_t pilot(struct read_probe *state)
{
    const struct contrast contrast =
        read_twice(&state->study.setting, MIB, SIDE_OPEN);
    double ratios[PILOT_ROUNDS], first = 0, second;
    uint64_t largest_bytes = 16 * MIB;

    study_ratios(&state->study, "pilot", &contrast, PILOT_ROUNDS, ratios);
    const struct trial trial =
        trial_round(&state->study, "pilot", &contrast, 0);
    read_costs(&trial, &first, &second);
    while (largest_bytes > MIB &&
           (largest_bytes > read_size_limit(&state->study.setting) ||
            (double)largest_bytes / (double)MIB * first > longest_ns))
        largest_bytes /= 2;
    return largest_bytes;
}

/* The result of the survey: a quick comparison of all sizes. */
struct survey {
    struct contrast sizes[SIZES_MAX];
    size_t count;
    size_t first, last; /* the run of sizes that profit */
    /* first size behind the run without profit; else count */
    size_t after;
    double least_gain; /* least gain of the sizes from `last` to `after` */
    bool any, open;    /* any: some size profits; open: some are undecided */
    bool broken;       /* a size inside the run does not profit */
};

/* Of open sizes behind the run, the one that profits least, if that is less
 * than half of what the run does: noise hides that it does not, and the
 * certificate on fresh data will tell. Else there is none. */
static size_t least_of_open(const struct survey *survey)
{
    double least = survey->sizes[survey->last].median / 2;
    size_t at = survey->count;

    for (size_t i = survey->last + 1; i < survey->count; i++)
        if (survey->sizes[i].median < least) {
            least = survey->sizes[i].median;
            at = i;
        }
    return at;
}

static void find_run(struct survey *survey)
{
    survey->any = survey->open = survey->broken = false;
    for (size_t i = 0; i < survey->count; i++) {
        enum side side = survey->sizes[i].side;
        if (side == SIDE_ABOVE) {
            survey->first = survey->any ? survey->first : i;
            survey->last = i;
            survey->any = true;
        }
        survey->open = survey->open || side == SIDE_OPEN;
    }
    for (size_t i = survey->first; survey->any && i < survey->last; i++)
        survey->broken = survey->broken || survey->sizes[i].side == SIDE_BELOW;
    if (!survey->any)
        return;
    survey->least_gain = survey->sizes[survey->last].median;
    survey->after = survey->last + 1;
    while (survey->after < survey->count &&
           survey->sizes[survey->after].side != SIDE_BELOW) {
        double median = survey->sizes[survey->after++].median;
        /* An open size may lie beyond the edge; then it says nothing. */
        if (median > read_gain_least && median < survey->least_gain)
            survey->least_gain = median;
    }
    if (survey->after == survey->count)
        survey->after = least_of_open(survey);
}

static void claim_survey(struct read_probe *state, struct survey *survey)
{
    const struct claim_rule rule = {.alpha = search_error * 7 *
                                             (double)survey->count,
                                    .looks = search_looks};

    study_claim(&state->study, "survey", survey->sizes, survey->count, &rule);
    find_run(survey);
}

/* The same from this profit on. */
static void claim_from(struct read_probe *state, struct survey *survey,
                       double profit)
{
    for (size_t i = 0; i < survey->count; i++)
        survey->sizes[i].low = survey->sizes[i].high = profit;
    claim_survey(state, survey);
}

/* Repeats the survey with a lower threshold if the profit is small. What passed
 * for none may be a part of it, and of a long read that part is smaller
 * still. */
static void look_closer(struct read_probe *state, struct survey *survey)
{
    size_t last;

    do {
        last = survey->last;
        if (survey->least_gain >= 2 * read_none_long)
            return;
        claim_from(state, survey, survey->least_gain / 2);
    } while (survey->any && survey->last > last);
}

/*
 * The pairs of reads in a cell that keep its noise below what may pass for no
 * profit. A long read is rarely free of requests that were held up, and rounds
 * of such reads alone say nothing, however many they are.
 */
static uint32_t repeats_in_noise(struct read_probe *state,
                                 const struct contrast *looked)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    uint32_t repeats = looked->repeats;
    const uint32_t most =
        looked->n[READ_SIZE] > MIB ? READ_REPEATS_LONG_MAX : READ_REPEATS_MAX;

    study_ratios(&state->study, "survey", looked, looked->rounds_count, ratios);
    double spread = stats_spread(ratios, looked->rounds_count);
    for (; 2 * repeats <= most && spread > looked->high; repeats *= 2)
        spread /= sqrt(2);
    return repeats;
}

/* Decides sizes behind the run that the survey left open. Its threshold was too
 * low for the noise. Here a size counts as no profit if it saves less than half
 * of what the run's last size saves. The nearest such size ends the run. */
static void look_beyond(struct read_probe *state, struct survey *survey)
{
    const struct claim_rule rule = {.alpha = search_error,
                                    .looks = claim_long_looks};

    while (survey->after == survey->count && survey->last + 1 < survey->count) {
        struct contrast *undecided = &survey->sizes[survey->last + 1];
        struct contrast contrast = read_twice(
            &state->study.setting, undecided->n[READ_SIZE], SIDE_OPEN);
        contrast.repeats = repeats_in_noise(state, undecided);
        contrast.low = contrast.high = survey->sizes[survey->last].median / 2;
        study_claim(&state->study, "beyond", &contrast, 1, &rule);
        if (contrast.side == SIDE_OPEN)
            break;
        undecided->side = contrast.side;
        undecided->median = contrast.median;
        find_run(survey);
    }
}

static void look_over_to(struct read_probe *state, uint64_t largest_bytes,
                         struct survey *survey)
{
    survey->count = 0;
    for (uint64_t size = state->grain_bytes; size <= largest_bytes; size *= 2)
        survey->sizes[survey->count++] =
            read_twice(&state->study.setting, size, SIDE_OPEN);
    claim_survey(state, survey);
    /* None profits clearly, and some are open: lowers the threshold. */
    if (!survey->any && survey->open)
        claim_from(state, survey, read_gain_least);
    if (!survey->any)
        return;
    look_beyond(state, survey);
    look_closer(state, survey);
}

/* If the largest size profits, larger ones are worth their time. */
static void look_over(struct read_probe *state, struct survey *survey)
{
    uint64_t largest_bytes = pilot(state);

    look_over_to(state, largest_bytes, survey);
    while (survey->any && survey->last + 1 == survey->count &&
           2 * largest_bytes <= read_size_limit(&state->study.setting)) {
        largest_bytes *= 2;
        look_over_to(state, largest_bytes, survey);
    }
}

static void conclude_none(struct read_probe *state, const struct survey *survey,
                          struct findings *findings)
{
    const struct claim_rule rule = {.alpha = 10 * read_alpha,
                                    .looks = claim_longest_looks};
    struct contrast contrasts[SIZES_MAX];
    const uint64_t most_bytes = survey->sizes[survey->count - 1].n[READ_SIZE];
    size_t count = 0;

    for (size_t i = 0; i < survey->count; i++) {
        const struct contrast *looked = &survey->sizes[i];
        if (looked->n[READ_SIZE] > certified_most_bytes &&
            looked->side == SIDE_BELOW)
            continue;
        contrasts[count] =
            read_twice(&state->study.setting, looked->n[READ_SIZE], SIDE_BELOW);
        contrasts[count++].repeats = repeats_in_noise(state, looked);
    }
    enum claim claim =
        study_claim(&state->study, "no-profit", contrasts, count, &rule);
    struct finding *finding = add(findings);
    if (claim != CLAIM_HOLDS) {
        finding_why(finding, "second reads of the same place are sometimes "
                             "faster, but too irregularly to show a size");
        return;
    }
    finding_absent(finding, claim_confidence(contrasts, count, &rule));
    finding_why(finding,
                "a second read of the same place is not faster than the first "
                "at any size up to %s",
                study_bytes(&state->study, most_bytes));
    findings_up_to(findings, "read_buffer", most_bytes);
}

/* Why reads in order and in falling order differ is not tested: with pages of
 * many planes they may as well differ for how these are kept. */
static const double ahead_confidence = 0.9;

static void say_size(struct read_probe *state, const struct read_shown *shown,
                     struct findings *findings)
{
    struct finding *finding = add(findings);
    struct study *study = &state->study;
    const char *ahead = "";

    finding_found(finding, value_integer(shown->bytes), shown->confidence);
    finding->high = value_integer(shown->bytes + state->grain_bytes -
                                  state->study.setting.logical_block_bytes);
    if (shown->smallest_bytes)
        finding_extra(finding, "smallest_request",
                      value_integer(shown->smallest_bytes));
    if (shown->bytes > shown->upwards_bytes) {
        finding->confidence = fmin(finding->confidence, ahead_confidence);
        finding->low = value_integer(shown->upwards_bytes);
        ahead = study_text(
            study,
            "; it keeps %s less of sequential reads, so it may read ahead",
            study_bytes(study, shown->bytes - shown->upwards_bytes));
    }
    finding_why(
        finding,
        "a second read of the same place is up to %.2f times as fast as the "
        "first up to %s, and no faster from %s on%s",
        exp(shown->gain), study_bytes(study, shown->bytes),
        study_bytes(study, shown->bytes + state->grain_bytes), ahead);
}

static void conclude_run(struct read_probe *state, struct survey *survey,
                         struct findings *findings)
{
    struct contrast *sizes = survey->sizes;
    const size_t after = survey->after;
    struct read_shown shown = {.confidence = 1};
    double smallest_confidence = 1;

    if (survey->broken || after == survey->count) {
        finding_why(
            add(findings),
            survey->broken
                ? "a second read is faster at some sizes but not at some "
                  "between them, so no single buffer size explains them%s"
                : "a second read is faster up to the largest size tried, %s; "
                  "the buffer may be larger, or it is the host's cache",
            survey->broken
                ? ""
                : study_bytes(&state->study,
                              sizes[survey->count - 1].n[READ_SIZE]));
        return;
    }
    struct read_edge upper =
        read_edge_between(state, &sizes[survey->last], &sizes[after], true);
    if (survey->least_gain < upper.gain)
        upper.gain = survey->least_gain;
    shown.gain = upper.gain;
    enum claim claim =
        read_find_edge(state, &upper, "size-", &shown.bytes, &shown.confidence);
    /* Reads in parts need a buffer that small reads use too: the last part may
     * be short. */
    const bool in_parts = (claim == CLAIM_FALLS || claim == CLAIM_OPEN) &&
                          survey->sizes[0].side == SIDE_ABOVE;
    if (in_parts)
        claim = read_look_in_parts(state, &upper, sizes, survey->last, &shown);
    size_t before = survey->first;
    while (before > 0 && sizes[before - 1].side != SIDE_BELOW)
        before--;
    if (claim == CLAIM_HOLDS && survey->first > 0 && before == 0)
        claim = CLAIM_OPEN; /* does the smallest size profit or not? */
    if (claim == CLAIM_HOLDS && survey->first > 0) {
        struct read_edge lower = read_edge_between(
            state, &sizes[before - 1], &sizes[survey->first], false);
        claim = read_find_edge(state, &lower, "least-", &shown.smallest_bytes,
                               &smallest_confidence);
        shown.smallest_bytes += state->grain_bytes;
    }
    if (in_parts)
        shown.upwards_bytes = shown.bytes;
    else if (claim == CLAIM_HOLDS)
        claim = read_look_again(state, &upper, &shown);
    shown.confidence = fmin(shown.confidence, smallest_confidence);
    if (claim == CLAIM_HOLDS)
        say_size(state, &shown, findings);
    else
        finding_why(add(findings),
                    "second reads are faster up to around %llu KiB, but fresh "
                    "data did not confirm the exact size",
                    (unsigned long long)(shown.bytes / KIB));
}

/* mapping-reach has seen that repeated reads of 4 KiB wait for the flash. The
 * drive may keep longer ones all the same. */
static void say_entries(struct findings *findings)
{
    const double longer_confidence = 0.75;
    struct finding *finding = add(findings);

    finding_absent(finding, longer_confidence);
    finding_why(finding, "a second read is faster as the drive caches single "
                         "mapping entries (mapping_reach), but it still waits "
                         "for the flash");
}

static void think(struct study *study, struct findings *findings)
{
    struct read_probe *state = (struct read_probe *)study;
    struct survey survey;

    look_over(state, &survey);
    if (survey.any && state->has_entries)
        say_entries(findings);
    else if (survey.any)
        conclude_run(state, &survey, findings);
    else
        conclude_none(state, &survey, findings);
}

/* ---- the probe --------------------------------------------------------- */

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct read_probe *state = memory;
    const struct finding *reach = findings_found(known, "mapping_reach");

    state->page_bytes = findings_integer(known, "clustered_page");
    /* Its one extra is how much an entry covers, where that is a page. */
    state->has_entries = reach && reach->extras_count > 0;
    state->grain_bytes = placing_grain(setting);
}

const struct probe probe_read_buffer = {
    .name = "read-buffer",
    .question = "How much recently read data does the drive keep in memory?",
    .idea = "A second read of the same place is faster than the first as long "
            "as the data fits into the read buffer.",
    .writes = false,
    .region_min_bytes = 64 * MIB,
    .by_operation = true,
    .answers = {"read_buffer"},
    .literal = &paper_read_buffer,
    .usual = {.requests = 5400,
              .requests_max = 600000,
              .bytes_read = 1600 * MIB,
              .bytes_read_max = 64000 * MIB},
    .begin = begin,
    TRIAL_PROBE(struct read_probe, think),
};
