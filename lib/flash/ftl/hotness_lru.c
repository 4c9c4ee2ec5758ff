/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two-level LRU (Lee & Kim 3.1, algorithm 2): a unit that is written enters the
 * list of candidates, and when written again while there, the hot list; what
 * falls off the hot list's end is a candidate again. Units are found by hash,
 * not by searching the lists as in the paper, so that a write is O(1).
 */
#include "lib/flash/ftl/hotness.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"

#define NONE UINT32_MAX

enum list_kind { CANDIDATES, HOT, LISTS_COUNT };

struct node {
    uint64_t unit;
    uint32_t newer, older, chain;
    uint32_t list;
};

/* Nodes of both lists in one array; the two last are the rings' anchors. */
struct lru {
    struct hotness base;
    uint32_t limit[LISTS_COUNT], count[LISTS_COUNT], anchor[LISTS_COUNT];
    uint32_t nodes_count, unused; /* a chain of free nodes */
    uint32_t mask;
    struct node *nodes;
    uint32_t *heads;
};

static uint32_t levels_count(const struct drive *drive)
{
    (void)drive;
    return LISTS_COUNT;
}

static void unlink_node(struct lru *lru, uint32_t at)
{
    struct node *node = &lru->nodes[at];

    lru->nodes[node->newer].older = node->older;
    lru->nodes[node->older].newer = node->newer;
    lru->count[node->list]--;
}

static void push_front(struct lru *lru, uint32_t at, enum list_kind list)
{
    struct node *nodes = lru->nodes;
    uint32_t anchor = lru->anchor[list];

    lru->base.steps_count++;
    nodes[at].list = list;
    nodes[at].newer = anchor;
    nodes[at].older = nodes[anchor].older;
    nodes[nodes[at].older].newer = at;
    nodes[anchor].older = at;
    lru->count[list]++;
}

static uint32_t oldest(const struct lru *lru, enum list_kind list)
{
    return lru->nodes[lru->anchor[list]].newer;
}

static uint32_t *head_of(const struct lru *lru, uint64_t unit)
{
    return &lru->heads[random_mix(unit) & lru->mask];
}

static uint32_t find(struct lru *lru, uint64_t unit)
{
    uint32_t at = *head_of(lru, unit);

    lru->base.steps_count++;
    while (at != NONE && lru->nodes[at].unit != unit) {
        at = lru->nodes[at].chain;
        lru->base.steps_count++;
    }
    return at;
}

/* The oldest candidate is forgotten. */
static void drop_candidate(struct lru *lru)
{
    uint32_t at = oldest(lru, CANDIDATES);
    uint32_t *link = head_of(lru, lru->nodes[at].unit);

    while (*link != at)
        link = &lru->nodes[*link].chain;
    *link = lru->nodes[at].chain;
    unlink_node(lru, at);
    lru->nodes[at].chain = lru->unused;
    lru->unused = at;
}

static void add_candidate(struct lru *lru, uint64_t unit)
{
    if (lru->count[CANDIDATES] == lru->limit[CANDIDATES])
        drop_candidate(lru);
    uint32_t at = lru->unused, *head = head_of(lru, unit);
    lru->unused = lru->nodes[at].chain;
    lru->nodes[at].unit = unit;
    lru->nodes[at].chain = *head;
    *head = at;
    push_front(lru, at, CANDIDATES);
}

static void promote(struct lru *lru, uint32_t at)
{
    unlink_node(lru, at);
    if (lru->count[HOT] == lru->limit[HOT]) {
        uint32_t evicted = oldest(lru, HOT);
        unlink_node(lru, evicted);
        push_front(lru, evicted, CANDIDATES);
    }
    push_front(lru, at, HOT);
}

static uint32_t level(struct hotness *hotness, uint64_t unit, uint32_t block)
{
    struct lru *lru = (struct lru *)hotness;
    uint32_t at = find(lru, unit);

    (void)block;
    return at != NONE && lru->nodes[at].list == HOT;
}

static uint32_t written(struct hotness *hotness, uint64_t unit, uint32_t block)
{
    struct lru *lru = (struct lru *)hotness;
    uint32_t at = find(lru, unit);

    (void)block;
    if (at == NONE) {
        add_candidate(lru, unit);
        return 0;
    }
    if (lru->nodes[at].list == HOT) {
        unlink_node(lru, at);
        push_front(lru, at, HOT);
    } else {
        promote(lru, at);
    }
    return 1;
}

static void lay_out(struct lru *lru)
{
    for (uint32_t i = 0; i <= lru->mask; i++)
        lru->heads[i] = NONE;
    for (uint32_t i = 0; i < lru->nodes_count; i++)
        lru->nodes[i].chain = i + 1 < lru->nodes_count ? i + 1 : NONE;
    for (uint32_t list = 0; list < LISTS_COUNT; list++) {
        uint32_t anchor = lru->nodes_count + list;
        lru->anchor[list] = anchor;
        lru->nodes[anchor].newer = lru->nodes[anchor].older = anchor;
    }
}

static void destroy(struct hotness *hotness)
{
    struct lru *lru = (struct lru *)hotness;

    if (!lru)
        return;
    free(lru->nodes);
    free(lru->heads);
    free(lru);
}

static int create(const struct drive *drive,
                  const struct hotness_geometry *geometry,
                  struct hotness **hotness)
{
    struct lru *lru = calloc(1, sizeof(*lru));
    uint32_t table = 1;

    (void)geometry;
    if (!lru)
        return -ENOMEM;
    lru->base.ops = &hotness_lru_ops;
    lru->limit[HOT] = (uint32_t)drive->lru_hot_count;
    lru->limit[CANDIDATES] = (uint32_t)drive->lru_candidate_count;
    lru->nodes_count = lru->limit[HOT] + lru->limit[CANDIDATES];
    while (table < lru->nodes_count)
        table *= 2;
    lru->mask = table - 1;
    lru->nodes = calloc(lru->nodes_count + LISTS_COUNT, sizeof(*lru->nodes));
    lru->heads = malloc(table * sizeof(*lru->heads));
    if (!lru->nodes || !lru->heads) {
        destroy(&lru->base);
        return -ENOMEM;
    }
    lay_out(lru);
    *hotness = &lru->base;
    return 0;
}

/* As the paper counts: a 4-byte unit and two 2-byte links an entry, 56 of its
 * own. That is 16408 for 512 + 1532 entries; the paper's 14360 would be 1788
 * entries. */
static uint64_t memory_bytes(const struct hotness *hotness)
{
    return ((const struct lru *)hotness)->nodes_count * UINT64_C(8) + 56;
}

const struct hotness_ops hotness_lru_ops = {
    .name = "lru",
    .levels_count = levels_count,
    .create = create,
    .destroy = destroy,
    .written = written,
    .moved = level,
    .memory_bytes = memory_bytes,
};
