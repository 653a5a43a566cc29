"""What an audit answers by name: a finding, its tables as dataframes of the caller's own kind, and its picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from evenhand.core.arguments import checked
from evenhand.core.cards import Carded
from evenhand.core.results import Finding

if TYPE_CHECKING:
    from evenhand.audits.audit import Audit


@checked
class Accessors(Carded):
    """The part of an `Audit` that hands out its results; nothing here computes anything that the audit does not have.

    All tables are dataframes of the kind that was audited: pandas, Polars or PyArrow; of pandas for everything else.
    """

    def __getitem__(self, key: Any) -> Finding:
        """The finding of a metric, by its name or an alias, and of some attributes where several were audited.

        Parameters
        ----------
        key : str or tuple
            The metric alone, or the metric and its attributes: `audit["equalized_odds"]`,
            `audit["equalized_odds", "race"]`, `audit["equalized_odds", ("race", "sex")]`.

        Returns
        -------
        Finding
            Always one finding. Where the metric was computed on several sets of attributes, one has to be named.

        Raises
        ------
        UnknownKeyError
            A `KeyError` that names what there is: other sets of attributes, or `metrics=` for a metric that was not
            computed.

        Examples
        --------
        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 1, 1, 0, 0, 0], sensitive=list("aaabbb"))
        >>> audit["demographic_parity"]
        <Finding demographic_parity on sensitive: difference 1 [0, 1], inconclusive>
        """
        from evenhand.audits import lookup

        return lookup.finding(self._audit, key)

    def __contains__(self, key: Any) -> bool:
        """Whether the audit has a finding of that metric, or of that metric and those attributes."""
        from evenhand.audits import lookup

        return lookup.holds(self._audit, key)

    def summary(self) -> Any:
        """The findings that decide, those that fail first, each with its sentence; `to_frame` has every finding.

        Returns
        -------
        DataFrame
            One line for each: `metric`, `attributes`, the pair `group` and `against` on which the verdict rests with
            `n` and `n_against`, what is judged of the pair (`shown`, `shown_low`, `shown_high`, by `judged_on`), the
            `threshold`, the `verdict` and the `interpretation`.

        Examples
        --------
        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 0] * 40, sensitive=["a", "b"] * 40)
        >>> audit.summary()[["metric", "group", "against", "verdict"]]
                       metric group against verdict
        0  demographic_parity     a       b    fail
        """
        from evenhand.audits import audit_tables

        return audit_tables.summary_table(self._audit)

    @property
    def by_group(self) -> Any:
        """Every measure of every group, one line for each group and one column for each measure.

        `attributes` says which set of attributes the line is about, each attribute has a column with the caller's own
        values (None where the line is not about it), `group` is the name and `people` the number of people. With
        `control=` there is a line for each group in each stratum. Undefined is NaN; `groups()` has the reasons, the
        intervals and the number of people behind each value.

        Examples
        --------
        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 1, 0, 1, 0, 0, 0, 0], sensitive={"race": list("aaaabbbb")})
        >>> audit.by_group[["race", "people", "selection_rate"]]
          race  people  selection_rate
        0    a       4            0.75
        1    b       4            0.00
        """
        from evenhand.audits import measure_tables

        return measure_tables.by_group(self._audit)

    @property
    def overall(self) -> Any:
        """Every measure of everyone together: one line, or one for each stratum with `control=`.

        Examples
        --------
        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 1, 0, 1, 0, 0, 0, 0], sensitive={"race": list("aaaabbbb")})
        >>> audit.overall[["people", "selection_rate"]]
           people  selection_rate
        0       8           0.375
        """
        from evenhand.audits import measure_tables

        return measure_tables.overall(self._audit)

    def group_min(self) -> Any:
        """The lowest value of each measure among the groups: one line for each set of attributes and each stratum.

        People whose group is missing are not a group here, as in findings. NaN where no group has a value.

        Returns
        -------
        DataFrame
            `attributes` and, with `control=`, the stratum; then one column for each measure.

        Examples
        --------
        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 1, 0, 1, 0, 0, 0, 1], sensitive={"race": list("aaaabbbb")})
        >>> audit.group_min()[["attributes", "selection_rate"]]
          attributes  selection_rate
        0       race            0.25
        """
        from evenhand.audits import measure_tables

        return measure_tables.across(self._audit, "lowest")

    def group_max(self) -> Any:
        """The highest value of each measure among the groups, in the form of `group_min`.

        Returns
        -------
        DataFrame
            `attributes` and, with `control=`, the stratum; then one column for each measure.

        Examples
        --------
        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 1, 0, 1, 0, 0, 0, 1], sensitive={"race": list("aaaabbbb")})
        >>> audit.group_max()[["attributes", "selection_rate"]]
          attributes  selection_rate
        0       race            0.75
        """
        from evenhand.audits import measure_tables

        return measure_tables.across(self._audit, "highest")

    def difference(self) -> Any:
        """The highest less the lowest value of each measure among the groups, in the form of `group_min`.

        Of a metric that compares one measure between extremes it is `Finding.difference`. NaN where fewer than two
        groups have a value.

        Returns
        -------
        DataFrame
            `attributes` and, with `control=`, the stratum; then one column for each measure.

        Examples
        --------
        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 1, 0, 1, 0, 0, 0, 1], sensitive={"race": list("aaaabbbb")})
        >>> audit.difference()[["attributes", "selection_rate"]]
          attributes  selection_rate
        0       race             0.5
        """
        from evenhand.audits import measure_tables

        return measure_tables.across(self._audit, "difference")

    def ratio(self) -> Any:
        """The lowest over the highest value of each measure among the groups, in the form of `group_min`.

        NaN where fewer than two groups have a value, where all of them are 0, and where values rule out a ratio
        because they are, or can be, negative.

        Returns
        -------
        DataFrame
            `attributes` and, with `control=`, the stratum; then one column for each measure.

        Examples
        --------
        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 1, 0, 1, 1, 0, 1, 1], sensitive={"race": list("aaaabbbb")})
        >>> audit.ratio()[["attributes", "selection_rate"]]
          attributes  selection_rate
        0       race             1.0
        """
        from evenhand.audits import measure_tables

        return measure_tables.across(self._audit, "ratio")

    def plot(self, attributes: str | Sequence[str] | None = None, ax: Any = None) -> Any:
        """Draw every judged metric beside what is tolerated, with matplotlib.

        Parameters
        ----------
        attributes : str or sequence of str, optional
            The set of attributes; by default the first one.
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        ForestDisplay
            With the axes in `ax_` and the figure in `figure_`. `evenhand.plots` has the other displays.

        Raises
        ------
        MissingDependencyError
            Where matplotlib is not installed; the message is the line to type.

        Examples
        --------
        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 0] * 40, sensitive=["a", "b"] * 40)
        >>> audit.plot().metrics  # doctest: +SKIP
        ['demographic parity']
        """
        from evenhand.plots import ForestDisplay

        return ForestDisplay.from_audit(self._audit, attributes).plot(ax)

    def page(self) -> Any:
        """The full report as a notebook shows it: the interactive page, in a frame of its own.

        Returns
        -------
        Page
            An object that a notebook shows as the page; `html` is the page as text. `save("audit.html")` writes it.

        Examples
        --------
        >>> import evenhand as eh
        >>> audit = eh.audit(prediction=[1, 0] * 40, sensitive=["a", "b"] * 40)
        >>> audit.page().html.startswith("<!doctype html>")
        True
        """
        from evenhand.report.page import Page

        return Page(self._audit)

    @property
    def _audit(self) -> Audit:
        return cast("Audit", self)
