"""The tables of a contest's page: every number is that of to_dict(), and every picture stands where its numbers say."""

from __future__ import annotations

import math
import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.core.results import Estimate
from evenhand.report import contest_page
from evenhand.report.contest_page import lines
from support import contests
from support.profiles import examples

every_kind = pytest.mark.parametrize("kind", list(contests.KINDS))
MEASURES = (
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "positive_predictive_value",
    "accuracy",
    "auc",
)


@cache
def page(kind: str) -> str:
    return contest_page.dumps(contests.KINDS[kind]())


@cache
def tables(kind: str) -> list[contests.Table]:
    return contests.tables(page(kind))


def figure(value: float | None, percent: bool) -> str:
    """A number of to_dict() as a table shows it."""
    if value is None or isinstance(value, str) or math.isnan(value):
        return (
            {"Infinity": "∞", "-Infinity": "-∞"}.get(value, "undefined")
            if not isinstance(value, float)
            else "undefined"
        )
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    shown = f"{100 * value:,.1f}" if percent else f"{value:,.2f}"
    return shown.removeprefix("-") if float(shown.replace(",", "")) == 0 else shown


def interval(change: dict, percent: bool) -> str:
    if figure(change["value"], percent) == "undefined":
        return "undefined"
    return f"{figure(change['value'], percent)} [{figure(change['low'], percent)}, {figure(change['high'], percent)}]"


def rows_of(kind: str, caption: str, model: int) -> list[list[str]]:
    """The rows of the table with this caption, of one of the models."""
    return [table.rows for table in tables(kind) if table.caption == caption][model][1:]


@every_kind
def test_gaps_are_those_of_the_data(kind):
    contest = contests.KINDS[kind]()
    for model, change in enumerate(contest.to_dict()["changes"]):
        shown = {}
        for name in contest.audits[contest.first].meaning.sensitive:
            for unit in ("Gaps in points", "Ratios", "Indices", "Gaps of scores"):
                if any(table.caption == f"{unit} by {name}" for table in tables(kind)):
                    for first, *rest in rows_of(kind, f"{unit} by {name}", model):
                        shown[name, re.split(" threshold | no threshold", first)[0].lower()] = rest
        single = [gap for gap in change["gaps"]["changes"] if len(gap["attributes"]) == 1]
        assert len(shown) == len(single) > 0
        for gap in single:
            percent = gap["judged_on"] == "difference" and gap["unit"] == "rate"
            before, after, moved = shown[gap["attributes"][0], gap["title"].lower()]
            assert before == f"{figure(gap['before']['value'], percent)} {gap['verdict_before']}"
            assert after == f"{figure(gap['after']['value'], percent)} {gap['verdict_after']}"
            assert moved.startswith(f"{interval(gap['change'], percent)} ")
            if gap["change"]["value"] != 0:
                word = {"better": "better", "worse": "worse", "unclear": "not settled"}[gap["tendency"]]
                assert moved.endswith(word)


@every_kind
def test_measures_are_those_of_the_data(kind):
    contest = contests.KINDS[kind]()
    (first, *_) = contest.audits[contest.first].meaning.sensitive
    compared = 0
    for model, change in enumerate(contest.to_dict()["changes"]):
        for name in MEASURES:
            every = [each for each in (*change["measures"], *change["auc"]) if each["measure"] == name]
            own = [each for each in every if each["attributes"] == [first]]
            if not own:
                continue
            title = own[0]["title"][:1].upper() + own[0]["title"][1:]
            rows = rows_of(kind, f"{title} by {first}, %", model)
            assert len(rows) == min(len(own), lines.MOST_GROUPS) + 1
            said = {(row[1], row[2], re.sub(" [a-z ]+$", "", row[3])) for row in rows}
            whole = {
                (figure(each["before"], True), figure(each["after"], True), interval(each["change"], True))
                for each in (*own, *(each for each in every if not each["group"]))
            }
            assert said <= whole
            assert len(own) > lines.MOST_GROUPS or said == whole
            compared += len(rows)
    assert compared > 0


@every_kind
def test_who_gained_and_who_lost_is_counted(kind):
    contest = contests.KINDS[kind]()
    (first, *_) = contest.audits[contest.first].meaning.sensitive
    titles = [
        table.caption for table in tables(kind) if table.caption.startswith(f"Who gained and who lost, by {first}")
    ]
    for model, change in enumerate(contest.changes.values()):
        own = {each.group: each for each in change.flips if each.attributes == (first,) and each.label is None}
        rows = rows_of(kind, titles[0], model)
        shown = [(row[1].split()[0], row[2].split()[0]) for row in rows]
        counted = [(f"{each.gained:,}", f"{each.lost:,}") for each in own.values()]
        assert shown == counted or len(own) > lines.MOST_GROUPS
        tested = any(each.p_adjusted is not None for each in own.values())
        assert all(row[3].startswith("p ") == tested for row in rows)


def test_groups_beyond_what_a_page_holds_are_counted():
    assert "30 smaller groups are left out here; the contest saved as JSON has every group." in page("many groups")


def test_whether_more_is_better_is_said_of_accuracy_alone():
    for table in tables("two"):
        words = {re.sub(r"^.*\] |^undefined ", "", row[-1]) for row in table.rows[1:]}
        if table.caption.startswith(("Accuracy", "Gaps", "Ratios")):
            assert words <= {"better", "worse", "not settled", "the same"}
        elif table.caption.endswith(", %"):
            assert words <= {"higher", "lower", "not settled", "the same"}


def test_a_rate_that_is_undefined_says_why():
    rows = rows_of("few people", "True positive rate by sensitive, %", 0)
    (undefined,) = [row for row in rows if row[1] == "undefined"]
    assert undefined[0].startswith("group c no positive labels among group c")
    assert undefined[3] == "undefined not settled"


# --- pictures


numbers = st.floats(-1e6, 1e6)


@examples(100)
@given(st.lists(numbers, min_size=3, max_size=3).map(sorted), st.floats(1e-3, 1e6))
def test_a_picture_stays_on_its_axis_and_in_order(ends, end):
    low, value, high = ends
    drawn = lines.draw(Estimate(value, low, high), -end, end)
    assert lines.EDGE <= drawn.low <= drawn.value <= drawn.high <= lines.WIDTH - lines.EDGE
    assert drawn.open_low == (low < -end)
    assert drawn.open_high == (high > end)


def test_a_picture_is_to_scale():
    drawn = lines.draw(Estimate(0.5, -0.5, 1.0), -1.0, 1.0)
    assert (drawn.low, drawn.value, drawn.high) == (44.0, 116.0, 152.0)
    endless = lines.draw(Estimate(0.5, -math.inf, math.inf), -1.0, 1.0)
    assert (endless.low, endless.high, endless.open_low, endless.open_high) == (8.0, 152.0, True, True)
    assert lines.draw(Estimate(math.nan), -1.0, 1.0) is None
    assert lines.draw(Estimate(0.5), -1.0, 1.0) is None


@examples(100)
@given(st.lists(st.floats(0, 1e9), max_size=5))
def test_an_axis_ends_at_a_round_number_that_nothing_is_beyond(sizes):
    end = lines.axis_end(sizes)
    assert end >= max(sizes, default=0) * (1 - 1e-6)
    assert re.fullmatch(r"[125]0*|0\.0*[125]|[125]e[+-]\d+", f"{end:g}")


def test_each_line_with_an_interval_has_a_picture():
    page_ = page("two")
    changes = contests.two().changes["new"]
    drawn = len(re.findall(r'<use href="#icon-[a-z-]+" x="', page_))
    gaps = sum(len(gap.attributes) == 1 for gap in changes.gaps.changes)
    groups = 5 * (3 + 1 + 2 + 1)  # five measures of three teams, two ages and, twice, everyone
    cards = 3 * sum(gap.required for gap in changes.gaps.changes)
    assert drawn == gaps + groups + cards


def test_bars_are_shares_of_the_group():
    contest = eh.contest(
        predictions={"one": [0] * 100 + [1] * 100, "two": [1] * 10 + [0] * 90 + [1] * 80 + [0] * 20},
        sensitive=["a"] * 100 + ["b"] * 100,
    )
    table = lines.flip_table(contest.changes["two"], ("sensitive",))
    assert table.axis == "20"
    assert [line.bars for line in table.lines] == [(0.0, 36.0), (72.0, 0.0)]
