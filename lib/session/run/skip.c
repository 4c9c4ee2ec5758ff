/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/skip.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"

static bool is_found(const struct findings *known, const char *parameter)
{
    return parameter && findings_found(known, parameter);
}

const char skip_not_begun[] = "the run ended before this probe began";

bool skip_reason(const struct probe *probe, const struct setting *setting,
                 const struct findings *known, char *text, size_t size)
{
    const struct setting own = setting_for(probe, setting);

    if (probe->writes && !probe->by_write[0] && setting->read_only) {
        if (text)
            snprintf(text, size,
                     "it needs to write, and this run is read-only");
        return true;
    }
    if (probe->compares && setting->forgets) {
        if (text)
            snprintf(text, size,
                     "it compares data that it reads, and this emulated drive "
                     "keeps no contents");
        return true;
    }
    if (own.region_length_bytes < probe->region_min_bytes) {
        if (text)
            snprintf(text, size,
                     "it needs a region of at least %s, and this one has %s",
                     TEXT_BYTES(probe->region_min_bytes),
                     TEXT_BYTES(own.region_length_bytes));
        return true;
    }
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->needs[i]; i++) {
        if (is_found(known, probe->needs[i]))
            continue;
        if (text)
            snprintf(text, size,
                     "it needs %s, which this run did not find; if you know "
                     "it, pass --assume=%s=VALUE",
                     probe->needs[i], probe->needs[i]);
        return true;
    }
    return false;
}

bool skip_budget(const struct probe *probe, const struct setting *setting,
                 uint64_t written_bytes, char *text, size_t size)
{
    const uint64_t budget_bytes = setting->write_budget_bytes;
    const uint64_t left_bytes =
        budget_bytes > written_bytes ? budget_bytes - written_bytes : 0;
    const struct probe_plan plan = probe_planned(probe, setting);

    if (plan.bytes_written <= left_bytes)
        return false;
    snprintf(text, size,
             "it needs to write %s, and only %s of the write budget are left; "
             "--write-budget allows more",
             TEXT_BYTES(plan.bytes_written), TEXT_BYTES(left_bytes));
    return true;
}

bool skip_needs_no_row(const struct probe *probe, const struct setting *setting,
                       const struct findings *known)
{
    struct step step;
    void *state;

    if (probe_start(probe, setting, known, &state))
        return false;
    const bool done = probe->next(state, &step) == PROBE_DONE;
    probe->finish(state);
    return done;
}

void skip_probe(const struct probe *probe, const char *reason,
                struct findings *findings)
{
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->answers[i]; i++) {
        struct finding *finding =
            findings_add(findings, probe->name, probe->answers[i]);
        finding->verdict = VERDICT_SKIPPED;
        finding_why(finding, "%s", reason);
    }
}

void skip_hope(const struct probe *probe, struct findings *findings)
{
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->answers[i]; i++)
        findings_add(findings, probe->name, probe->answers[i])->verdict =
            VERDICT_FOUND;
}

/* Parses a value of a parameter with this unit. With a unit it is a number;
 * without one, true, false or a word. 0 or -EINVAL. */
static int parse_value(const char *unit, const char *text, struct value *value)
{
    uint64_t number;

    if (*unit) {
        int error = strcmp(unit, "ns") == 0 ? parse_ns(text, &number)
                                            : parse_bytes(text, &number);
        if (error || number > INT64_MAX)
            return -EINVAL;
        *value = value_integer(number);
        return 0;
    }
    if (!*text || strlen(text) >= sizeof(value->text))
        return -EINVAL;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        *value = value_boolean(text[0] == 't');
    else
        *value = value_text(text);
    return 0;
}

int skip_assume(struct findings *findings, const char *parameter,
                const char *text, struct fault *why)
{
    const char *unit = parameter_unit(parameter);
    struct value value;

    if (!unit || findings_get(findings, parameter))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--assume=%s=%s: no such parameter, or assumed twice",
                         parameter, text);
    if (parse_value(unit, text, &value))
        return fault_set(
            why, FAULT_USAGE, -EINVAL,
            "--assume=%s=%s: not a value of this parameter%s", parameter, text,
            *unit ? ", which is a number such as 8, 16KiB or 25us" : "");
    struct finding *finding = findings_add(findings, "assumed", parameter);
    finding->verdict = VERDICT_FOUND;
    finding->value = finding->low = finding->high = value;
    finding->confidence = 1;
    finding_why(finding, "assumed by the user, not measured");
    return 0;
}

void skip_disturbed(struct findings *findings, size_t first, const char *cause)
{
    for (size_t i = first; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        if (finding->verdict == VERDICT_SKIPPED)
            continue;
        finding_withdraw(finding);
        finding_why(
            finding,
            "the probe was disturbed, and again when it was repeated: %s",
            cause);
    }
}

bool skip_times(struct findings *findings, const char *probe, const char *cause)
{
    bool any = false;

    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        const bool between = finding->value.kind == VALUE_NONE;
        if (finding->verdict != VERDICT_FOUND ||
            !unit_is_of_speed(finding->unit) ||
            strcmp(finding->probe, "assumed") == 0 ||
            (probe && strcmp(finding->probe, probe) != 0))
            continue;
        const char *low = TEXT_QUANTITY(
            (uint64_t)(between ? finding->low : finding->value).integer,
            finding->unit);
        const char *high =
            TEXT_QUANTITY((uint64_t)finding->high.integer, finding->unit);
        finding_withdraw(finding);
        finding_why(
            finding,
            "it was %s%s%s when measured, but the drive did not keep its "
            "speed: %s; let the drive cool down, stop whatever else "
            "uses it, and measure again",
            low, between ? " to " : "", between ? high : "", cause);
        any = true;
    }
    return any;
}

/* Where a flush is untrue, the probe may measure without one. */
static bool rests_on_flushes(const struct probe *probe, bool untrue,
                             const char *parameter)
{
    if (untrue && probe->without_flush)
        return false;
    for (int i = 0; i < PROBE_NEEDS_MAX && probe->by_flush[i]; i++)
        if (strcmp(probe->by_flush[i], parameter) == 0)
            return true;
    return false;
}

void skip_flushes(const struct probe *probe, size_t first, const char *cause,
                  bool only_absences, struct findings *findings)
{
    for (size_t i = first; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        if (!rests_on_flushes(probe, !only_absences, finding->parameter) ||
            finding->verdict == VERDICT_SKIPPED ||
            (only_absences && !finding_denies(finding)))
            continue;
        finding_withdraw(finding);
        finding_why(finding,
                    "%s; this answer relies on the times of writes with their "
                    "flushes, so measure again with --write-cache=off, or with "
                    "another --flush",
                    cause);
    }
}

/* Is something stated that needs a drive written all over (skip.h)? */
static bool rests_on_pages(const struct probe *const probes[],
                           const struct finding *finding)
{
    while (*probes && strcmp((*probes)->name, finding->probe) != 0)
        probes++;
    return (finding->verdict == VERDICT_FOUND ||
            finding->verdict == VERDICT_ABSENT) &&
           *probes && !(*probes)->compares && !(*probes)->surveys;
}

/* Nothing can be filled where nothing may be written. */
static const double unwritten_confidence = 0.75;

void skip_unwritten(struct findings *findings,
                    const struct probe *const probes[],
                    const struct setting *setting, const char *cause)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        if (!rests_on_pages(probes, finding))
            continue;
        if (setting->read_only) {
            finding->confidence =
                fmin(finding->confidence, unwritten_confidence);
            continue;
        }
        finding_withdraw(finding);
        finding_why(finding,
                    "%s; write the whole drive once ('ssdprobe run fill "
                    "DEVICE' does), and measure again",
                    cause);
    }
}

/* The bytes that a drive keeps, at least, which drops what is written beyond;
 * UINT64_MAX of any other. */
static uint64_t kept_by(const struct findings *findings)
{
    const struct finding *kind = findings_found(findings, "capacity_kind");
    const struct finding *real = findings_found(findings, "real_capacity");

    return !kind || strcmp(kind->value.text, "drops") != 0 ? UINT64_MAX
           : real ? (uint64_t)real->low.integer
                  : 0;
}

static bool is_lost(const struct setting *setting,
                    const struct findings *findings)
{
    return setting->region_offset_bytes + setting->region_length_bytes >
           kept_by(findings);
}

struct setting skip_lost(const struct setting *setting,
                         const struct findings *findings)
{
    const uint64_t end_bytes = kept_by(findings) / MIB * MIB;
    struct setting kept = *setting;

    if (!is_lost(setting, findings) ||
        end_bytes <= setting->region_offset_bytes)
        return kept;
    kept.region_length_bytes = end_bytes - setting->region_offset_bytes;
    kept.part_length_bytes =
        smaller_of(setting->part_length_bytes, kept.region_length_bytes);
    return kept;
}

void skip_unkept(struct findings *findings, const struct probe *const probes[],
                 const struct setting *setting)
{
    const struct setting kept = skip_lost(setting, findings);
    const bool all_lost = is_lost(&kept, findings);
    bool lost = is_lost(setting, findings);
    const uint64_t kept_mib = kept_by(findings) / MIB;
    char remedy[64] = "";

    if (kept_mib > 0)
        snprintf(remedy, sizeof(remedy),
                 ": measure again within it, with --region=0,%lluMiB",
                 (unsigned long long)kept_mib);
    for (size_t i = 0; i < findings->count && lost; i++) {
        struct finding *finding = &findings->items[i];
        /* What comes behind it was measured within. */
        lost = all_lost || strcmp(finding->parameter, "capacity_kind") != 0;
        if (!rests_on_pages(probes, finding) &&
            strcmp(finding->probe, "trim") != 0)
            continue;
        finding_withdraw(finding);
        finding_why(finding,
                    "the drive drops data written beyond its real capacity, "
                    "and requests there never reach its flash%s",
                    remedy);
    }
}
