"""The cover of an audit: one record behind the table [report], the options, pages, text and JSON."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import fields
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.core import checksum
from evenhand.core.cover import MOST_LETTERS, Cover, make
from evenhand.report.json import digests
from evenhand.report.text import audit as report_text
from support import hostile

FULL = Cover(**{part.name: part.name for part in fields(Cover)})
TOOL = {"prediction": [1, 0, 1, 1] * 20, "sensitive": ["a", "a", "b", "b"] * 20}


def test_every_way_in_gives_the_same_cover(tmp_path: Path):
    told = FULL.given()
    policy = eh.Policy(cover=told)
    policy.save(tmp_path / "p.toml")
    ways = [policy, eh.Policy(cover=FULL), eh.Policy.load(tmp_path / "p.toml"), tmp_path / "p.toml"]
    audits = [eh.audit(**TOOL, policy=way) for way in ways]
    audits.append(eh.Cube.count(**TOOL).audit(cover=FULL))
    audits[0].save(tmp_path / "a.json")
    audits += [eh.Audit.load(tmp_path / "a.json"), audits[0].shared(), audits[0].add()]
    assert [audit.cover for audit in audits] == [FULL] * len(audits)
    assert json.loads((tmp_path / "a.json").read_text())["cover"] == {**told, "limits": ["limits"]}


def test_it_changes_nothing_that_is_judged():
    plain, covered = eh.audit(**TOOL), eh.audit(**TOOL, policy=eh.Policy(cover=FULL))
    assert plain == covered
    assert plain.policy == covered.policy
    assert plain.notes == covered.notes


def test_an_option_beats_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("g,p\n" + "a,1\nb,0\n" * 40, encoding="utf-8")
    Path("p.toml").write_text("[report]\ntitle = 'of the file'\nnote = 'kept'\ndate = 2026-11-18\n", encoding="utf-8")
    call = ["audit", "d.csv", "--prediction=p", "--sensitive=g", "--policy=p.toml", "-o", "a.json"]
    assert run([*call, "--title", "of the option"]) == 1
    assert capsys.readouterr().out.startswith("of the option\nkept\n")
    cover = eh.Audit.load("a.json").cover
    assert cover == Cover(title="of the option", note="kept", date="2026-11-18")


def test_a_file_of_version_0_2_keeps_its_title(tmp_path: Path):
    audit = eh.audit(**TOOL)
    told = json.loads(json.dumps(audit.to_dict()))
    del told["cover"]
    told |= {"title": "Old", "note": "and known"}
    told["sha256"] = checksum.of_record(told, **digests(audit))
    (tmp_path / "old.json").write_text(json.dumps(told))
    assert eh.Audit.load(tmp_path / "old.json").cover == Cover(title="Old", note="and known")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"version": 2}, 'version=2 of the report must be text, such as "2.1".'),
        ({"limits": ["a", 3]}, "limits=3 of the report must be text, such as"),
        ({"limits": 3}, "limits=3 of the report must be text"),
        ({"titel": "x"}, "'titel' is not a key of the report; did you mean 'title'?"),
        ({"title": "x" * (MOST_LETTERS + 1)}, "title of the report has 10,001 letters, more than 10,000."),
        ("title", "cover='title' must be a Cover, or a table with keys such as title."),
    ],
)
def test_what_is_wrong_with_a_cover(given, message):
    with pytest.raises(eh.CallError) as error:
        eh.Policy(cover=given)
    assert message in str(error.value)


def test_a_file_with_a_wrong_cover_names_itself_and_every_mistake(tmp_path: Path):
    (tmp_path / "p.toml").write_text("confidence = 3\n[report]\nversion = 2\ndate = 5\n")
    with pytest.raises(eh.CallError) as error:
        eh.Policy.load(tmp_path / "p.toml")
    for message in ("confidence=3", "version=2", "date=5"):
        assert message in str(error.value)
    (tmp_path / "p.toml").write_text("report = 3\n")
    with pytest.raises(eh.CallError, match=r"p\.toml.*cover=3 must be a Cover, or a table"):
        eh.Policy.load(tmp_path / "p.toml")


def test_days_are_texts():
    day = dt.date(2026, 11, 18)
    assert Cover(date=day) == Cover(date="2026-11-18") == Cover(date=dt.datetime(2026, 11, 18, 9, tzinfo=dt.UTC))
    assert make(None) == Cover()


@hostile.every_name
def test_hostile_covers_stay_text(name: str, tmp_path: Path):
    policy = eh.Policy(cover={"title": name, "note": name, "limits": [name]})
    policy.save(tmp_path / "p.toml")
    assert eh.Policy.load(tmp_path / "p.toml").cover == policy.cover
    audit = eh.audit(**TOOL, policy=policy)
    assert "\x1b" not in report_text.plain(audit)
    audit.save(tmp_path / "a.html")
    assert "<script>alert" not in (tmp_path / "a.html").read_text(encoding="utf-8")
