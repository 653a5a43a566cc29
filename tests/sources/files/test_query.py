"""A query that takes long shows how far it is, on a terminal only, and an interrupt stops it."""

from __future__ import annotations

import _thread
import io
import signal
import threading
from contextlib import redirect_stderr

import duckdb
import pytest

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
