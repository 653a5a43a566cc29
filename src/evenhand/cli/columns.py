"""What a file holds, for a caller who has not said which column is what: its columns, and commands to copy."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from evenhand.core.wording import clean, clip
from evenhand.errors import CallError, EvenhandError, short_path
from evenhand.sources.files import FileSource
from evenhand.sources.files.formats import identifier
from evenhand.sources.spelling import canonical, spelling, without_point

_ROWS = 20_000  # of the beginning of the data, which is all that is looked at
_MOST_COLUMNS = 30
_MOST_VALUES = 4
_FEW = 20  # values that may make groups

_GROUPS = ("race ethnic ethnicity", "sex gender", "age", "religion", "disability", "nationality foreign", "veteran")
"""Words in the names of attributes by which people are often grouped; of those for one thing, one column is enough."""

_WORDS = {
    "sensitive": " ".join(_GROUPS),
    "prediction": "prediction predicted pred yhat decision decided approved admitted hired selected flagged",
    "score": "score proba prob probability risk decile",
    "label": "label target truth actual outcome y true income recid recidivated default repaid paid class passed pass",
}
_WHOLE = {"weight": ("weight", "weights", "sample_weight"), "count": ("count", "counts", "freq", "frequency")}
_FAVOURABLE = (
    "1",
    "yes",
    "y",
    "true",
    "t",
    "approved",
    "admitted",
    "accepted",
    "hired",
    "good",
    "pass",
    "passed",
    ">50k",
)


@dataclass(frozen=True)
class _Column:
    """A column as its first rows show it: how many different values, the most frequent, and its range as numbers."""

    name: str
    different: int
    values: tuple[str, ...]
    low: float | None
    high: float | None
    fractions: bool

    @property
    def kind(self) -> str:
        if self.different == 0:
            return "empty"
        if self.different == 2:
            return "two values"
        return "text" if self.low is None else "number"

    @property
    def shown(self) -> str:
        """The values for people: the range of many numbers, else the most frequent values."""
        if self.low is not None and self.high is not None and self.different > _MOST_VALUES:
            return f"{self.low:g} to {self.high:g}"
        more = f", … ({self.different:,})" if self.different > len(self.values) else ""
        return ", ".join(clip(value, 18) for value in self.values) + more

    def is_called(self, role: str) -> bool:
        """Is one of its words a usual name of the role?"""
        words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", self.name).lower())
        usual = _WORDS.get(role, role).split()
        return self.name.lower() in usual or any(word in usual for word in words if len(word) > 1)

    @property
    def may_score(self) -> bool:
        return (
            self.low is not None
            and self.low >= 0
            and self.different > 2
            and (self.fractions or self.is_called("score"))
        )

    @property
    def may_group(self) -> bool:
        return 2 <= self.different <= _FEW or (
            self.low is not None and not self.fractions and self.is_called("sensitive")
        )


def ask_for_roles(files: Sequence[Any], roles: Mapping[str, Any], missing: Sequence[str]) -> NoReturn:
    """Raise an error that shows the columns and proposes commands, where a call does not say what is `missing`."""
    try:
        source = FileSource(list(files), hive=bool(roles["hive"]))
        columns = _columns(source)
    except EvenhandError as error:
        raise CallError(f"say which column is {' and '.join(missing)}. {error}") from None
    names = [str(name) for name in files]
    shown = [f"say which column is {' and '.join(missing)}."]
    shown += [
        "",
        f"Columns of {clip(short_path(names[0]), 60)}, by the first {_ROWS:,} rows at most:",
        *_table(columns),
    ]
    if len(source.names) > len(columns):
        shown.append(f"  and {len(source.names) - len(columns)} more")
    commands = list(dict.fromkeys(_commands(columns, names, roles)))
    if commands:
        shown += [
            "",
            "To copy, after a look at whether each column is what it seems:",
            *(f"  {text}" for text in commands),
        ]
    raise CallError("\n".join(shown))


def _columns(source: FileSource) -> list[_Column]:
    """The first columns, from one look at the first rows."""
    names = [name for name in source.names if name not in source.table.twice][:_MOST_COLUMNS]
    columns = [source.table.columns[name] for name in names]
    fields = ", ".join(f"{each.key} AS k{i}, {each.number} AS v{i}" for i, each in enumerate(columns))
    source._run(f"CREATE TEMP TABLE beginning AS SELECT {fields} FROM {source.table.relation} LIMIT {_ROWS}")  # noqa: S608
    return [_column(source, name, i) for i, name in enumerate(names)]


def _column(source: FileSource, name: str, i: int) -> _Column:
    key, number = identifier(f"k{i}"), identifier(f"v{i}")
    different, known, numbers, low, high, fractions = source._run(
        f"SELECT count(DISTINCT {key}), count({key}), count({number}), min({number}), max({number}), "  # noqa: S608
        f"bool_or({number} <> floor({number})) FROM beginning"
    )[0]
    top = source._run(
        f"SELECT {key} FROM beginning WHERE {key} IS NOT NULL GROUP BY {key} ORDER BY count(*) DESC, {key} "  # noqa: S608
        f"LIMIT {_MOST_VALUES}"
    )
    decode = source.table.columns[name].decode
    values = tuple(without_point(spelling(decode(value))) for (value,) in top)
    numeric = known > 0 and numbers == known
    return _Column(name, different, values, low if numeric else None, high if numeric else None, bool(fractions))


def _table(columns: Sequence[_Column]) -> list[str]:
    lines = [(clip(each.name, 24), each.kind, each.shown) for each in columns]
    widths = [max(len(line[i]) for line in lines) for i in range(2)]
    return [f"  {name:{widths[0]}}  {kind:{widths[1]}}  {clean(values)}"[:79].rstrip() for name, kind, values in lines]


def _commands(columns: Sequence[_Column], files: Sequence[str], roles: Mapping[str, Any]) -> Iterator[str]:
    """Up to three complete commands, the one that says most first."""
    usable = [each for each in columns if each.name.isprintable() and each.different > 1]
    found = _roles(usable, roles)
    groups = [each.name for each in found.get("sensitive", ())] or list(roles["sensitive"] or ())
    if not groups:
        return
    weigh = [part for role in ("weight", "count") for each in found.get(role, ()) for part in (f"--{role}", each.name)]
    apart = any("," in name for name in groups)
    by = [part for name in (groups if apart else [",".join(groups)]) for part in ("--sensitive", name)] + weigh
    label, prediction, score = (next(iter(found.get(role, ())), None) for role in ("label", "prediction", "score"))
    cut = ["--score", score.name, "--cutoff", _middle(score)] if score is not None else []
    tries = [(label, prediction, []), (label, None, cut), (None, prediction, []), (label, None, [])]
    start = ["evenhand", "audit", *files]
    given = 0
    for one, two, more in tries:
        if (one is None and two is None and not more) or (two is None and not more and (prediction or score)):
            continue
        if (one, two, more) == (label, None, cut) and not more:
            continue
        outcome = [
            part for role, each in (("label", one), ("prediction", two)) if each for part in (f"--{role}", each.name)
        ]
        yield shlex.join([*start, *outcome, *more, *by, *_positive(one, two)])
        given += 1
        if given == 3:
            return


def _roles(columns: Sequence[_Column], given: Mapping[str, Any]) -> dict[str, list[_Column]]:
    """The columns that seem to play each role; no column plays two."""
    found: dict[str, list[_Column]] = {}
    left = list(columns)

    def take(role: str, chosen: list[_Column]) -> None:
        found[role] = chosen
        left[:] = [each for each in left if each not in chosen]

    for role in ("sensitive", "control", "label", "prediction", "score", "weight", "count"):
        named = given.get(role) or ()
        named = (named,) if isinstance(named, str) else named
        take(role, [each for each in left if each.name in named])
    if not found["sensitive"]:
        for words in _GROUPS:
            alike = [each for each in left if each.may_group and each.is_called(words)]
            alike = sorted(alike, key=lambda each: each.different > _FEW)[:1]
            take("sensitive", [*found["sensitive"], *alike][:3])
    two = [each for each in left if each.different == 2]
    for role in ("prediction", "label"):
        if not found[role]:
            take(role, [each for each in two if each in left and each.is_called(role)][:1])
    if not found["score"]:
        scores = [each for each in left if each.may_score]
        take("score", sorted(scores, key=lambda each: not each.is_called("score"))[:1])
    for role in ("weight", "count"):
        if not found[role]:
            take(role, [each for each in left if each.name.lower() in _WHOLE[role] and (each.low or 0) >= 0][:1])
    if found["prediction"] and not found["label"]:
        take("label", [each for each in left if each.different == 2][-1:])
    if not any(found[role] for role in ("prediction", "label", "score")):
        take("prediction", [each for each in left if each.different == 2][-1:])
    if not found["sensitive"]:
        take("sensitive", [each for each in left if 2 <= each.different <= _FEW][:1])
    return found


def _middle(score: _Column) -> str:
    """A cutoff to begin with: the middle of the range."""
    low, high = score.low or 0.0, score.high or 0.0
    return "0.5" if high <= 1 else f"{(low + high) / 2:g}"


def _positive(label: _Column | None, prediction: _Column | None) -> list[str]:
    """The options that name the value that counts as positives, where these are not 1."""
    values = {role: _favourable(each) for role, each in (("label", label), ("prediction", prediction)) if each}
    if len(set(values.values())) <= 1:
        only = next(iter(values.values()), "1")
        return [] if only == "1" else ["--positive", only]
    return [part for role, value in values.items() if value != "1" for part in (f"--positive-{role}", value)]


def _favourable(column: _Column) -> str:
    spelled = {canonical(value): value for value in column.values}
    if "1" in spelled:
        return "1"
    return next((value for value in column.values if value.strip().lower() in _FAVOURABLE), column.values[-1])
