/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: the words for each way in which a block was found, and the
 * confidence.
 */
#include <math.h>

#include "lib/base/units.h"
#include "probes/clustered_block/clustered_block.h"

/* The most for one route alone. Slow writes may be those of an SLC cache: so it
 * was with all 5 errors in 64 random drives. If they come after a pause as well
 * (`lasting`), there is no such cache. Random writes may mislead too: with more
 * log blocks than unmeasured writes, no half of a block is merged yet. */
static const double one_route_confidence = 0.9, lasting_confidence = 0.95;

static struct finding *add(struct findings *findings)
{
    return findings_add(findings, "clustered-block", "clustered_block");
}

static struct finding *add_found(struct findings *findings, uint64_t bytes,
                                 double confidence)
{
    struct finding *finding = add(findings);

    finding_found(finding, value_integer(bytes), confidence);
    return finding;
}

static double sureness(enum claim cached)
{
    return cached == CLAIM_FALLS ? lasting_confidence : one_route_confidence;
}

void block_say_spikes(struct findings *findings,
                      const struct block_spikes *spikes, enum claim cached,
                      double confidence, const char *why_alone)
{
    struct finding *finding = add_found(findings, spikes->block_bytes,
                                        fmin(confidence, sureness(cached)));
    char size[24];

    finding_why(finding,
                "in %s writing, every %s brings one slow write, %.2f times its "
                "neighbours (%zu of %zu in fresh data); %s",
                spikes->scattered ? "random" : "sequential",
                format_bytes(spikes->block_bytes, size, sizeof(size)),
                exp(spikes->period.excess), spikes->period.hits,
                spikes->period.trials, why_alone);
}

void block_say_unit(struct findings *findings, uint64_t unit_bytes)
{
    struct finding *finding = &findings->items[findings->count - 1];

    if (finding->verdict == VERDICT_FOUND)
        finding_extra(finding, "programmed_at_once", value_integer(unit_bytes));
}

void block_say_agreed(struct findings *findings,
                      const struct block_compared *compared, enum claim cached,
                      double confidence)
{
    const struct block_spikes *first = &compared->first;
    const struct period *period = &first->period;
    struct finding *finding = add_found(findings, compared->block_bytes,
                                        fmin(confidence, sureness(cached)));
    char size[24], piece[24];

    format_bytes(first->write_bytes, piece, sizeof(piece));
    format_bytes(compared->model.page_bytes, size, sizeof(size));
    if (first->write_bytes <= compared->model.page_bytes)
        finding_why(finding,
                    "among random writes of %s, one in %zu is slow, %.2f times "
                    "its neighbours (%zu of %zu in fresh data); each uses up a "
                    "page of %s%s",
                    piece, period->length, exp(period->excess), period->hits,
                    period->trials, size,
                    compared->crossed ? ", because twice as many are slow "
                                        "among those that cross two pages"
                                      : "");
    else
        finding_why(
            finding,
            "among random writes of %s, one in %zu is slow, %.2f times its "
            "neighbours (%zu of %zu in fresh data), and slow writes are "
            "equally frequent per byte at %zu other write lengths",
            piece, period->length, exp(period->excess), period->hits,
            period->trials, compared->lengths_count - 1);
}

void block_say_rounds(struct study *study, const struct block_spikes *spikes,
                      unsigned bits, double pause_ns, struct findings *findings)
{
    struct finding *finding =
        add_found(findings, bits * spikes->block_bytes, one_route_confidence);

    const char *const copied =
        bits > 1
            ? ", but not after a rest: a cache of one bit a cell is copied "
              "out, and reads show how many bits a cell holds behind it"
            : "";
    const char *const round = study_bytes(study, spikes->round_bytes);
    const char *const pause = study_ns(study, pause_ns);
    const char *const block = study_bytes(study, spikes->block_bytes);

    if (spikes->recurrence.length)
        finding_why(finding,
                    "sequential writes, again and again over %s, take the same "
                    "course every %s, in fresh data and with shorter writes as "
                    "well, with a pause of %s in it%s",
                    round, block, pause, copied);
    else
        finding_why(finding,
                    "sequential writes, again and again over %s, pause for %s "
                    "once every %s (%zu of %zu in fresh data)%s",
                    round, pause, block, spikes->period.hits,
                    spikes->period.trials, copied);
}

/* An SLC cache writes all data to new places one after the other. Each of its
 * slow writes may wait for a merge behind it, wherever that write goes. So the
 * times look as if there were no log blocks. */
static void say_hidden(struct findings *findings)
{
    static const char why[] =
        "no write waited for a merge, but the drive has an SLC cache "
        "(clustered_block), which takes all writes first and would hide log "
        "blocks behind it";

    findings_doubt(findings, "log_list", why);
    findings_doubt(findings, "log_block", why);
}

void block_say_cache(struct findings *findings,
                     const struct block_spikes *spikes, uint64_t quiet_bytes)
{
    const char *order = spikes->scattered ? "random" : "sequential";
    char size[24], quiet[24];

    format_bytes(spikes->block_bytes, size, sizeof(size));
    say_hidden(findings);
    if (quiet_bytes == 0)
        finding_why(add(findings),
                    "in %s writing, every %s brings one slow write, which "
                    "takes as long as copying out a part of the SLC cache in "
                    "front (fast_cache)",
                    order, size);
    else
        finding_why(add(findings),
                    "in %s writing, every %s brings one slow write, but none "
                    "for %s or more after an idle period: the drive frees "
                    "space while it is idle, as drives with an SLC cache do, "
                    "which may copy only part of a block at a time",
                    order, size,
                    format_bytes(quiet_bytes, quiet, sizeof(quiet)));
}

void block_say_open(struct findings *findings, const char *reason)
{
    finding_why(add(findings), "%s", reason);
}

void block_say_lost(struct findings *findings)
{
    /* Copies made in cleaning may share blocks with new writes. Slow writes
     * then come whenever the room that copies leave is full. That is one
     * distance only as long as the number of copies stays the same. */
    block_say_open(
        findings,
        "slow writes come at a fixed distance, but not with another write "
        "length, so the distance is temporary: garbage collection may copy "
        "data into the block that takes new writes");
}

/* Blocks that share a log are merged as one, and then erased as one. log-list
 * saw the ends of that block to the page. */
void block_say_log_block(const struct block_probe *state,
                         struct findings *findings)
{
    char size[24];
    struct finding *finding = add_found(findings, state->log_block_bytes,
                                        state->log_block_confidence);

    finding_why(finding,
                "the drive collects updates in log blocks and merges each with "
                "its data block: %s are merged and erased as one (log_block)",
                format_bytes(state->log_block_bytes, size, sizeof(size)));
}

/* Only a drive that maps whole blocks moves what lies before a write in its
 * block. So no smaller unit is mapped. */
void block_say_borders(struct findings *findings,
                       const struct block_borders *borders)
{
    char size[24];
    struct finding *finding =
        add_found(findings, borders->block_bytes, borders->confidence);

    finding_why(finding,
                "a small write just before a multiple of %s costs %.2f times "
                "as much as one just after it, and no part of that size shows "
                "this: data before a write in its block is moved with it",
                format_bytes(borders->block_bytes, size, sizeof(size)),
                borders->effect);
}
