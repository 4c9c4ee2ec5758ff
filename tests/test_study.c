/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Claims on synthetic contrasts: they hold, fall or stay open as they should,
 * err as rarely as they say, ask nothing twice, and conclude the same from a
 * recording as from the run. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/infer/parameter.h"
#include "lib/infer/edge.h"
#include "lib/infer/study.h"
#include "tests/suite_run.h"

enum { CONTRASTS_MAX = 4, ROWS_MAX = 65536 };

/* A probe of two requests a round; what is true of it is set by the test. */
struct fake {
    struct study study;
    struct contrast contrasts[CONTRASTS_MAX];
    size_t count;
    struct claim_rule rule;
    enum claim claim;
    double confidence;
};

static struct fake_truth {
    double effects[CONTRASTS_MAX]; /* true median log ratios */
    double noise;
    double skew;  /* of rare slow requests */
    double other; /* what another summary of the same rows says */
} truth;

static void ask(struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round, char suffix)
{
    struct step step = {.operation = OPERATION_READ, .length_bytes = 512};

    snprintf(step.label.phase, sizeof(step.label.phase), "%s", phase);
    snprintf(step.label.cell, sizeof(step.label.cell), "%s-%c", contrast->name,
             suffix);
    step.label.round = round;
    study_ask(study, &step);
}

static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    bool swapped = random_below(random, 2);

    ask(study, phase, contrast, round, swapped ? 'b' : 'a');
    ask(study, phase, contrast, round, swapped ? 'a' : 'b');
}

static const struct timing *one_row(const struct study *study,
                                    const char *phase, const char *name,
                                    uint32_t round, char suffix)
{
    char cell[LABEL_CELL_MAX];

    snprintf(cell, sizeof(cell), "%.30s-%c", name, suffix);
    const struct ledger_entry *entry =
        ledger_get(&study->ledger, phase, cell, round);
    return entry && !entry->failed && entry->count == 1 ? entry->timings : NULL;
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    const struct timing *a = one_row(study, phase, contrast->name, round, 'a');
    const struct timing *b = one_row(study, phase, contrast->name, round, 'b');

    (void)random;
    if (!a || !b)
        return false;
    *ratio =
        contrast->summary ? truth.other : log((double)b->ns / (double)a->ns);
    return true;
}

static void think(struct study *study, struct findings *findings)
{
    struct fake *fake = (struct fake *)study;

    fake->claim =
        study_claim(study, "claim", fake->contrasts, fake->count, &fake->rule);
    fake->confidence =
        claim_confidence(fake->contrasts, fake->count, &fake->rule);
    struct finding *finding = findings_add(findings, "fake", "clustered_page");
    finding->verdict = fake->claim == CLAIM_HOLDS   ? VERDICT_FOUND
                       : fake->claim == CLAIM_FALLS ? VERDICT_ABSENT
                                                    : VERDICT_INCONCLUSIVE;
    finding->confidence = fake->confidence;
    finding_why(finding, "%.6f after %u rounds", fake->contrasts[0].median,
                fake->contrasts[0].rounds_count);
}

static void plan(const struct setting *setting, struct probe_plan *result)
{
    (void)setting;
    result->requests = 100;
}

static const struct probe fake_probe = {
    .name = "fake", .answers = {"clustered_page"}, .plan = plan};

/* Thresholds 0.05 and 0.12, all expected above, alpha 1e-4: as probes do. */
static struct fake fake_of(uint64_t seed, size_t count)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    const struct setting setting = {.seed = seed};
    struct fake fake = {.count = count,
                        .rule = {.alpha = 1e-4, .looks = claim_looks}};

    study_init(&fake.study, &fake_probe, &ops, &setting);
    for (size_t i = 0; i < count; i++) {
        struct contrast *contrast = &fake.contrasts[i];
        contrast->n[0] = i;
        contrast->expected = SIDE_ABOVE;
        contrast->low = 0.05;
        contrast->high = 0.12;
        snprintf(contrast->name, sizeof(contrast->name), "c%zu", i);
    }
    return fake;
}

/* What a drive of the truth answers. */
static struct sample answered(const struct step *step, struct random *random,
                              uint64_t *now_ns)
{
    struct sample sample = {.operation = step->operation,
                            .length_bytes = step->length_bytes,
                            .label = step->label,
                            .parts_count = 1,
                            .submit_ns = *now_ns};
    size_t contrast = (size_t)(step->label.cell[1] - '0');
    bool second = step->label.cell[3] == 'b';
    double ns = 1e6 * exp((second ? truth.effects[contrast] : 0) +
                          truth.noise * random_normal(random));

    if (random_unit(random) < truth.skew)
        ns *= 30;
    *now_ns += (uint64_t)ns;
    sample.complete_ns = *now_ns;
    return sample;
}

struct recording {
    struct sample *rows;
    size_t count;
};

/* Until the probe is done, or `most` rows were fed; rows are kept if asked. */
static size_t run(struct fake *fake, uint64_t seed, size_t most,
                  struct recording *recording)
{
    struct random random;
    struct step step;
    uint64_t now_ns = 0;
    size_t rows = 0;

    random_seed(&random, seed ^ 0x5eed);
    while (rows < most && study_probe_next(&fake->study, &step) == PROBE_STEP) {
        struct sample sample = answered(&step, &random, &now_ns);
        ck_assert_int_eq(study_probe_feed(&fake->study, &sample), 0);
        ck_assert_uint_lt(rows, ROWS_MAX);
        if (recording)
            recording->rows[recording->count++] = sample;
        rows++;
    }
    return rows;
}

static struct recording recording_new(void)
{
    struct recording recording = {.rows =
                                      malloc(ROWS_MAX * sizeof(struct sample))};

    ck_assert_ptr_nonnull(recording.rows);
    return recording;
}

static enum claim claim_of(uint64_t seed, size_t count, double *confidence)
{
    struct fake fake = fake_of(seed, count);

    run(&fake, seed, ROWS_MAX, NULL);
    if (confidence)
        *confidence = fake.confidence;
    study_free(&fake.study);
    return fake.claim;
}

START_TEST(a_claim_holds_falls_or_stays_open_as_it_is_true)
{
    static const struct {
        double first, second, noise;
        enum claim claim;
    } cases[] = {
        {0.3, 0.3, 0.02, CLAIM_HOLDS}, {0.3, 0.3, 0.2, CLAIM_HOLDS},
        {0.3, 0.0, 0.02, CLAIM_FALLS}, {0.0, 0.0, 0.05, CLAIM_FALLS},
        {0.3, 0.085, 2.0, CLAIM_OPEN}, {0.1, 0.1, 3.0, CLAIM_OPEN},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        truth =
            (struct fake_truth){.effects = {cases[i].first, cases[i].second},
                                .noise = cases[i].noise,
                                .skew = 0.02};
        for (uint64_t seed = 0; seed < 20; seed++) {
            double confidence;
            enum claim claim = claim_of(seed, 2, &confidence);
            ck_assert_msg(claim == cases[i].claim, "case %zu, seed %d: %d", i,
                          (int)seed, claim);
            if (claim == CLAIM_HOLDS)
                ck_assert_double_ge(confidence, 1 - 1e-4);
        }
    }
}
END_TEST

START_TEST(either_side_will_do_where_none_is_expected)
{
    struct fake fake = fake_of(1, 2);

    truth = (struct fake_truth){.effects = {0.3, 0}, .noise = 0.02};
    for (size_t i = 0; i < 2; i++)
        fake.contrasts[i].expected = SIDE_OPEN;
    run(&fake, 1, ROWS_MAX, NULL);
    ck_assert_int_eq(fake.claim, CLAIM_HOLDS);
    ck_assert_int_eq(fake.contrasts[0].side, SIDE_ABOVE);
    ck_assert_int_eq(fake.contrasts[1].side, SIDE_BELOW);
    ck_assert_double_eq_tol(fake.contrasts[0].median, 0.3, 0.03);
    ck_assert_double_eq_tol(fake.contrasts[1].median, 0, 0.03);
    study_free(&fake.study);
}
END_TEST

START_TEST(another_summary_may_say_that_there_is_nothing_and_no_more)
{
    static const struct {
        uint32_t summaries;
        double other;
        enum claim claim;
        enum side side;
    } cases[] = {{1, 0, CLAIM_OPEN, SIDE_OPEN},
                 {2, 0, CLAIM_HOLDS, SIDE_BELOW},
                 {2, 0.5, CLAIM_OPEN, SIDE_OPEN}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fake fake = fake_of(1, 1);
        truth = (struct fake_truth){
            .effects = {0.085}, .noise = 2, .other = cases[i].other};
        fake.contrasts[0].expected = SIDE_BELOW;
        fake.contrasts[0].summaries_count = cases[i].summaries;
        run(&fake, 1, ROWS_MAX, NULL);
        ck_assert_int_eq(fake.claim, cases[i].claim);
        ck_assert_int_eq(fake.contrasts[0].side, cases[i].side);
        study_free(&fake.study);
    }
}
END_TEST

/* On the threshold itself a claim is false by a hair: it may hold no more
 * often than alpha says, whatever the number of looks. */
START_TEST(false_claims_are_as_rare_as_stated)
{
    enum { TRIALS = 800 };
    const double alpha = 0.1;
    unsigned above = 0, below = 0;

    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        for (int side = 0; side < 2; side++) {
            struct fake fake = fake_of(seed, 1);
            fake.rule.alpha = alpha;
            truth = (struct fake_truth){.noise = 0.1};
            truth.effects[0] =
                side ? fake.contrasts[0].high : fake.contrasts[0].low;
            /* Only one of the two sides can be decided at all. */
            if (side)
                fake.contrasts[0].low = 1e9;
            else
                fake.contrasts[0].high = -1e9;
            run(&fake, seed, ROWS_MAX, NULL);
            above += fake.contrasts[0].side == SIDE_ABOVE;
            below += fake.contrasts[0].side == SIDE_BELOW;
            study_free(&fake.study);
        }
    }
    double most = TRIALS * alpha + 4 * sqrt(TRIALS * alpha);
    ck_assert_double_le(above, most);
    ck_assert_double_le(below, most);
    /* They do occur, or the test would prove nothing. */
    ck_assert_uint_gt(above, 10);
    ck_assert_uint_gt(below, 10);
}
END_TEST

START_TEST(confidence_is_one_minus_the_error_of_all_looks_and_contrasts)
{
    struct fake fake = fake_of(1, 2);

    truth = (struct fake_truth){.effects = {0.5, 0.5}, .noise = 0.01};
    run(&fake, 1, ROWS_MAX, NULL);
    ck_assert_int_eq(fake.claim, CLAIM_HOLDS);
    /* Decided at the first look, 18 of 18, for each of 8 looks and both. */
    ck_assert_uint_eq(fake.contrasts[0].rounds_count, 18);
    ck_assert_double_eq_tol(fake.confidence, 1 - 2 * 8 * pow(0.5, 18), 1e-12);
    ck_assert_ptr_null(claim_culprit(fake.contrasts, 2));
    study_free(&fake.study);
}
END_TEST

START_TEST(looks_are_taken_as_given_and_no_round_is_measured_without_need)
{
    static const uint32_t looks[] = {10, 30, 40, 0};
    static const struct {
        double effect, noise;
        size_t rounds;
    } cases[] = {{0.5, 0.01, 10}, {0.085, 1.5, 40}};

    for (int i = 0; i < 2; i++) {
        struct fake fake = fake_of(3, 1);
        fake.rule = (struct claim_rule){.alpha = 0.05, .looks = looks};
        truth = (struct fake_truth){.effects = {cases[i].effect},
                                    .noise = cases[i].noise};
        ck_assert_uint_eq(run(&fake, 3, ROWS_MAX, NULL), 2 * cases[i].rounds);
        ck_assert_uint_eq(fake.contrasts[0].rounds_count, cases[i].rounds);
        study_free(&fake.study);
    }
}
END_TEST

START_TEST(what_is_decided_is_measured_no_further)
{
    struct fake fake = fake_of(12, 2);

    truth = (struct fake_truth){.effects = {2.0, 0.3}, .noise = 0.2};
    size_t rows = run(&fake, 12, ROWS_MAX, NULL);
    ck_assert_int_eq(fake.claim, CLAIM_HOLDS);
    ck_assert_uint_lt(fake.contrasts[0].rounds_count,
                      fake.contrasts[1].rounds_count);
    ck_assert_uint_eq(rows, 2 * (fake.contrasts[0].rounds_count +
                                 fake.contrasts[1].rounds_count));
    study_free(&fake.study);
}
END_TEST

START_TEST(a_claim_that_fell_is_finished_only_when_asked_for)
{
    for (int to_the_end = 0; to_the_end < 2; to_the_end++) {
        struct fake fake = fake_of(4, 2);
        fake.rule.to_the_end = to_the_end;
        /* The first falls at once, the second needs more rounds. */
        truth = (struct fake_truth){.effects = {-0.5, 0.4}, .noise = 0.25};
        run(&fake, 4, ROWS_MAX, NULL);
        ck_assert_int_eq(fake.claim, CLAIM_FALLS);
        ck_assert_ptr_eq(claim_culprit(fake.contrasts, 2), &fake.contrasts[0]);
        ck_assert_int_eq(fake.contrasts[0].side, SIDE_BELOW);
        ck_assert_int_eq(fake.contrasts[1].side,
                         to_the_end ? SIDE_ABOVE : SIDE_OPEN);
        study_free(&fake.study);
    }
}
END_TEST

/* The second must stay below half of the first. */
static void half_of_first(struct contrast contrasts[], size_t count)
{
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_ge(contrasts[0].rounds_count, 18);
    contrasts[1].low = contrasts[1].high = contrasts[0].median / 2;
}

START_TEST(thresholds_follow_the_effect_that_was_measured)
{
    static const double seconds[] = {0.3, 0.7};
    static const enum claim claims[] = {CLAIM_HOLDS, CLAIM_FALLS};

    for (int i = 0; i < 2; i++) {
        struct fake fake = fake_of(5, 2);
        fake.rule.adapt = half_of_first;
        fake.contrasts[1].expected = SIDE_BELOW;
        truth =
            (struct fake_truth){.effects = {1.0, seconds[i]}, .noise = 0.03};
        run(&fake, 5, ROWS_MAX, NULL);
        ck_assert_int_eq(fake.claim, claims[i]);
        ck_assert_double_eq_tol(fake.contrasts[1].high, 0.5, 0.03);
        study_free(&fake.study);
    }
}
END_TEST

static bool same_label(const struct label *a, const struct label *b)
{
    return a->round == b->round && strcmp(a->phase, b->phase) == 0 &&
           strcmp(a->cell, b->cell) == 0;
}

START_TEST(nothing_is_asked_twice_and_pairs_lie_side_by_side)
{
    struct recording recording = recording_new();
    struct fake fake = fake_of(6, 3);
    size_t first_was_b = 0, order_changed = 0;

    truth = (struct fake_truth){.effects = {0.3, 0.3, 0.13}, .noise = 0.1};
    run(&fake, 6, ROWS_MAX, &recording);
    ck_assert_uint_gt(recording.count, 3 * 2 * 18);
    for (size_t i = 0; i < recording.count; i++)
        for (size_t j = i + 1; j < recording.count; j++)
            ck_assert(!same_label(&recording.rows[i].label,
                                  &recording.rows[j].label));
    for (size_t i = 0; i + 1 < recording.count; i += 2) {
        const struct label *a = &recording.rows[i].label;
        const struct label *b = &recording.rows[i + 1].label;
        ck_assert_uint_eq(a->round, b->round);
        ck_assert_int_eq(strncmp(a->cell, b->cell, 3), 0);
        first_was_b += a->cell[3] == 'b';
        if (i >= 6 && i < 108 && i % 6 == 0)
            order_changed += a->cell[1] != recording.rows[i - 6].label.cell[1];
    }
    /* In random order: neither always the same way round. */
    ck_assert_uint_gt(first_was_b, recording.count / 8);
    ck_assert_uint_lt(first_was_b, recording.count * 3 / 8);
    ck_assert_uint_gt(order_changed, 3);
    study_free(&fake.study);
    free(recording.rows);
}
END_TEST

static void expect_same(const struct findings *a, const struct findings *b)
{
    ck_assert_uint_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct finding *x = &a->items[i], *y = &b->items[i];
        ck_assert_int_eq(x->verdict, y->verdict);
        ck_assert_str_eq(x->parameter, y->parameter);
        ck_assert_str_eq(x->why, y->why);
        ck_assert_double_eq(x->confidence, y->confidence);
    }
}

/* However far it came: fed in one go, the rows say the same. */
START_TEST(a_recording_concludes_as_its_run_did)
{
    truth =
        (struct fake_truth){.effects = {0.3, 0.2}, .noise = 0.1, .skew = 0.05};
    for (size_t most = 0; most < 200; most += 7) {
        struct recording recording = recording_new();
        static struct findings live, again;
        struct fake fake = fake_of(7, 2), replay = fake_of(7, 2);
        live.count = again.count = 0;
        run(&fake, 7, most, &recording);
        study_probe_conclude(&fake.study, &live);
        for (size_t i = 0; i < recording.count; i++)
            ck_assert_int_eq(
                study_probe_feed(&replay.study, &recording.rows[i]), 0);
        study_probe_conclude(&replay.study, &again);
        ck_assert_uint_eq(live.count, 1);
        expect_same(&live, &again);
        if (most < 72)
            ck_assert_int_eq(live.items[0].verdict, VERDICT_INCONCLUSIVE);
        study_free(&fake.study);
        study_free(&replay.study);
        free(recording.rows);
    }
}
END_TEST

/* Two answers, of which the second takes rows of its own. */
static void think_in_parts(struct study *study, struct findings *findings)
{
    struct fake *fake = (struct fake *)study;
    double ratios[20];

    think(study, findings);
    study_ratios(study, "later", &fake->contrasts[0], 20, ratios);
    finding_found(findings_add(findings, "fake", "read_modify_write"),
                  value_boolean(true), 0.9);
}

/* Whenever it ends, each parameter has one finding, and what is known by then
 * is said: also beside an older finding of the same name. */
START_TEST(what_is_known_by_the_end_is_said)
{
    static const struct study_ops ops = {
        .think = think_in_parts, .emit = emit, .value = value};
    static const struct probe probe = {
        .name = "fake",
        .answers = {"clustered_page", "read_modify_write"},
        .plan = plan};
    static struct findings findings;

    truth = (struct fake_truth){.effects = {0.5}, .noise = 0.01};
    for (size_t most = 0; most < 90; most += 5) {
        struct fake fake = fake_of(9, 1);
        fake.study.ops = &ops;
        fake.study.probe = &probe;
        findings.count = 0;
        findings_add(&findings, "told", "clustered_page");
        findings_add(&findings, "told", "read_modify_write");
        const size_t rows = run(&fake, 9, most, NULL);
        study_probe_conclude(&fake.study, &findings);
        ck_assert_uint_eq(findings.count, 4);
        const struct finding *first = &findings.items[2], *second = first + 1;
        ck_assert_str_eq(first->parameter, "clustered_page");
        ck_assert_int_eq(first->verdict,
                         rows >= 36 ? VERDICT_FOUND : VERDICT_INCONCLUSIVE);
        ck_assert_str_eq(second->parameter, "read_modify_write");
        ck_assert_int_eq(second->verdict,
                         rows >= 76 ? VERDICT_FOUND : VERDICT_INCONCLUSIVE);
        study_free(&fake.study);
    }
}
END_TEST

START_TEST(a_failed_request_ends_it_without_a_verdict)
{
    static struct findings findings;
    struct fake fake = fake_of(8, 1);
    struct step step;
    struct sample sample = {.error = -EIO, .label = {"claim", "c0-a", 0}};

    truth = (struct fake_truth){.effects = {0.5}, .noise = 0.01};
    run(&fake, 8, 20, NULL);
    ck_assert_int_eq(study_probe_feed(&fake.study, &sample), 0);
    while (study_next(&fake.study, &step)) /* what was asked for is left */
        ;
    ck_assert_int_eq(study_probe_next(&fake.study, &step), PROBE_DONE);
    findings.count = 0;
    study_probe_conclude(&fake.study, &findings);
    ck_assert_uint_eq(findings.count, 1);
    ck_assert_int_eq(findings.items[0].verdict, VERDICT_INCONCLUSIVE);
    ck_assert_double_eq(findings.items[0].confidence, 0);
    ck_assert_ptr_nonnull(strstr(findings.items[0].why, "a request failed"));
    ck_assert_str_eq(findings.items[0].unit, parameter_unit("clustered_page"));
    study_free(&fake.study);
}
END_TEST

START_TEST(one_seed_asks_in_one_order_and_another_in_another)
{
    struct recording one = recording_new(), two = recording_new();
    struct recording other = recording_new();
    struct recording *all[] = {&one, &two, &other};

    truth = (struct fake_truth){.effects = {0.3, 0.3}, .noise = 0.01};
    for (uint64_t i = 0; i < 3; i++) {
        struct fake fake = fake_of(i == 2 ? 10 : 9, 2);
        run(&fake, 9, 72, all[i]);
        study_free(&fake.study);
        ck_assert_uint_eq(all[i]->count, 72);
    }
    size_t differ = 0, differ_other = 0;
    for (size_t i = 0; i < 72; i++) {
        differ += !same_label(&one.rows[i].label, &two.rows[i].label);
        differ_other += !same_label(&one.rows[i].label, &other.rows[i].label);
    }
    ck_assert_uint_eq(differ, 0);
    ck_assert_uint_gt(differ_other, 10);
    free(one.rows);
    free(two.rows);
    free(other.rows);
}
END_TEST

/* ---- searching a threshold --------------------------------------------- */

struct hidden {
    uint64_t place_bytes;
    double reliability;
    size_t questions;
};

static bool holds(void *context, const char *phase, uint32_t index,
                  uint64_t place_bytes)
{
    struct hidden *hidden = context;
    struct random random;

    random_seed(&random, random_hash(phase) + index);
    bool right = random_unit(&random) < hidden->reliability;
    hidden->questions = index + 1;
    return (place_bytes <= hidden->place_bytes) == right;
}

START_TEST(a_threshold_is_found_whatever_its_answers_are_worth)
{
    unsigned found = 0;

    for (unsigned i = 0; i < 200; i++) {
        struct hidden hidden = {.place_bytes = 1024 * (128 + i),
                                .reliability = i % 2 ? 1 : 0.85};
        const struct edge_bisection search = {
            .bracket = {64 * 1024, 512 * 1024},
            .grain_bytes = 1024,
            .reliability = i % 2 ? 2 : 0.85, /* kept within its limits */
            .holds = holds,
            .context = &hidden};
        char phase[16];
        snprintf(phase, sizeof(phase), "search-%u", i);
        const uint64_t place_bytes = edge_bisect(phase, &search);
        ck_assert_uint_le(hidden.questions, i % 2 ? 20 : 168);
        if (i % 2)
            ck_assert_uint_eq(place_bytes, hidden.place_bytes);
        found += place_bytes == hidden.place_bytes;
    }
    ck_assert_uint_ge(found, 190);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("study");
    TCase *cases = tcase_create("study");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, a_claim_holds_falls_or_stays_open_as_it_is_true);
    tcase_add_test(cases, either_side_will_do_where_none_is_expected);
    tcase_add_test(cases,
                   another_summary_may_say_that_there_is_nothing_and_no_more);
    tcase_add_loop_test(cases, false_claims_are_as_rare_as_stated, 0,
                        suite_rows_more(1));
    tcase_add_test(
        cases, confidence_is_one_minus_the_error_of_all_looks_and_contrasts);
    tcase_add_test(
        cases, looks_are_taken_as_given_and_no_round_is_measured_without_need);
    tcase_add_test(cases, what_is_decided_is_measured_no_further);
    tcase_add_test(cases, a_claim_that_fell_is_finished_only_when_asked_for);
    tcase_add_test(cases, thresholds_follow_the_effect_that_was_measured);
    tcase_add_test(cases, nothing_is_asked_twice_and_pairs_lie_side_by_side);
    tcase_add_test(cases, a_recording_concludes_as_its_run_did);
    tcase_add_test(cases, what_is_known_by_the_end_is_said);
    tcase_add_test(cases, a_failed_request_ends_it_without_a_verdict);
    tcase_add_test(cases, one_seed_asks_in_one_order_and_another_in_another);
    tcase_add_test(cases, a_threshold_is_found_whatever_its_answers_are_worth);
    return suite_run(suite);
}
