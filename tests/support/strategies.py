"""What hypothesis draws for the tests: small tables of decisions, and cubes counted from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from evenhand import Cube

ATTRIBUTES = ("race", "sex", "age")
CONTROLS = ("region", "year")
VALUES = {
    "race": ("Asian", "Black", "White", "Other"),
    "sex": ("F", "M"),
    "age": ("old", "young"),
    "region": ("north", "south"),
    "year": ("2023", "2024"),
}

Column = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """Rows of decisions as columns; a role that was not drawn is None or empty."""

    label: Column | None
    prediction: Column
    sensitive: dict[str, Column]
    control: dict[str, Column]
    weight: Column | None = None
    count: Column | None = None

    def __len__(self) -> int:
        return len(self.prediction)

    @property
    def roles(self) -> dict[str, Any]:
        """The keyword arguments of a metric function, an audit or `Cube.count`: arrays, no table."""
        single = {
            role: list(column)
            for role in ("label", "prediction", "weight", "count")
            if (column := getattr(self, role)) is not None
        }
        several = {role: {name: list(column) for name, column in getattr(self, role).items()} for role in GROUPING}
        return {**single, **{role: columns for role, columns in several.items() if columns}}

    def cube(self, **arguments: Any) -> Cube:
        return Cube.count(**{**self.roles, **arguments})

    def take(self, rows: Sequence[int]) -> Table:
        """The same table with only these rows, in this order."""

        def cut(column: Column | None) -> Column | None:
            return None if column is None else tuple(column[i] for i in rows)

        grouping = {role: {name: cut(c) for name, c in getattr(self, role).items()} for role in GROUPING}
        single = {role: cut(getattr(self, role)) for role in ("label", "prediction", "weight", "count")}
        return Table(**single, **grouping)  # type: ignore[arg-type]

    def groups(self) -> list[tuple[Any, ...]]:
        """The group of each row."""
        return list(zip(*self.sensitive.values(), strict=True))

    def pairs(self) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """The stratum and the group of each row."""
        strata = list(zip(*self.control.values(), strict=True)) or [()] * len(self)
        return list(zip(strata, self.groups(), strict=True))


GROUPING = ("sensitive", "control")


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    attributes: int | st.SearchStrategy[int] = 1,
    controls: int = 0,
    weights: bool = False,
    counts: bool = False,
    missing_groups: bool = False,
    missing_labels: bool = False,
    labels: bool = True,
    complete: bool = False,
    max_rows: int = 40,
) -> Table:
    """A table with at least two groups in every attribute.

    With `complete`, every group of every stratum has a row of each label and decision, so that no rate is undefined.
    """
    many = attributes if isinstance(attributes, int) else draw(attributes)
    names = (*ATTRIBUTES[:many], *CONTROLS[:controls])
    levels = {name: VALUES[name][: draw(st.integers(2, len(VALUES[name])))] for name in names}
    absent = set(ATTRIBUTES) if missing_groups else set()
    keys = {name: st.sampled_from((*levels[name], None) if name in absent else levels[name]) for name in names}
    label = st.sampled_from((0, 1, None) if missing_labels else (0, 1))
    row = st.tuples(label, st.integers(0, 1), *keys.values())
    # The first two rows hold two values of each attribute: with one group alone there is nothing to compare.
    first = [(draw(label), draw(st.integers(0, 1)), *(levels[name][i] for name in names)) for i in (0, 1)]
    rows = first + draw(st.lists(row, min_size=2, max_size=max_rows - 2))
    if complete:
        first = [(y, d, *pair) for pair in dict.fromkeys(line[2:] for line in rows) for y in (0, 1) for d in (0, 1)]
        rows = first + rows
    columns = list(zip(*rows, strict=True))
    named = dict(zip(names, columns[2:], strict=True))
    size = len(rows)
    # Eighths add exactly, so that a sum does not depend on the order of the rows.
    weight = draw(st.lists(st.integers(1, 40).map(lambda k: k / 8), min_size=size, max_size=size)) if weights else None
    count = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size)) if counts else None
    if count is not None:
        count[: len(first)] = [max(each, 1) for each in count[: len(first)]]
    return Table(
        columns[0] if labels else None,
        columns[1],
        {name: named[name] for name in ATTRIBUTES[:many]},
        {name: named[name] for name in CONTROLS[:controls]},
        None if weight is None else tuple(weight),
        None if count is None else tuple(count),
    )


@st.composite
def any_tables(draw: st.DrawFn, **fixed: Any) -> Table:
    """A table in which everything optional may be there or not."""
    flags = ("weights", "counts", "missing_groups", "missing_labels")
    chosen = {name: draw(st.booleans()) for name in flags} | {"controls": draw(st.integers(0, 2))}
    return draw(tables(**{"attributes": st.integers(1, 3), **chosen, **fixed}))


def cubes(**fixed: Any) -> st.SearchStrategy[Cube]:
    """A cube of anything that `any_tables` draws."""
    return any_tables(**fixed).map(Table.cube)


@st.composite
def several_cubes(draw: st.DrawFn, many: int = 2, **fixed: Any) -> list[Cube]:
    """Cubes that mean the same and so can be added."""
    shape = {
        "attributes": draw(st.integers(1, 3)),
        "controls": draw(st.integers(0, 2)),
        "weights": draw(st.booleans()),
        "missing_groups": draw(st.booleans()),
        "missing_labels": draw(st.booleans()),
        **fixed,
    }
    return [draw(tables(**shape)).cube() for _ in range(many)]


def scaled(table: Table, factor: int) -> Table:
    """The same table in which every row stands for `factor` times as many people."""
    count = table.count or (1,) * len(table)
    return replace(table, count=tuple(factor * each for each in count))
