#!/usr/bin/env python3
"""Writes known answers of SciPy for lab/stats/tests/golden.rs: golden.py > scipy.json

Needs SciPy 1.14. Samples come from a seeded generator and are written with the answers, so that
the test reads numbers and draws nothing."""

import json
import sys

import numpy as np
from scipy import stats

SIZES = [(6, 6), (7, 11), (10, 5), (9, 9)]
SHAPES = {
    "normal": lambda rng, n: rng.normal(0.2, 1.0, n),
    "skewed": lambda rng, n: rng.lognormal(0.0, 0.8, n) - 1.0,
    "ties": lambda rng, n: rng.integers(-3, 4, n).astype(float),
    "tiny": lambda rng, n: 1e-6 * rng.standard_t(3, n),
}


def main():
    rng = np.random.default_rng(20261122)
    cases = [case(rng, name, m, n) for name in SHAPES for m, n in SIZES]
    json.dump({"scipy": scipy_version(), "cases": cases}, sys.stdout, indent=1)
    print()


def scipy_version():
    import scipy

    return scipy.__version__


def case(rng, name, m, n):
    # To nine digits, so that the file says exactly what was computed with.
    a, b = (np.array([float(f"{x:.9g}") for x in SHAPES[name](rng, k)]) for k in (m, n))
    pairs = min(m, n)
    return {
        "shape": name,
        "a": a.tolist(),
        "b": b.tolist(),
        "sign_flip_p": sign_flips(a),
        "studentised_p": regroupings(a, b, welch),
        "welch": [float(v) for v in stats.ttest_ind(a, b, equal_var=False)],
        "pearson": float(stats.pearsonr(a[:pairs], b[:pairs]).statistic),
        "spearman": float(stats.spearmanr(a[:pairs], b[:pairs]).statistic),
        "mean_interval_90": [
            float(v) for v in stats.ttest_1samp(a, 0).confidence_interval(confidence_level=0.9)
        ],
    }


def sign_flips(a):
    test = stats.permutation_test(
        (a,), lambda x, axis: x.mean(axis), permutation_type="samples",
        vectorized=True, n_resamples=np.inf, alternative="two-sided",
    )
    return float(test.pvalue)


def regroupings(a, b, statistic):
    test = stats.permutation_test(
        (a, b), statistic, permutation_type="independent", vectorized=True,
        n_resamples=np.inf, alternative="two-sided",
    )
    # SciPy doubles the smaller tail; ours counts what is as far from 0 on either side.
    far = np.abs(test.null_distribution) >= abs(test.statistic) * (1 - 1e-9)
    return float(far.mean())


def welch(x, y, axis):
    error = x.var(axis, ddof=1) / x.shape[axis] + y.var(axis, ddof=1) / y.shape[axis]
    return (x.mean(axis) - y.mean(axis)) / np.sqrt(error)


main()
