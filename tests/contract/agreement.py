"""Compares alphas of the service with those of two libraries that know nothing of each other, on random matrices with gaps.

Usage: agreement.py PROGRAM, where PROGRAM is the example `alpha` of tests. SEED repeats a choice.
"""

import json
import os
import random
import subprocess
import sys

import krippendorff
import numpy
from nltk.metrics.agreement import AnnotationTask

MATRICES = 1_000
CLOSE = 1e-9


def matrix(chance):
    """Values of raters by unit, as `maximum_score` and steps of it give them, with gaps."""
    scale = chance.choice([1, 3, 5, 10, 100])
    tenths = [chance.randint(0, 10 * scale) for _ in range(chance.randint(2, 12))]
    gaps = chance.random() * 0.7
    raters, units = chance.randint(2, 7), chance.randint(10, 40)
    value = lambda: None if chance.random() < gaps else chance.choice(tenths) / (10 * scale)
    return [[value() for _ in range(raters)] for _ in range(units)]


def pairable(rows):
    """The units with at least two values."""
    units = [[value for value in row if value is not None] for row in rows]
    return [unit for unit in units if len(unit) > 1]


def by_krippendorff(rows, level):
    data = numpy.array([[numpy.nan if value is None else value for value in row] for row in rows]).T
    return krippendorff.alpha(data, level_of_measurement=level)


def by_nltk(rows, level):
    values = sorted(value for unit in pairable(rows) for value in unit)

    def difference(one, other):
        if level == "interval":
            return (one - other) ** 2
        least, most = min(one, other), max(one, other)
        between = sum(least <= value <= most for value in values)
        return (between - (values.count(one) + values.count(other)) / 2) ** 2

    data = [(f"r{rater}", f"u{unit}", value) for unit, row in enumerate(rows) for rater, value in enumerate(row) if value is not None]
    return AnnotationTask(data, distance=difference).alpha()


def main():
    seed = os.environ.get("SEED") or str(random.randrange(10**9))
    print(f"SEED={seed}")
    chance = random.Random(seed)
    matrices = []
    while len(matrices) < MATRICES:
        rows = matrix(chance)
        if len({value for unit in pairable(rows) for value in unit}) > 1:
            matrices.append(rows)
    # In another order of the raters, which must change no bit.
    turned = [[[value for value in reversed(row) if value is not None] for row in rows] for rows in matrices]
    given = [[[value for value in row if value is not None] for row in rows] for rows in matrices]
    run = lambda lists: subprocess.run([sys.argv[1]], input=json.dumps(lists), capture_output=True, check=True, text=True).stdout
    answer = run(given)
    assert answer == run(given) == run(turned), "the same data give the same bytes"
    farthest = 0
    for rows, alphas in zip(matrices, json.loads(answer)):
        for level, alpha in zip(["interval", "ordinal"], alphas):
            for library in [by_krippendorff, by_nltk]:
                expected = library(rows, level)
                farthest = max(farthest, abs(alpha - expected))
                assert abs(alpha - expected) <= CLOSE, f"{library.__name__}, {level}: {expected}, not {alpha}, of {rows}"
    print(f"{len(matrices)} matrices, two levels, two libraries: at most {farthest:.1e} apart")


main()
