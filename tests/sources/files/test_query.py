"""A connection reaches only its files. A query that takes long shows how far it is, and an interrupt stops it."""

from __future__ import annotations

import _thread
import glob
import io
import signal
import tempfile
import threading
from contextlib import redirect_stderr

import duckdb
import pytest

from evenhand.cli import run
from evenhand.core import progress
from evenhand.sources.files import query


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Slow:
    """A connection whose query goes on until it has been asked often enough how far it is."""

    def __init__(self, steps: list[float]) -> None:
        self.steps = steps
        self.done = threading.Event()

    def execute(self, _sql: str) -> Slow:
        assert self.done.wait(60)
        return self

    def fetchall(self) -> list[tuple[int]]:
        return [(1,)]

    def query_progress(self) -> float:
        if not self.steps:
            self.done.set()
            return 100.0
        return self.steps.pop(0)

    def interrupt(self) -> None:
        self.done.set()


class Old(Slow):
    """A DuckDB that cannot tell how far it is."""

    def __getattribute__(self, name: str):
        if name == "query_progress":
            super().__getattribute__("done").set()
            raise AttributeError(name)
        return super().__getattribute__(name)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "SECONDS_BEFORE_A_BAR", 0.0)
    monkeypatch.setattr(query, "_TICK", 0.001)


@pytest.mark.parametrize("connection", [Slow([-1.0, 10.0, 60.0]), Old([])], ids=["new", "old"])
def test_a_bar_on_a_terminal(connection):
    with redirect_stderr(Terminal()) as page:
        assert query.fetch(connection, "SELECT 1") == [(1,)]
    assert "counting" in page.getvalue()


@pytest.mark.parametrize("stream", [io.StringIO(), None], ids=["a file", "closed"])
def test_nothing_is_shown_elsewhere(stream):
    with redirect_stderr(stream):
        assert query.fetch(duckdb.connect(), "SELECT 41 + 1") == [(42,)]
    assert stream is None or stream.getvalue() == ""


def test_a_quick_query_shows_nothing(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BEFORE_A_BAR", 60.0)
    with redirect_stderr(Terminal()) as page:
        assert query.fetch(duckdb.connect(), "SELECT 1") == [(1,)]
    assert page.getvalue() == ""


def test_an_error_of_the_query_is_the_error():
    with redirect_stderr(Terminal()), pytest.raises(duckdb.Error, match="nonsense"):
        query.fetch(duckdb.connect(), "SELECT nonsense")


class Interrupted(Slow):
    """A query in the middle of which someone presses Control-C."""

    def execute(self, sql: str) -> Slow:
        _thread.interrupt_main()
        super().execute(sql)
        raise duckdb.InterruptException("interrupted")


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "file"])
def test_an_interrupt_stops_the_query_itself(stream):
    connection = Interrupted([0.0] * 1_000_000)
    # A shell that starts programs in the background has them ignore Control-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with redirect_stderr(stream), pytest.raises(KeyboardInterrupt):
            query.fetch(connection, "SELECT 1")
    finally:
        signal.signal(signal.SIGINT, before)
    assert connection.done.is_set()


LONG = "SELECT count(*) FROM range(20000) a, range(20000) b WHERE (a.range * b.range) % 7 = 3"


def test_the_bar_of_a_real_query_moves(monkeypatch):
    """DuckDB says how far it is only while its own bar is on; that bar itself must not be drawn."""
    shown: list[float] = []
    monkeypatch.setattr(progress._Bar, "tell", lambda _, done: shown.append(done))
    with redirect_stderr(Terminal()) as page:
        query.fetch(query.connect(), LONG)
    assert max(shown) > 0
    assert page.getvalue() == ""


def test_a_connection_draws_no_bar_of_its_own():
    with redirect_stderr(io.StringIO()):
        settings = "SELECT current_setting('enable_progress_bar'), current_setting('enable_progress_bar_print')"
        assert query.connect().execute(settings).fetchall() == [(False, False)]


# ------------------------------------------------------------------------------------------------ what is in reach


@pytest.mark.parametrize("name", ["a.csv", "[a]*?.csv", "it's.csv", "a b'; SET x = 1; --.csv"])
def test_a_connection_reads_its_files_and_nothing_else(tmp_path, name):
    (tmp_path / name).write_text("x\n1\n")
    (tmp_path / "other.csv").write_text("x\n2\n")
    connection = query.connect([tmp_path / name])
    assert connection.execute("FROM read_csv($1)", [glob.escape(str(tmp_path / name))]).fetchall() == [(1,)]
    for path in ("other.csv", "*.csv", f"../{tmp_path.name}/other.csv", f"{name}/../other.csv"):
        with pytest.raises(duckdb.PermissionException):
            connection.execute("FROM read_csv($1)", [str(tmp_path / path)])
    with pytest.raises(duckdb.PermissionException):
        connection.execute("FROM glob('*')")


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH '{folder}/other.db'",
        "COPY (SELECT 1) TO '{folder}/out.csv'",
        "EXPORT DATABASE '{folder}/out'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "LOAD '{folder}/other.duckdb_extension'",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "SET autoload_known_extensions = true",
        "RESET lock_configuration",
        "FROM read_text('{folder}/there.txt')",
        "FROM 'https://127.0.0.1:1/x.parquet'",
        "FROM people",  # a variable of Python
        "CREATE PERSISTENT SECRET (TYPE http)",
    ],
)
def test_no_statement_reaches_further(tmp_path, statement):
    people = {"a": [1]}  # noqa: F841
    (tmp_path / "there.txt").write_text("x")
    connection = query.connect()
    connection.execute("CREATE TABLE t AS SELECT 1")
    with pytest.raises(duckdb.Error):
        connection.execute(statement.replace("{folder}", str(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["there.txt"]


def test_what_does_not_fit_into_memory_goes_to_a_folder_of_our_own(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    connect = duckdb.connect
    monkeypatch.setattr(
        duckdb, "connect", lambda *a, config, **k: connect(*a, config={**config, "memory_limit": "60MB"}, **k)
    )
    connection = query.connect(ordered=False)
    connection.execute(
        "CREATE TABLE t AS SELECT range AS a, hash(range) AS b, repeat('x', 40) AS c FROM range(1500000)"
    )
    assert len(list(tmp_path.glob("evenhand-*/*"))) > 0
    connection.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("std::bad_alloc"),
        RuntimeError("Resource temporarily unavailable"),
        duckdb.OutOfMemoryException("failed to allocate data"),
    ],
)
def test_memory_that_runs_out_is_the_reason(error, tmp_path, monkeypatch, capsys):
    path = tmp_path / "x.csv"
    path.write_text("race,p\na,1\nb,0\n")

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(duckdb, "connect", fail)
    assert run(["audit", str(path), "--prediction=p", "--sensitive=race"]) == 2
    said = capsys.readouterr().err
    assert said == f"evenhand: error: DuckDB could not start: {error}. Memory may be short: end other programs.\n"
    monkeypatch.undo()
    monkeypatch.setattr(query, "fetch", fail)
    assert run(["audit", str(path), "--prediction=p", "--sensitive=race"]) == (70 if type(error) is RuntimeError else 2)
    assert str(error) in capsys.readouterr().err
