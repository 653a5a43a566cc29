"""A database by its URL: what is read, what is refused, and what is never shown. Servers are in tests/engines."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.errors import CallError, DataError, MissingDependencyError
from evenhand.sources.database import open_table, without_secrets

ROLES = ["--label=y", "--prediction=p", "--sensitive=g"]
ROWS = "SELECT i % 2 AS y, CAST(i % 3 = 0 AS INTEGER) AS p, 'g' || i % 2 AS g FROM range(300) t(i)"


@pytest.fixture
def database(tmp_path, monkeypatch) -> Path:
    """x.db in the current folder, with the tables decisions, "odd; name" and other.decisions."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("x.db") as connection:
        connection.execute(f"CREATE TABLE decisions AS {ROWS}")
        connection.execute(f'CREATE TABLE "odd; na""me" AS {ROWS}')
        connection.execute("CREATE SCHEMA other")
        connection.execute(f"CREATE TABLE other.decisions AS {ROWS} LIMIT 100")
    return tmp_path / "x.db"


def expected(size: int = 300) -> eh.Cube:
    return eh.Cube.count(duckdb.sql(f"{ROWS} LIMIT {size}"), label="y", prediction="p", sensitive="g")


@pytest.mark.parametrize("url", ["duckdb:///x.db", "duckdb://x.db", "duckdb:///{}", "duckdb:////{}", "DUCKDB:///x.db"])
def test_a_file_beside_us_or_anywhere(database, url):
    with open_table(url.format(str(database).lstrip("/")), table="decisions") as frame:
        assert eh.Cube.count(frame, label="y", prediction="p", sensitive="g") == expected()


def test_tables_by_name_and_queries(database):
    for asked, size in (
        ({"table": 'odd; na"me'}, 300),
        ({"table": "other.decisions"}, 100),
        ({"query": "SELECT * FROM other.decisions"}, 100),
    ):
        with open_table("duckdb:///x.db", **asked) as frame:
            assert eh.Cube.count(frame, label="y", prediction="p", sensitive="g").size == size


@pytest.mark.parametrize(
    ("url", "asked", "message"),
    [
        ("duckdb:///y.db", {"table": "t"}, "there is no database file 'y.db'"),
        ("x.db", {"table": "t"}, "named by a URL, such as duckdb:///decisions.db"),
        ("duckdb:///x.db", {}, "either a table or a query"),
        ("duckdb:///x.db", {"table": "t", "query": "q"}, "either a table or a query"),
        ("duckdb:///x.db", {"table": "decision"}, "no table 'decision'; did you mean 'decisions'"),
        ("duckdb:///x.db", {"table": "nobody.decisions"}, "cannot answer for the table 'nobody.decisions'"),
        ("duckdb:///x.db", {"query": "SELEC 1"}, "cannot answer for this query: Parser Error"),
        ("duckdb:///x.db", {"query": "DROP TABLE decisions"}, "read-only"),
        ("duckdb:///x.db", {"query": "INSERT INTO decisions VALUES (1, 1, 'x')"}, "read-only|must give rows"),
        ("duckdb:///x.db", {"query": "BEGIN"}, "must give rows|is not a column"),
        ("duckdb:///folder", {"table": "t"}, "there is no database file"),
        ("duckdb:///not.db", {"table": "t"}, "'duckdb:///not.db' cannot be opened"),
    ],
)
def test_what_is_wrong_is_said(database, url, asked, message):
    Path("folder").mkdir()
    Path("not.db").write_text("this is no database, whatever its name says\n" * 500)
    with pytest.raises((CallError, DataError), match=message), open_table(url, **asked) as frame:
        eh.Cube.count(frame, label="y", prediction="p", sensitive="g")
    with duckdb.connect("x.db") as connection:
        assert connection.execute("SELECT count(*) FROM decisions").fetchone() == (300,)


def test_without_ibis_the_line_to_type_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ibis", None)
    with (
        pytest.raises(MissingDependencyError, match=r'pip install "evenhand\[sql\]"') as said,
        open_table("postgresql://ann:hunter2@db.example/loans", table="t"),
    ):
        pass
    assert "hunter2" not in str(said.value)


# ------------------------------------------------------------------------------------------------ the command line


def test_the_command_line_reads_a_table(database, tmp_path, capsys):
    page, told = tmp_path / "audit.html", tmp_path / "audit.json"
    code = run(["audit", "--database=duckdb:///x.db", "--table=decisions", *ROLES, "-o", str(page), "-o", str(told)])
    assert code in (0, 1, 3)
    found = eh.Audit.load(told)
    assert found.cube == expected()
    assert found.origin["source"] == "decisions"
    assert "--database=duckdb:///x.db" in found.origin["command"]
    assert "300 people" in capsys.readouterr().out


def test_the_url_may_stand_in_the_environment(database, capsys, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATABASE", "duckdb:///x.db")
    assert run(["audit", "--query=SELECT * FROM other.decisions", *ROLES]) in (0, 1, 3)
    assert "100 people" in capsys.readouterr().out
    assert run(["cube", "--table=decisions", *ROLES, "-o", "day.cube"]) == 0
    assert eh.Cube.load("day.cube") == expected()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--table=decisions"], "need --database, or its URL in EVENHAND_DATABASE"),
        (["--database=duckdb:///x.db"], "either --table or --query"),
        (["--database=duckdb:///x.db", "--table=a", "--query=b"], "either --table or --query"),
        (["--database=duckdb:///x.db", "--table=decisions", "x.csv"], "one at a time"),
        ([], "Missing argument 'FILES...', or --database with --table"),
    ],
)
def test_options_that_do_not_go_together(database, given, message, capsys):
    assert run(["audit", *given, *ROLES]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hunter2@db.example:5432/loans",
        "postgresql://ann:hunter2@db.example/loans?sslmode=require",
        "postgresql://db.example/loans?user=ann&password=hunter2",
        "postgresql:///loans?password=hunter2@x",
        "postgresql://ann:hunter2?x@db.example/loans",
        "postgresql://ann:hunter2/x@db.example/loans",
        "postgresql://ann:hunter2#x@db.example/loans",
        "postgresql://ann:hunter2 x@db.example/loans",
        "postgresql://ann:hunter2",
        "snowflake://ann:hunter2@account/database/schema?warehouse=w",
    ],
)
def test_no_secret_of_a_url_is_shown(url):
    for given in (url, f"--database={url}"):
        shown = without_secrets(given)
        assert "hunter2" not in shown
        assert "ann" not in shown
        assert f"{url.partition('://')[0]}://" in shown


def test_a_url_in_the_place_of_a_file_is_not_shown_either(capsys):
    assert run(["audit", "postgresql://ann:hunter2@db.example/loans", *ROLES]) == 2
    said = capsys.readouterr().err
    assert "'postgresql://db.example/loans' is not a path" in said
    assert "hunter2" not in said


def test_what_is_no_secret_stays():
    kept = ["decisions.csv", "--label=y", "duckdb:///x.db", "postgresql://[::1]:5432/loans", "--sensitive=a@b", "-"]
    assert [without_secrets(text) for text in kept] == kept
