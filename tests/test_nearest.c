/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What did a user mean who mistyped a word? */
#include <check.h>

#include "lib/base/words/nearest.h"
#include "tests/suite_run.h"

static const char *const words[] = {
    "check", "run", "restore", "report", "clustered-page", "clustered-block"};
enum { WORDS = sizeof(words) / sizeof(words[0]) };

static const struct {
    const char *typed, *hint;
} cases[] = {
    {"chekc", " (did you mean 'check'?)"},    /* two are swapped */
    {"chck", " (did you mean 'check'?)"},     /* one is missing */
    {"repport", " (did you mean 'report'?)"}, /* one is too many */
    {"clustred_page", " (did you mean 'clustered-page'?)"},
    {"rum", " (did you mean 'run'?)"},
    {"ru", ""}, /* of two letters none may be wrong */
    {"capacity", ""},
    {"", ""},
    {"a-word-that-has-more-letters-than-any-word-there-is", ""},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

START_TEST(a_word_that_is_nearly_right_is_suggested)
{
    struct nearest nearest = {.word = cases[_i].typed};
    char hint[NEAREST_HINT_BYTES];

    for (size_t i = 0; i < WORDS; i++)
        nearest_try(&nearest, words[i]);
    ck_assert_str_eq(nearest_hint(&nearest, hint, sizeof(hint)),
                     cases[_i].hint);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nearest");
    TCase *tcase = tcase_create("nearest");

    tcase_add_loop_test(tcase, a_word_that_is_nearly_right_is_suggested, 0,
                        CASES);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
