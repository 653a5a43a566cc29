"""Two decisions or scores of the same people: tests of "no difference", and intervals of the difference.

Of n pairs of decisions, b have the first positive and the second negative, c the other way round; those in which the
two agree tell of the difference only by their number. `mcnemar`, `tango` and `Differences` take arrays with an entry
for each comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.core.arrays import Bools, Floats, Ints
from evenhand.errors import CallError
from evenhand.inference import contingency
from evenhand.inference.critical import upper
from evenhand.inference.hypotheses import Test, from_chi_square, nothing

_ROUNDING = 1e-12  # of the span: differences up to this are made by rounding
_HALVINGS = 60  # of [-1, 1]: past these, the ends are the same number
_MOST_FLIPPED = 100  # of more units that differ, the sum of random signs is normal
_FEWEST_FOR_Q = 20  # of fewer units that differ, Q is set against permutations and not against chi-square


def mcnemar(b: npt.ArrayLike, c: npt.ArrayLike) -> Floats:
    """The two-sided p-value of "as many pairs differ one way as the other": twice the smaller binomial tail.

    1 where no pair differs. It holds however few pairs differ.

    >>> mcnemar([9, 0, 3], [1, 0, 3]).round(4).tolist()
    [0.0215, 1.0, 1.0]
    """
    from scipy.special import bdtr

    b, c, _ = _counts(b, c, np.inf)
    if not (np.array_equal(b, np.rint(b)) and np.array_equal(c, np.rint(c))):
        raise CallError("McNemar's exact test needs whole counts of pairs.")
    return np.asarray(np.minimum(2 * bdtr(np.minimum(b, c), np.rint(b + c).astype(np.int64), 0.5), 1.0))


def tango(b: npt.ArrayLike, c: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The score interval of the difference of two paired rates, (b - c) / n (Tango 1998); NaN where n is 0.

    Its width is never 0: without any pair that differs, it reaches as far as pairs that differ could be missing.

    >>> low, high = tango([0, 40], [1, 20], [44, 160])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([-0.1181, 0.0309], [0.0594, 0.2181])
    """
    deviate = upper((1 - confidence) / 2)
    return score_limits(b, c, n, deviate, deviate)


def score_limits(
    b: npt.ArrayLike, c: npt.ArrayLike, n: npt.ArrayLike, below: npt.ArrayLike, above: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Tango's limits so many deviates below and above the difference. Counts may be fractional (effective counts)."""
    b, c, n = _counts(b, c, n)
    return _lower(b, c, n, np.asarray(below, dtype=np.float64)), -_lower(c, b, n, np.asarray(above, dtype=np.float64))


@dataclass(frozen=True)
class Differences:
    """Differences within units, one entry for each comparison, none of which exceeds `span` in size.

    `n` counts the units that have both values, `moved` those whose two values differ; `up` and `down` are the sums of
    the positive and of the negative differences, `scatter` is that of squared distances from the mean difference.
    `whole` says that every difference is 0 or the whole span, as of two decisions.
    """

    n: Floats
    up: Floats
    down: Floats
    scatter: Floats
    moved: Floats
    whole: Bools
    span: float

    @classmethod
    def of(cls, differences: Floats, span: float) -> Differences:
        """From differences [units, comparisons]; NaN is a unit that does not have both values."""
        there, rounding = ~np.isnan(differences), _ROUNDING * span
        d = np.where(there & (np.abs(differences) > rounding), differences, 0.0)
        n, up, down = there.sum(axis=0), np.maximum(d, 0.0).sum(axis=0), np.maximum(-d, 0.0).sum(axis=0)
        scatter = np.where(there, (d - (up - down) / np.maximum(n, 1)) ** 2, 0.0).sum(axis=0)
        scatter = np.where(scatter > n * rounding**2, scatter, 0.0)
        whole = ((d == 0) | (np.abs(np.abs(d) - span) <= rounding)).all(axis=0)
        return cls(n.astype(np.float64), up, down, scatter, np.count_nonzero(d, axis=0).astype(float), whole, span)

    @property
    def values(self) -> Floats:
        """The mean differences; NaN where no unit has both values."""
        with np.errstate(invalid="ignore"):
            return np.asarray((self.up - self.down) / self.n)

    def limits(self, below: float, above: float) -> tuple[Floats, Floats]:
        """Limits of the mean differences, so many normal deviates below and above them.

        Of decisions they are Tango's. Others are Student's, widened by what units that were not seen may hold: the
        next difference may exceed all m that were seen with a chance of 1 / (m + 1), and then by up to the span. That
        vanishes where many differ, and is as wide as Tango's interval where none do. NaN where the span is 0.
        """
        span = self.span if self.span > 0 else np.nan
        b, c = (np.where(self.whole, part, 0.0) / (self.span or 1.0) for part in (self.up, self.down))
        low, high = score_limits(b, c, self.n, below, above)
        value = self.values
        low = np.where(self.whole, low * span, np.maximum(value - self._reach(below), -span))
        high = np.where(self.whole, high * span, np.minimum(value + self._reach(above), span))
        return low, high

    def _reach(self, deviate: float) -> Floats:
        from scipy.special import ndtr, stdtrit

        n = np.maximum(self.n, 1.0)
        student = -stdtrit(np.maximum(n - 1, 1.0), ndtr(-deviate))
        unseen = student * self.span / (self.moved + 1) / 2
        return np.asarray(student * (unseen + np.sqrt(unseen**2 + self.scatter * n / np.maximum(n - 1, 1.0))) / n)

    @property
    def student(self) -> Floats:
        """The two-sided p-values of Student's test; NaN of fewer than two units."""
        from scipy.special import stdtr

        n = self.n
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(self.values) * np.sqrt(n * (n - 1) / self.scatter)
            p = 2 * stdtr(np.maximum(n - 1, 1.0), -t)
        # Where all differences are equal there is no error to divide by; all of one sign is then the one thing known.
        same = np.where(self.values == 0, 1.0, 0.5 ** (np.maximum(n, 1) - 1))
        return np.asarray(np.where(n < 2, np.nan, np.where(self.scatter > 0, p, same)))


def sign_flips(steps: Ints) -> float:
    """The two-sided p-value of "each difference might as well have had the other sign", of whole numbers of steps.

    Over all combinations of signs, exactly, which for differences of 1 is McNemar's exact test; where more than a
    hundred units differ, by the normal limit with a correction for steps.

    >>> round(sign_flips(np.array([1] * 9 + [-1] + [0] * 90)), 4), round(sign_flips(np.array([3, 2, 2, 0])), 4)
    (0.0215, 0.25)
    """
    from scipy.special import ndtr

    sizes = np.abs(steps[steps != 0])
    if not sizes.size:
        return 1.0
    unit = int(np.gcd.reduce(sizes))
    sizes, total = sizes // unit, abs(int(steps.sum())) // unit
    if total == 0:
        return 1.0
    if sizes.size > _MOST_FLIPPED:
        return float(min(1.0, 2 * ndtr(-(total - 1) / np.sqrt(np.sum(sizes.astype(np.float64) ** 2)))))
    chances = np.ones(1)
    for size, times in zip(*np.unique(sizes, return_counts=True), strict=True):
        chances = np.convolve(chances, _stretched(int(size), int(times)))
    return float(min(1.0, 2 * chances[: (int(sizes.sum()) - total) // 2 + 1].sum()))


def cochran(values: Floats, random_state: int = 0) -> Test:
    """Cochran's Q of values [units, groups]: do groups differ within units? Means over runs may stand for decisions.

    Against chi-square; where fewer than twenty units differ between groups, against permutations within units.

    >>> test = cochran(np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 0]] * 10, dtype=float))
    >>> test.name, round(test.statistic, 3), test.df
    ("Cochran's Q", 46.667, 2.0)
    """
    name = "Cochran's Q"
    groups = values.shape[1]
    apart = values - values.mean(axis=1, keepdims=True)
    differ = np.ptp(values, axis=1) > 0
    apart = apart[differ]
    if groups < 2 or not len(values):
        return nothing(name, "no unit has all groups")
    if not len(apart):
        return Test(name, 0.0, 1.0, float(groups - 1))
    seen = float(_q(apart, apart))
    if len(apart) >= _FEWEST_FOR_Q:
        return from_chi_square(name, seen, groups - 1)
    random = np.random.default_rng(random_state)

    def draw(size: int) -> Floats:
        return _q(random.permuted(np.broadcast_to(apart, (size, *apart.shape)), axis=2), apart)

    p = contingency.permutation_p(draw, seen, apart.size)
    return Test(name, seen, p, float(groups - 1), "against permutations within units, of which few differ")


def _q(drawn: Floats, apart: Floats) -> Floats:
    """Q of values [..., units, groups], each less the mean of its unit."""
    groups = apart.shape[1]
    return np.asarray((groups - 1) * (drawn.sum(axis=-2) ** 2).sum(axis=-1) / (apart**2).sum())


def _stretched(size: int, times: int) -> Floats:
    """The chances of how many of so many equal steps go up, at the places of their sums."""
    from scipy.special import bdtr

    below = bdtr(np.arange(times + 1), times, 0.5)
    chances = np.zeros(size * times + 1)
    chances[::size] = np.diff(below, prepend=0.0)
    return chances


def _lower(b: Floats, c: Floats, n: Floats, deviate: Floats) -> Floats:
    """The smallest difference whose score is at most the deviate: the score falls as the difference grows."""
    b, c, n, deviate = np.broadcast_arrays(b, c, n, deviate)
    people = np.where(n > 0, n, 1.0)
    low, high = np.full(b.shape, -1.0), (b - c) / people
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = b - c - people * middle > deviate * _error(b, c, people, middle)
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.asarray(np.where(n > 0, high, np.nan))


def _error(b: Floats, c: Floats, n: Floats, difference: Floats) -> Floats:
    """The standard error of b - c, where the difference is this and the rest is as likely as it can be."""
    linear = (2 * n - b + c) * difference - b - c
    constant = c * difference * (1 - difference)
    root = np.sqrt(np.maximum(linear**2 + 8 * n * constant, 0.0))
    # The share of pairs that differ the second way: of two equal forms, the one that does not subtract near numbers.
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(linear > 0, 2 * constant / (root + linear), (root - linear) / (4 * n))
    return np.asarray(np.sqrt(np.maximum(n * (2 * share + difference * (1 - difference)), 0.0)))


def _counts(b: npt.ArrayLike, c: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    b, c, n = (np.asarray(each, dtype=np.float64) for each in (b, c, n))
    if not (np.all(np.isfinite(b)) and np.all(np.isfinite(c)) and np.all(b >= 0) and np.all(c >= 0)):
        raise CallError("counts of pairs that differ must be finite and at least 0.")
    if not np.all(b + c <= n * (1 + 1e-9)):
        raise CallError("there cannot be more pairs that differ than pairs.")
    return b, c, n
