"""contest(): two models or more on the same people: what changed for each group, who gained and who lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from evenhand.audits.audit import Audit, audit_cube
from evenhand.audits.diff import diff
from evenhand.audits.model_change import ModelChange, Pairs, change_of_auc
from evenhand.catalogue import find
from evenhand.core import frames, records
from evenhand.core.arguments import checked, is_series
from evenhand.core.arrays import DataLike
from evenhand.core.cards import Carded
from evenhand.core.frames import readable
from evenhand.core.quantities import shown
from evenhand.core.results import Verdict, spell
from evenhand.core.signs import escaped, printable
from evenhand.cube import joint as joints
from evenhand.cube.joint import Joint, Model
from evenhand.errors import CallError, Problems, as_typed, join_names, shorten
from evenhand.sources.documentation import documented
from evenhand.sources.reader import reader_of
from evenhand.sources.roles import DEFAULTS, ReadArguments
from evenhand.verdicts import policy_file
from evenhand.verdicts.data_table import data_table
from evenhand.verdicts.policy import ALL, Policy, chosen_metrics
from evenhand.verdicts.row_source import reusable
from evenhand.verdicts.verdict import overall

# What says how data is read and is the same for all models; the other arguments of a reader are not taken.
_SHARED = (
    *("label", "sensitive", "count", "weight", "positive", "score_range", "higher_is", "bins", "strategy"),
    *("resolution", "bands", "missing", "na", "hive", "labels", "where"),
)
_EACH = {"prediction": "predictions", "score": "scores", "cutoff": "cutoffs"}


@documented
@checked
@dataclass(frozen=True, repr=False)
class Contest(Carded):
    """The result of contest(): the audit of each model, and what changed from the first to each of the others.

    `verdict` says only whether anything that decides got worse with any of the others.
    """

    audits: Mapping[str, Audit]
    changes: Mapping[str, ModelChange]
    confidence: float
    people: int
    notes: tuple[str, ...]
    frame_kind: str | None = None

    @property
    def first(self) -> str:
        """The name of the model that the others are compared with."""
        return next(iter(self.audits))

    @property
    def verdict(self) -> Verdict:
        """Whether something that decides got worse: the worst of `gaps.verdict` of the models."""
        return overall([change.gaps.verdict for change in self.changes.values()])

    def to_frame(self) -> Any:
        """Every measure of every group under both models, with its change, as a dataframe of the caller's own kind."""
        lines = [(change.name, each) for change in self.changes.values() for each in (*change.measures, *change.auc)]
        columns: dict[str, list[Any]] = {
            "model": [name for name, _ in lines],
            "measure": [each.measure for _, each in lines],
            "attributes": [" × ".join(each.attributes) for _, each in lines],
            "group": [spell(each.group) for _, each in lines],
            "people": [each.people for _, each in lines],
            "before": [each.before for _, each in lines],
            "after": [each.after for _, each in lines],
            "change": [each.change.value for _, each in lines],
            "low": [each.change.low for _, each in lines],
            "high": [each.change.high for _, each in lines],
        }
        return frames.frame(columns, self.frame_kind)

    def to_dict(self) -> dict[str, Any]:
        """All changes as plain data, ready for JSON; audits are saved by themselves."""
        return {
            "format": "evenhand-contest",
            "format_version": 1,
            "first": self.first,
            "verdict": self.verdict,
            "confidence": self.confidence,
            "people": self.people,
            "changes": [
                {
                    "model": each.name,
                    "gaps": each.gaps.to_dict(),
                    "accuracy": records.write(each.accuracy),
                    "measures": records.write(each.measures),
                    "flips": records.write(each.flips),
                    "auc": records.write(each.auc),
                    "auc_reason": each.auc_reason,
                }
                for each in self.changes.values()
            ],
            "notes": list(self.notes),
        }

    def save(self, path: str | Path) -> None:
        """Write the contest to a file; the suffix decides the form: .html, .json or .md (Markdown)."""
        from evenhand.report import contest

        contest.save(self, Path(path))

    def __str__(self) -> str:
        from evenhand.report.text import contest

        return contest.plain(self)

    def __repr__(self) -> str:
        models = join_names(map(escaped, self.changes), 3)
        return printable(f"<Contest: {self.verdict}; {models} against {escaped(self.first)}, {self.people:,} people>")


@documented
@reader_of(*_SHARED)
def contest(
    data: DataLike | None = None,
    *,
    predictions: Any = None,
    scores: Any = None,
    cutoffs: Any = None,
    reference: Any = None,
    metrics: Any = None,
    policy: Policy | str | Path | None = None,
    intersections: bool | int | None = None,
    min_group_size: int | None = None,
    confidence: float | None = None,
    **arguments: Unpack[ReadArguments],
) -> Contest:
    """Compare models on the same people: every gap and measure of each, and its change with paired intervals.

    The first model is the one that each of the others is compared with.

    Parameters
    ----------
    predictions
        What each model decided: columns or arrays, as a list, or a mapping by the name of the model.
    scores
        The score of each model, in the place of `predictions` or beside them, in the same way.
    cutoffs
        The cutoff of each score: one number for all, a list, or a mapping by the name of the model.

    Returns
    -------
    Contest
        The audit of each model, and what changed from the first to each of the others.

    >>> label, race = [1, 0] * 300, ["a"] * 300 + ["b"] * 300
    >>> old = [1, 0, 1, 1] * 75 + [1, 0, 0, 0] * 75
    >>> new = [1, 0, 1, 1] * 75 + [1, 0, 1, 0] * 75
    >>> found = contest(label=label, predictions={"old": old, "new": new}, sensitive=race)
    >>> print(found.changes["new"].accuracy.change, found.changes["new"].accuracy.tendency)
    0.125 [0.1009, 0.1539] better
    """
    own, models = _shared(arguments), _models(predictions, scores, cutoffs)
    settled, metrics = policy_file.resolve(policy), chosen_metrics(metrics)
    _check_counted(metrics)
    read = {**DEFAULTS, **{name: value for name, value in data_table(policy).items() if name in _SHARED}, **own}
    data, read = reusable(data), reusable(read)
    counted = joints.count(data, models, read)
    audits = {
        model.name: replace(
            audit_cube(
                cube,
                reference=reference,
                metrics=metrics,
                policy=settled,
                intersections=intersections,
                frame_kind=frames.kind_of(data),
                min_group_size=min_group_size,
                confidence=confidence,
            ),
            among=joints.Place(counted.joints, i),
        )
        for i, (model, cube) in enumerate(zip(models, counted.cubes, strict=True))
    }
    first = next(iter(audits.values()))
    changes = {}
    for i, (name, audit) in enumerate(list(audits.items())[1:], 1):
        pairs = Pairs(counted.joints[0, i], first)
        auc, reason = change_of_auc(pairs, counted.rows, i, scored=scores is not None)
        changes[name] = ModelChange(name, diff(first, audit), pairs.measures, pairs.flips, pairs.accuracy, auc, reason)
    notes = (*counted.cubes[0].notes, *_notes(counted.joints))
    return Contest(audits, changes, first.policy.confidence, first.cube.size, notes, frames.kind_of(data))


def _check_counted(metrics: Any) -> None:
    """Metrics of a contest are computed from joint counts; a function of rows has none."""
    for name in () if metrics is None or metrics == ALL else metrics:
        metric = find(name)[0]
        if any(row.made_of == "rows" for row in metric.rows):
            raise CallError(
                f"{metric.name} is a function of the rows, and a contest compares metrics of counts: audit each model "
                "by itself."
            )


def _shared(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the models share; any other is refused with what to do instead."""
    for name in arguments:
        if name in _SHARED:
            continue
        if name in _EACH:
            raise CallError(f"{name}= is of one model: give {_EACH[name]}=, one for each.")
        raise CallError(_NOT_TAKEN.get(name, f"{name}= is not taken where models are compared: leave it out."))
    return dict(arguments)


_NOT_TAKEN = {
    "control": "control= is not taken where models are compared: compare them on the rows of one stratum at a time.",
    "task": "task= is not taken where models are compared: they are compared by decisions of yes or no.",
    **dict.fromkeys(
        ("cluster", "design_strata", "clusters"),
        "models are not compared on rows that belong together: take one row of each cluster, or audit each model with "
        "cluster= and look at eh.diff, whose intervals are then too wide.",
    ),
}


def _models(predictions: Any, scores: Any, cutoffs: Any) -> list[Model]:
    """The models that are compared, by their names, of which there are at least two."""
    problems = Problems()
    given = {"predictions": predictions, "scores": scores}
    several = {role: _by_name(role, value, problems) for role, value in given.items() if value is not None}
    problems.raise_if_any(CallError)
    if not several:
        cut = as_typed("scores= with cutoffs=", "--score with --cutoff")
        raise CallError(f"there is nothing to compare: give {as_typed('predictions=', '--prediction')} or {cut}.")
    names = list(next(iter(several.values())))
    for role, columns in several.items():
        if len(columns) < 2:
            said = as_typed(f"{role}= holds", f"--{role[:-1]} is given for")
            raise CallError(f"{said} {len(columns)} of the two or more models that are compared: name another.")
        if len(columns) != len(names) or (isinstance(given[role], Mapping) and set(columns) != set(names)):
            raise CallError(
                f"{role}= is of {', '.join(map(shorten, columns))}, and predictions= is of "
                f"{', '.join(map(shorten, names))}: give both for the same models."
            )
    cuts = _cutoffs(cutoffs, names, scored=scores is not None)
    if predictions is None and None in cuts:
        raise CallError(f"scores alone decide nothing: give {as_typed('cutoffs=', '--cutoff')}, or the predictions.")
    found = []
    for i, name in enumerate(names):
        own = {role: part.get(name, list(part.values())[i]) for role, part in several.items()}
        found.append(Model(name, own.get("predictions"), own.get("scores"), cuts[i]))
    return found


def _by_name(role: str, value: Any, problems: Problems) -> dict[str, Any]:
    """Columns or arrays by the names of their models; those of a list are called by their columns, or numbered."""
    if isinstance(value, Mapping):
        named = {str(name): column for name, column in value.items()}
        if len(named) < len(value):
            problems.add(f"{role}= has two models of one name, such as 1 and '1': give each its own.")
        return named
    if not isinstance(value, (list, tuple)) or not all(hasattr(readable(part), "__iter__") for part in value):
        problems.add(
            f"{role}={shown(value)} must be a list of columns or arrays, one for each model, or a mapping by name."
        )
        return {}
    found: dict[str, Any] = {}
    for i, column in enumerate(value, 1):
        own = column if isinstance(column, str) else getattr(column, "name", None)
        name = own if isinstance(own, str) and own else f"model {i}"
        while name in found:
            name = f"{name} ({i})"
        found[name] = list(column) if isinstance(column, Iterator) else column
    return found


def _cutoffs(cutoffs: Any, names: Sequence[str], *, scored: bool) -> list[float | None]:
    """The cutoff of each model; one number is that of all."""
    if cutoffs is None:
        return [None] * len(names)
    if not scored:
        raise CallError("cutoffs= is given without scores=: name the scores that they cut.")
    if isinstance(cutoffs, Mapping):
        by_name = {str(name): cutoff for name, cutoff in cutoffs.items()}
        values = [by_name.get(name) for name in names]
        if set(by_name) != set(names):
            raise CallError(f"cutoffs= is of {', '.join(map(shorten, by_name))}: give one for each of the models.")
        return values
    values = list(cutoffs) if is_series(cutoffs) else [cutoffs] * len(names)
    if len(values) != len(names):
        raise CallError(
            f"cutoffs= has {len(values)} numbers for {len(names)} models: give one for each, or one for all."
        )
    return values


def _notes(joint: Mapping[tuple[int, int], Joint]) -> tuple[str, ...]:
    weighted = any(each.w is not None for each in joint.values())
    return ("Rates are weighted; who gained and who lost is counted in people, and not tested.",) if weighted else ()
