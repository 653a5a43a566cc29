"""The kinds of arguments, checked at the door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.core.arguments import array_of, check_fields, checked, fits, is_series
from evenhand.core.arrays import ColumnLike, DataLike
from evenhand.errors import CallError


@checked
def door(
    names: Iterable[str] = (),
    *,
    one: str | Sequence[str] = "a",
    size: int = 1,
    share: float = 0.5,
    flag: bool = False,
    path: str | Path | None = None,
    word: Literal["x", "y"] = "x",
    limits: Mapping[str, float] | None = None,
    anything: Any = None,
    own: eh.Estimate | None = None,
) -> Any:
    return names, share


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"names": "ab"}, "names='ab' must be a list of texts, such as ['ab']."),
        ({"names": [1]}, "names=[1] must be a list of texts."),
        ({"names": b"ab"}, "names=b'ab' must be a list of texts."),
        ({"names": {"a": 1}}, "names={'a': 1} must be a list of texts."),
        ({"names": np.array("a")}, "must be a list of texts."),
        ({"names": pd.DataFrame({"a": [1]})}, "must be a list of texts."),
        ({"names": iter([1])}, "names=(1,) must be a list of texts."),
        ({"one": 3}, "one=3 must be text or a list of texts."),
        ({"size": True}, "size=True must be a whole number."),
        ({"size": 1.0}, "size=1.0 must be a whole number."),
        ({"size": 10**400}, "is too large."),
        ({"share": "0.5"}, "share='0.5' must be a number."),
        ({"share": 10**400}, "is too large."),
        ({"share": 1j}, "share=1j must be a number."),
        ({"flag": 1}, "flag=1 must be True or False."),
        ({"flag": "no"}, "flag='no' must be True or False."),
        ({"path": 3}, "path=3 must be text, a path or None."),
        ({"word": 3}, "word=3 must be 'x' or 'y'."),
        ({"limits": {1: 0.5}}, "limits={1: 0.5} must be a mapping or None."),
    ],
)
def test_another_kind_is_an_error_that_names_the_argument(arguments, said):
    with pytest.raises(CallError) as error:
        door(**arguments)
    assert str(error.value).endswith(said)
    assert next(iter(arguments)) in str(error.value)


def test_what_fits_is_passed_on():
    assert door(iter(["a", "b"]))[0] == ("a", "b")
    assert door(["a"])[0] == ["a"]
    assert door(share=Fraction(1, 4))[1] == 0.25
    assert isinstance(door(share=Fraction(1, 4))[1], float)
    for share in (1, np.float32(0.5), float("nan"), float("inf")):
        assert door(share=share)[1] is share
    door(np.array(["a"]), size=np.int64(3), flag=np.bool_(True), path=Path("x"), word="neither", anything=object())


def test_a_wrong_keyword_is_an_error_of_python():
    with pytest.raises(TypeError, match="takes no argument 'sizes'"):
        door(sizes=3)


def test_methods_of_every_sort_are_checked_and_keep_their_names():
    @checked
    class Thing:
        def __init__(self, size: int) -> None:
            self.size = size

        def plain(self, name: str) -> str:
            """What it does."""
            return name * self.size

        @classmethod
        def made(cls, size: int) -> Thing:
            return cls(size)

        @staticmethod
        def still(*names: str) -> tuple[str, ...]:
            return names

        def _own(self, name: str) -> str:
            return name

    thing = Thing.made(2)
    assert (thing.plain("a"), Thing.still("a", "b"), thing._own(3)) == ("aa", ("a", "b"), 3)
    assert (Thing.plain.__name__, Thing.plain.__doc__) == ("plain", "What it does.")
    for call in (lambda: Thing("2"), lambda: Thing.made("2"), lambda: thing.plain(3), lambda: Thing.still("a", 3)):
        with pytest.raises(CallError, match="must be"):
            call()


def test_fields_of_a_record():
    @dataclass(frozen=True)
    class Record:
        size: int

        __post_init__ = check_fields

    assert Record(3).size == 3
    with pytest.raises(CallError, match="size='3' must be a whole number"):
        Record("3")


def test_an_object_of_ours_is_asked_for_in_words_of_the_function():
    with pytest.raises(CallError, match=r"finding is of type int: pass what consistency\(...\) or lipschitz\(...\)"):
        eh.worst_pairs(3)
    with pytest.raises(CallError, match="cube is of type str: pass a Cube"):
        eh.Policy().required_for("cube")


def test_lists_of_different_lengths():
    assert array_of("y", [1, 2]).tolist() == [1, 2]
    with pytest.raises(CallError, match=r"y=\[\[1\], 2\] holds lists that differ in length"):
        array_of("y", [[1], 2])


def test_a_table_is_not_a_list():
    assert is_series(["a"])
    assert not is_series(pd.DataFrame({"a": [1]}))
    assert fits(Sequence[str] | str, "a")


@pytest.mark.parametrize("value", [None, 3, "a.csv", {"a": [1]}, [1, 2], object()])
def test_a_column_or_table_is_checked_by_whoever_reads_it(value):
    @checked
    def door(data: DataLike | eh.Estimate | None = None, column: ColumnLike = ()) -> object:
        return data

    assert door(value, column=value) is value
