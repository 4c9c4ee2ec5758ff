/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What main() of a suite of tests ends with, and what a sanitizer leaves
 * out. */
#ifndef SSDPROBE_TESTS_SUITE_RUN_H
#define SSDPROBE_TESTS_SUITE_RUN_H

#include <check.h>
#include <stdlib.h>

/* Other drives and seeds run no other code, and take minutes under a sanitizer:
 * it sees one of each table, and nothing of what only counts how often, or asks
 * once more what others have asked, of another drive or in other noise. */
#if defined(__SANITIZE_ADDRESS__)
enum { SUITE_SANITIZED = 1 };
#else
enum { SUITE_SANITIZED = 0 };
#endif

static inline int suite_rows(size_t count)
{
    return (int)(SUITE_SANITIZED && count > 1 ? 1 : count);
}

/* Of what is asked once more, with whatever noise. */
static inline int suite_rows_more(size_t count)
{
    return (int)(SUITE_SANITIZED ? 0 : count);
}

/* Of many seeds that are drawn alike: all of them with the long tests. */
static inline int suite_seeds(int count)
{
    if (getenv("SSDPROBE_TEST_LONG"))
        return count;
    const int part = SUITE_SANITIZED ? 16 : 3;
    return (count + part - 1) / part;
}

/* Runs and frees the suite; what main() returns: EXIT_SUCCESS where no test of
 * it failed. How much is printed follows CK_VERBOSITY. */
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);

    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
