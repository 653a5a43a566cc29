"""One bit of a saved file flips: it is refused by name, or it loads as what was saved. It never loads as another."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.mitigate import Thresholds, find_thresholds
from support.profiles import is_thorough

FLIPS = 500 if is_thorough() else 60


@cache
def arguments(kind: str) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    n = 400
    group, label, score = rng.choice(["a", "b", "c"], n), rng.integers(0, 2, n), rng.random(n).round(2)
    return {
        "decisions": {"label": label, "prediction": label[::-1], "sensitive": {"g": group, "h": group[::-1]}},
        "scores": {"label": label, "score": score, "cutoff": 0.5, "sensitive": group, "control": group[::-1]},
        "weights": {"label": label, "score": rng.random(n), "sensitive": group, "weight": rng.random(n)},
        "classes": {"label": group, "prediction": group[::-1], "sensitive": label, "task": "multiclass"},
        "regression": {"label": score + rng.random(n), "prediction": score, "sensitive": group},
    }[kind]


KINDS = ("decisions", "scores", "weights", "classes", "regression")


def content_of_cube(cube: eh.Cube) -> object:
    table = cube.scores
    arrays = [cube.n, cube.w, cube.w2, *([] if table is None else [table.pair, table.label, table.bin, table.n])]
    sums = {} if table is None else {name: values.tobytes() for name, values in table.sums.items()}
    told = (cube.meaning, cube.pairs, cube.cut_by_us, cube.facts, cube.classes, cube.notes, cube.kinds)
    return (
        repr(told),
        [None if each is None else each.tobytes() for each in arrays],
        sums,
        table and repr(table.reading),
    )


def flipped(content: bytes, seed: int) -> bytes:
    chooser = random.Random(seed)
    spoiled = bytearray(content)
    spoiled[chooser.randrange(len(spoiled))] ^= 1 << chooser.randrange(8)
    return bytes(spoiled)


def loads_as_another(path: Path, load: Callable[[Path], object]) -> list[int]:
    """The flips after which the file loads as something else; what is refused must be named."""
    content, saved = path.read_bytes(), load(path)
    others = []
    for seed in range(FLIPS):
        path.write_bytes(flipped(content, seed))
        try:
            if load(path) != saved:
                others.append(seed)
        except eh.DataError as error:
            assert path.name in str(error)  # noqa: PT017 - both ways are right
    return others


@pytest.mark.parametrize("kind", KINDS)
def test_no_flipped_bit_makes_another_cube(kind, tmp_path):
    eh.Cube.count(**arguments(kind)).save(tmp_path / "damaged.cube")
    assert loads_as_another(tmp_path / "damaged.cube", lambda path: content_of_cube(eh.Cube.load(path))) == []


def test_no_flipped_bit_makes_another_sum(tmp_path):
    """Files that are added are not read one by one, and yet each is checked."""
    whole, damaged = tmp_path / "whole.cube", tmp_path / "damaged.cube"
    for path in (whole, damaged):
        eh.Cube.count(**arguments("scores")).save(path)
    assert loads_as_another(damaged, lambda path: content_of_cube(eh.Cube.merge([whole, path]))) == []


def content_of_audit(audit: eh.Audit) -> str:
    return json.dumps({**audit.to_dict(), "sha256": ""})


@pytest.mark.parametrize("kind", KINDS)
def test_no_flipped_bit_makes_another_audit(kind, tmp_path):
    eh.audit(**arguments(kind)).save(tmp_path / "damaged.json")
    assert loads_as_another(tmp_path / "damaged.json", lambda path: content_of_audit(eh.Audit.load(path))) == []


def test_no_flipped_bit_makes_another_shared_audit(tmp_path):
    eh.audit(**arguments("decisions")).save(tmp_path / "damaged.json", share=True)
    assert loads_as_another(tmp_path / "damaged.json", lambda path: content_of_audit(eh.Audit.load(path))) == []


def test_no_flipped_bit_makes_other_thresholds(tmp_path):
    find_thresholds(eh.Cube.count(**arguments("scores")), constraint="demographic_parity").save(
        tmp_path / "damaged.json"
    )
    assert loads_as_another(tmp_path / "damaged.json", lambda path: Thresholds.load(path).to_dict()) == []


def test_no_flipped_bit_of_the_checksum_is_taken(tmp_path):
    """Nor of its key, without which the file would look like one that never had a checksum."""
    path = tmp_path / "damaged.cube"
    eh.Cube.count(**arguments("decisions")).save(path)
    content = path.read_bytes()
    first = content.rindex(b"evenhand_sha256") - 2
    for place in range(first, first + 2 + 15 + 2 + 64):
        spoiled = bytearray(content)
        spoiled[place] ^= 1 << place % 8
        path.write_bytes(spoiled)
        with pytest.raises(eh.DataError, match=r"damaged\.cube'"):
            eh.Cube.load(path)
