"""A cube as plain tables, and back: what a Parquet file and the JSON of an audit both hold.

`pairs` names the strata and groups; `decisions` has a line for each cell that holds someone, `scores` one for each
cell of the score table; both as columns. The other fields of a cube are written by their names, so that a new field
needs no change here. Everything that comes from a file is checked before it becomes a cube.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_type_hints

import numpy as np

from evenhand.core import checksum, records
from evenhand.core.arrays import Array, Ints
from evenhand.core.records import MisfitError
from evenhand.core.results import Pair
from evenhand.cube import invariants
from evenhand.cube.clusters import Clusters
from evenhand.cube.cube import Cube
from evenhand.cube.meaning import Meaning
from evenhand.cube.scores import ScoreTable, collect
from evenhand.sources.lines import names_of_later, names_of_losses, names_of_sums
from evenhand.sources.scores import ScoreReading

Columns = dict[str, list[Any]]

SHAPE = (3, 3)  # of a file that does not say: label and prediction, each with two classes and neither
_KEYS = ("pair", "label", "prediction")
_ARRAYS = ("n", "w", "w2")
_SCORE_KEYS = ("pair", "label", "bin", "n")


def header(cube: Cube) -> dict[str, Any]:
    """The fields of a cube that say what its numbers mean."""
    own = {name: records.write(getattr(cube, name)) for name in _own_fields()}
    if not cube.codes:  # as in files of earlier versions, which keep their checksum
        del own["codes"]
    reading = None if cube.scores is None else records.write(cube.scores.reading)
    return {**own, "shape": list(cube.n.shape[1:]), "reading": reading}


def decisions(cube: Cube) -> Columns:
    """The cells of (pair, label, prediction) that hold someone, with people and sums of weights."""
    where = np.argwhere(cube.n > 0)
    places = tuple(where.T)
    columns = {name: where[:, i].tolist() for i, name in enumerate(_KEYS)}
    arrays = {name: getattr(cube, name) for name in _ARRAYS}
    return columns | {name: values[places].tolist() for name, values in arrays.items() if values is not None}


def scores(cube: Cube) -> Columns | None:
    """The cells of the score table, with people and sums."""
    table = cube.scores
    if table is None:
        return None
    columns = {name: getattr(table, name).tolist() for name in _SCORE_KEYS}
    return columns | {name: values.tolist() for name, values in table.sums.items()}


def write(cube: Cube) -> dict[str, Any]:
    """The whole cube as plain data, ready for JSON."""
    return {**header(cube), "pairs": records.write(cube.pairs), "decisions": decisions(cube), "scores": scores(cube)}


def digest(cube: Cube, *, kinds: bool = True) -> str:
    """The checksum of all that a cube holds: the same in memory and from a file.

    Without `kinds` it is also the same whether the data spelled the groups as numbers or, as CSV does, as text.
    """
    places = np.nonzero(cube.n)
    arrays: dict[str, Array] = dict(zip(_KEYS, places, strict=True))
    arrays |= {name: values[places] for name in _ARRAYS if (values := getattr(cube, name)) is not None}
    if (table := cube.scores) is not None:
        arrays |= {f"scores.{name}": getattr(table, name) for name in _SCORE_KEYS}
        arrays |= {f"sums.{name}": table.sums[name] for name in sorted(table.sums)}
    told = {**header(cube), "pairs": records.write(cube.pairs)}
    if not kinds:
        del told["kinds"]
    return checksum.of_arrays(_whole(told), arrays.items())


def _whole(value: Any) -> Any:
    """Plain data with 5 for 5.0: a cutoff that a caller gave as 5 comes back from a file as 5.0."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Room:
    """How many cells the tables of one file may take: 1,000 for each row that is there, and some more in all."""

    def __init__(self) -> None:
        self.left = 2**24

    def take(self, table: str, cells: int, rows: int) -> None:
        self.left -= max(cells - 1000 * rows, 0)
        if self.left < 0:
            raise MisfitError(f"{table} declares {cells:,} cells, and there are only {rows:,} rows")


def read(record: Mapping[str, Any], room: Room | None = None) -> Cube:
    """The cube from the record that `write` made; the cubes of one file share its `room`."""
    pairs = records.read(tuple[Pair, ...], record.get("pairs"), "pairs")
    return build(record, pairs, record.get("decisions"), record.get("scores"), room)


def build(
    header: Mapping[str, Any], pairs: Sequence[Pair], decided: Any, scored: Any, room: Room | None = None
) -> Cube:
    """A cube from its header, its pairs and its two tables."""
    meaning = records.read(Meaning, header.get("meaning"), "meaning")
    records.refuse_unknown(Meaning, header["meaning"], "meaning")
    _check_pairs(pairs, meaning)
    shape = records.read(tuple[int, ...], header.get("shape", list(SHAPE)), "shape")
    hints, room = get_type_hints(Cube, localns={"Clusters": Clusters}), room or Room()
    others = {name: records.read(hints[name], header[name], name) for name in _own_fields() if name in header}
    _check_shape(meaning, shape, len(others.get("classes", ())))
    weighted = meaning.weight is not None
    table = _table("decisions", decided, (*_KEYS, "n"), ("w", "w2") if weighted else ())
    room.take("decisions", len(pairs) * math.prod(shape), len(table["n"]))
    others |= _dense(table, (len(pairs), *shape))
    scored_cells = _scores(header.get("reading"), scored, len(pairs), weighted, room)
    cube = Cube(**{**others, "meaning": meaning, "pairs": tuple(pairs), "scores": scored_cells})
    invariants.check(cube)
    return cube


def _own_fields() -> list[str]:
    """The fields of a cube that are neither tables nor the names of their lines."""
    return [part.name for part in fields(Cube) if part.name not in ("pairs", "scores", "clusters", *_ARRAYS)]


def _check_shape(meaning: Meaning, shape: Sequence[int], classes: int) -> None:
    """Each axis has the two classes of a yes or no, or one for each named class, and one more for neither."""
    if (meaning.task == "multiclass") != bool(classes) or tuple(shape) != ((classes or 2) + 1,) * 2:
        raise MisfitError(f"the shape {list(shape)} does not fit {classes} classes of a {meaning.task} task")


def _check_pairs(pairs: Sequence[Pair], meaning: Meaning) -> None:
    lengths = (len(meaning.control), len(meaning.sensitive))
    for i, (stratum, group) in enumerate(pairs):
        if (len(stratum), len(group)) != lengths:
            raise MisfitError(f"pairs[{i}] does not name {lengths[0]} controls and {lengths[1]} attributes")
    if len(set(pairs)) != len(pairs):
        raise MisfitError("pairs names one group twice")


def _table(name: str, table: Any, whole: Sequence[str], sums: Sequence[str]) -> dict[str, Array]:
    """Columns of one length as arrays: the `whole` ones hold counts and keys, `sums` finite numbers; no others."""
    columns = table if _of_arrays(table) else records.read(dict[str, tuple[Any, ...]], table, name)
    for key in (*whole, *sums):
        if key not in columns:
            raise MisfitError(f"{name} lacks the column {key!r}")
    for key in columns.keys() - {*whole, *sums}:
        raise MisfitError(f"{name} has a column {records.shown(key)}, which this version does not know")
    if len({len(column) for column in columns.values()}) > 1:
        raise MisfitError(f"{name} has columns of different lengths")
    return {key: _column(f"{name}.{key}", column, key in whole) for key, column in columns.items()}


def _of_arrays(table: Any) -> bool:
    """Are the columns numpy arrays, as from a Parquet file? JSON has lists."""
    return isinstance(table, dict) and all(isinstance(column, np.ndarray) for column in table.values())


def _column(name: str, values: Sequence[Any] | Array, whole: bool) -> Array:
    known = (int,) if whole else (int, float)
    kinds = "iu" if whole else "iuf"
    if not (isinstance(values, np.ndarray) and values.dtype.kind in kinds) and any(
        type(value) not in known for value in values
    ):
        strange = next(value for value in values if type(value) not in known)
        raise MisfitError(f"{name} holds {records.shown(strange)}, not a {'whole ' if whole else ''}number")
    try:
        found = np.array(values, dtype=np.int64 if whole else np.float64)
    except OverflowError:
        raise MisfitError(f"{name} holds a number that is too large") from None
    if (whole and (found < 0).any()) or not np.isfinite(found).all():
        raise MisfitError(f"{name} holds a number that is {'negative' if whole else 'not finite'}")
    return found


def _dense(table: Mapping[str, Array], shape: tuple[int, ...]) -> dict[str, Array]:
    cells = tuple(_inside("decisions", key, table[key], size) for key, size in zip(_KEYS, shape, strict=True))
    if len(np.unique(cells[0])) != shape[0]:
        raise MisfitError("pairs names a group that holds nobody")
    flat = np.ravel_multi_index(cells, shape)
    if len(np.unique(flat)) != len(flat):
        raise MisfitError("decisions holds one cell twice")
    if float(table["n"].sum(dtype=np.float64)) >= 2.0**62:
        raise MisfitError("decisions.n adds up to more people than can be counted")
    found = {}
    for name in [key for key in table if key not in _KEYS]:
        found[name] = np.zeros(shape, dtype=table[name].dtype)
        found[name][cells] = table[name]
    return found


def _inside(table: str, key: str, places: Ints, size: int) -> Ints:
    if (places >= size).any():
        raise MisfitError(f"{table}.{key} holds {int(places.max())}, and there are only {size}")
    return places


def _scores(record: Any, columns: Any, pairs: int, weighted: bool, room: Room) -> ScoreTable | None:
    if record is None or columns is None:
        return None
    reading = records.read(ScoreReading, record, "reading")
    records.refuse_unknown(ScoreReading, record, "reading")
    losses = names_of_losses(weighted)  # which files of earlier versions do not have
    lost = losses if reading.hides_losses and isinstance(columns, Mapping) and columns.keys() & losses else ()
    sums = (*names_of_sums(reading, weighted), *lost)
    if reading.outcome is not None and isinstance(columns, Mapping):
        later = names_of_later(weighted) - columns.keys()  # likewise
        sums = tuple(name for name in sums if name not in later)
    if reading.outcome is None and isinstance(columns, Mapping) and not {"s", "ws"} & columns.keys():
        sums = ("w", "w2") if weighted else ()  # joined bins, see ScoreTable.counts_only
    table = _table("scores", columns, _SCORE_KEYS, sums)
    room.take("scores", pairs * reading.labels * reading.bins.count, len(table["n"]))
    _inside("scores", "pair", table["pair"], pairs)
    _inside("scores", "label", table["label"], reading.labels)
    _inside("scores", "bin", table["bin"], reading.bins.count)
    summed = {name: table[name] for name in sums}
    return collect(reading, table["pair"], table["label"], table["bin"], table["n"], summed)
