/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/random.h"

#include <math.h>

uint64_t random_mix(uint64_t word)
{
    word ^= word >> 30;
    word *= UINT64_C(0xbf58476d1ce4e5b9);
    word ^= word >> 27;
    word *= UINT64_C(0x94d049bb133111eb);
    word ^= word >> 31;
    return word;
}

bool random_one_of_two(uint64_t index)
{
    /* 2^64 / (2 + the golden ratio): 0.276. */
    const uint64_t turn = UINT64_C(0x46c1b47480244d95);

    return ((index / 2 * turn) >> 63 ^ index) & 1;
}

bool random_coin(uint64_t index)
{
    return random_mix(index) & 1;
}

uint64_t random_hash(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++) {
        hash ^= (unsigned char)*text;
        hash *= UINT64_C(0x100000001b3);
    }
    return random_mix(hash);
}

void random_seed(struct random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += UINT64_C(0x9e3779b97f4a7c15);
        random->s[i] = random_mix(seed);
    }
}

static uint64_t rotate_left(uint64_t word, int bits)
{
    return (word << bits) | (word >> (64 - bits));
}

uint64_t random_u64(struct random *random)
{
    uint64_t *s = random->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t random_below(struct random *random, uint64_t bound)
{
    uint64_t word;

    /* Words below 2^64 mod bound, itself less than the bound, would favour
     * small results. */
    do {
        word = random_u64(random);
    } while (word < bound && word < (0 - bound) % bound);
    return word % bound;
}

double random_unit(struct random *random)
{
    return (double)(random_u64(random) >> 11) * 0x1.0p-53;
}

double random_normal(struct random *random)
{
    const double two_pi = 6.283185307179586;
    double u = 1.0 - random_unit(random); /* never 0 */
    return sqrt(-2.0 * log(u)) * cos(two_pi * random_unit(random));
}

void random_order(struct random *random, size_t order[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)random_below(random, i);
        size_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}
