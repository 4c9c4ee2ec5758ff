#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tests/vectors/stats_vectors.h: what lib/infer/statistics/stats.h must return.

Needs numpy, scipy, diptest (Hartigans' algorithm as in R's package of that
name) and ckwrap (R's Ckmeans.1d.dp), any recent ones, in an environment of their
own:

    python3 -m venv /tmp/venv
    /tmp/venv/bin/pip install scipy diptest ckwrap
    /tmp/venv/bin/python tests/vectors/make_vectors.py > \
        tests/vectors/stats_vectors.h
"""
import ckwrap
import diptest
import numpy
from scipy import optimize, stats

COUNTS = (1, 2, 3, 4, 5, 8, 17, 30)


def samples():
    random = numpy.random.default_rng(1)
    for count in COUNTS:
        yield numpy.round(random.normal(0, 10, count), 3)
        yield numpy.round(random.lognormal(5, 1, count), 3)
        yield random.integers(0, 4, count).astype(float)  # ties


def row(*fields):
    print("    {" + ", ".join(fields) + "},")


def number(value):
    return repr(float(value))


def listing(values):
    return "{" + ", ".join(number(v) for v in values) + "}"


def write_samples():
    print("static const struct sample_vector {\n"
          "    size_t count;\n"
          "    double values[30], median, lower_half_mean, spread;\n"
          "} sample_vectors[] = {")
    for values in samples():
        half = numpy.sort(values)[: (len(values) + 1) // 2]
        row(str(len(values)), listing(values), number(numpy.median(values)),
            number(half.mean()),
            number(stats.median_abs_deviation(values, scale="normal")))
    print("};\n")


def write_ranks():
    print("/* The largest k with P(Binomial(count, 1/2) < k) <= alpha. */\n"
          "static const struct rank_vector {\n"
          "    size_t count;\n    double alpha;\n    size_t rank;\n"
          "} rank_vectors[] = {")
    for count in (1, 2, 5, 8, 12, 18, 22, 36, 64, 128, 256, 1000):
        for alpha in (0.1, 0.025, 1e-3, 1e-5, 1e-9):
            ranks = numpy.arange(0, count // 2 + 2)
            fits = stats.binom.cdf(ranks - 1, count, 0.5) <= alpha
            row(str(count), number(alpha), str(int(ranks[fits].max())))
    print("};\n")


def write_signs():
    print("static const struct sign_vector {\n"
          "    size_t hits, count;\n    double probability;\n"
          "} sign_vectors[] = {")
    for count in (1, 2, 7, 18, 64, 256, 1000):
        for hits in sorted({0, 1, count // 2, count * 3 // 4, count}):
            test = stats.binomtest(hits, count, 0.5, alternative="greater")
            row(str(hits), str(count), number(test.pvalue))
    print("};\n")


def signed_rank_tail(values):
    """By counting: scipy subtracts from 1, which loses what is far out."""
    above = stats.rankdata(abs(values))[values > 0].sum()
    ways = [1]  # for each sum of ranks
    for rank in range(1, len(values) + 1):
        ways = [a + b for a, b in zip(ways + [0] * rank, [0] * rank + ways)]
    return sum(ways[int(above):]) / 2 ** len(values)


def write_signed_ranks():
    print("static const struct signed_rank_vector {\n"
          "    size_t count;\n    double values[128], probability;\n"
          "} signed_rank_vectors[] = {")
    random = numpy.random.default_rng(4)
    for count in (1, 2, 7, 18, 32, 128):
        for middle in (-1, 0.3, 1, 30):
            values = numpy.round(random.normal(middle, 2, count), 6)
            test = stats.wilcoxon(values, alternative="greater",
                                  method="exact")
            assert abs(test.pvalue - signed_rank_tail(values)) < 1e-12
            row(str(count), listing(values), number(signed_rank_tail(values)))
    print("};\n")


def write_normal():
    print("static const struct normal_vector {\n"
          "    double z, probability;\n} normal_vectors[] = {")
    for z in (-8, -5, -3, -1.959963984540054, -1, -0.1, 0, 0.5, 1, 2, 4, 7):
        row(number(z), number(stats.norm.cdf(z)))
    print("};\n")


def lines():
    random = numpy.random.default_rng(2)
    x = numpy.array([1, 2, 4, 8, 16, 32], float)
    yield x, 100 + 3 * x                                 # exact
    yield x, (100 + 3 * x) * random.lognormal(0, 0.2, 6)
    yield x, 5 * x * random.lognormal(0, 0.2, 6)
    yield x, 5 * x - 4                                   # would begin below 0
    yield x, 200 - 3 * x                                 # would fall
    yield x, numpy.array([7, 7, 7, 7, 7, 7], float)
    yield x * 1e6, 2e5 + 4 * x * 1e6                     # bytes and ns
    yield numpy.array([1, 3], float), numpy.array([10, 11], float)


def write_lines():
    print("static const struct line_vector {\n"
          "    size_t count;\n"
          "    double x[6], y[6], intercept, slope;\n"
          "} line_vectors[] = {")
    for x, y in lines():
        scale = x.max()
        design = numpy.stack([1 / y, x / scale / y], axis=1)
        fit = optimize.lsq_linear(design, numpy.ones(len(x)), (0, numpy.inf),
                                  tol=1e-15).x
        # Its bounds are open: what lies on one is found by leaving it out.
        active = fit > 1e-6 * numpy.abs(fit).max()
        fit = numpy.zeros(2)
        fit[active] = numpy.linalg.lstsq(design[:, active], numpy.ones(len(x)),
                                         rcond=None)[0]
        row(str(len(x)), listing(x), listing(y), number(fit[0]),
            number(fit[1] / scale))
    print("};\n")


def mixed():
    random = numpy.random.default_rng(3)
    for count in (5, 12, 40, 100):
        yield random.normal(0, 1, count)
        yield random.uniform(0, 1, count)
        yield random.integers(0, 6, count).astype(float)  # ties
        yield random.lognormal(0, 2, count)
        yield numpy.concatenate([random.normal(0, 1, count - count // 3),
                                 random.normal(6, 1, count // 3)])


def write_dips():
    print("/* Where diptest says 0, as it does for evenly spaced values, R's\n"
          " * function and ours say the least there can be, 1 / (2 count). */\n"
          "static const struct dip_vector {\n"
          "    size_t count;\n    double sorted[100], dip;\n"
          "} dip_vectors[] = {")
    for values in mixed():
        values = numpy.round(numpy.sort(values), 6)
        dip = max(diptest.dipstat(values), 0.5 / len(values))
        row(str(len(values)), listing(values), number(dip))
    print("};\n")


def write_clusters():
    print("static const struct cluster_vector {\n"
          "    size_t count, k;\n    double sorted[100], squares;\n"
          "} cluster_vectors[] = {")
    for k, values in enumerate(mixed()):
        values = numpy.round(numpy.sort(values), 6)
        k = min(1 + k % 6, len(set(values)) - 1)
        labels = ckwrap.ckmeans(values, k).labels
        groups = [values[labels == i] for i in range(k)]
        squares = sum(((g - g.mean()) ** 2).sum() for g in groups)
        row(str(len(values)), str(k), listing(values), number(squares))
    print("};\n")


def main():
    print("/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
          "/* Written by tests/vectors/make_vectors.py with scipy, diptest, ckwrap. */\n"
          "/* clang-format off */\n"
          "#ifndef SSDPROBE_TESTS_VECTORS_STATS_VECTORS_H\n"
          "#define SSDPROBE_TESTS_VECTORS_STATS_VECTORS_H\n\n"
          "#include <stddef.h>\n")
    write_samples()
    write_ranks()
    write_signs()
    write_normal()
    write_lines()
    write_dips()
    write_clusters()
    write_signed_ranks()
    print("#endif\n/* clang-format on */")


main()
