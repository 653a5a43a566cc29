"""evenhand watch: a series from one file of data, or from cubes."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.cli import run

PEOPLE = "repaid,approved,sex,date\n" + "".join(
    f"{i % 2},{i % 3 % 2},{1 + i % 2},2026-{1 + i % 12:02}-05\n" for i in range(480)
)
ROLES = ["--label", "repaid", "--prediction", "approved"]


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def test_watch_counts_one_file_by_period(people: Path, capsys: pytest.CaptureFixture[str]):
    options = ["--by", "date", "--every", "quarter", "--sensitive", "sex", "--metric", "demographic_parity"]
    assert run(["watch", "people.csv", *ROLES, *options, "-o", "w.html", "--title", "Quarters"]) in (0, 1)
    shown = capsys.readouterr().out
    for period in ("2026-Q1", "2026-Q2", "2026-Q3", "2026-Q4"):
        assert period in shown
    page = people.with_name("w.html").read_text(encoding="utf-8")
    assert page.index('id="trend"') < page.index('id="metrics"')
    assert "2026-Q3" in page
    assert run(["watch", "people.csv"]) == 2
    assert "--by" in capsys.readouterr().err
    assert run(["watch", "people.csv", "--every", "month"]) == 2
    assert run(["cube", "people.csv", *ROLES, "--sensitive", "sex", "-o", "x.cube", "-q"]) == 0
    assert run(["watch", "x.cube", "--by", "date"]) == 2
    assert run(["watch", "x.cube", "--sensitive", "sex"]) == 2
