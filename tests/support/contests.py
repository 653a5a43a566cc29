"""Contests of every kind that their page must make sense of, and the tables of a page as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np

import evenhand as eh
from evenhand.verdicts.policy import Policy


@cache
def people(number: int = 3000) -> dict[str, Any]:
    """Rows on which a new model selects more of one team than the old one did."""
    random = np.random.default_rng(20261118)
    team, age = (
        random.choice(["north", "south", "west"], number, p=[0.5, 0.4, 0.1]),
        random.choice(["<40", "40+"], number),
    )
    label = (random.random(number) < 0.6).astype(int)
    old = (random.random(number) < np.where(label, 0.75, 0.3) - 0.12 * (team == "south")).astype(int)
    new = np.where((team == "south") & (label == 1) & (random.random(number) < 0.5), 1, old)
    new = np.where(random.random(number) < 0.04, label, new)
    scores = {"old_score": (old + random.random(number)) / 2, "new_score": (new + random.random(number)) / 2}
    return {"team": team, "age": age, "label": label, "old": old, "new": new, **scores}


@cache
def two() -> eh.Contest:
    return eh.contest(people(), label="label", predictions=["old", "new"], sensitive=["team", "age"])


@cache
def three() -> eh.Contest:
    table = {**people(), "third": people()["label"]}
    return eh.contest(table, label="label", predictions=["old", "new", "third"], sensitive="team")


@cache
def without_labels() -> eh.Contest:
    return eh.contest(people(), predictions=["old", "new"], sensitive="team")


@cache
def with_scores() -> eh.Contest:
    return eh.contest(people(), label="label", scores=["old_score", "new_score"], cutoffs=0.5, sensitive="team")


@cache
def weighted() -> eh.Contest:
    table = {**people(), "w": np.linspace(0.5, 2.0, 3000)}
    return eh.contest(table, label="label", predictions=["old", "new"], sensitive="team", weight="w")


@cache
def against_a_reference() -> eh.Contest:
    roles = {"label": "label", "predictions": ["old", "new"], "sensitive": "team"}
    return eh.contest(people(), **roles, reference="north", metrics=["disparate_impact", "equal_opportunity"])


@cache
def the_same() -> eh.Contest:
    return eh.contest(people(), label="label", predictions=["old", "old"], sensitive="team")


@cache
def nothing_decides() -> eh.Contest:
    roles = {"label": "label", "predictions": ["old", "new"], "sensitive": "team"}
    return eh.contest(people(), **roles, policy=Policy(required=()))


@cache
def few_people() -> eh.Contest:
    """Rates that are undefined, ratios without an end."""
    return eh.contest(
        label=[1, 0, 0, 1, 1, 0, 1, 0],
        predictions={"one": [0, 0, 0, 0, 1, 0, 1, 0], "two": [0, 0, 0, 0, 1, 1, 1, 0]},
        sensitive=["a", "a", "a", "a", "b", "b", "b", "c"],
    )


@cache
def many_groups() -> eh.Contest:
    table = {**people(), "site": [f"site {i % 60}" for i in range(3000)]}
    return eh.contest(table, label="label", predictions=["old", "new"], sensitive="site")


KINDS = {
    "two": two,
    "three": three,
    "without labels": without_labels,
    "scores": with_scores,
    "weighted": weighted,
    "reference": against_a_reference,
    "the same": the_same,
    "nothing decides": nothing_decides,
    "few people": few_people,
    "many groups": many_groups,
}


@dataclass
class Table:
    """A table of a page: its caption, and its rows as the texts of their cells."""

    caption: str = ""
    rows: list[list[str]] = field(default_factory=list)


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Table] = []
        self.place: str | None = None

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "table":
            self.found.append(Table())
        elif tag == "tr":
            self.found[-1].rows.append([])
        elif tag in ("th", "td"):
            self.found[-1].rows[-1].append("")
        if tag in ("caption", "th", "td"):
            self.place = tag
        elif self.place and tag in ("small", "span"):
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag == self.place:
            self.place = None

    def handle_data(self, data: str) -> None:
        if self.place == "caption":
            self.found[-1].caption += data
        elif self.place:
            self.found[-1].rows[-1][-1] += data


def tables(page: str) -> list[Table]:
    """The tables of a page, without soft hyphens and with one space where there are several."""
    parser = _Tables()
    parser.feed(page)
    for table in parser.found:
        table.rows = [[" ".join(cell.replace("\u00ad", "").split()) for cell in row] for row in table.rows]
        table.caption = " ".join(table.caption.split())
    return parser.found
