/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * verify: does every place of the drive keep what is written to it?
 *
 * Idea: write marks everywhere, flush, and read everything back. A mark belongs
 * to its place, so that one place's data in another shows. What comes back
 * wrong is looked at again, 4 KiB at a time, where its run begins and ends.
 *
 *   write   m0 m1 m2 m3 m4 m5 m6 m7
 *   read    m0 m1 m2 ?? m4 m5 m6 m7    a bad place
 *   read    m4 m5 m6 m7 m4 m5 m6 m7    a drive that has half of what it says
 *
 * (f3write and f3read, and badblocks -w, do the same.) Marks that are there
 * before they were written, of a survey before, are replaced by others: a drive
 * that takes no writes any more does not pass. Assumes: the drive is larger
 * than what it keeps in memory.
 */
#include "probes/probes.h"
#include "probes/survey.h"

static int start(const struct setting *setting, const struct findings *known,
                 void **state)
{
    (void)known;
    return survey_start(setting, true, survey_add_bad, state);
}

static void conclude(void *state, struct findings *findings)
{
    survey_say_bad(state, "verify", findings);
}

const struct probe probe_verify = {
    .name = "verify",
    .question = "Does every place of the drive keep what is written to it?",
    .idea = "Writes a mark everywhere, flushes, and reads everything back. It "
            "takes as long as writing and reading the whole drive once, and "
            "destroys what is there.",
    .writes = true,
    .compares = true,
    .answers = {"bad_places"},
    .usual_fills = 1,
    SURVEY_PROBE(start, conclude),
};
