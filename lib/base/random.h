/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_RANDOM_H
#define SSDPROBE_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The only source of chance: seeded, repeatable, the same on every machine.
 * xoshiro256** seeded through splitmix64 (Blackman & Vigna, "Scrambled linear
 * pseudorandom number generators", 2021).
 */
struct random {
    uint64_t s[4];
};

void random_seed(struct random *random, uint64_t seed);

/* 64 random bits. */
uint64_t random_u64(struct random *random);

/* Uniform in [0, bound); bound > 0; without modulo bias. */
uint64_t random_below(struct random *random, uint64_t bound);

/* Uniform in [0, 1), 53 bits. */
double random_unit(struct random *random);

/* Standard normal (Box-Muller, one value per call). */
double random_normal(struct random *random);

/* Fisher-Yates: shuffles the indices 0..count-1 into `order`. */
void random_order(struct random *random, size_t order[], size_t count);

/* One well-mixed word from another (splitmix64's finaliser). */
uint64_t random_mix(uint64_t word);

/* Of each two indices 2n and 2n + 1 one is chosen, always the same: by the
 * multiples of a number akin to the golden ratio, so that of every m-th index
 * half are chosen, whatever m is, and sooner than by chance. */
bool random_one_of_two(uint64_t index);

/* Half of all indices by chance, always the same: a few in a row tell where
 * they are. */
bool random_coin(uint64_t index);

/* A hash of a text, for seeds that depend on a name (FNV-1a, then mixed). */
uint64_t random_hash(const char *text);

#endif
