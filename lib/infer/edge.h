/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_EDGE_H
#define SSDPROBE_INFER_EDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/study.h"

/*
 * Where does something cease to hold as a size grows? The edge is searched in a
 * bracket, by bisection with answers that may be wrong. What the search comes
 * to is certified on fresh data from both sides of it. If the certificate
 * falls, the bracket is opened again and searched once more.
 */

/* It holds at `low_bytes`, and not at `high_bytes`. */
struct edge_bracket {
    uint64_t low_bytes, high_bytes;
};

/* Does it hold at this place? Measures query `index` of the phase. */
typedef bool edge_holds(void *context, const char *phase, uint32_t index,
                        uint64_t place_bytes);

/* Names a contrast after such a query: "q7-4096". */
void edge_name(struct contrast *contrast, uint32_t index, uint64_t place_bytes);

/*
 * The likeliest of the largest multiples of `grain_bytes` above the low end at
 * which it holds, by probabilistic bisection. One answer is right with
 * `reliability` (kept within 0.65 and 0.92). Not certified.
 */
struct edge_bisection {
    struct edge_bracket bracket;
    uint64_t grain_bytes;
    double reliability;
    edge_holds *holds;
    void *context;
};
uint64_t edge_bisect(const char *phase, const struct edge_bisection *bisection);

enum { EDGE_CONTRASTS_MAX = 8 };

struct edge {
    uint64_t bytes; /* the last place at which it holds */
    double confidence;
    struct contrast contrasts[EDGE_CONTRASTS_MAX]; /* of the certificate */
    size_t count;
    char phase[LABEL_PHASE_MAX]; /* in which they were measured */
};

struct edge_search {
    const char *name; /* phases are "<name>bisect-1" and "<name>certify-1" */
    int attempts_max;
    struct edge_bracket bracket;
    uint64_t grain_bytes;
    const struct claim_rule *rule; /* of the certificate */
    /* How reliable one answer is. */
    double (*reliability)(const void *context);
    edge_holds *holds;
    /* What stands beside an edge at this place; how many. */
    size_t (*beside)(const void *context, uint64_t place_bytes,
                     struct contrast contrasts[EDGE_CONTRASTS_MAX]);
    /* The certificate does not hold: opens the bracket again, by what it says.
     * False: another search is of no use. */
    bool (*reopen)(void *context, enum claim claim, const struct edge *edge,
                   struct edge_bracket *bracket);
    void *context;
};

/* HOLDS with `*edge`; or what the last certificate came to, OPEN after as many
 * as are allowed. */
enum claim edge_find(struct study *study, const struct edge_search *search,
                     struct edge *edge);

#endif
