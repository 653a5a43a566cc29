"""A database is only read: what a query, a function or a table's name cannot do, on a real server with every right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from sqlite3 import DatabaseError
from typing import Any

import pytest

import evenhand as eh
from engines.checks import needs
from engines.people import KINDS
from evenhand.errors import EvenhandError
from evenhand.sources.database import open_table

pytestmark = pytest.mark.filterwarnings("default")

ROLES = {"label": "y", "prediction": "approved", "sensitive": "sex"}
ODD = "odd\"; DROP TABLE victim; --'%s"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the server, which runs as another user, may write to."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)


@pytest.fixture
def victim(postgres, folder) -> Iterator[Any]:
    """The server with tables of 500 people and functions that write; afterwards nothing may have changed."""
    with postgres.connect() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS victim AS SELECT sex, approved, y FROM people LIMIT 500")
        quoted = ODD.replace('"', '""')
        connection.execute(f'CREATE TABLE IF NOT EXISTS "{quoted}" AS SELECT * FROM victim')
        connection.execute("CREATE SEQUENCE IF NOT EXISTS numbers")
        body = "BEGIN {} DELETE FROM public.victim; RETURN 1; END"
        for name, first in {
            "erase": "",
            "unlock": "PERFORM set_config('transaction_read_only', 'off', false);",
            "force": "SET TRANSACTION READ WRITE;",
        }.items():
            made = f"CREATE OR REPLACE FUNCTION {name}() RETURNS int AS $$ {body.format(first)} $$ LANGUAGE plpgsql"
            connection.execute(made)
        before = state(connection)
    yield postgres
    with postgres.connect() as connection:
        assert state(connection) == before
    assert list(folder.iterdir()) == []


def state(connection: Any) -> list[Any]:
    """Every table of ours with its size, and the place of the sequence."""
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
    names = [name for (name,) in connection.execute(tables).fetchall()]
    sizes = [
        connection.execute(f"""SELECT count(*) FROM "{n.replace('"', '""')}" """.encode()).fetchone() for n in names
    ]
    return [names, sizes, connection.execute("SELECT last_value, is_called FROM numbers").fetchone()]


def size(server: Any, **asked: str) -> int:
    with open_table(server.url, **asked) as frame:
        return eh.Cube.count(frame, **ROLES).size


PROGRAM = "COPY (SELECT 1) TO PROGRAM 'touch {folder}/was-here'"
WRITES = [
    "1) ; COMMIT; DROP TABLE victim; --",
    "SELECT 1) AS a; COMMIT; DROP TABLE victim; --",
    "SELECT 1) AS a; COMMIT; BEGIN READ WRITE; DROP TABLE victim; COMMIT; BEGIN; SELECT * FROM (SELECT 1",
    "SELECT 1) AS a; COMMIT; SET default_transaction_read_only = off; COMMIT; DROP TABLE victim; SELECT (1",
    f"SELECT 1) AS a; {PROGRAM}; SELECT * FROM (SELECT 1",
    "SELECT * FROM victim; COMMIT; BEGIN READ WRITE; DROP TABLE victim; COMMIT",
    PROGRAM,
    f"SELECT * FROM victim) AS a; {PROGRAM}; --",
    f"SELECT * FROM victim; {PROGRAM}",
    "COPY victim TO '{folder}/rows'",
    "COPY victim FROM PROGRAM 'touch {folder}/was-here'",
    "WITH gone AS (DELETE FROM victim RETURNING *) SELECT * FROM gone",
    "WITH more AS (INSERT INTO victim SELECT * FROM victim RETURNING *) SELECT * FROM more",
    "WITH other AS (UPDATE victim SET y = 0 RETURNING *) SELECT * FROM other",
    "DELETE FROM victim RETURNING *",
    "SET TRANSACTION READ WRITE",
    "SET TRANSACTION READ WRITE; DELETE FROM victim",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; DELETE FROM victim",
    "SELECT v.*, set_config('transaction_read_only', 'off', false) FROM victim v",
    "SELECT v.*, erase() FROM victim v",
    "SELECT v.*, unlock() FROM victim v",
    "SELECT v.*, force() FROM victim v",
    "DO $$ BEGIN DELETE FROM victim; END $$",
    "CALL erase()",
    "CREATE TABLE other AS SELECT * FROM victim",
    "CREATE TEMP TABLE other AS SELECT * FROM victim",
    "SELECT * INTO other FROM victim",
    "TRUNCATE victim",
    "EXPLAIN ANALYZE DELETE FROM victim",
    "SELECT * FROM victim FOR UPDATE",
    "SELECT v.*, nextval('numbers') FROM victim v",
    "VACUUM victim",
    "PREPARE p AS DELETE FROM victim",
    "COMMIT",
    "ROLLBACK; DROP TABLE victim",
    "-- a comment\nDROP TABLE victim",
    "/* SELECT */ DROP TABLE victim",
    "/* /* nested */ SELECT * FROM victim */ DROP TABLE victim",
    "SELECT '\\'; COMMIT; DROP TABLE victim; --'",
    "SELECT E'\\''; COMMIT; DROP TABLE victim; --'",
    "SELECT $a$ $$ $a$; COMMIT; DROP TABLE victim; --$$",
    "SELECT U&'\\0027'; COMMIT; DROP TABLE victim; --'",
    "",
    ";",
    "--",
]


@pytest.mark.parametrize("query", WRITES)
def test_no_query_writes(victim, folder, query):
    with pytest.raises(EvenhandError):
        size(victim, query=query.replace("{folder}", str(folder)))


@pytest.mark.parametrize("query", [*WRITES[1:5], "SELECT v.*, erase() FROM victim v"])
def test_no_query_of_the_command_line_writes(victim, folder, query):
    with command(victim, folder, "--query", query.replace("{folder}", str(folder))) as done:
        said = done.communicate(timeout=60)
    assert done.returncode == 2, said
    assert said[0] == ""
    assert said[1].startswith("evenhand: error: ")


READS = [
    "SELECT * FROM victim",
    "SELECT * FROM victim;",
    "SELECT * FROM victim ; -- all of them",
    "-- all of them;\nSELECT * FROM victim -- really; all",
    "/* one; /* two; */ */ SELECT * FROM victim",
    "(SELECT * FROM victim)",
    "SELECT * FROM victim WHERE sex <> 'a; DROP TABLE victim; --'",
    "SELECT * FROM victim WHERE sex <> $$a; 'b$$ AND sex <> $x$; $$ $x$",
    "SELECT * FROM victim WHERE sex <> E'\\'; COMMIT; --' AND sex NOT LIKE '%s%%;'",
    "SELECT * FROM victim WHERE sex <> 'a\\'",
    "WITH v AS (SELECT * FROM victim) SELECT * FROM v",
    "SELECT * FROM victim WHERE false UNION ALL SELECT * FROM victim",
    "SELECT sex, approved::int, CAST(y AS bigint) AS y FROM public.victim ORDER BY 1",
]


@pytest.mark.parametrize("query", READS)
def test_what_only_reads_is_read(victim, query):
    assert size(victim, query=query) == 500


def test_a_table_whose_name_is_an_attack(victim):
    assert size(victim, table=ODD) == 500
    assert size(victim, table=f"public.{ODD}") == 500
    with pytest.raises(EvenhandError, match="there is no table"):
        size(victim, table='victim"; DROP TABLE victim; --')
    with pytest.raises(EvenhandError):
        size(victim, table='public"; DROP TABLE victim; --.victim')


def test_everything_is_one_transaction_that_is_rolled_back(victim):
    """The server's log: no commit, and a caller's text only in the protocol that takes one statement."""
    before = len(victim.log.read_text())
    assert size(victim, query="SELECT *, 'marked' AS mark FROM victim") == 500
    said = [line.partition("LOG:  ")[2] for line in victim.log.read_text()[before:].splitlines() if "LOG:  " in line]
    assert said[0] == "statement: BEGIN READ ONLY"
    assert not [line for line in said[1:] if any(word in line.upper() for word in ("COMMIT", "BEGIN"))]
    marked = [line for line in said if "'marked'" in line]
    assert len(marked) >= 2
    assert all(line.startswith("execute <unnamed>: ") for line in marked)


def command(server: Any, folder: Path, *given: str) -> subprocess.Popen[str]:
    roles = [f"--{name}={column}" for name, column in ROLES.items()]
    return subprocess.Popen(
        [sys.executable, "-m", "evenhand", "audit", f"--database={server.url}", *given, *roles],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts programs in the background has them ignore Control-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


@pytest.mark.parametrize(
    "query",
    ["SELECT * FROM victim WHERE pg_sleep(1) IS NOT NULL", "SELECT * FROM victim, pg_sleep(1000)"],
    ids=["slow rows", "a slow function"],
)
def test_an_interrupt_ends_a_query_that_hangs(victim, folder, query):
    running = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    with victim.connect() as connection, command(victim, folder, "--query", query) as done:
        wait_for(lambda: connection.execute(running).fetchone() == (1,))
        done.send_signal(signal.SIGINT)
        try:
            said = done.communicate(timeout=30)
        finally:
            done.kill()
        assert (done.returncode, said[1].strip()) == (130, "evenhand: interrupted")
        wait_for(lambda: connection.execute(running).fetchone() == (0,))


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


# ------------------------------------------------------------------------------------------------ SQLite


@pytest.fixture
def sqlite(table, tmp_path, monkeypatch) -> Path:
    """people.sqlite in the current folder."""
    needs("ibis")
    monkeypatch.chdir(tmp_path)
    KINDS["ibis sqlite"](table.slice(0, 500), tmp_path)
    return tmp_path / "people.sqlite"


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM people",
        "SELECT * FROM people; DELETE FROM people",
        "DROP TABLE people",
        "ATTACH 'other.sqlite' AS other",
        "VACUUM INTO 'other.sqlite'",
        "PRAGMA writable_schema = ON",
        "SELECT *, load_extension('x') FROM people",
        "SELECT *, readfile('people.sqlite') FROM people",
        "SELECT *, writefile('other.sqlite', 'x') FROM people",
        "WITH a AS (SELECT 1) DELETE FROM people",
        "CREATE TEMP TABLE other AS SELECT 1",
        "",
    ],
)
def test_a_file_of_sqlite_is_only_read(sqlite, query):
    before = sqlite.read_bytes()
    with pytest.raises(EvenhandError), open_table("sqlite:///people.sqlite", query=query) as frame:
        eh.Cube.count(frame, **ROLES)
    assert sqlite.read_bytes() == before
    assert [path.name for path in sqlite.parent.iterdir()] == ["people.sqlite"]


@pytest.mark.parametrize("query", ["SELECT * FROM people;", "SELECT * FROM people WHERE sex <> 'a; b' -- all"])
def test_a_query_of_sqlite(sqlite, query):
    with open_table("sqlite:///people.sqlite", query=query) as frame:
        assert eh.Cube.count(frame, **ROLES).size == 500


def test_a_file_of_sqlite_that_may_not_be_written(sqlite):
    sqlite.rename("a %41 #?&=é.sqlite")
    with open_table("sqlite:///a %2541 #%3F&=é.sqlite", table="people") as frame:
        connection = frame.get_backend().con
        for statement in ("DELETE FROM people", "ATTACH 'other.sqlite' AS other", "VACUUM INTO 'other.sqlite'"):
            connection.rollback()
            with pytest.raises(DatabaseError, match=r"readonly|not authorized|authorization denied"):
                connection.execute(statement)
        assert eh.Cube.count(frame, **ROLES).size == 500


# ------------------------------------------------------------------------------------------------ a caller's connection


def test_on_a_callers_connection_only_selects_run(victim):
    """An Ibis table: its connection stays as it is, and what we add to it is SELECTs."""
    import ibis

    connection = ibis.connect(victim.url)
    before = len(victim.log.read_text())
    assert eh.Cube.count(connection.table("victim"), **ROLES).size == 500
    said = [line.partition("LOG:  ")[2] for line in victim.log.read_text()[before:].splitlines() if "LOG:  " in line]
    asked = [line.partition(": ")[2].split()[0] for line in said]
    assert set(asked) <= {"BEGIN", "COMMIT", "SELECT", "DECLARE", "FETCH", "CLOSE", "SAVEPOINT", "RELEASE"}
    assert connection.con.autocommit
    assert connection.con.read_only is None
    connection.disconnect()
