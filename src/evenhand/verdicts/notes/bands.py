"""What is said of attributes that are numbers: which were cut into bands, and which were not because they are text."""

from __future__ import annotations

from evenhand.cube.cube import Cube
from evenhand.errors import as_typed, shorten
from evenhand.sources.kinds import TEXT
from evenhand.sources.levels import MOST_WHOLE, is_plain_number


def cut_notes(cube: Cube) -> list[str]:
    """A note for each attribute or control that nobody said how to cut."""
    notes = []
    for name in cube.cut_by_us:
        if name in (*cube.meaning.sensitive, *cube.meaning.control):
            own = as_typed(f"bands={{{name!r}: [...]}}", f"--bands {name}=0,25,45")
            kept = as_typed(f"bands={{{name!r}: None}}", f"--bands {name}=none")
            notes.append(
                f"{name} is numeric and was cut into quantile bands; {own} sets your own, {kept} keeps each value as a "
                "group."
            )
    return notes


def undivided(name: str) -> str:
    """What is said of a column of numbers of which quantiles make one band, because most of them are the same."""
    own = as_typed(f"bands={{{name!r}: [...]}}", f"--bands {name}=...")
    return f"holds numbers of which most are the same, so that quantile bands do not divide it: cut it with {own}"


def text_notes(cube: Cube) -> list[str]:
    """A note for each attribute or control of many numbers that are held as text, as in a CSV, and so were not cut."""
    notes, meaning = [], cube.meaning
    for names, keys, each in (
        (meaning.sensitive, cube.groups, "a group"),
        (meaning.control, cube.strata, "a stratum"),
    ):
        for i, name in enumerate(names):
            values = {key[i] for key in keys} - {None}
            uncut = cube.kinds.get(name) == TEXT and name not in meaning.bands
            if uncut and len(values) > MOST_WHOLE and all(is_plain_number(str(value)) for value in values):
                cut = as_typed(f"bands={{{name!r}: [...]}}", f"--bands {name}=0,25,45")
                notes.append(
                    f"{shorten(name)} holds {len(values):,} numbers as text, each of which is {each}; {cut} cuts them."
                )
    return notes
