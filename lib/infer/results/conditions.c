/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What says under which conditions a drive worked, and nothing of how it does:
 * iostat, nvme smart-log, smartctl. */
#include <string.h>

#include "lib/infer/results/tool.h"

static bool is_iostat(const char *text)
{
    return strstr(text, "\"sysstat\"") ||
           ((strstr(text, "avg-cpu:") || strstr(text, "Device")) &&
            (strstr(text, "%util") || strstr(text, "kB_read/s") ||
             strstr(text, "MB_read/s")));
}

static int read_iostat(const struct result_text *source)
{
    result_note(source->results,
                "%.120s: iostat has averages of a second or longer, of "
                "requests of every size: no finding follows",
                source->path);
    return 0;
}

static bool is_smart_log(const char *text)
{
    return strstr(text, "Smart Log for NVME device") ||
           (strstr(text, "critical_warning") && strstr(text, "avail"));
}

/* The number behind the first ':' after a word. */
static bool value_of(const char *text, const char *word, double *number)
{
    const char *at = result_find(text, word);

    at = at ? result_after(at, ":") : NULL;
    return at && result_number(at, number);
}

static void note_wear(const struct result_text *source, const char *tool,
                      const char *wear_word)
{
    double used = -1;

    if (value_of(source->text, wear_word, &used))
        result_note(source->results,
                    "%.120s: %s says how worn and how warm a drive is (%.0f %% "
                    "of its life are used), not how it works: no finding "
                    "follows",
                    source->path, tool, used);
    else
        result_note(source->results,
                    "%.120s: %s says how worn and how warm a drive is, not how "
                    "it works: no finding follows",
                    source->path, tool);
}

static int read_smart_log(const struct result_text *source)
{
    note_wear(source, "nvme smart-log",
              strstr(source->text, "percent_used") ? "percent_used"
                                                   : "percentage_used");
    return 0;
}

static bool is_smartctl(const char *text)
{
    return strstr(text, "\"smartctl\"") || strncmp(text, "smartctl ", 9) == 0 ||
           strstr(text, "\nsmartctl ");
}

static int read_smartctl(const struct result_text *source)
{
    note_wear(source, "smartctl",
              strstr(source->text, "\"percentage_used\"")
                  ? "\"percentage_used\""
                  : "Percentage Used");
    return 0;
}

const struct result_tool tools_conditions[] = {
    {"smartctl", is_smartctl, read_smartctl},
    {"nvme smart-log", is_smart_log, read_smart_log},
    {"iostat", is_iostat, read_iostat},
    {NULL, NULL, NULL}};
