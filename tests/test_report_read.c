/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Documents from elsewhere: a number that cannot be is refused where it is
 * read, whatever parameter it belongs to. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/parameter.h"
#include "lib/report/read/read.h"
#include "tests/suite_run.h"

#define KNOWN SOURCE_FOLDER "/lib/report/known"

static struct report_store store;
static struct fault why;

static int read_again(struct json_object *document)
{
    why = (struct fault){FAULT_NONE, ""};
    return report_read(document, "some.json", &store, &why);
}

static struct json_object *member(struct json_object *object, const char *key)
{
    struct json_object *found = NULL;

    ck_assert(json_object_object_get_ex(object, key, &found));
    return found;
}

/* Puts a text of JSON in place of a member, and back again. */
static void refuses(struct json_object *document, struct json_object *object,
                    const char *key, const char *wrong, const char *named)
{
    struct json_object *kept = json_object_get(member(object, key));

    json_object_object_add(object, key, json_tokener_parse(wrong));
    ck_assert_msg(read_again(document) == -ERANGE, "%s %s = %s was taken",
                  named, key, wrong);
    ck_assert_ptr_nonnull(strstr(why.text, "some.json"));
    ck_assert_msg(strstr(why.text, named), "%s: %s", named, why.text);
    json_object_object_add(object, key, kept);
}

static void refuses_numbers_of(struct json_object *document,
                               struct json_object *finding)
{
    static const char *const wrong[] = {"-1",
                                        "-1e300",
                                        "1e300",
                                        "NaN",
                                        "Infinity",
                                        "[1, -1]",
                                        "9999999999999999999999999"};
    static const char *const keys[] = {"value", "low", "high"};
    const char *parameter =
        json_object_get_string(member(finding, "parameter"));

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        for (size_t j = 0; j < sizeof(keys) / sizeof(keys[0]); j++)
            refuses(document, finding, keys[j], wrong[i], parameter);
    refuses(document, finding, "confidence", "1.001", parameter);
    refuses(document, finding, "confidence", "-0.1", parameter);
    refuses(document, finding, "confidence", "NaN", parameter);
    refuses(document, finding, "confidence", "\"sure\"", parameter);
    if (parameter_unit(parameter)[0])
        refuses(document, finding, "value", "\"many\"", parameter);
    if (parameter_unit(parameter)[0])
        refuses(document, finding, "value", "true", parameter);
}

/* Those of the known drives are real, and hold nearly every parameter. */
START_TEST(no_finding_holds_a_number_that_cannot_be)
{
    DIR *folder = opendir(KNOWN);
    const struct dirent *entry;
    size_t findings_count = 0;

    ck_assert_ptr_nonnull(folder);
    while ((entry = readdir(folder))) {
        char path[512];
        if (!strstr(entry->d_name, ".json"))
            continue;
        snprintf(path, sizeof(path), KNOWN "/%s", entry->d_name);
        struct json_object *document = json_object_from_file(path);
        ck_assert_msg(read_again(document) == 0, "%s: %s", path, why.text);
        struct json_object *findings = member(document, "findings");
        const size_t count = json_object_array_length(findings);
        for (size_t i = 0; i < count; i++)
            refuses_numbers_of(document,
                               json_object_array_get_idx(findings, i));
        findings_count += count;
        json_object_put(document);
    }
    closedir(folder);
    ck_assert_uint_gt(findings_count, 100);
}
END_TEST

static struct json_object *one_finding(void)
{
    return json_tokener_parse(
        "{\"format_version\": [1, 0], \"ssdprobe\": {},"
        " \"device\": {\"capacity_bytes\": 64000000000,"
        "  \"health\": [{\"when\": \"before\", \"temperature_celsius\": -5}]},"
        " \"plan\": {\"bytes_written\": 1, \"probes\": [{\"seconds\": 2}]},"
        " \"cost\": {\"wall_seconds\": 1.5},"
        " \"findings\": [{\"parameter\": \"log_list\", \"verdict\": \"found\","
        "  \"value\": 4, \"low\": 3, \"high\": 5, \"confidence\": 0.9,"
        "  \"levels\": [1, 2], \"p99\": 7},"
        "  {\"parameter\": \"of_a_later_version\", \"value\": -1}]}");
}

START_TEST(intervals_and_counts_are_judged)
{
    struct json_object *document = one_finding();
    struct json_object *finding =
        json_object_array_get_idx(member(document, "findings"), 0);

    ck_assert_int_eq(read_again(document), 0);
    ck_assert_int_eq(store.findings.items[0].value.integer, 4);
    refuses(document, finding, "low", "6", "log_list");
    refuses(document, finding, "high", "3.5", "log_list");
    refuses(document, finding, "value", "4294967296", "log_list");
    refuses(document, finding, "levels", "[1, 1e300]", "log_list");
    refuses(document, finding, "p99", "-7", "log_list");
    json_object_object_del(finding, "value"); /* an end alone is none too few */
    json_object_object_del(finding, "high");
    ck_assert_int_eq(read_again(document), 0);
    json_object_put(document);
}
END_TEST

START_TEST(what_a_run_cost_is_judged)
{
    struct json_object *document = one_finding();
    struct json_object *plan = member(document, "plan");

    refuses(document, member(document, "device"), "capacity_bytes", "-1",
            "device.capacity_bytes");
    refuses(document, member(document, "cost"), "wall_seconds", "1e300",
            "cost.wall_seconds");
    refuses(document, json_object_array_get_idx(member(plan, "probes"), 0),
            "seconds", "Infinity", "plan.probes[0].seconds");
    json_object_put(document);
}
END_TEST

/* Of a document of an older version. */
START_TEST(a_parameter_has_the_name_of_today)
{
    struct json_object *document = one_finding();
    struct json_object *finding =
        json_object_array_get_idx(member(document, "findings"), 0);

    json_object_object_add(finding, "parameter",
                           json_object_new_string("erase_unit"));
    ck_assert_int_eq(read_again(document), 0);
    ck_assert_str_eq(store.findings.items[0].parameter, "read_boundary");
    ck_assert_int_eq(store.findings.items[0].value.integer, 4);
    json_object_put(document);
}
END_TEST

START_TEST(what_is_no_document_is_said_to_be_none)
{
    ck_assert_int_eq(read_again(NULL), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.text, "some.json is not a document"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report_read");
    TCase *cases = tcase_create("numbers");

    tcase_add_test(cases, no_finding_holds_a_number_that_cannot_be);
    tcase_add_test(cases, intervals_and_counts_are_judged);
    tcase_add_test(cases, what_a_run_cost_is_judged);
    tcase_add_test(cases, a_parameter_has_the_name_of_today);
    tcase_add_test(cases, what_is_no_document_is_said_to_be_none);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
