"""A database by its URL: what is read, what is refused, and what is never shown. Servers are in tests/engines."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import duckdb
import pytest

import evenhand as eh
from evenhand.cli import run
from evenhand.errors import CallError, DataError, MissingDependencyError, without_secrets
from evenhand.sources.database import open_table

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
        ("duckdb:///x.db", {"query": "DROP TABLE decisions"}, "query= must be one SELECT"),
        ("duckdb:///x.db", {"query": "INSERT INTO decisions VALUES (1, 1, 'x')"}, "query= must be one SELECT"),
        ("duckdb:///x.db", {"query": "BEGIN"}, "query= must be one SELECT"),
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


# ------------------------------------------------------------------------------------------------ a foreign file


@pytest.fixture
def foreign(tmp_path, monkeypatch) -> Path:
    """A database from elsewhere, whose views ask for files of this machine; secret.csv is one."""
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret.csv"
    with duckdb.connect("x.db") as connection:
        connection.execute(f"CREATE TABLE decisions AS {ROWS}")
        connection.execute(f"COPY ({ROWS}) TO '{secret}' (HEADER)")
        for name, source in {
            "file": f"'{secret}'",
            "relative": "'secret.csv'",
            "csv": f"read_csv('{secret}')",
            "text": f"(SELECT 1 AS y, 1 AS p, content AS g FROM read_text('{secret}'))",
            "folder": "(SELECT 1 AS y, 1 AS p, file AS g FROM glob('/*'))",
            "nested": f"query('FROM read_csv(''{secret}'')')",
            "network": "decisions, (SELECT 1) WHERE y < (SELECT count(*) FROM read_csv('https://127.0.0.1:1/x.csv'))",
            "settings": "(SELECT 1 AS y, 1 AS p, value AS g FROM duckdb_settings())",
        }.items():
            with suppress(duckdb.Error):  # without a network
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {source}")
    return secret


@pytest.mark.parametrize("view", ["file", "relative", "csv", "text", "folder", "nested"])
def test_a_view_in_a_foreign_file_reads_no_file_of_this_machine(foreign, view, capsys):
    assert run(["audit", "--database=duckdb:///x.db", f"--table={view}", *ROLES]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "disabled by configuration" in said.err
    with pytest.raises(DataError, match="disabled"), open_table("duckdb:///x.db", query=f"FROM {view}") as frame:
        eh.Cube.count(frame, label="y", prediction="p", sensitive="g")


@pytest.mark.parametrize(
    "query",
    [
        "ATTACH 'other.db'",
        "COPY decisions TO 'out.csv'",
        "EXPORT DATABASE 'out'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "CALL enable_logging()",
        "SELECT * FROM decisions; DROP TABLE decisions",
        "SELECT 1) ; DROP TABLE decisions; --",
        "WITH x AS (INSERT INTO decisions SELECT * FROM decisions RETURNING *) SELECT * FROM x",
        "EXPLAIN ANALYZE SELECT 1",
        "CREATE TEMP TABLE t AS SELECT 1",
        "CHECKPOINT",
        "VACUUM",
        "DELETE FROM decisions RETURNING *",
        "FROM read_csv('secret.csv')",
        "",
        ";",
    ],
)
def test_a_query_of_duckdb_only_reads_its_database(foreign, query):
    before = {path.name: path.read_bytes() for path in foreign.parent.iterdir()}
    with pytest.raises((CallError, DataError)), open_table("duckdb:///x.db", query=query) as frame:
        eh.Cube.count(frame, label="y", prediction="p", sensitive="g")
    assert {path.name: path.read_bytes() for path in foreign.parent.iterdir()} == before


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM decisions; -- all",
        "/* a; */ FROM decisions",
        "WITH d AS (FROM decisions) SELECT * FROM d WHERE g <> 'a; b'",
        "SELECT * FROM decisions WHERE g <> $$;'$$",
        "TABLE decisions",
    ],
)
def test_what_only_reads_is_read(foreign, query):
    with open_table("duckdb:///x.db", query=query) as frame:
        assert eh.Cube.count(frame, label="y", prediction="p", sensitive="g") == expected()


def test_a_connection_of_the_caller_stays_as_it_is():
    connection = duckdb.connect()
    settings = "SELECT name, value FROM duckdb_settings() ORDER BY name"
    before = connection.execute(settings).fetchall()
    frame = connection.sql(ROWS)
    assert eh.Cube.count(frame, label="y", prediction="p", sensitive="g") == expected()
    assert connection.execute(settings).fetchall() == before


ENDLESS = {
    "duckdb": "SELECT * FROM decisions WHERE y < (SELECT count(*) FROM range(100000000000000) t(i) WHERE i % 7 = 3)",
    "sqlite": "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT * FROM decisions, r WHERE i < 0",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_interrupt_ends_a_query_that_hangs(foreign, kind):
    if kind == "sqlite":
        with closing(sqlite3.connect("x.sqlite")) as connection:
            connection.execute("CREATE TABLE decisions AS SELECT 1 AS y, 1 AS p, 'a' AS g")
    url = f"{kind}:///x.{'db' if kind == 'duckdb' else kind}"
    program = (
        "import signal, sys, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from evenhand.cli import main\nfrom evenhand.sources.files import query\nrun = query.run\n"
        "def said(connection, work):\n    print('runs', flush=True)\n    return run(connection, work)\n"
        "query.run = said\nmain(sys.argv[1:])"
    )
    command = [sys.executable, "-c", program, "audit", f"--database={url}", f"--query={ENDLESS[kind]}", *ROLES]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as done:
        assert done.stdout is not None
        assert done.stdout.readline() == "runs\n"
        time.sleep(1)
        done.send_signal(signal.SIGINT)
        try:
            said = done.communicate(timeout=30)
        finally:
            done.kill()
    assert (done.returncode, said[1].strip()) == (130, "evenhand: interrupted")


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
    assert "'postgresql://db.example/loans' is the address of a database, here without its password" in said
    assert "hunter2" not in said


def test_what_is_no_secret_stays():
    kept = ["decisions.csv", "--label=y", "duckdb:///x.db", "postgresql://[::1]:5432/loans", "--sensitive=a@b", "-"]
    assert [without_secrets(text) for text in kept] == kept
