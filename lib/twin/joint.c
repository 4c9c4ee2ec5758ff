/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of pages and of what is read with a part of one that the twin decided, 8 of 9
 * were right on random drives at realistic and heavy noise. Of levels a cell 6
 * of 10 were, so these it leaves open. No base rate of what it contradicts has
 * been counted. */
const double twin_contradicted_most = 0.9, twin_decided_most = 0.8;

static struct finding *find(struct findings *findings, const char *parameter)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].parameter, parameter) == 0)
            return &findings->items[i];
    return NULL;
}

static void contradict(struct finding *finding,
                       const struct twin_decision *decision)
{
    size_t used = strlen(finding->why);

    if (finding->confidence > twin_contradicted_most)
        finding->confidence = twin_contradicted_most;
    snprintf(finding->why + used, sizeof(finding->why) - used,
             "; but %s = %s would explain the requests of the run better than "
             "%s (z %.1f)",
             decision->key, decision->rival, decision->value,
             fabs(decision->against.z));
}

/* VALUE_NONE: it is not decided so. */
static struct value value_of(const struct twin *twin, const char *parameter)
{
    const struct drive *drive = &twin->drive;

    if (strcmp(parameter, "clustered_page") == 0)
        return value_integer(drive->clustered_page_bytes);
    if (strcmp(parameter, "clustered_block") == 0)
        return value_integer(twin_shape_of(drive).block_bytes);
    if (strcmp(parameter, "read_modify_write") == 0)
        return value_boolean(drive->sector_update == 0);
    if (strcmp(parameter, "log_list") == 0 &&
        drive->mapping == MAPPING_LOG_BLOCK)
        return value_integer(drive->log_blocks_count);
    return value_none();
}

static void decide(const struct twin *twin,
                   const struct twin_decision *decision,
                   struct finding *finding)
{
    struct value value = value_of(twin, decision->parameter);

    /* That there are logs does not say how many. */
    if (value.kind == VALUE_NONE || strcmp(decision->key, "mapping") == 0)
        return;
    finding_found(finding, value, twin_decided_most);
    finding_why(
        finding,
        "the probes left it open; an emulated drive explains the requests of "
        "the run better with %s = %s than with the next best, %s (z %.1f)",
        decision->key, decision->value, decision->rival, decision->against.z);
}

void twin_join(const struct twin *twin, const struct twin_check *check,
               struct findings *findings)
{
    for (size_t i = 0; i < twin->decisions_count && check->explains; i++) {
        const struct twin_decision *decision = &twin->decisions[i];
        struct finding *finding = find(findings, decision->parameter);
        if (!finding || finding_assumed(finding))
            continue;
        const bool stated = finding->verdict == VERDICT_FOUND ||
                            finding->verdict == VERDICT_ABSENT;
        if (decision->origin == TWIN_CONTRADICTED && stated)
            contradict(finding, decision);
        if (decision->origin == TWIN_DECIDED &&
            finding->verdict == VERDICT_INCONCLUSIVE)
            decide(twin, decision, finding);
    }
}
