"""Tests of "no gap": z, chi-square, Fisher, permutation, Cochran-Mantel-Haenszel, Breslow-Day.

Everything takes plain counts: `k` positives of `n` people, one entry a group (and one row a stratum). A group with
n = 0 says nothing and is left out. Where every outcome is the same there is no gap to see: the statistic is 0 and
p is 1. Where there are not two groups to compare there is no test: the statistic and p are NaN, with a note.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Array, Floats
from evenhand.errors import CallError

SMALL = 5
"""An expected count below this makes the chi-square test reject too often (8 % at nominal 5 %)."""
_ROUNDING = 1e-9

FISHER_MOST = 10**7
"""Up to this many people scipy's exact test takes milliseconds and is right; past 10⁹ it is neither."""

PERMUTATION_MOST = 10**9 - 1
"""Past this many people numpy refuses to draw."""


@dataclass(frozen=True)
class Test:
    """The outcome of one test. `p_value` is two-sided; `note` says what the name does not."""

    __test__ = False  # pytest: the name begins with Test, but it is not a test case

    name: str
    statistic: float
    p_value: float
    df: float | None = None
    note: str = ""


def two_proportion_z(k1: float, n1: float, k2: float, n2: float) -> Test:
    """Test whether the rates k1/n1 and k2/n2 differ: with the pooled variance, two-sided.

    >>> test = two_proportion_z(8, 10, 0, 10)
    >>> round(test.statistic, 4), round(test.p_value, 6)
    (3.6515, 0.000261)
    """
    from scipy.special import ndtr

    k, n = _counts([k1, k2], [n1, n2])
    name = "two-proportion z"
    if not n.all():
        return _nothing(name)
    everyone, positives = n.sum(), k.sum()
    rate = positives / everyone
    variance = rate * ((everyone - positives) / everyone) * (1 / n[0] + 1 / n[1])
    z = float((k[0] / n[0] - k[1] / n[1]) / np.sqrt(variance)) if variance > 0 else 0.0
    return Test(name, z, float(2 * ndtr(-abs(z))))


def chi_square(k: npt.ArrayLike, n: npt.ArrayLike) -> Test:
    """Test whether the rates of the groups differ: Pearson's, on the K x 2 table, without continuity correction.

    The counts may be fractional: effective counts of weighted data.

    >>> test = chi_square([90, 60, 30], [100, 80, 40])
    >>> round(test.statistic, 3), test.df, round(test.p_value, 3)
    (8.25, 2.0, 0.016)
    """
    k, n = _groups(k, n)
    if len(n) < 2:
        return _nothing("chi-square")
    return _from_chi_square("chi-square", float(_pearson(k, n, k.sum())), len(n) - 1)


def fisher_exact(k1: float, n1: float, k2: float, n2: float) -> Test:
    """Test whether two rates differ: Fisher's exact test, two-sided; the statistic is the odds ratio.

    Past ten million people the exact sums are out of reach. If a margin then holds less than a thousandth of the
    people, drawing it without replacement is nearly drawing with it, and the binomial test is off by less than
    0.001; otherwise every cell expects ten or more and chi-square is as good. The note says which was used.

    >>> round(fisher_exact(8, 10, 1, 6).p_value, 4)
    0.035
    """
    k, n = _counts([k1, k2], [n1, n2])
    _must_be_whole("Fisher's exact test", k, n)
    name = "Fisher's exact"
    if not n.all():
        return _nothing(name)
    odds = odds_ratio(k1, n1, k2, n2)
    positives, everyone = k.sum(), n.sum()
    if positives in (0, everyone):
        return Test(name, odds, 1.0)
    from scipy import stats

    if everyone <= FISHER_MOST:
        table = np.stack([k, n - k], axis=1).astype(np.int64)
        return Test(name, odds, float(stats.fisher_exact(table)[1]))
    # The two small margins meet in one cell: the rarer outcome in the smaller group.
    if 2 * positives > everyone:
        k, positives = n - k, everyone - positives
    group = int(np.argmin(n))
    fewer, more = sorted((positives, n[group]))
    if fewer > everyone / 1000:
        return replace(chi_square(k, n), note="too many people for Fisher's exact test, and enough for chi-square")
    p = stats.binomtest(int(k[group]), int(fewer), float(more / everyone)).pvalue
    return Test(name, odds, float(p), note="too many people for the exact sums: their binomial limit instead")


def permutation(k: npt.ArrayLike, n: npt.ArrayLike, draws: int = 10_000, random_state: int = 0) -> Test:
    """Test whether the rates of the groups differ: the outcomes are assigned to the groups at random, `draws` times.

    The p-value is (c + 1) / (draws + 1), where c counts the tables at least as far from equal rates, by
    chi-square, as the one that was seen. It holds however small the counts are, depends on the seed only, and
    neither on the order of the groups nor on which outcome is called positive.

    >>> permutation([0, 4, 1], [12, 9, 10]) == permutation([1, 0, 4], [10, 12, 9])
    True
    """
    k, n = _groups(k, n)
    _must_be_whole("the permutation test", k, n)
    if draws < 1:
        raise CallError(f"draws={draws!r} must be at least 1.")
    if len(n) < 2:
        return _nothing("permutation")
    positives, everyone = k.sum(), n.sum()
    if positives in (0, everyone):
        return Test("permutation", 0.0, 1.0)
    if everyone > PERMUTATION_MOST:
        return replace(chi_square(k, n), note="too many people to permute: the asymptotic p-value instead")
    rng = np.random.default_rng(random_state)
    fewer = min(positives, everyone - positives)
    seen = float(_pearson(k, n, positives))
    as_far, left = 0, draws
    while left:
        size = min(left, max(1, 2**20 // len(n)))
        # numpy's draws, for as many people as they take: importing scipy.stats costs more than all of them.
        tables = rng.multivariate_hypergeometric(n.astype(np.int64), int(fewer), size=size, method="marginals")
        # Tables that mirror each other are equally far and may differ in the last bit.
        as_far += int(np.sum(_pearson(tables, n, fewer) >= seen * (1 - 1e-9)))
        left -= size
    return Test("permutation", seen, (as_far + 1) / (draws + 1))


def independence(k: npt.ArrayLike, n: npt.ArrayLike, draws: int = 10_000, random_state: int = 0) -> Test:
    """Test whether the rates of the groups differ, by the test that is valid for counts like these.

    Chi-square where every expected count is at least 5; otherwise Fisher's exact test for two groups and the
    permutation test for more. Fractional counts (weighted data) always go to chi-square.

    >>> independence([60, 40], [100, 90]).name, independence([3, 0], [9, 90]).name
    ('chi-square', "Fisher's exact")
    >>> independence([3, 0, 2], [9, 90, 20]).name
    'permutation'
    """
    k, n = _groups(k, n)
    if len(n) < 2 or _expected(k, n).min() >= SMALL - _ROUNDING or k.sum() in (0, n.sum()):
        return chi_square(k, n)
    if not _whole(k, n):
        return replace(chi_square(k, n), note="weighted, with an expected count below 5: the p-value is approximate")
    if len(n) == 2:
        return fisher_exact(k[0], n[0], k[1], n[1])
    return permutation(k, n, draws, random_state)


def combined(tests: Sequence[Test]) -> Test:
    """One test of a criterion that asks for several equal rates, such as TPR and FPR, each from its own people.

    Chi-squares of separate tables add up, with their degrees of freedom. Other tests are combined by
    Bonferroni: the smallest p-value times their number, which holds whatever the tests are. A test that could not
    be made (NaN) is left out.

    >>> both = combined([Test("chi-square", 3.0, 0.083, 1), Test("chi-square", 4.0, 0.046, 1)])
    >>> both.statistic, both.df, round(both.p_value, 4)
    (7.0, 2.0, 0.0302)
    >>> combined([Test("permutation", 9.0, 0.02), Test("chi-square", 1.0, 0.6, 2)])
    Test(name='permutation', statistic=9.0, p_value=0.04, df=None, note='smaller of 2 p-values, times 2 (Bonferroni)')
    """
    made = [test for test in tests if not math.isnan(test.p_value)]
    many = len(made)
    if not made:
        return tests[0] if tests else _nothing("chi-square")
    if many == 1:
        return made[0]
    notes = list(dict.fromkeys(test.note for test in made if test.note))
    if all(test.name == "chi-square" and test.df is not None for test in made):
        df = sum(test.df or 0.0 for test in made)
        total = math.fsum(test.statistic for test in made)
        return _from_chi_square("chi-square", total, df, "; ".join([f"sum over {many} tables", *notes]))
    least = min(made, key=lambda test: (test.p_value, test.name, -abs(test.statistic)))
    how = f"{'smaller' if many == 2 else 'smallest'} of {many} p-values, times {many} (Bonferroni)"
    return replace(least, p_value=min(1.0, many * least.p_value), note="; ".join([how, *notes]))


def cochran_mantel_haenszel(k: npt.ArrayLike, n: npt.ArrayLike) -> Test:
    """Test whether the rates of the groups differ within strata. `k` and `n` are [strata, groups].

    Within each stratum the positives are dealt out to the groups; what each group has above its expectation is
    added over the strata and set against its covariance. For two groups this is the classical test,
    without a continuity correction. A stratum with one group, or one outcome, contributes nothing.

    >>> test = cochran_mantel_haenszel([[512, 89], [353, 17]], [[825, 108], [560, 25]])
    >>> round(test.statistic, 2), test.df
    (15.47, 1.0)
    """
    k, n = _strata(k, n)
    present = n.any(axis=0)
    k, n = k[:, present], n[:, present]
    groups = n.shape[1]
    name = "Cochran-Mantel-Haenszel"
    if not np.any((n > 0).sum(axis=1) > 1):
        return _nothing(name, "no stratum has two groups to compare")
    k, n = _informative(k, n)
    everyone, positives = n.sum(axis=1), k.sum(axis=1)
    above = (k - n * (positives / everyone)[:, None]).sum(axis=0)
    factor = positives * (everyone - positives) / (everyone**2 * (everyone - 1))
    between = (n * factor[:, None]).T @ n
    np.fill_diagonal(between, 0)
    variance = between.sum(axis=1)
    if not variance.any():
        return _from_chi_square(name, 0.0, groups - 1)
    if groups == 2:
        return _from_chi_square(name, float(above[0] ** 2 / variance[0]), 1)
    # In units of each group's own deviation, so that a group of 30 counts beside one of 10^12. The covariance has
    # no inverse: what all groups that share strata have above expectation adds up to 0.
    varies = variance > 0
    deviation = np.sqrt(variance[varies])
    covariance = np.eye(len(deviation)) - between[np.ix_(varies, varies)] / np.outer(deviation, deviation)
    values, vectors = np.linalg.eigh(covariance)
    free = values > 1e-10
    along = (above[varies] / deviation) @ vectors[:, free]
    return _from_chi_square(name, float(np.sum(along**2 / values[free])), int(free.sum()))


def mantel_haenszel_odds_ratio(k: npt.ArrayLike, n: npt.ArrayLike) -> float:
    """The odds of the first group against the second, common to all strata; `k` and `n` are [strata, 2].

    >>> round(mantel_haenszel_odds_ratio([[512, 89], [353, 17]], [[825, 108], [560, 25]]), 3)
    0.425
    """
    k, n = _pairs(k, n)
    k, n = _informative(k, n)
    everyone = n.sum(axis=1)
    rest = n - k
    return _ratio(float(np.sum(k[:, 0] * rest[:, 1] / everyone)), float(np.sum(k[:, 1] * rest[:, 0] / everyone)))


def breslow_day(k: npt.ArrayLike, n: npt.ArrayLike) -> Test:
    """Test whether the odds ratio of two groups differs between strata. `k` and `n` are [strata, 2].

    A small p-value says that one common odds ratio does not describe the strata: they differ among themselves.

    >>> round(breslow_day([[512, 89], [353, 17]], [[825, 108], [560, 25]]).p_value, 3)
    0.098
    """
    name = "Breslow-Day"
    k, n = _pairs(k, n)
    k, n = _informative(k, n)
    if len(n) < 2:
        return _nothing(name, "fewer than two strata have an odds ratio")
    odds = mantel_haenszel_odds_ratio(k, n)
    if not 0 < odds < math.inf:
        return _nothing(name, f"the common odds ratio is {'0' if odds == 0 else 'infinite'}")
    if odds > 1:  # below 1 the root is a sum without cancellation
        k, odds = n - k, 1 / odds
    positives, everyone = k.sum(axis=1), n.sum(axis=1)
    expected = _cell(n[:, 0], positives, everyone, odds)
    cells = [expected, n[:, 0] - expected, positives - expected, _cell(n[:, 1], everyone - positives, everyone, odds)]
    variance = 1 / np.sum([1 / cell for cell in cells], axis=0)
    above = k[:, 0] - expected
    statistic = float(np.sum(above**2 / variance))
    return _from_chi_square(name, statistic, len(n) - 1)


def cohens_h(p1: float, p2: float) -> float:
    """How far apart two rates are, on a scale on which the same distance is equally hard to see anywhere.

    >>> round(cohens_h(0.65, 0.35), 3)
    0.609
    """
    if not (0 <= p1 <= 1 and 0 <= p2 <= 1):
        return math.nan
    return 2 * math.asin(math.sqrt(p1)) - 2 * math.asin(math.sqrt(p2))


def odds_ratio(k1: float, n1: float, k2: float, n2: float) -> float:
    """The odds k1 : n1 - k1 against the odds k2 : n2 - k2; infinite, or NaN for 0 against 0.

    >>> odds_ratio(8, 10, 1, 6)
    20.0
    """
    return _ratio(float(k1) * float(n2 - k2), float(k2) * float(n1 - k1))


def _pearson(k: Array, n: Floats, positives: float) -> Floats:
    """Chi-square of [..., groups] positives; 0 where every outcome is the same."""
    rate = positives / n.sum()
    spread = rate * ((n.sum() - positives) / n.sum())
    if spread <= 0:
        return np.zeros(np.shape(k)[:-1])
    return np.asarray(np.sum((k - n * rate) ** 2 / n, axis=-1) / spread)


def _expected(k: Floats, n: Floats) -> Floats:
    rate = k.sum() / n.sum()
    return np.stack([n * rate, n * (1 - rate)])


def _cell(row: Floats, column: Floats, everyone: Floats, odds: float) -> Floats:
    """The corner of a 2 x 2 table with these margins whose odds ratio is `odds`, at most 1."""
    slope = everyone - (1 - odds) * (row + column)
    root = np.sqrt(slope**2 + 4 * (1 - odds) * odds * row * column)
    # Both are the one positive root; which of them cancels depends on the sign of the slope.
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(slope > 0, 2 * odds * row * column / (slope + root), (root - slope) / (2 * (1 - odds)))


def _counts(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if k.shape != n.shape:
        raise CallError(f"k and n must have one shape; they have {k.shape} and {n.shape}.")
    if not (np.isfinite(n).all() and np.all(k >= 0) and np.all(k <= n * (1 + 1e-9))):
        raise CallError("counts must be finite, with 0 <= k <= n in every group.")
    return np.minimum(k, n), n


def _groups(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The groups that have people, in the order of (n, k): no answer depends on the order of the arguments."""
    k, n = _counts(k, n)
    if k.ndim != 1:
        raise CallError(f"k and n must be one number for each group; they have shape {k.shape}.")
    order = np.lexsort((k, n))
    order = order[n[order] > 0]
    return k[order], n[order]


def _strata(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    k, n = _counts(k, n)
    if k.ndim != 2:
        raise CallError(f"k and n must be [strata, groups]; they have shape {k.shape}.")
    return k, n


def _pairs(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    k, n = _strata(k, n)
    if k.shape[1] != 2:
        raise CallError(f"an odds ratio compares two groups and there are {k.shape[1]}.")
    return k, n


def _informative(k: Floats, n: Floats) -> tuple[Floats, Floats]:
    """The strata with at least two groups and both outcomes."""
    positives, everyone = k.sum(axis=1), n.sum(axis=1)
    keep = ((n > 0).sum(axis=1) > 1) & (positives > 0) & (positives < everyone) & (everyone > 1)
    return k[keep], n[keep]


def _whole(*counts: Floats) -> bool:
    return all(bool(np.all(each == np.rint(each))) for each in counts)


def _must_be_whole(what: str, *counts: Floats) -> None:
    if not _whole(*counts):
        raise CallError(f"{what} needs whole counts; for weighted data use chi_square().")


def _ratio(a: float, b: float) -> float:
    if b == 0:
        return math.inf if a > 0 else math.nan
    return a / b


def _from_chi_square(name: str, statistic: float, df: float, note: str = "") -> Test:
    from scipy.special import chdtrc

    return Test(name, statistic, float(chdtrc(df, statistic)), float(df), note)


def _nothing(name: str, note: str = "fewer than two groups to compare") -> Test:
    return Test(name, math.nan, math.nan, note=note)
