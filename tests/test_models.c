/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs are grouped into models by what was found. */
#include <check.h>
#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/models.h"
#include "tests/suite_run.h"

enum { RUNS_MAX = 8 };

struct fleet {
    struct device_info devices[RUNS_MAX];
    struct findings findings[RUNS_MAX];
    struct report reports[RUNS_MAX];
    struct models_run runs[RUNS_MAX];
    char names[RUNS_MAX][16];
    size_t count;
    struct models models;
};

static struct fleet *fleet;

static void begin(void)
{
    fleet = calloc(1, sizeof(*fleet));
    ck_assert_ptr_nonnull(fleet);
}

static void end(void)
{
    models_free(&fleet->models);
    free(fleet);
}

static void found(struct findings *findings, const char *probe,
                  const char *parameter, uint64_t value)
{
    struct finding *f = findings_add(findings, probe, parameter);

    finding_found(f, value_integer(value), 0.999);
    f->low = f->high = f->value;
    finding_why(f, "seen");
}

/* A run of a drive; a size of 0 was not found. */
static void add(const char *model, uint64_t page_bytes, uint64_t block_bytes,
                uint64_t read_ns)
{
    const size_t i = fleet->count++;
    struct findings *findings = &fleet->findings[i];

    snprintf(fleet->devices[i].model, sizeof(fleet->devices[i].model), "%s",
             model);
    snprintf(fleet->names[i], sizeof(fleet->names[i]), "run-%zu", i);
    if (page_bytes)
        found(findings, "clustered-page", "clustered_page", page_bytes);
    if (block_bytes)
        found(findings, "clustered-block", "clustered_block", block_bytes);
    if (read_ns)
        found(findings, "basic", "random_read", read_ns);
    fleet->reports[i] =
        (struct report){.device = &fleet->devices[i], .findings = findings};
    fleet->runs[i] = (struct models_run){.name = fleet->names[i],
                                         .report = &fleet->reports[i]};
}

static void group(void)
{
    ck_assert_int_eq(models_group(fleet->runs, fleet->count, &fleet->models),
                     0);
}

/* A fake is made to look like another drive, and may be timed as one. */
START_TEST(a_fake_is_of_no_genuine_model)
{
    for (int i = 0; i < 3; i++)
        add("X", 16384, 4 << 20, 100000);
    struct finding *kind =
        findings_add(&fleet->findings[2], "capacity", "capacity_kind");
    finding_found(kind, value_text("drops"), 0.999);
    group();
    ck_assert_uint_eq(fleet->models.models_count, 1);
    ck_assert_int_eq(fleet->runs[0].kind, MODELS_GROUPED);
    ck_assert_int_eq(fleet->runs[2].kind, MODELS_OUTLIER);
}
END_TEST

/* Names lie: the same label covers two models, and two labels one. */
START_TEST(runs_are_grouped_by_what_was_found)
{
    add("X", 16384, 4 << 20, 100000);
    add("X", 4096, 1 << 20, 800000);
    add("Y", 16384, 4 << 20, 103000);
    add("X", 4096, 1 << 20, 790000);
    add("X", 8192, 2 << 20, 300000);
    group();
    ck_assert_uint_eq(fleet->models.models_count, 2);
    ck_assert_uint_eq(fleet->runs[0].model, 0);
    ck_assert_uint_eq(fleet->runs[1].model, 1);
    ck_assert_uint_eq(fleet->runs[2].model, 0);
    ck_assert_uint_eq(fleet->runs[3].model, 1);
    ck_assert_int_eq(fleet->runs[3].kind, MODELS_GROUPED);
    ck_assert_int_eq(fleet->runs[4].kind, MODELS_OUTLIER);
    ck_assert_double_lt(fleet->runs[4].one_model, 0.05);
}
END_TEST

/* It says nothing about the others, so it is no outlier. */
START_TEST(a_run_that_cannot_be_compared_is_undecided)
{
    add("X", 16384, 4 << 20, 100000);
    add("X", 16384, 4 << 20, 100000);
    add("X", 0, 0, 0);
    group();
    ck_assert_uint_eq(fleet->models.models_count, 1);
    ck_assert_int_eq(fleet->runs[2].kind, MODELS_UNDECIDED);
    ck_assert_double_eq_tol(fleet->runs[2].one_model, 0.5, 1e-9);
}
END_TEST

START_TEST(a_single_run_is_of_no_model_and_no_outlier)
{
    add("X", 16384, 4 << 20, 100000);
    group();
    ck_assert_uint_eq(fleet->models.models_count, 0);
    ck_assert_int_eq(fleet->runs[0].kind, MODELS_UNDECIDED);
}
END_TEST

START_TEST(each_form_names_models_and_outliers)
{
    const struct report_style plain = {0}, marks = {.markdown = true};
    char text[4096] = "";
    struct json_object *document = json_object_new_object(), *array;
    FILE *out;

    add("X", 16384, 4 << 20, 100000);
    add("Y|", 16384, 4 << 20, 100000);
    add("X", 4096, 1 << 20, 800000);
    group();
    out = fmemopen(text, sizeof(text), "w");
    ck_assert_int_eq(models_text(out, &fleet->models, &plain), 0);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_ptr_eq(strstr(text, "3 runs: 1 model of two runs or more, 1 "
                                  "outlier, 0 undecided."),
                     text);
    ck_assert_ptr_nonnull(
        strstr(text, "\nModel 1 (2 runs, declared as X, Y|):\nA drive. "));
    ck_assert_ptr_nonnull(strstr(text, "\n  run-2: outlier: the nearest"));
    ck_assert_ptr_nonnull(strstr(text, "but differs in clustered_page,"));
    out = fmemopen(text, sizeof(text), "w");
    ck_assert_int_eq(models_text(out, &fleet->models, &marks), 0);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_ptr_nonnull(
        strstr(text, "\n### Model 1 (2 runs, declared as X, Y\\|)\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n- run-0\n- run-1\n"));
    ck_assert_ptr_nonnull(strstr(text, "- **run-2**: outlier"));
    models_json(document, &fleet->models);
    ck_assert(json_object_object_get_ex(document, "models", &array));
    ck_assert_uint_eq(json_object_array_length(array), 1);
    ck_assert(json_object_object_get_ex(document, "outliers", &array));
    ck_assert_uint_eq(json_object_array_length(array), 1);
    json_object_put(document);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("models");
    TCase *cases = tcase_create("models");

    suite_add_tcase(suite, cases);
    tcase_add_checked_fixture(cases, begin, end);
    tcase_add_test(cases, a_fake_is_of_no_genuine_model);
    tcase_add_test(cases, runs_are_grouped_by_what_was_found);
    tcase_add_test(cases, a_run_that_cannot_be_compared_is_undecided);
    tcase_add_test(cases, a_single_run_is_of_no_model_and_no_outlier);
    tcase_add_test(cases, each_form_names_models_and_outliers);
    return suite_run(suite);
}
