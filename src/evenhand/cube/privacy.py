"""What leaves in a file, a page or the JSON of an audit: a cube in which no cell shows only a few people.

A cell is how many people of one group share a label and a decision, or a label and a place on the score. Cells of 1 to
`least` − 1 people are made coarser, once, before the cube leaves:

- **On the score** neighbours are joined: people of one group and label stand in blocks of at least `least`, and a block
  counts where its middle person stands. No block reaches across the audited cutoff; one reaches across the edge of a
  calibration bin only where the bin holds fewer than `least`.
- **Of a decision**, and so at the audited cutoff, too few people grow to `least` out of the cell beside theirs if they
  are at least half of that, and else join it: a count moves by at most half of `least`.
- **A label** that fewer than twice `least` people of a group have, and that would have to be cut in this way, keeps its
  number and gives up its decisions and scores; with fewer than `least` people it is left out.

All else stays as it is: people by group and label, sums of scores and of weights. The cube says in its `facts` how many
people were left out, withheld or moved. What the audit itself says of small groups is not touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.core.arrays import Array, Bools, Ints
from evenhand.cube.cube import Cube
from evenhand.cube.cutoffs import decided_tables
from evenhand.cube.scores import ScoreTable, collect
from evenhand.errors import CallError

Arrays = dict[str, Array]

LEAST = 5

_SENTENCES = {
    "cells_left_out": "{count:,} people are left out",
    "cells_withheld": "{count:,} are counted without their decision or score",
    "cells_moved": "{count:,} count with the decision beside theirs",
    "cells_joined": "{count:,} stand at a score beside theirs",
}
FACTS = tuple(_SENTENCES)
"""What a cube says of itself where it was made coarser."""


def shared(cube: Cube, least: int = LEAST) -> Cube:
    """The cube as it leaves in a file: at most 256 bins of the score, and no cell of 1 to `least` − 1 people.

    >>> cube = Cube.count(prediction=[1] * 3 + [0] * 47, sensitive=["a"] * 25 + ["b"] * 25)
    >>> shared(cube).n[0, 2].tolist(), shared(cube) == shared(shared(cube))
    ([20, 5, 0], True)
    """
    if isinstance(least, bool) or not isinstance(least, int) or least < 1:
        raise CallError(f"smallest_cell={least!r} must be a whole number of people of at least 1, which hides nothing.")
    cube = cube.coarsen()
    facts: Counter[str] = Counter()
    arrays = {kind: getattr(cube, kind).copy() for kind in ("n", "w", "w2") if getattr(cube, kind) is not None}
    few = _few(cube.n.sum(axis=2), least)
    facts["cells_left_out"] = int(cube.n.sum(axis=2)[few].sum())
    for values in arrays.values():
        values[few] = 0
    scores = cube.scores
    if scores is not None:
        scores, withheld = _settled(scores, few, least, facts)
    if scores is not None and cube.meaning.prediction is None and cube.meaning.cutoff is not None:
        _decide(arrays, scores, facts)
    else:
        _settle(arrays, least, facts)
        facts["cells_withheld"] += withheld if scores is not None else 0
    facts.update({fact: cube.facts[fact] for fact in _SENTENCES if fact in cube.facts})
    return replace(cube, **arrays, scores=scores, facts={**cube.facts, **{k: n for k, n in facts.items() if n}})


def notes(cube: Cube, least: int = LEAST) -> list[str]:
    """What a reader of a shared cube must know; nothing where all is as it was counted."""
    parts = [text.format(count=cube.facts[fact]) for fact, text in _SENTENCES.items() if cube.facts.get(fact)]
    if not parts:
        return []
    return [
        f"The counts that travel with this audit show no cell of fewer than {least} people: {'; '.join(parts)}. What "
        "is computed from them can differ a little from the audit's own numbers, most in small groups."
    ]


def _few(people: Ints, least: int) -> Bools:
    return np.asarray((people > 0) & (people < least))


# --- Decisions: rows are [pair, label], cells the decisions ----------------------------------------------------------


def _settle(arrays: Arrays, least: int, facts: Counter[str]) -> None:
    """Make every cell 0 or at least `least`, in place."""
    n = arrays["n"]
    for row in zip(*np.nonzero(_few(n, least).any(axis=2)), strict=True):
        people = n[row].tolist()
        undecided = len(people) - 1
        if sum(people) < 2 * least:
            moves = [(i, undecided, count) for i, count in enumerate(people[:-1]) if count]
            facts["cells_withheld"] += sum(people[:-1])
        else:
            moves = _moves(people, least)
            facts["cells_moved"] += sum(count for _, _, count in moves)
        for source, target, count in moves:
            share = count / int(n[row][source])
            for kind, values in arrays.items():
                part = count if kind == "n" else values[row][source] * share
                values[row][target] += part
                values[row][source] = 0 if share == 1 else values[row][source] - part


def _moves(people: Sequence[int], least: int) -> list[tuple[int, int, int]]:
    """(from, to, people) by which the small cells of a row together grow to `least`, or join the largest.

    >>> _moves([97, 3, 0], 5), _moves([97, 2, 0], 5), _moves([90, 3, 4], 5)
    ([(0, 1, 2)], [(1, 0, 2)], [(1, 2, 3)])
    """
    small = [i for i, count in enumerate(people) if 0 < count < least]
    largest = max(range(len(people)), key=lambda i: people[i])
    home = max(small, key=lambda i: people[i])
    lacking = least - sum(people[i] for i in small)
    if lacking > 0 and (2 * lacking > least or people[largest] - lacking < least):
        return [(i, largest, people[i]) for i in small]
    moves = [(i, home, people[i]) for i in small if i != home]
    return [*moves, (largest, home, lacking)] if lacking > 0 else moves


def _decide(arrays: Arrays, scores: ScoreTable, facts: Counter[str]) -> None:
    """The decisions of a cutoff follow the scores; who has none any more is undecided."""
    after = decided_tables(arrays, scores, 1.0 * (scores.bin >= _cut(scores)))
    gained = (after["n"] - arrays["n"])[:, :, :2]
    rows = (gained != 0).any(axis=2)
    facts["cells_withheld"] += int(after["n"][:, :, 2][rows].sum())
    facts["cells_moved"] += int(np.maximum(gained, 0)[rows].sum())
    for kind, values in arrays.items():
        values[rows] = after[kind][rows]


# --- Scores: rows are a pair and a label, cells the bins -------------------------------------------------------------


@dataclass
class _Piece:
    """Some people of one line of a score table, and the bin where they are to count."""

    line: int
    people: int
    place: int


def _cut(table: ScoreTable) -> int:
    """The first bin at or above the audited cutoff; 0 without one, which parts nothing."""
    cutoff = table.reading.cutoff
    return 0 if cutoff is None else int(np.searchsorted(table.bins.starts, cutoff))


def _settled(table: ScoreTable, few: Bools, least: int, facts: Counter[str]) -> tuple[ScoreTable, int]:
    """The table with at least `least` people in every cell, and how many people have no score in it any more.

    Rows that are left out as a whole are not among them.
    """
    regression = table.reading.outcome is not None
    unlabelled = table.label == table.reading.labels - 1
    kept = np.flatnonzero(~few[table.pair, np.where(unlabelled, 2, 0) if regression else table.label])
    labels = _joined_bands(table, kept, least) if regression else table.label
    rows = table.pair * table.reading.labels + labels
    small = np.isin(rows[kept], rows[kept[table.n[kept] < least]])
    whole, torn = kept[~small], kept[small]
    torn = torn[np.lexsort((table.bin[torn], rows[torn]))]
    cut, segments = _cut(table), _segments(table)
    pieces: list[_Piece] = []
    withheld = 0
    for row in np.split(torn, np.flatnonzero(np.diff(rows[torn])) + 1):
        own = [_Piece(line, int(table.n[line]), int(table.bin[line])) for line in row.tolist()]
        if _people(own) < (least if regression else 2 * least):
            withheld += _people(own)
        else:
            pieces += _in_blocks(own, cut, segments, least)
    facts["cells_joined"] += sum(piece.people for piece in pieces if piece.place != table.bin[piece.line])
    line = np.concatenate([whole, np.array([piece.line for piece in pieces], dtype=np.int64)])
    people = np.concatenate([table.n[whole], np.array([piece.people for piece in pieces], dtype=np.int64)])
    place = np.concatenate([table.bin[whole], np.array([piece.place for piece in pieces], dtype=np.int64)])
    sums = {name: values[line] * (people / table.n[line]) for name, values in table.sums.items()}
    return collect(table.reading, table.pair[line], labels[line], place, people, sums), withheld


def _segments(table: ScoreTable) -> Ints:
    """The calibration bin of each score bin."""
    edges = np.array(table.reading.edges)
    return np.clip(np.searchsorted(edges, table.bins.starts, side="right") - 1, 0, len(edges) - 2).astype(np.int64)


def _joined_bands(table: ScoreTable, kept: Ints, least: int) -> Ints:
    """Of a regressor: bands of the outcome that hold too few of a pair join the next one, or the last one before."""
    labels = table.label.copy()
    bands = table.reading.labels - 1
    for pair in np.unique(table.pair[kept]).tolist():
        lines = kept[(table.pair[kept] == pair) & (table.label[kept] < bands)]
        people = np.bincount(table.label[lines], weights=table.n[lines], minlength=bands)
        home, carried, to = 0, 0.0, np.arange(bands)
        starts = 0
        for band in range(bands):
            carried += people[band]
            if carried >= least:
                to[starts : band + 1] = home = band
                starts, carried = band + 1, 0.0
        to[starts:] = home if carried else np.arange(starts, bands)
        labels[lines] = to[table.label[lines]]
    return labels


def _in_blocks(pieces: list[_Piece], cut: int, segments: Ints, least: int) -> list[_Piece]:
    """The people of a row in blocks, each at the place of its middle person, on either side of the cut."""
    below = [piece for piece in pieces if piece.place < cut]
    above = [piece for piece in pieces if piece.place >= cut]
    if below and above:
        below, above = _balanced(below[::-1], above, least)
    for side in (sorted(below, key=_place), sorted(above, key=_place)):
        for block in _blocks(side, segments, least):
            middle = _middle(block)
            for piece in block:
                piece.place = middle
    return below + above


def _place(piece: _Piece) -> int:
    return piece.place


def _people(pieces: Iterable[_Piece]) -> int:
    return sum(piece.people for piece in pieces)


def _balanced(below: list[_Piece], above: list[_Piece], least: int) -> tuple[list[_Piece], list[_Piece]]:
    """Both sides of the cut, nearest first, with 0 or at least `least` people on each, of twice that together."""
    for small, large in ((below, above), (above, below)):
        lacking = least - _people(small)
        if lacking <= 0:
            continue
        if 2 * lacking > least:
            for piece in small:
                piece.place = large[0].place
            large.extend(small)
            small.clear()
            break
        place = small[0].place
        while lacking:
            nearest = large[0]
            taken = min(lacking, nearest.people)
            small.append(_Piece(nearest.line, taken, place))
            nearest.people -= taken
            lacking -= taken
            if not nearest.people:
                large.pop(0)
    return below, above


def _blocks(pieces: Sequence[_Piece], segments: Ints, least: int) -> list[list[_Piece]]:
    """Neighbours in blocks of at least `least`; what is left over at an edge or at the end joins the block before."""
    done: list[list[_Piece]] = []
    block: list[_Piece] = []
    for piece in pieces:
        if block and done and segments[piece.place] != segments[block[-1].place]:
            last = done[-1][-1].place
            if segments[last] == segments[block[-1].place] == segments[block[0].place]:
                done[-1] += block
                block = []
        block.append(piece)
        if _people(block) >= least:
            done.append(block)
            block = []
    if block:
        if done:
            done[-1] += block
        else:
            done.append(block)
    return done


def _middle(block: Sequence[_Piece]) -> int:
    """The bin where the middle person of a block stands."""
    half, seen = _people(block) / 2, 0
    for piece in block:
        seen += piece.people
        if seen >= half:
            return piece.place
    return block[-1].place
