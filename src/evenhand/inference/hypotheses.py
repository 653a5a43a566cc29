"""Tests of "no gap": z, chi-square, Fisher, permutation; within strata see `stratified`.

Everything takes plain counts: `k` positives of `n` people, one entry a group. A group with
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
from evenhand.inference import contingency
from evenhand.inference.contingency import LEAST_DRAWS, MOST_DRAWS

BOTH = "permutation or chi-square"
"""The name of the test of several small groups: the smaller of two p-values, times 2."""

UNEVEN, FINE = 50, 60
"""Beside a group this many times as large, the rate of the smaller one has steps so coarse that chi-square rejects up
to 8 % at nominal 5 %, unless its expected counts are at least `FINE`."""

FISHER_MOST = 10**7
"""Up to this many people the exact test takes milliseconds."""

_MOST_DRAWN = 4_000_000  # counts of all tables that are drawn at first
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

    k, n = counts([k1, k2], [n1, n2])
    name = "two-proportion z"
    if not n.all():
        return nothing(name)
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
        return nothing("chi-square")
    return from_chi_square("chi-square", float(_pearson(k, n, k.sum())), len(n) - 1)


def fisher_exact(k1: float, n1: float, k2: float, n2: float) -> Test:
    """Test whether two rates differ: Fisher's exact test, two-sided; the statistic is the odds ratio.

    Past ten million people the exact sums are out of reach. If a margin then holds less than a thousandth of the
    people, drawing it without replacement is nearly drawing with it, and the binomial test is off by less than
    0.001; otherwise every cell expects ten or more and chi-square is as good. The note says which was used.

    >>> round(fisher_exact(8, 10, 1, 6).p_value, 4)
    0.035
    """
    k, n = counts([k1, k2], [n1, n2])
    _must_be_whole("Fisher's exact test", k, n)
    name = "Fisher's exact"
    if not n.all():
        return nothing(name)
    odds = odds_ratio(k1, n1, k2, n2)
    positives, everyone = k.sum(), n.sum()
    if positives in (0, everyone):
        return Test(name, odds, 1.0)
    if everyone <= FISHER_MOST:
        return Test(name, odds, min(1.0, sum(hypergeometric_tails(int(k1), int(n1), int(k2), int(n2)))))
    from scipy import stats

    # The two small margins meet in one cell: the rarer outcome in the smaller group.
    if 2 * positives > everyone:
        k, positives = n - k, everyone - positives
    group = int(np.argmin(n))
    fewer, more = sorted((positives, n[group]))
    if fewer > everyone / 1000:
        return replace(chi_square(k, n), note="too many people for Fisher's exact test, and enough for chi-square")
    p = stats.binomtest(int(k[group]), int(fewer), float(more / everyone)).pvalue
    return Test(name, odds, float(p), note="too many people for the exact sums: their binomial limit instead")


def hypergeometric_tails(k1: int, n1: int, k2: int, n2: int) -> tuple[float, float]:
    """The chances of tables with these margins that are less likely than this one, and of those that are as likely.

    By the ratios of neighbouring tables, with numpy alone: importing scipy.stats costs more than an audit. Tables more
    than 45 standard deviations from the most likely one have no chance that a float could hold.
    """
    everyone, positives = n1 + n2, k1 + k2
    least, most = max(0, positives - n2), min(n1, positives)
    middle = (n1 + 1) * (positives + 1) // (everyone + 2)
    share = n1 / everyone * (positives / everyone) * (n2 / everyone) * (everyone - positives)
    reach = _FARTHEST + int(_FARTHEST * math.sqrt(share))
    low, high = max(least, middle - reach), min(most, middle + reach)
    if not low <= k1 <= high:
        return 0.0, 0.0
    x = np.arange(low, high, dtype=np.float64)
    steps = np.log((n1 - x) * (positives - x)) - np.log((x + 1) * (n2 - positives + x + 1))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    seen = chances[k1 - low]
    # R takes chances that differ by less than this for equal, too.
    less, alike = chances < seen * (1 - _AS_LIKELY), np.abs(chances - seen) <= seen * _AS_LIKELY
    return float(chances[less].sum()), float(chances[alike].sum())


_FARTHEST, _AS_LIKELY = 45, 1e-7


def permutation(
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    draws: int = LEAST_DRAWS,
    random_state: int = 0,
    *,
    most: int = MOST_DRAWS,
    enough: float = 0.0,
) -> Test:
    """Test whether the rates of the groups differ: the outcomes are assigned to the groups at random.

    The p-value is the share of tables at least as far from equal rates, by chi-square, as the one that was seen, from
    at least `draws` tables and at most `most` (see `contingency.permutation_p`). It holds however small the counts are,
    depends on the seed only, and neither on the order of the groups nor on which outcome is called positive. Past
    `enough`, a smaller p-value that is known already, the draws stop.

    >>> permutation([0, 4, 1], [12, 9, 10]) == permutation([1, 0, 4], [10, 12, 9])
    True
    """
    k, n = _groups(k, n)
    _must_be_whole("the permutation test", k, n)
    if draws < 1:
        raise CallError(f"draws={draws!r} must be at least 1.")
    if len(n) < 2:
        return nothing("permutation")
    positives, everyone = k.sum(), n.sum()
    if positives in (0, everyone):
        return Test("permutation", 0.0, 1.0)
    if everyone > PERMUTATION_MOST:
        return replace(chi_square(k, n), note="too many people to permute: the asymptotic p-value instead")
    # Of very many groups fewer tables are drawn: their chi-square varies little, and each takes long.
    draws = min(draws, max(_MOST_DRAWN // len(n), 200))
    most = min(most, max(draws, 25 * _MOST_DRAWN // len(n)))
    random, people = np.random.default_rng(random_state), n.astype(np.int64)
    fewer = int(min(positives, everyone - positives))

    def draw(size: int) -> Floats:
        # numpy's draws, for as many people as they take: importing scipy.stats costs more than all of them.
        tables = random.multivariate_hypergeometric(people, fewer, size=size, method="marginals")
        return _pearson(tables, n, fewer)

    seen = float(_pearson(k, n, positives))
    p = contingency.permutation_p(draw, seen, len(n), draws, most, enough=enough)
    return Test("permutation", seen, p)


def independence(k: npt.ArrayLike, n: npt.ArrayLike, draws: int = LEAST_DRAWS, random_state: int = 0) -> Test:
    """Test whether the rates of the groups differ, by the test that is valid for counts like these.

    Chi-square where every expected count is at least 5. Otherwise Fisher's exact test for two groups, which also tests
    a group beside another that is 50 times as large. For more groups twice the smaller of two p-values: permutation,
    which sees every group and resolves no p-value below 10⁻⁵, and chi-square with the small groups taken as one, which
    resolves any. Fractional counts (weighted data) always go to chi-square.

    >>> independence([60, 40], [100, 90]).name, independence([3, 0], [9, 90]).name
    ('chi-square', "Fisher's exact")
    >>> independence([3, 0, 2], [9, 90, 20]).name
    'permutation'
    >>> test = independence([700, 300, 2], [1000, 1000, 8])
    >>> test.name, f"{test.p_value:.0e}"
    ('permutation or chi-square', '3e-71')
    """
    k, n = _groups(k, n)
    table = np.stack([k, n - k], axis=1)
    if len(n) < 2 or k.sum() in (0, n.sum()) or not (contingency.is_sparse(table) or _is_coarse(table)):
        return chi_square(k, n)
    if not _whole(k, n):
        return _weighted(table)
    if len(n) == 2:
        return fisher_exact(k[0], n[0], k[1], n[1])
    merged = contingency.merge_small(table)
    if len(merged) < 2:
        return permutation(k, n, draws, random_state)
    together = chi_square(merged[:, 0], merged.sum(axis=1))
    if n.sum() > PERMUTATION_MOST:
        return replace(together, note="too many people to permute: chi-square with the small groups as one")
    return _smaller(permutation(k, n, draws, random_state, enough=together.p_value), together)


def class_chi_square(table: Floats) -> Test:
    """Pearson's test of a table of groups (rows) by classes (columns), none of which is empty."""
    statistic = float(contingency.pearson(table, table.sum(axis=1), table.sum(axis=0)))
    return from_chi_square("chi-square", statistic, (len(table) - 1) * (table.shape[1] - 1))


def class_independence(table: npt.ArrayLike, draws: int = LEAST_DRAWS, random_state: int = 0) -> Test:
    """Test whether groups (rows) differ in how their people are spread over several classes (columns).

    Pearson's test of the whole table; where an expected count is below 5, as `independence` does it.

    >>> test = class_independence([[30, 50, 20], [40, 40, 20]])
    >>> round(test.statistic, 3), test.df, round(test.p_value, 3)
    (2.54, 2.0, 0.281)
    """
    counts = np.asarray(table, dtype=np.float64)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if len(counts) < 2:
        return nothing("chi-square")
    if counts.shape[1] < 2:
        return Test("chi-square", 0.0, 1.0, 0.0)
    counts = counts[np.lexsort(counts.T)]  # no answer depends on the order of the groups
    if not contingency.is_sparse(counts):
        return class_chi_square(counts)
    if not _whole(counts):
        return _weighted(counts)
    merged = contingency.merge_small(counts)
    together = class_chi_square(merged) if len(merged) > 1 else None
    if counts.sum() > PERMUTATION_MOST:
        return replace(together or class_chi_square(counts), note="too many people to permute")
    random = np.random.default_rng(random_state)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)

    def draw(size: int) -> Floats:
        drawn = contingency.draw_tables(rows.astype(np.int64), columns.astype(np.int64), size, random)
        return contingency.pearson(drawn, rows, columns)

    seen, enough = float(contingency.pearson(counts, rows, columns)), together.p_value if together else 0.0
    p = contingency.permutation_p(draw, seen, counts.size, draws, enough=enough)
    permuted = Test("permutation", seen, p)
    return permuted if together is None else _smaller(permuted, together)


def combined(tests: Sequence[Test], *, apart: bool = True) -> Test:
    """One test of a criterion that asks for several equal rates, such as TPR and FPR.

    Chi-squares of tables of different people (`apart`) add up, with their degrees of freedom. Other tests are combined
    by Bonferroni: the smallest p-value times their number, which holds whatever the tests are. A test that could not
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
        return tests[0] if tests else nothing("chi-square")
    if many == 1:
        return made[0]
    notes = list(dict.fromkeys(test.note for test in made if test.note))
    if apart and all(test.name == "chi-square" and test.df is not None for test in made):
        df = sum(test.df or 0.0 for test in made)
        total = math.fsum(test.statistic for test in made)
        return from_chi_square("chi-square", total, df, "; ".join([f"sum over {many} tables", *notes]))
    least = min(made, key=lambda test: (test.p_value, test.name, -abs(test.statistic)))
    how = f"{'smaller' if many == 2 else 'smallest'} of {many} p-values, times {many} (Bonferroni)"
    return replace(least, p_value=min(1.0, many * least.p_value), note="; ".join([how, *notes]))


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
    return ratio(float(k1) * float(n2 - k2), float(k2) * float(n1 - k1))


def _pearson(k: Array, n: Floats, positives: float) -> Floats:
    """Chi-square of [..., groups] positives; 0 where every outcome is the same."""
    rate = positives / n.sum()
    spread = rate * ((n.sum() - positives) / n.sum())
    if spread <= 0:
        return np.zeros(np.shape(k)[:-1])
    return np.asarray(np.sum((k - n * rate) ** 2 / n, axis=-1) / spread)


def _smaller(permuted: Test, together: Test) -> Test:
    """Twice the smaller of the two p-values: the price of looking at both."""
    least = min(permuted.p_value, together.p_value)
    return Test(BOTH, permuted.statistic, min(1.0, 2 * least), note="the smaller of two p-values, times 2")


def _weighted(table: Floats) -> Test:
    """Effective counts cannot be dealt out again: chi-square with the small groups as one, where that leaves two."""
    merged = contingency.merge_small(table, keep=True)
    test = class_chi_square(merged if len(merged) > 1 else table)
    return replace(test, note="weighted, with an expected count below 5: the p-value is approximate")


def _is_coarse(table: Floats) -> bool:
    """Is one of two groups so much smaller than the other that its few possible rates are all that chi-square sees?"""
    sizes = table.sum(axis=1)
    return bool(len(sizes) == 2 and sizes.max() > UNEVEN * sizes.min() and contingency.expected(table).min() < FINE)


def counts(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if k.shape != n.shape:
        raise CallError(f"k and n must have one shape; they have {k.shape} and {n.shape}.")
    if not (np.isfinite(n).all() and np.all(k >= 0) and np.all(k <= n * (1 + 1e-9))):
        raise CallError("counts must be finite, with 0 <= k <= n in every group.")
    return np.minimum(k, n), n


def _groups(k: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The groups that have people, in the order of (n, k): no answer depends on the order of the arguments."""
    k, n = counts(k, n)
    if k.ndim != 1:
        raise CallError(f"k and n must be one number for each group; they have shape {k.shape}.")
    order = np.lexsort((k, n))
    order = order[n[order] > 0]
    return k[order], n[order]


def _whole(*counts: Floats) -> bool:
    return all(bool(np.all(each == np.rint(each))) for each in counts)


def _must_be_whole(what: str, *counts: Floats) -> None:
    if not _whole(*counts):
        raise CallError(f"{what} needs whole counts; for weighted data use chi_square().")


def ratio(a: float, b: float) -> float:
    if b == 0:
        return math.inf if a > 0 else math.nan
    return a / b


def from_chi_square(name: str, statistic: float, df: float, note: str = "") -> Test:
    from scipy.special import chdtrc

    return Test(name, statistic, float(chdtrc(df, statistic)), float(df), note)


def nothing(name: str, note: str = "fewer than two groups to compare") -> Test:
    return Test(name, math.nan, math.nan, note=note)
