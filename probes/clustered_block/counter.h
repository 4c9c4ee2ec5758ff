/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_COUNTER_H
#define SSDPROBE_PROBES_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A drive that writes to new places has a counter of what a block still holds.
 * Each flushed write uses up some of it, and the write that finds the block
 * full is slow. So the number of writes from one slow one to the next tells the
 * block, once it is known what a write uses up. A model says that; sweeps of
 * writes of several lengths sort out the wrong ones.
 */

/* What a flushed write uses up. */
struct counter_model {
    uint64_t page_bytes; /* each page that is touched is written anew */
    uint64_t
        unit_bytes; /* programmed at once; a flush leaves its rest unused */
    /* Longer writes are taken in parts, and use up a page for each; how many
     * parts depends on buffers, so of such writes the model says no more than
     * that there are two. 0: it takes them as they come. */
    uint64_t part_bytes;
    /* By the first sweep of which the model speaks; 0: there was none yet. */
    double block_bytes;
};

/* The writes of a sweep lie shift_bytes behind multiples of pitch_bytes. */
struct counter_cut {
    uint64_t write_bytes, pitch_bytes, shift_bytes;
    bool scattered;        /* at random places, not in order */
    uint64_t gather_count; /* writes that share a flush, and count as one */
};

/* What a write uses up on average, in bytes; or those that share a flush.
 * `*steady`: each as much. 0: the model does not say. */
double counter_used(const struct counter_model *model,
                    const struct counter_cut *cut, bool *steady);

/* What a sweep showed. */
enum counter_shown {
    COUNTER_LENGTH, /* one of `length` writes is slow */
    COUNTER_HALF,   /* about twice as many writes as in the first sweep are */
    COUNTER_OTHER   /* not about twice as many are */
};

struct counter_item {
    struct counter_cut cut;
    enum counter_shown shown;
    size_t length;
};

enum { COUNTER_ITEMS_MAX = 32, COUNTER_MODELS_MAX = 2048 };

/* The models that explain all sweeps so far. */
struct counter {
    struct counter_model models[COUNTER_MODELS_MAX];
    size_t models_count;
    struct counter_item items[COUNTER_ITEMS_MAX]; /* the first has a length */
    size_t items_count;
};

/* Every model of a drive with pages of `page_bytes`: these may be a part of a
 * longer one. 0: of any length. `least_bytes`: the shortest write that can be
 * tried, so that shorter parts would not show. `first` is the sweep that showed
 * a distance first. */
void counter_begin(struct counter *counter, uint64_t page_bytes,
                   uint64_t least_bytes, const struct counter_item *first);

/* Adds what another sweep showed: leaves out the models that it refutes. */
void counter_add(struct counter *counter, const struct counter_item *item);

/* The writes from one slow write to the next that a model predicts for a sweep;
 * 0: they come at no one distance. */
double counter_length(const struct counter_model *model,
                      const struct counter_cut *cut);

/* How a sweep parts the models. */
struct counter_parting {
    bool parts; /* some that imply other blocks predict other distances */
    double shortest, longest; /* distances, in writes; 0: none predicts any */
};

struct counter_parting counter_parting(const struct counter *counter,
                                       const struct counter_cut *cut);

/* The one block that all models imply, or all where the drive takes writes as
 * they come (`whole`); 0: there is none, or several. */
uint64_t counter_says(const struct counter *counter, bool whole);

#endif
