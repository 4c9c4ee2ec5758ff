/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What flashbench printed, read and judged: real cards have known answers,
 * noise has none, and damaged files are refused with file and line. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/random.h"
#include "lib/infer/flashbench/flashbench.h"
#include "lib/infer/parameter.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

#define RECORDINGS SOURCE_FOLDER "/tests/recordings/"

enum { KIB = 1024, MIB = 1024 * KIB, TEXT_MAX = 8192 };

/* Which of the four findings. */
enum { UNIT, PAGE, LINEAR, RANDOM, PARAMETERS };
static const char *const names[PARAMETERS] = {
    "read_boundary", "read_page", "open_units_linear", "open_units_random"};

/* A card, as its recordings were read by eye. NONE: nothing may be claimed. */
enum { NONE = 0, OR_MORE = 100 }; /* 7 + OR_MORE: at least 7 */
static const struct truth {
    const char *card;
    int64_t values[PARAMETERS];
} truths[] = {
    {"1", {4 * MIB, NONE, 4, 4}},
    {"3", {4 * MIB, 16 * KIB, 6, 6}},
    {"5", {4 * MIB, 16 * KIB, 3, 3}},
    {"7", {4 * MIB, 8 * KIB, 3, 3}},
    {"9", {4 * MIB, NONE, 4, 4}},
    {"11", {4 * MIB, 16 * KIB, 3, 3}},
    {"13", {4 * MIB, 16 * KIB, 3, 3}},
    {"15", {4 * MIB, 16 * KIB, 3, 3}},
    {"19", {4 * MIB, 16 * KIB, 7 + OR_MORE, 6}},
    {"21", {4 * MIB, 16 * KIB, 3, 3}},
    /* Ever slower with more units, without a collapse. */
    {"25", {4 * MIB, NONE, NONE, NONE}},
    {"27", {4 * MIB, NONE, 7 + OR_MORE, NONE}},
    {"29", {NONE, 16 * KIB, 7 + OR_MORE, 7 + OR_MORE}},
    {"31", {NONE, 16 * KIB, 7 + OR_MORE, 7 + OR_MORE}},
};
enum { TRUTHS = sizeof(truths) / sizeof(truths[0]) };

static char path[SCRATCH_MAX];
static struct flashbench table;
static struct findings findings;

static void open_recording(const char *file)
{
    struct fault why = {FAULT_NONE, ""};
    bool is_flashbench = false;

    ck_assert_msg(flashbench_read(file, &table, &is_flashbench, &why) == 0,
                  "%s", why.text);
    ck_assert_msg(is_flashbench, "%s", file);
}

static void put_file(const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

/* The findings of a text with one run. */
static void infer_text(const char *text)
{
    put_file(text, strlen(text));
    open_recording(path);
    ck_assert_uint_eq(table.runs_count, 1);
    flashbench_infer(&table, 0, &findings);
    flashbench_free(&table);
}

static const struct finding *get(size_t parameter)
{
    const struct finding *finding = findings_get(&findings, names[parameter]);

    ck_assert_msg(finding != NULL, "no %s", names[parameter]);
    return finding;
}

static void expect_value(size_t parameter, int64_t value)
{
    const struct finding *finding = get(parameter);

    ck_assert_msg(finding->verdict == VERDICT_FOUND, "%s: %s", names[parameter],
                  finding->why);
    ck_assert_int_eq(finding->value.kind, VALUE_INTEGER);
    ck_assert_int_eq(finding->value.integer, value);
}

static void expect_reason(size_t parameter, const char *words)
{
    const struct finding *finding = get(parameter);

    ck_assert_int_eq(finding->verdict, VERDICT_INCONCLUSIVE);
    ck_assert_msg(strstr(finding->why, words), "expected '%s' in: %s", words,
                  finding->why);
}

static const struct truth *truth_of(const char *card)
{
    for (size_t i = 0; i < TRUTHS; i++)
        if (strcmp(truths[i].card, card) == 0)
            return &truths[i];
    ck_abort_msg("no card %s", card);
    return NULL;
}

/* -1: a claim that is not so. 1: the answer. 0: less than that. */
static int judge(const struct finding *finding, int64_t truth)
{
    bool is_bound = truth > OR_MORE && truth < 2 * OR_MORE;
    int64_t least = is_bound ? truth - OR_MORE : truth;

    if (finding->verdict != VERDICT_FOUND)
        return 0;
    ck_assert_int_eq(finding->low.kind, VALUE_INTEGER);
    if (truth == NONE || finding->low.integer > least)
        return -1;
    if (finding->high.kind == VALUE_NONE)
        return is_bound && finding->low.integer == least;
    if (is_bound || finding->high.integer < truth)
        return -1;
    return finding->value.kind == VALUE_INTEGER;
}

static void expect_well_formed(const struct finding *finding)
{
    bool found = finding->verdict == VERDICT_FOUND;

    ck_assert(found || finding->verdict == VERDICT_INCONCLUSIVE);
    ck_assert_str_eq(finding->unit, parameter_unit(finding->parameter));
    ck_assert(finding->why[0] != '\0');
    ck_assert_uint_lt(strlen(finding->why), sizeof(finding->why) - 1);
    ck_assert(found ? finding->confidence >= 0.5 && finding->confidence <= 0.99
                    : finding->confidence <= 0);
    ck_assert(found || finding->value.kind == VALUE_NONE);
}

/* Judges every run of a file: all must be right or silent; `parameter` must be
 * answered for every card that has an answer. */
static void judge_file(const char *file, size_t first, size_t last)
{
    open_recording(file);
    for (size_t t = 0; t < TRUTHS; t++) {
        size_t right[PARAMETERS] = {0}, runs = 0;
        for (size_t i = 0; i < table.runs_count; i++) {
            const struct flashbench_run *run = &table.runs[i];
            if (truth_of(run->card) != &truths[t])
                continue;
            runs++;
            flashbench_infer(&table, i, &findings);
            ck_assert_uint_eq(findings.count, 2);
            for (size_t p = first; p <= last; p++) {
                int verdict = judge(get(p), truths[t].values[p]);
                ck_assert_msg(verdict >= 0, "run %s: %s: %s", run->run,
                              names[p], get(p)->why);
                right[p] += (size_t)verdict;
                expect_well_formed(get(p));
            }
        }
        for (size_t p = first; p <= last && runs; p++)
            ck_assert_msg(truths[t].values[p] == NONE ||
                              right[p] >= (p == UNIT ? runs : 1),
                          "card %s: %s in %zu of %zu runs", truths[t].card,
                          names[p], right[p], runs);
    }
    flashbench_free(&table);
}

/* Numbers of public listings: what a boundary costs, from the largest alignment
 * down by halves; and what is plain to the eye in them, or between what. */
static const struct listing {
    uint64_t largest_bytes;
    double read_us, extra_us[24];
    int64_t units[2], pages[2];
} listings[] = {
    /* A Kingston of 4 GB, whose owner reads "2 or 4 MiB". */
    {UINT64_C(1) << 30,
     1700,
     {686, 684, 696, 667, 695, 682, 681, 658, 650,  605,
      576, 581, 576, 580, 566, 504, 544, 19,  14.6, 11.8},
     {2 * MIB, 4 * MIB},
     {16 * KIB, 16 * KIB}},
    /* flashbench's own example: pages of 8 KiB, two at a time. */
    {128 * MIB,
     760,
     {324, 300, 294, 302, 299, 317, 171, 169, 165, 171, 165, 159, 157, 148,
      53.3, 5.85, 4.65},
     {4 * MIB, 4 * MIB},
     {8 * KIB, 16 * KIB}},
    /* 512 MiB and 1 GiB cost less; the list begins at 8 KiB. */
    {UINT64_C(8) << 30,
     1400,
     {1240, 1190, 1160, 868, 931, 1030, 1130, 1120, 1120, 1070, 1090,
      1070, 813,  835,  848, 813, 850,  841,  822,  852,  277},
     {4 * MIB, 4 * MIB},
     {NONE, NONE}},
    /* A Samsung on which nothing drastic happens. */
    {UINT64_C(2) << 30,
     2000,
     {433, 274, 291, 358, 360, 315, 565, 428, 584,  500, 372,
      558, 432, 471, 330, 520, 478, 399, -90, 51.3, 83.9},
     {NONE, NONE},
     {NONE, NONE}},
};

static void expect_interval(size_t parameter, const int64_t ends[2])
{
    const struct finding *finding = get(parameter);

    ck_assert_int_eq(finding->verdict,
                     ends[0] ? VERDICT_FOUND : VERDICT_INCONCLUSIVE);
    if (ends[0] == NONE)
        return;
    ck_assert_int_eq(finding->low.integer, ends[0]);
    ck_assert_int_eq(finding->high.integer, ends[1]);
}

START_TEST(public_listings_say_what_the_eye_sees)
{
    const struct listing *listing = &listings[_i];
    struct flashbench_align aligns[24];
    struct flashbench listed = {.pasted = true, .aligns = aligns};

    for (size_t i = 0; listing->extra_us[i] != 0; i++)
        aligns[listed.aligns_count++] = (struct flashbench_align){
            .align_bytes = listing->largest_bytes >> i,
            .repeat = 1,
            .read_ns = listing->read_us * 1e3,
            .extra_ns = listing->extra_us[i] * 1e3};
    flashbench_infer(&listed, 0, &findings);
    expect_interval(UNIT, listing->units);
    expect_interval(PAGE, listing->pages);
}
END_TEST

START_TEST(units_and_pages_of_real_cards)
{
    judge_file(RECORDINGS "sdcard-align.csv", UNIT, PAGE);
}
END_TEST

START_TEST(open_units_of_real_cards)
{
    judge_file(RECORDINGS "sdcard-openau.csv", LINEAR, RANDOM);
}
END_TEST

START_TEST(first_units_say_nothing_of_these)
{
    open_recording(RECORDINGS "sdcard-findfat.csv");
    ck_assert_uint_gt(table.first_units_count, 700);
    flashbench_infer(&table, 0, &findings);
    ck_assert_uint_eq(findings.count, PARAMETERS);
    for (size_t p = 0; p < PARAMETERS; p++)
        expect_reason(p, "no rows");
    flashbench_free(&table);
}
END_TEST

START_TEST(pasted_text_says_what_the_csv_of_it_says)
{
    struct findings pasted;

    open_recording(RECORDINGS "flashbench-card5.txt");
    flashbench_infer(&table, 0, &pasted);
    flashbench_free(&table);
    ck_assert_uint_eq(pasted.count, PARAMETERS);
    open_recording(RECORDINGS "sdcard-align.csv");
    for (size_t i = 0; i < table.runs_count; i++) {
        if (strcmp(table.runs[i].run, "5") != 0)
            continue;
        flashbench_infer(&table, i, &findings);
        for (size_t p = UNIT; p <= PAGE; p++) {
            const struct finding *a = findings_get(&pasted, names[p]);
            ck_assert_str_eq(a->why, get(p)->why);
            expect_value(p, a->value.integer);
        }
    }
    flashbench_free(&table);
}
END_TEST

/* A copy of the table's rows, of which those that `keep` names stay. */
static size_t keep_rows(struct flashbench *kept, struct random *random,
                        uint64_t repeat, double share)
{
    size_t count = 0;

    for (size_t i = 0; i < table.aligns_count; i++) {
        if ((repeat && table.aligns[i].repeat != repeat) ||
            random_unit(random) > share)
            continue;
        kept->aligns[count++] = table.aligns[i];
    }
    kept->aligns_count = count;
    return count;
}

/* Other samples of the same cards: one repeat of three, or rows left out. What
 * is said must stay right, though less may be said. */
START_TEST(parts_of_a_recording_mislead_rarely)
{
    enum { ROUNDS = 43 };
    size_t right = 0, wrong = 0, silent = 0;
    struct random random;

    open_recording(RECORDINGS "sdcard-align.csv");
    struct flashbench kept = table;
    kept.aligns = malloc(table.aligns_count * sizeof(kept.aligns[0]));
    ck_assert_ptr_nonnull(kept.aligns);
    random_seed(&random, 5);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        keep_rows(&kept, &random, round < 3 ? round + 1 : 0,
                  round < 3 ? 1 : 0.7);
        for (size_t i = 0; i < table.runs_count; i++) {
            const struct truth *truth = truth_of(table.runs[i].card);
            flashbench_infer(&kept, i, &findings);
            for (size_t p = UNIT; p <= PAGE; p++) {
                int verdict = judge(get(p), truth->values[p]);
                if (truth->values[p] == NONE && verdict == 0)
                    continue;
                right += verdict > 0;
                wrong += verdict < 0;
                silent += verdict == 0;
            }
        }
    }
    free(kept.aligns);
    flashbench_free(&table);
    ck_assert_msg(wrong * 50 <= right + wrong, "%zu right, %zu wrong", right,
                  wrong);
    ck_assert_msg(silent * 4 <= right, "%zu right, %zu silent", right, silent);
}
END_TEST

/* One listing of -a; levels in us by `level`, with noise around them. */
static void put_listing(char text[TEXT_MAX], double (*level)(uint64_t bytes),
                        struct random *random, double noise_us,
                        uint64_t multiple)
{
    text[0] = '\0';
    for (uint64_t bytes = UINT64_C(1) << 30; bytes >= 2048; bytes /= 2) {
        size_t used = strlen(text);
        double extra_us =
            level(bytes * multiple) + noise_us * random_normal(random);
        if (extra_us < 0)
            snprintf(text + used, TEXT_MAX - used,
                     "align %llu\tpre 700us\ton 710us\tpost 700us\tdiff "
                     "-%.0fn\n",
                     (unsigned long long)(bytes * multiple), -extra_us * 1e3);
        else
            snprintf(text + used, TEXT_MAX - used,
                     "align %llu\tpre 700us\ton 710us\tpost 700us\tdiff "
                     "%.3gus\n",
                     (unsigned long long)(bytes * multiple), extra_us);
    }
}

static double flat(uint64_t bytes)
{
    (void)bytes;
    return 20;
}

static double step_at_1_mib(uint64_t bytes)
{
    return bytes % MIB == 0 ? 200 : bytes % (8 * KIB) == 0 ? 90 : 0;
}

/* Of a read of 700 us: certain, and of no use. */
static double small_steps(uint64_t bytes)
{
    return bytes % MIB == 0 ? 24 : bytes % (8 * KIB) == 0 ? 12 : 0;
}

static double step_at_3_mib(uint64_t bytes)
{
    return bytes % (3 * MIB) == 0 ? 200 : bytes % (8 * KIB) == 0 ? 90 : 0;
}

/* Each alignment costs a little more than the last. */
static double slope(uint64_t bytes)
{
    return 15 * log2((double)bytes);
}

START_TEST(noise_has_no_unit_and_no_page)
{
    enum { ROUNDS = 2000 };
    size_t claims = 0;
    struct random random;
    char text[TEXT_MAX];

    random_seed(&random, 1);
    for (int i = 0; i < ROUNDS; i++) {
        put_listing(text, flat, &random, i % 2 ? 15 : 150, 1);
        infer_text(text);
        claims += get(UNIT)->verdict == VERDICT_FOUND;
        claims += get(PAGE)->verdict == VERDICT_FOUND;
    }
    ck_assert_msg(claims <= ROUNDS / 200, "%zu claims", claims);
    put_listing(text, slope, &random, 3, 1);
    infer_text(text);
    expect_reason(UNIT, "step");
    expect_reason(PAGE, "gradually");
}
END_TEST

START_TEST(a_step_is_found_in_noise_that_it_exceeds)
{
    struct random random;
    char text[TEXT_MAX];

    random_seed(&random, 2);
    for (int i = 0; i < 100; i++) {
        put_listing(text, step_at_1_mib, &random, 4, 1);
        infer_text(text);
        expect_value(UNIT, MIB);
        expect_value(PAGE, 8 * KIB);
    }
    put_listing(text, step_at_1_mib, &random, 60, 1);
    infer_text(text);
    ck_assert_int_eq(get(UNIT)->verdict, VERDICT_INCONCLUSIVE);
}
END_TEST

START_TEST(a_step_that_does_not_matter_is_none)
{
    struct random random;
    char text[TEXT_MAX];

    random_seed(&random, 6);
    put_listing(text, small_steps, &random, 0.1, 1);
    infer_text(text);
    expect_reason(UNIT, "of a read");
    expect_reason(PAGE, "pages do not show");
}
END_TEST

START_TEST(few_rows_prove_nothing)
{
    struct random random;
    char text[TEXT_MAX];

    random_seed(&random, 8);
    put_listing(text, step_at_1_mib, &random, 1, 1);
    *strstr(text, "align 32768\t") = '\0'; /* from 64 KiB up */
    infer_text(text);
    expect_value(UNIT, MIB);
    char *few = strstr(text, "align 8388608\t");
    *strstr(few, "align 131072\t") = '\0'; /* six are left */
    infer_text(few);
    expect_reason(UNIT, "chance");
    expect_reason(PAGE, "too few");
    put_listing(text, step_at_1_mib, &random, 1, 1);
    *strstr(text, "align 2048\t") = '\0';
    infer_text(strstr(text, "align 65536\t"));
    expect_reason(PAGE, "chance");
}
END_TEST

START_TEST(an_alignment_that_is_missing_leaves_an_interval)
{
    struct random random;
    char text[TEXT_MAX];

    random_seed(&random, 9);
    put_listing(text, step_at_1_mib, &random, 1, 1);
    memcpy(strstr(text, "align 1048576\t"), "leave", 5);
    infer_text(text);
    ck_assert_int_eq(get(UNIT)->verdict, VERDICT_FOUND);
    ck_assert_int_eq(get(UNIT)->value.kind, VALUE_NONE);
    ck_assert_int_eq(get(UNIT)->low.integer, MIB);
    ck_assert_int_eq(get(UNIT)->high.integer, 2 * MIB);
}
END_TEST

START_TEST(a_unit_may_be_three_times_a_power_of_two)
{
    struct random random;
    char text[2 * TEXT_MAX], more[TEXT_MAX];

    random_seed(&random, 3);
    put_listing(text, step_at_3_mib, &random, 4, 1);
    infer_text(text);
    ck_assert_int_eq(get(UNIT)->verdict, VERDICT_INCONCLUSIVE);
    put_listing(more, step_at_3_mib, &random, 4, 3);
    snprintf(text + strlen(text), TEXT_MAX, "%s", more);
    infer_text(text);
    expect_value(UNIT, 3 * MIB);
    /* Where powers of two show the step, the others show it three times later
     * and add nothing. */
    put_listing(text, step_at_1_mib, &random, 4, 1);
    put_listing(more, step_at_1_mib, &random, 4, 3);
    snprintf(text + strlen(text), TEXT_MAX, "%s", more);
    infer_text(text);
    expect_value(UNIT, MIB);
}
END_TEST

START_TEST(repeats_that_disagree_leave_no_answer)
{
    struct random random;
    char text[3 * TEXT_MAX], more[TEXT_MAX];

    random_seed(&random, 4);
    put_listing(text, step_at_1_mib, &random, 2, 1);
    put_listing(more, step_at_1_mib, &random, 2, 1);
    snprintf(text + strlen(text), TEXT_MAX, "%s", more);
    put_listing(more, flat, &random, 2, 1);
    snprintf(text + strlen(text), TEXT_MAX, "%s", more);
    infer_text(text);
    expect_reason(UNIT, "not in each of them");
    expect_reason(PAGE, "not in each of them");
}
END_TEST

START_TEST(all_ways_to_print_a_time_are_read)
{
    put_file("> align 4096\tpre 626\302\265s\ton 1.06ms\tpost 905us\t"
             "diff -412331\r\n"
             "  align 2048 pre 1e+03\316\274s on 2ms post 1.1ms diff -22669n "
             "<- odd\n",
             strlen("> align 4096\tpre 626\302\265s\ton 1.06ms\tpost 905us\t"
                    "diff -412331\r\n"
                    "  align 2048 pre 1e+03\316\274s on 2ms post 1.1ms diff "
                    "-22669n <- odd\n"));
    open_recording(path);
    ck_assert_uint_eq(table.aligns_count, 2);
    ck_assert_double_eq_tol(table.aligns[0].read_ns, 765500, 1e-3);
    /* Cut off, so computed again. */
    ck_assert_double_eq_tol(table.aligns[0].extra_ns, 294500, 1e-3);
    ck_assert_double_eq_tol(table.aligns[1].read_ns, 1050000, 1e-3);
    ck_assert_double_eq_tol(table.aligns[1].extra_ns, -22669, 1e-3);
    flashbench_free(&table);
}
END_TEST

/* The same two rows of -a and two of --open-au, as they are pasted. */
static const char *const pastes[] = {
    /* Plain, and with what flashbench cuts off after seven bytes. */
    "align 8192\tpre 1e+03\302\265\ton 1.06ms\tpost 900\302\265s\tdiff 110us\n"
    "align 4096\tpre 1e+03us\ton 1.06ms\tpost 900us\tdiff 41.2us\n"
    "$ flashbench -O --open-au-nr=3 /dev/sdb\n4MiB    8M/s\n2MiB    1e+03K/\n",
    /* Line ends of old Macs, blanks that do not break, a mark of order. */
    "\357\273\277align\302\2408192 pre\302\2401ms on 1.06ms post 900us diff "
    "110us\ralign 4096 pre 1ms on 1.06ms post 900us diff 41.2us\r"
    "$ flashbench -O --open-au-nr=3\r4MiB\2408M/s\r2MiB 1M/s\r",
    /* The micro sign, read as something else once or twice, or lost. */
    "align 8192 pre 1000\303\202\302\265s on 1.06ms post "
    "900\303\203\342\200\232\303\202\302\265s diff 110\357\277\275s\n"
    "align 4096 pre 1ms on 1.06ms post 900s diff 41.2\303\216\302\274s\n"
    "# ./flashbench -O --open-au-nr 3\n4MiB 8M/s\n2MiB 1M/s\n",
    /* HTML. */
    "<pre>align 8192&nbsp;pre 1ms on 1.06ms post 900&micro;s diff "
    "110&#181;s<br>"
    "align 4096 pre 1ms on 1.06ms post 900&amp;micro;s diff 41.2&mu;s<br/>"
    "$ flashbench -O --open-au-nr=3 &gt; x<br>4MiB&nbsp;8M/s<br>2MiB "
    "1M/s</pre>",
    /* Lists, quotes, line numbers. */
    "> * align 8192 pre 1ms on 1.06ms post 900us diff 110us\n"
    "\342\200\242 align 4096 pre 1ms on 1.06ms post 900us diff 41.2us\n"
    "12: flashbench -O --open-au-nr=3\n13:4MiB 8M/s\n14 2MiB 1M/s\n",
    "1 align 8192 pre 1ms on 1.06ms post 900us diff 110us <- odd\n"
    "2:align 4096 pre 1ms on 1.06ms post 900us diff 41.2us\n"
    "we saw: AU=3\nthen 4MiB 8M/s and\n- 2MiB 1M/s\n",
    /* Wrapped, within words too; and the last line cut. */
    "> align 8192 pre 1ms on\n> 1.06ms post 900us di\n> ff 110us\n"
    "align 40\n96 pre 1ms on 1.06m\ns post 900us diff 41\n.2us\n"
    "$ flashbench -O \\\n --open-au-nr=3\n4MiB\n8M/s\n2MiB 1M/\ns\n1MiB 1",
    "align 8192 pre 1ms on 1.06ms post 900us diff 110us\n"
    "$ flashbench -O --open-au-nr=3\n4MiB 8M/s\n2MiB 1M/s\n"
    "align 4096 pre 1ms on 1.06ms post 900us diff 41.2us\n"
    "align 2048 pre 1ms on 1.06ms post 9",
    /* Several in a line, as archives of mail show them. */
    "$ flashbench -a align 8192 pre 1ms on 1.06ms post 900us diff 110us align "
    "4096 pre 1ms on 1.06ms post 900us diff 41.2us $ flashbench -O "
    "--open-au-nr=3 4MiB 8M/s 2MiB 1M/s $",
    /* Tables of Markdown. */
    "| align | pre | on | post | diff |\n|---|---|---|---|---|\n"
    "| 8192 | 1ms | 1.06ms | 900us | 110us |\n"
    "|4096|1ms|1.06ms|900 \302\265s|41.2 \302\265s|\n"
    "`flashbench -O --open-au-nr=3`\n| 4MiB | 8M/s |\n| 2 MiB | 1 M/s |\n",
};

START_TEST(pastes_of_any_form_are_the_same_rows)
{
    put_file(pastes[_i], strlen(pastes[_i]));
    open_recording(path);
    ck_assert_uint_eq(table.runs_count, 1);
    ck_assert_uint_eq(table.aligns_count, 2);
    ck_assert_uint_eq(table.speeds_count, 2);
    ck_assert_uint_eq(table.aligns[0].align_bytes, 8192);
    ck_assert_uint_eq(table.aligns[1].align_bytes, 4096);
    ck_assert_uint_eq(table.aligns[1].repeat, 1);
    ck_assert_double_eq_tol(table.aligns[0].read_ns, 950000, 1e-3);
    ck_assert_double_eq_tol(table.aligns[1].read_ns, 950000, 1e-3);
    ck_assert_double_eq_tol(table.aligns[0].extra_ns, 110000, 1e-3);
    ck_assert_double_eq_tol(table.aligns[1].extra_ns, 41200, 1e-3);
    ck_assert_uint_eq(table.speeds[0].write_bytes, 4 * MIB);
    ck_assert_uint_eq(table.speeds[1].write_bytes, 2 * MIB);
    ck_assert_double_eq_tol(table.speeds[0].bytes_per_second, 8e6, 1e-3);
    ck_assert_double_eq_tol(table.speeds[1].bytes_per_second, 1e6, 1e-3);
    ck_assert_uint_eq(table.speeds[1].units_count, 3);
    ck_assert(!table.speeds[1].random);
    flashbench_free(&table);
}
END_TEST

/* Command lines and headings: how many units, whether at random; 0: not
 * said. */
static const struct context {
    const char *text;
    uint64_t units_count;
    bool random;
} contexts[] = {
    {"$ flashbench -O --open-au-nr=5 --random /dev/sdb", 5, true},
    {"$ flashbench -O --open-au-nr 5 -r /dev/sdb", 5, true},
    {"$ flashbench -Or --open-au-nr=5 /dev/sdb", 5, true},
    {"$ flashbench -rOb4096 /dev/sdb --open-au-nr=5", 5, true},
    {"$ flashbench -e 4194304 -b 4096 -rO \\\n  --open-au-nr=5 /dev/sdb", 5,
     true},
    {"$ flashbench -O --blocksize=$[4 * 1024] \\\r\n\t-r\\\r\n"
     "  --open-au-nr=5 x",
     5, true},
    {"> $ sudo ./flashbench -O --erasesize=$[4 * 1024 * 1024]\n"
     "> --open-au-nr=5 --random\n> /dev/mmcblk0",
     5, true},
    {"$ flashbench -O /dev/sdb", 2, false},
    {"$ flashbench --open-au -r /dev/sdb", 2, true},
    {"$ flashbench \342\200\223open-au-nr=5 \342\200\224random x", 5, true},
    /* Neither a path nor a name of a file is an option. */
    {"$ flashbench -O --open-au-nr=5 /dev/disk/by-id/random-stick-r", 5, false},
    {"$ flashbench -O -o random --open-au-nr=5 /dev/sdb", 5, false},
    {"$ cd ~/random && ./flashbench -O --open-au-nr=5 /dev/sdb", 5, false},
    /* Each command begins anew. */
    {"$ flashbench -O --open-au-nr=7 --random x\n4MiB 1M/s\n"
     "$ flashbench -O --open-au-nr=5 x",
     5, false},
    {"$ flashbench -O --open-au-nr=7 --random x\n4MiB 1M/s\n"
     "$ flashbench -O x",
     2, false},
    {"$ flashbench -O --open-au-nr=7 --random x\n4MiB 1M/s\n"
     "$ flashbench -a x\nalign 4096 pre 1us on 2us post 1us diff 1us",
     0, false},
    /* Another listing whose command was not pasted. */
    {"$ flashbench -O --open-au-nr=7 x\n8MiB 3M/s\n4MiB 1M/s", 0, false},
    {"$ for i in 1 2; do flashbench -O --open-au-nr=$i x; done", 0, false},
    {"======= AU=5, random access =======", 5, true},
    {"======= AU=5, linear access =======", 5, false},
    {"BLOCKSIZE = 1024 ERASESIZE = 4194304 AU = 5", 5, false},
    /* Prose about the program takes nothing back. */
    {"$ flashbench -O --open-au-nr=5 -r x\nand flashbench said", 5, true},
};

START_TEST(commands_and_headings_are_understood)
{
    const struct context *context = &contexts[_i];
    char text[512];

    snprintf(text, sizeof(text), "%s\n8MiB 9M/s\n", context->text);
    put_file(text, strlen(text));
    open_recording(path);
    const struct flashbench_speed *last = &table.speeds[table.speeds_count - 1];
    ck_assert_msg(last->units_count == context->units_count &&
                      last->random == context->random,
                  "%s: %llu, %d", context->text,
                  (unsigned long long)last->units_count, last->random);
    flashbench_free(&table);
}
END_TEST

#define TWO_ROWS                                                               \
    "align 8192 pre 1us on 2us post 1us diff 1us\n"                            \
    "align 4096 pre 1us on 2us post 1us diff 1us\n"

/* Texts about one card or two, and what names the second. */
static const struct cards_text {
    const char *text, *second;
} cards_texts[] = {
    {"$ flashbench -a /dev/sdb\n" TWO_ROWS
     "$ flashbench -a /dev/sdc\n" TWO_ROWS,
     "sdc"},
    {"$ flashbench -a /dev/sdb\n" TWO_ROWS
     "$ flashbench -a /dev/sdb1\n" TWO_ROWS,
     NULL},
    {"$ flashbench -a /dev/mmcblk0\n" TWO_ROWS
     "$ flashbench -a /dev/mmcblk0p2\n" TWO_ROWS,
     NULL},
    {TWO_ROWS "$ flashbench -a /dev/sdb\n" TWO_ROWS, NULL},
    {"cid:02544d534130344711222adf3a00dc00\n$ flashbench -a /dev/sdb\n" TWO_ROWS
     "cid:02544d534130344711222adf3a00dc01\n$ flashbench -a "
     "/dev/sdb\n" TWO_ROWS,
     "sdb"},
    {"Card 1: old\n" TWO_ROWS "## Card 2 (new)\n" TWO_ROWS, "2"},
    {"my card reader is\n" TWO_ROWS "the card is\n" TWO_ROWS, NULL},
};

START_TEST(two_cards_in_a_text_are_two)
{
    const struct cards_text *cards = &cards_texts[_i];

    put_file(cards->text, strlen(cards->text));
    open_recording(path);
    ck_assert_uint_eq(table.runs_count, cards->second ? 2 : 1);
    ck_assert_uint_eq(table.aligns_count, 4);
    ck_assert_uint_eq(table.aligns[1].run, 0);
    ck_assert_uint_eq(table.aligns[3].run, cards->second ? 1 : 0);
    ck_assert_str_eq(table.runs[0].run, cards->second ? "1" : "");
    if (cards->second)
        ck_assert_str_eq(table.runs[1].card, cards->second);
    flashbench_free(&table);
}
END_TEST

static const char two_of_three[] =
    "I tried this:\n"
    "$ sudo ./flashbench -O --random /dev/sdx --open-au-nr=2\n"
    "4MiB    9M/s\n2MiB    8M/s\n1MiB    8M/s\n512KiB  7.5M/s\n"
    "256KiB  7M/s\n128KiB  7M/s\n16KiB   1M/s\n"
    "$ sudo ./flashbench -O --random /dev/sdx --open-au-nr=3\n"
    "4MiB    8M/s\n2MiB    5M/s\n1MiB    3M/s\n512KiB  1.7M/s\n"
    "256KiB  900K/s\n128KiB  440K/s\n16KiB   55.1K/s\n";

START_TEST(command_lines_say_how_many_units)
{
    const char *nameless = strchr(two_of_three, '4');

    infer_text(two_of_three);
    expect_value(RANDOM, 2);
    ck_assert_double_lt(get(RANDOM)->confidence, 0.99);
    expect_reason(LINEAR, "no rows");
    expect_reason(UNIT, "no rows");
    char text[128];
    snprintf(text, sizeof(text), "%.60s", nameless);
    infer_text(text);
    expect_reason(LINEAR, "number of units");
}
END_TEST

START_TEST(a_limit_that_was_not_reached_is_a_bound)
{
    char text[1024];
    const char *last = strstr(two_of_three, "$ sudo ./flashbench -O --random "
                                            "/dev/sdx --open-au-nr=3");
    const int length = (int)(last - two_of_three);

    /* One listing alone has nothing to be compared with. */
    snprintf(text, sizeof(text), "%.*s", length, two_of_three);
    infer_text(text);
    expect_reason(RANDOM, "add a listing with --open-au-nr=1");
    snprintf(text, sizeof(text), "%.*s%.*s", length, two_of_three, length,
             two_of_three);
    *(strstr(text, "nr=2") + 3) = '1';
    infer_text(text);
    ck_assert_int_eq(get(RANDOM)->verdict, VERDICT_FOUND);
    ck_assert_int_eq(get(RANDOM)->value.kind, VALUE_NONE);
    ck_assert_int_eq(get(RANDOM)->low.integer, 2);
    ck_assert_int_eq(get(RANDOM)->high.kind, VALUE_NONE);
    /* Beyond the limit from the first on: no bound at all. */
    infer_text(last);
    expect_reason(RANDOM, "already get slower");
}
END_TEST

START_TEST(a_limit_between_two_numbers_is_an_interval)
{
    char text[sizeof(two_of_three)];

    memcpy(text, two_of_three, sizeof(text));
    *(strstr(text, "nr=3") + 3) = '5';
    infer_text(text);
    ck_assert_int_eq(get(RANDOM)->verdict, VERDICT_FOUND);
    ck_assert_int_eq(get(RANDOM)->value.kind, VALUE_NONE);
    ck_assert_int_eq(get(RANDOM)->low.integer, 2);
    ck_assert_int_eq(get(RANDOM)->high.integer, 4);
}
END_TEST

#define ALIGN_HEADER                                                           \
    "run,card,device_bytes,repeat,align,pre_ns,on_ns,post_ns,diff_ns\n"
#define OPEN_HEADER "run,card,device_bytes,mode,open_au_nr,write_size,MBps\n"

/* A text, the line at which it must be refused, and the reason. */
static const struct refusal {
    const char *text;
    unsigned line;
    const char *words;
} refusals[] = {
    {ALIGN_HEADER "a,1,,1,4096,1,2,3\n", 2, "8 columns instead of 9"},
    {ALIGN_HEADER "a,1,,1,4096,1,2,3,4,5\n", 2, "10 columns"},
    {"# x\n" ALIGN_HEADER "a,1,,1,4096,1,2,3,4\na,1,,1,4k,1,2,3,4\n", 4,
     "the alignment '4k'"},
    {ALIGN_HEADER "a,1,,0,4096,1,2,3,4\n", 2, "the repeat '0'"},
    {ALIGN_HEADER "a,1,,1,4096,nan,2,3,4\n", 2, "the time 'nan'"},
    {ALIGN_HEADER "a,1,,1,4096,1,0x2,3,4\n", 2, "the time '0x2'"},
    {ALIGN_HEADER "a,1,,1,4096,1,-2,3,4\n", 2, "not positive"},
    {ALIGN_HEADER "a,1,,1,4096,1,2,3,1e999\n", 2, "the difference"},
    {ALIGN_HEADER "a,1,,1,4096,1,2,3,\n", 2, "the difference"},
    {ALIGN_HEADER "a,,,1,4096,1,2,3,4\n", 2, "not the name"},
    {ALIGN_HEADER "a\"b,1,,1,4096,1,2,3,4\n", 2, "not the name"},
    {ALIGN_HEADER "a,1,,1,9223372036854775808,1,2,3,4\n", 2, "the alignment"},
    {OPEN_HEADER "a,1,,linear,9223372036854775808,65536,4\n", 2, "units"},
    {OPEN_HEADER "a,1,,linear,1,65536,1e300\n", 2, "the speed '1e300'"},
    {"align 9223372036854775808 pre 1us on 2us post 3us diff 1us\n", 1,
     "not a whole number"},
    {"1e17GiB 3M/s\n", 1, "the write size"},
    {ALIGN_HEADER, 1, "no rows"},
    {OPEN_HEADER "a,1,,zigzag,1,65536,4\n", 2, "neither linear nor random"},
    {OPEN_HEADER "a,1,,linear,0,65536,4\n", 2, "number of units '0'"},
    {OPEN_HEADER "a,1,,linear,1,65536,0\n", 2, "not positive"},
    {"hello\nalign 4096 pre 1us on 2us\n", 2, "'post' is missing"},
    {"align 4096 pre 1us on 2xs post 3us diff 1us\n", 1, "'on 2xs' is no"},
    {"align 4096 pre 0ns on 2us post 3us diff 1us\n", 1, "not positive"},
    {"align 4.5 pre 1us on 2us post 3us diff 1us\n", 1, "not a whole number"},
    {"align 0 pre 1us on 2us post 3us diff 1us\n", 1, "not a whole number"},
    {"4MiB 9M/s 8M/s 7M\n2MiB 9M/s 8M 7M/s\n", 2, "'8M' is not a speed"},
    {"align 4096 pre 1us on 2us\nalign 2048 pre 1us", 1, "'post' is missing"},
    {"4MiB 9M/s 8M\n", 1, "'8M' is not a speed"},
    {"\n4MiB 0B/s\n", 2, "'0B/s' is not a speed"},
    {"0.1B 3M/s\n", 1, "the write size '0.1B'"},
};

START_TEST(damage_is_refused_with_file_and_line)
{
    const struct refusal *refusal = &refusals[_i];
    struct fault why = {FAULT_NONE, ""};
    bool is_flashbench = false;
    char place[SCRATCH_MAX + 16];

    put_file(refusal->text, strlen(refusal->text));
    ck_assert_int_eq(flashbench_read(path, &table, &is_flashbench, &why),
                     -EINVAL);
    ck_assert(is_flashbench);
    ck_assert_int_eq(why.kind, FAULT_OPEN);
    snprintf(place, sizeof(place), "%s:%u: ", path, refusal->line);
    ck_assert_msg(strncmp(why.text, place, strlen(place)) == 0,
                  "expected %s... but got: %s", place, why.text);
    ck_assert_msg(strstr(why.text, refusal->words), "expected '%s' in: %s",
                  refusal->words, why.text);
    ck_assert_int_eq(why.text[strlen(why.text) - 1], '.');
    ck_assert_ptr_null(table.aligns);
}
END_TEST

START_TEST(other_files_are_left_to_others)
{
    static const char *const texts[] = {"",
                                        "\n\n",
                                        "# ssdprobe samples\nrun,sequence\n",
                                        "run,card\n1,2\n",
                                        "align your partitions\n4MiB is much\n",
                                        &ALIGN_HEADER[4]};
    struct fault why = {FAULT_NONE, ""};
    bool is_flashbench = true;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        put_file(texts[i], strlen(texts[i]));
        ck_assert_int_eq(flashbench_read(path, &table, &is_flashbench, &why),
                         0);
        ck_assert_msg(!is_flashbench, "%s", texts[i]);
    }
    put_file("align 1 pre\0", 12);
    ck_assert_int_eq(flashbench_read(path, &table, &is_flashbench, &why), 0);
    ck_assert(!is_flashbench);
    ck_assert_int_eq(
        flashbench_read("/no/such/file", &table, &is_flashbench, &why), 0);
    ck_assert(!is_flashbench);
}
END_TEST

/* Changes, cuts, doubles or removes bytes of `text`; returns its new length. */
static size_t mutate(char *text, size_t length, struct random *random)
{
    static const char spice[] = "0123456789.,-e+\n\r\t alignMKGBs/\302\265#\"=";
    size_t changes = 1 + random_below(random, 4);

    while (changes-- && length > 1) {
        size_t at = random_below(random, length);
        size_t span = 1 + random_below(random, 40);
        if (span > length - at)
            span = length - at;
        switch (random_below(random, 4)) {
        case 0:
            text[at] = spice[random_below(random, sizeof(spice) - 1)];
            break;
        case 1:
            text[at] = (char)random_below(random, 256);
            break;
        case 2:
            memmove(text + at, text + at + span, length - at - span);
            length -= span;
            break;
        default:
            if (length + span < TEXT_MAX) {
                memmove(text + at + span, text + at, length - at);
                length += span;
            }
        }
    }
    return length;
}

static size_t first_bytes(const char *file, char text[TEXT_MAX], size_t most)
{
    FILE *stream = fopen(file, "rb");

    ck_assert_ptr_nonnull(stream);
    size_t length = fread(text, 1, most, stream);
    ck_assert_int_eq(fclose(stream), 0);
    return length;
}

START_TEST(no_mutation_crashes_or_lacks_a_sentence)
{
    enum { ROUNDS = 4000 };
    static const char *const files[] = {
        RECORDINGS "sdcard-align.csv", RECORDINGS "sdcard-openau.csv",
        RECORDINGS "sdcard-findfat.csv", RECORDINGS "flashbench-card5.txt"};
    struct random random;
    char good[TEXT_MAX], text[TEXT_MAX];
    size_t refused = 0;

    random_seed(&random, 7);
    for (int i = 0; i < ROUNDS; i++) {
        struct fault why = {FAULT_NONE, ""};
        bool is_flashbench = false;
        size_t length = first_bytes(files[i % 4], good, TEXT_MAX / 2);
        memcpy(text, good, length);
        put_file(text, mutate(text, length, &random));
        int error = flashbench_read(path, &table, &is_flashbench, &why);
        if (error) {
            refused++;
            ck_assert_int_eq(error, -EINVAL);
            ck_assert_int_eq(strncmp(why.text, path, strlen(path)), 0);
            ck_assert_int_eq(why.text[strlen(path)], ':');
            ck_assert_int_eq(why.text[strlen(why.text) - 1], '.');
        }
        for (size_t run = 0; run < table.runs_count; run++) {
            flashbench_infer(&table, run, &findings);
            for (size_t f = 0; f < findings.count; f++)
                expect_well_formed(&findings.items[f]);
        }
        flashbench_free(&table);
    }
    ck_assert_uint_gt(refused, ROUNDS / 4);
    ck_assert_uint_lt(refused, ROUNDS);
}
END_TEST

static void make_file(void)
{
    close(scratch_file(path, "test_flashbench"));
}

static void remove_file(void)
{
    ck_assert_int_eq(unlink(path), 0);
}

int main(void)
{
    Suite *suite = suite_create("flashbench");
    TCase *cards = tcase_create("cards"), *files = tcase_create("files");

    tcase_add_unchecked_fixture(cards, make_file, remove_file);
    tcase_set_timeout(cards, 60);
    tcase_add_unchecked_fixture(files, make_file, remove_file);
    tcase_set_timeout(files, 180);
    tcase_add_test(cards, units_and_pages_of_real_cards);
    tcase_add_test(cards, open_units_of_real_cards);
    tcase_add_loop_test(cards, public_listings_say_what_the_eye_sees, 0,
                        sizeof(listings) / sizeof(listings[0]));
    tcase_add_test(cards, first_units_say_nothing_of_these);
    tcase_add_test(cards, pasted_text_says_what_the_csv_of_it_says);
    tcase_add_loop_test(cards, parts_of_a_recording_mislead_rarely, 0,
                        suite_rows_more(1));
    tcase_add_loop_test(cards, noise_has_no_unit_and_no_page, 0,
                        suite_rows_more(1));
    tcase_add_test(cards, a_step_is_found_in_noise_that_it_exceeds);
    tcase_add_test(cards, a_step_that_does_not_matter_is_none);
    tcase_add_test(cards, few_rows_prove_nothing);
    tcase_add_test(cards, an_alignment_that_is_missing_leaves_an_interval);
    tcase_add_test(cards, a_unit_may_be_three_times_a_power_of_two);
    tcase_add_test(cards, repeats_that_disagree_leave_no_answer);
    tcase_add_test(files, all_ways_to_print_a_time_are_read);
    tcase_add_loop_test(files, pastes_of_any_form_are_the_same_rows, 0,
                        sizeof(pastes) / sizeof(pastes[0]));
    tcase_add_loop_test(files, commands_and_headings_are_understood, 0,
                        sizeof(contexts) / sizeof(contexts[0]));
    tcase_add_loop_test(files, two_cards_in_a_text_are_two, 0,
                        sizeof(cards_texts) / sizeof(cards_texts[0]));
    tcase_add_test(files, command_lines_say_how_many_units);
    tcase_add_test(files, a_limit_that_was_not_reached_is_a_bound);
    tcase_add_test(files, a_limit_between_two_numbers_is_an_interval);
    tcase_add_loop_test(files, damage_is_refused_with_file_and_line, 0,
                        sizeof(refusals) / sizeof(refusals[0]));
    tcase_add_test(files, other_files_are_left_to_others);
    tcase_add_test(files, no_mutation_crashes_or_lacks_a_sentence);
    suite_add_tcase(suite, cards);
    suite_add_tcase(suite, files);
    return suite_run(suite);
}
