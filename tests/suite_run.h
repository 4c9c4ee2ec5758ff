/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of main() in a suite of tests. */
#ifndef SSDPROBE_TESTS_SUITE_RUN_H
#define SSDPROBE_TESTS_SUITE_RUN_H

#include <check.h>
#include <stdlib.h>

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
