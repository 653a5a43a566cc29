"""What an audit writes: JSON by its schema, Markdown and JUnit for CI, text that stays readable, whole files."""

from __future__ import annotations

import json
import math
import os
import re
import stat
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
from hypothesis import Phase, given
from markdown_it import MarkdownIt

import evenhand as eh
from evenhand.catalogue import complement_of
from evenhand.core import wording
from evenhand.core.results import Estimate, Row, spell
from evenhand.errors import CallError, DataError
from evenhand.report import json as report_json
from evenhand.report import junit, markdown, tables
from evenhand.report.text import Screen
from evenhand.report.text import details as text
from evenhand.verdicts.policy import Policy
from support import hostile
from support.hostile import DECISION, GROUP, LABEL
from support.profiles import examples
from support.strategies import cubes

group_or_column = pytest.mark.parametrize("column", [False, True], ids=["group", "column"])


def compas(**given) -> eh.Audit:
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    return eh.audit(eh.datasets.compas(), **roles, **given)


@cache
def whole() -> eh.Audit:
    """Every metric on the COMPAS counts."""
    return compas(metrics="all")


@cache
def named(name: str, column: bool) -> eh.Audit:
    """An audit with a hostile name that is quick to make."""
    table = hostile.as_column(name) if column else hostile.as_group(name)
    roles = {"label": LABEL, "prediction": DECISION, "sensitive": [name if column else GROUP]}
    return eh.audit(table, **roles, metrics=["equalized_odds", "demographic_parity", "theil_index"])


# --- JSON and its schema


SCHEMA = json.loads(report_json.schema())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"].endswith(f":{report_json.FORMAT_VERSION}")


def plain(audit: eh.Audit) -> dict:
    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(report_json.dumps(audit), parse_constant=refuse)


@cache
def audits() -> dict[str, eh.Audit]:
    random = np.random.default_rng(0)
    n = 400
    group, stratum = random.choice(["a", "b", None], n), random.choice(["x", "y"], n)
    label, score, weight = random.integers(0, 2, n), random.random(n), random.random(n)
    classes = np.array(["p", "q", "r"])
    return {
        "compas": whole(),
        "policy": compas(policy="four-fifths"),
        "draws": compas(metrics=("equalized_odds",), interval="percentile", draws=100),
        "weights": eh.audit(label=label, score=score, cutoff=0.37, sensitive=group, control=stratum, weight=weight),
        "reference": eh.audit(prediction=label, sensitive={"g": group, "s": stratum}, reference={"g": "a", "s": "x"}),
        "infinite": eh.audit(
            label=[0, 1] * 8, prediction=[1, 0] * 4 + [0, 0] * 4, sensitive=["a"] * 8 + ["b"] * 8, metrics="all"
        ),
        "regression": eh.audit(label=score + label, prediction=score, sensitive=group),
        "classes": eh.audit(
            label=classes[random.integers(0, 3, n)],
            prediction=classes[random.integers(0, 3, n)],
            sensitive=group,
            task="multiclass",
        ),
    }


KINDS = ("compas", "policy", "draws", "weights", "reference", "infinite", "regression", "classes")


@pytest.mark.parametrize("kind", KINDS)
def test_every_audit_keeps_to_the_schema(kind):
    told = plain(audits()[kind])
    VALIDATOR.validate(told)
    assert told["format_version"] == 1


@examples(10, phases=[Phase.generate])
@given(cubes())
def test_any_audit_keeps_to_the_schema(cube):
    VALIDATOR.validate(plain(cube.audit(intersections=False)))


@group_or_column
@hostile.every_name
def test_hostile_names_keep_to_the_schema(name, column):
    VALIDATOR.validate(plain(named(name, column)))


def test_the_schema_describes_every_field():
    """A new field needs a line in schema.json, so that what is published is what is written."""
    defined = SCHEMA["$defs"]
    of_the_command_line = {"source", "command", "settings"}
    since_0_2 = {"sharing", "parts", "cover", "digests", "summary", "groups"}  # files of 0.1 do not have them
    assert set(SCHEMA["properties"]) == {*SCHEMA["required"], *of_the_command_line, *since_0_2}

    def described(place: str, told: dict) -> None:
        unknown = set(told) - set(defined[place]["properties"])
        assert not unknown, f"describe {sorted(unknown)} of a {place} in report/schema.json"

    for found in audits().values():
        told = plain(found)
        assert set(told) == {*SCHEMA["required"], *since_0_2}
        described("policy", told["policy"])
        described("meaning", told["cube"]["meaning"])
        described("cube", told["cube"])
        if told["cube"]["reading"]:
            described("reading", told["cube"]["reading"])
        for finding in told["findings"]:
            described("finding", finding)
            for row in (finding["summary"], *finding["rows"]):
                described("row", row)
            for panel in finding["panels"]:
                described("panel", panel)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "fair"),
        (("format_version",), 2),
        (("findings", 0, "value", "low"), "very low"),
        (("findings", 0, "value", "low"), [0.1]),
        (("findings", 0, "rows", 0, "n"), -1),
        (("findings", 0, "rows", 0, "group"), "Asian"),
        (("cube", "decisions", "n"), [1.5]),
        (("notes",), "none"),
    ],
)
def test_the_schema_says_no(path, value):
    told = plain(named("x", column=False))
    VALIDATOR.validate(told)
    place = told
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(told)


def test_infinities_are_spelled_out():
    told = plain(audits()["infinite"])
    VALIDATOR.validate(told)
    values = [finding["ratio"][end] for finding in told["findings"] for end in ("value", "low", "high")]
    assert "infinite" in values or any("infinite" in json.dumps(finding) for finding in told["findings"])


# --- JUnit


def parsed(audit: eh.Audit) -> ElementTree.Element:
    return ElementTree.fromstring(junit.dumps(audit).encode("utf-8"))


def test_a_case_for_each_finding():
    found = whole()
    root = parsed(found)
    assert [suite.get("name") for suite in root] == ["race", "sex", "race × sex"]
    cases = root.findall("./testsuite/testcase")
    assert len(cases) == len(found.findings) == int(root.get("tests"))
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
    failed = [(case.get("classname"), case.get("name")) for case in cases if case.find("failure") is not None]
    assert failed == [("evenhand.race", "equalized_odds")]
    assert (root.get("failures"), root.get("errors")) == ("1", "0")
    message = root.find("./testsuite/testcase/failure").get("message")
    assert "44.8 % for African-American (n = 1,795) and 23.5 % for Caucasian (n = 1,488)" in message
    assert "above the threshold of 10" in message
    passed = root.find("./testsuite[@name='sex']/testcase[@name='equalized_odds']")
    assert [part.tag for part in passed] == ["system-out"]


def test_counts_of_a_suite_are_those_of_its_cases():
    root = parsed(whole())
    for suite in (root, *root):
        cases = suite.findall(".//testcase")
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(name)) == sum(case.find(tag) is not None for case in cases)
        assert int(suite.get("tests")) == len(cases)


@pytest.mark.parametrize(
    ("policy", "tag"),
    [("inconclusive", "error"), ("fail", "failure"), ("pass", None)],
)
def test_an_inconclusive_finding_that_decides(policy, tag):
    found = eh.audit(prediction=[1, 0, 0, 0, 1, 1] * 8, sensitive=["a", "b"] * 24, policy=Policy(inconclusive=policy))
    assert found.findings[0].verdict == "inconclusive"
    case = parsed(found).find("./testsuite/testcase")
    assert [part.tag for part in case] == [*([tag] if tag else []), "system-out"]
    gate = {"error": "inconclusive", "failure": "fail", None: "pass"}[tag]
    assert found.verdict == gate


def test_what_does_not_decide_never_stops_a_run():
    found = whole()
    for finding in found.findings:
        if not found.decides(finding):
            assert junit.outcome(found, finding) == (None if finding.verdict == "pass" else "skipped")


def test_what_is_not_judged_is_skipped():
    found = eh.audit(
        label=[0, 1] * 40,
        prediction=[0, 1, 1, 1] * 20,
        sensitive=["a", "b"] * 40,
        policy=Policy(required="theil_index"),
    )
    assert found.verdict == "not judged"
    root = parsed(found)
    case = root.find("./testsuite/testcase[@name='theil_index']")
    assert case.find("skipped").get("message").startswith("not judged: ")
    assert (root.get("failures"), root.get("errors")) == ("0", "0")


@group_or_column
@hostile.every_name
def test_hostile_names_in_junit(name, column):
    root = parsed(named(name, column))
    shown = wording.clean_for_xml(name)
    if column:
        assert root[0].get("name") == shown
    told = "".join(root.itertext()) + " ".join(value for part in root.iter() for value in part.attrib.values())
    assert shown in told or not shown.strip()
    assert hostile.unseen(told) == set()
    assert {part.tag for part in root.iter()} <= {
        *("testsuites", "testsuite", "testcase", "properties", "property", "system-out"),
        *junit.OUTCOMES,
    }


@pytest.mark.parametrize("strange", ["\ufffe", "\uffff", "\ud800", "\0", "\x0b", "\x1b"])
def test_characters_that_no_xml_may_hold_are_replaced(strange):
    assert wording.clean_for_xml(f"a{strange}b") == "a�b"
    parsed(named(f"a{strange}b", column=True))


def test_two_findings_of_one_metric_are_two_cases():
    one = compas(metrics=("equalized_odds",))
    names_of = [case.get("name") for case in parsed(one.add(one.findings[0])).iter("testcase")]
    assert names_of[:2] == ["equalized_odds", "equalized_odds (2)"]


# --- Markdown


MARKDOWN = MarkdownIt("gfm-like", {"html": True, "linkify": True})
BLOCKS = {"heading", "paragraph", "bullet_list", "list_item", "table", "thead", "tbody", "tr", "th", "td"}
MENTIONS = re.compile(r"[$@#<>`]|:\w+:|www\.|//")


def inline(text: str):
    """The tokens of a Markdown text that hold words, after a look at those that hold blocks."""
    found = []
    for token in MARKDOWN.parse(text):
        if token.type == "inline":
            found += token.children
        else:
            assert token.type.removesuffix("_open").removesuffix("_close") in BLOCKS, token
    return found


def test_markdown_leads_with_the_verdict():
    told = markdown.dumps(whole())
    outcomes = "Failed: `equalized_odds` on `race`; passed: `equalized_odds` on `sex`."
    assert told.startswith(f"# Verdict: fail\n\n{outcomes}\n\n7,214 people; race (6 groups), sex")
    assert "- `race`, `equalized_odds`: **fail**. The false positive rate is 44.8 %" in told
    assert (
        "| `equalized_odds` | 21.4 [16.0, 24.0] | ≤ 10 points | `African-American` | `Caucasian` | **fail** |" in told
    )
    assert "| `African-American` | 3,696 | 58.8 [56.7, 61.0] |" in told
    assert told.index("## `race`") < told.index("## `sex`") < told.index("## `race × sex`") < told.index("## Notes")
    crossed = told.partition("## `race × sex`")[2]
    assert "46.1 % for African-American, Male (n = 1,390) and 21.2 % for Caucasian, Male (n = 1,120)" in crossed


def cells(text: str) -> list[list[str]]:
    """The cells of every row of every table."""
    rows: list[list[str]] = []
    tokens = MARKDOWN.parse(text)
    for i, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        if token.type in ("td_open", "th_open"):
            rows[-1].append("".join(part.content for part in tokens[i + 1].children))
    return rows


def test_markdown_shows_every_finding():
    """But for those that say what another one says, as FNR = 1 − TPR."""
    found = whole()
    lines = [row for row in cells(markdown.dumps(found)) if len(row) == 6 and row[-1] in tables.VERDICTS]
    shown = [finding.metric for finding in found.findings if complement_of(finding.metric) is None]
    assert sorted(line[0].partition(" ")[0] for line in lines) == sorted(shown)


@group_or_column
@hostile.every_name
def test_hostile_names_in_markdown(name, column):
    told = markdown.dumps(named(name, column))
    parts = inline(told)
    assert {part.type for part in parts} <= {"text", "text_special", "code_inline", "strong_open", "strong_close"}
    for part in parts:
        if part.type == "text":
            assert not MENTIONS.search(part.content), part.content
    shown = wording.clip(name if column else spell((name,), (GROUP,)), 100) or '""'
    codes = [part.content for part in parts if part.type == "code_inline"]
    assert shown in codes or shown.strip() in map(str.strip, codes)
    rows = cells(told)
    assert {len(row) for row in rows} == {6}
    if not column:
        assert shown.strip() in [row[0].strip() for row in rows] or not shown.strip()
    assert hostile.unseen(told) == set()


@hostile.every_name
def test_hostile_names_in_a_sentence(name):
    parts = inline(markdown.prose(f"The rate of {name} is {name}, and {name}."))
    assert {part.type for part in parts} <= {"text", "text_special", "code_inline"}
    shown = "".join(part.content for part in parts)
    expected = f"The rate of {wording.clean(name)} is {wording.clean(name)}, and {wording.clean(name)}."
    assert "".join(shown.split()) == "".join(expected.split())


@hostile.every_name
def test_hostile_names_at_the_beginning_of_a_sentence(name):
    parts = inline(f"- {markdown.prose(f'{name} is numeric.')}")
    shown = "".join(part.content for part in parts)
    assert "".join(shown.split()) == "".join(f"{wording.clean(name)} is numeric.".split())


@pytest.mark.parametrize("word", ["deadbeef", "a1b2c3d", "GH-12", "x@y.org", "#12", "example.com", "http://x", "__x__"])
def test_what_github_would_link_is_code(word):
    assert markdown.prose(f"for {word} and") == f"for `{word}` and"


# --- text


def many() -> eh.Audit:
    """200 groups of three attributes; one of them is selected less often, and the rare ones vary by chance."""
    random = np.random.default_rng(1)
    n = 60_000
    race = random.choice(["Asian", "Black", "Hispanic", "Native", "Other"], n, p=[0.1, 0.25, 0.2, 0.02, 0.43])
    sex = random.choice(["Female", "Male"], n)
    region = random.choice([f"region {i:02}" for i in range(20)], n, p=np.r_[np.repeat(0.09, 10), np.repeat(0.01, 10)])
    label = random.random(n) < 0.4
    chance = 0.3 + 0.25 * label - 0.12 * ((race == "Black") & (sex == "Female"))
    return eh.audit(
        label=label.astype(int),
        prediction=(random.random(n) < chance).astype(int),
        sensitive={"race": race, "sex": sex, "region": region},
        metrics=["equalized_odds", "demographic_parity", "disparate_impact", "predictive_parity", "theil_index"],
        policy=Policy(required="equalized_odds"),
    )


def test_text_of_200_groups_leads_with_what_has_evidence():
    told = many().details()
    lines = told.splitlines()
    assert len(lines) < 150
    assert max(map(len, lines)) < 400
    assert lines[0].startswith("Verdict: ")
    assert "Other findings (they do not decide): " in told
    crossed = told.partition("\nrace × sex × region\n")[2]
    table = crossed.partition("──\n")[2].splitlines()
    # The groups that were made to be selected less often, and not those that are extreme because they are small.
    assert all(line.split()[:2] == ["Black,", "Female,"] for line in table[:4])
    left = re.search(r"These lie farthest from everyone, by evidence; (\d+) more groups lie nearer", crossed)
    shown = [line for line in table if re.match(r" \w+, \w+, region \d\d ", line)]
    assert len(shown) + int(left[1]) == 200
    assert "The largest estimate is " in told.partition("\nrace × sex\n")[2]


def test_text_leads_with_fails_and_counts_what_decides_beyond_them():
    told = compas(policy=Policy(required=("equalized_odds", "predictive_parity"), on="all")).details()
    verdicts = re.findall(r"^  [\w× ]+, \w+: (\w+)\. ", told, re.MULTILINE)
    assert verdicts == sorted(verdicts, key=tables.VERDICTS.index)
    assert len(verdicts) == 6


def test_text_counts_what_it_leaves_out():
    told = whole().details()
    findings = [each for _, part in tables.by_attributes(whole()) for each in tables.folded(whole(), part)[0]]
    shown = sum(line.split()[:1] == [each] for each in {f.metric for f in findings} for line in told.splitlines()
                if line.rstrip().endswith(tables.VERDICTS))  # fmt: skip
    left = sum(int(found) for found in re.findall(r"(\d+) more findings", told))
    assert shown + left == len(findings)
    assert "Save the audit as Markdown or JSON to see every finding." in told


def test_findings_are_led_by_what_decides_then_by_evidence():
    for attributes, findings in tables.by_attributes(whole()):
        ranks = [
            (not whole().decides(f), f.metric not in whole().required, tables.VERDICTS.index(f.verdict))
            for f in findings
        ]
        assert ranks == sorted(ranks), attributes


def test_no_group_stands_out():
    random = np.random.default_rng(0)
    found = eh.audit(
        prediction=random.integers(0, 2, 6000),
        sensitive=random.choice([f"g{i:02}" for i in range(30)], 6000),
        metrics=["demographic_parity"],
    )
    table = tables.group_table(found, ("sensitive",), 20)
    assert table.left_out == 30 - len(table.lines)
    assert len(table.lines) < 5


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ((0.5, -0.0001, 0.7, 100), "50.0 [0.0, 70.0]"),
        ((math.inf, 1.0, math.inf), "infinite [1.00, ∞]"),
        ((-math.inf, -math.inf, 0.0), "-infinite [-∞, 0.00]"),
        ((math.nan, None, None), "undefined"),
        ((1234567.8, 0.0, 2e6), "1,234,568 [0.00, 2,000,000]"),
    ],
)
def test_figures(value, shown):
    assert tables.interval(*value) == shown


def test_a_finding_on_an_attribute_that_the_cube_does_not_know_is_shown_too():
    one = eh.demographic_parity(prediction=[1, 0, 1, 1], sensitive={"other": ["a", "a", "b", "b"]})
    found = compas(metrics=("equalized_odds",)).add(one)
    assert "\nother\n" in found.details()
    assert "## `other`" in markdown.dumps(found)


# --- files


@pytest.mark.parametrize("suffix", ["json", "md", "xml"])
def test_a_file_has_the_permissions_of_a_new_file(suffix, tmp_path):
    path = tmp_path / f"audit.{suffix}"
    before = os.umask(0o027)
    try:
        whole().save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_where_an_audit_cannot_be_saved(tmp_path):
    found = named("x", column=False)
    (tmp_path / "folder.json").mkdir()
    for path, message in (
        (tmp_path / "folder.json", "it is a folder. Name a file in it"),
        (tmp_path / "nowhere" / "x.json", "there is no folder .*nowhere'. Make it first"),
        (tmp_path / f"{'x' * 300}.json", "cannot be written: File name too long. Choose another folder or name"),
        (tmp_path / "a\0b.json", "cannot be written: .* Choose another"),
    ):
        with pytest.raises(DataError, match=message):
            found.save(path)
    assert [each.name for each in tmp_path.iterdir()] == ["folder.json"]
    with pytest.raises(CallError, match=r"cannot be saved as '\.markdown'; did you mean '\.md'"):
        found.save(tmp_path / "x.markdown")
    with pytest.raises(CallError, match="cannot be saved as 'x'"):
        found.save(tmp_path / "x")


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="Permission denied"):
        named("x", column=False).save(tmp_path / "x.json")


def test_what_was_there_is_replaced_whole(tmp_path):
    path = tmp_path / "x.md"
    path.write_text("old")
    named("x", column=False).save(path)
    assert path.read_text(encoding="utf-8").startswith("# Verdict")


def test_a_row_leaves_out_what_is_empty():
    row = Row("selection_rate", ("a",), estimate=Estimate(math.nan), reason="no one")
    assert report_json._row(row) == {
        "measure": "selection_rate",
        "group": ["a"],
        "estimate": {"value": None, "low": None, "high": None},
        "reason": "no one",
    }


def test_the_schema_ships_with_the_package():
    assert Path(eh.__file__).parent.joinpath("report", "schema.json").is_file()


def test_a_wide_terminal_has_room_for_small_drawings():
    found = eh.audit(eh.datasets.compas(), label="recidivated", score="decile", cutoff=5, count="count",
                     sensitive="race", metrics=["equalized_odds"])  # fmt: skip
    narrow, wide = text.plain(found, Screen(120)), text.plain(found, Screen(140))
    assert "│" not in narrow
    assert any("│" in line and "equalized_odds" in line for line in wide.splitlines())
