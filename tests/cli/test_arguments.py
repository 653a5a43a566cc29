"""No command shows a password, wherever it was typed: every command and every way to write an address."""

from __future__ import annotations

import io
import os
import re
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock
from urllib.parse import quote

import click
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import evenhand as eh
from evenhand.cli import _COMMANDS, run
from evenhand.cli.arguments import Call, conceal, typed
from evenhand.errors import CallError, EvenhandError, listing, short_path, shorten, without_secrets
from evenhand.sources.database import open_table

# Words that no text of ours holds, between signs that end a user, a password or an address, or look like it.
WORDS = st.from_regex(r"zq[a-z0-9]{2,6}", fullmatch=True)
SIGNS = st.sampled_from(
    [*"/@:%?#&=+;,|~!$*[]{}<>()\\^`'\" \t\n…é", "://", "%2F", "%40", "@@", "/?", "?@", "12/", "..", "--"]
)
PASSWORDS = st.lists(st.tuples(WORDS, SIGNS), min_size=1, max_size=4).map(
    lambda found: "".join(sum(found, ())) + "zq99"
)

ADDRESSES = {
    "url": "postgresql://ann:{}@127.0.0.1:1/loans",
    "url of a user alone": "postgresql://{}@127.0.0.1:1/loans",
    "url with options": "postgresql://ann:{}@127.0.0.1:1/loans?sslmode=disable",
    "option": "postgresql://127.0.0.1:1/loans?user=ann&password={}",
    "other option": "postgresql://127.0.0.1:1/loans?sslmode=disable&sslpassword={}&x=1",
    "token": "snowflake://127.0.0.1/loans?access_token={}",
    "another database": "mysql://ann:{}@127.0.0.1:1/loans",
    "no database": "https://ann:{}@127.0.0.1:1/loans.csv",
    "pairs": "host=127.0.0.1 port=1 user=ann password={} dbname=loans",
    "pairs, password first": "password={} host=127.0.0.1",
    "one slash, as pathlib leaves it": "postgresql:/ann:{}@127.0.0.1:1/loans",
}


def addresses(password: str) -> dict[str, str]:
    """Every way to write an address, with the password as it is and encoded."""
    found = {name: text.format(password) for name, text in ADDRESSES.items()}
    return found | {f"{name}, encoded": text.format(quote(password, safe="")) for name, text in ADDRESSES.items()}


def pieces(password: str) -> list[str]:
    """The words of a password, whatever stands between them."""
    return re.findall("zq[a-z0-9]+", password)


def said(arguments: list[str], **environment: str) -> tuple[int, str]:
    """The exit code of a command, and all that it printed."""
    page = io.StringIO()
    with redirect_stdout(page), redirect_stderr(page), mock.patch.dict(os.environ, environment):
        code = run(arguments)
    return code, page.getvalue()


def check(password: str, code: int, text: str) -> None:
    assert code == 2, text
    assert text
    assert [piece for piece in pieces(password) if piece in text] == [], text


@pytest.mark.parametrize("command", _COMMANDS)
@given(password=PASSWORDS)
@example(password="zqab/zqcd")
@example(password="12/zqcd@zqab")
def test_no_command_shows_a_password(command, password):
    for address in addresses(password).values():
        for given_ in ([address], ["x.csv", "-o", address], [f"--policy={address}"], ["--", address], [f"--{address}"]):
            check(password, *said([command, *given_], EVENHAND_DEBUG="1"))


@given(password=PASSWORDS)
@example(password="zqab/zqcd")
@example(password="12/zqcd@zqab")
@example(password="zqab%zqcd")
def test_a_database_that_cannot_be_opened(password):
    roles = ["--label=y", "--prediction=p", "--sensitive=g"]
    for name, address in addresses(password).items():
        if "another" in name or "token" in name:  # whose drivers are not installed: a slow way to find that out
            continue
        ways = [
            (["--database", address, "--table=t"], {}),
            ([f"--database={address}", f"--query=SELECT '{address}'"], {}),
            (["--table", f"--database={address}"], {}),
            (["--table=t"], {"EVENHAND_DATABASE": address}),
        ]
        for arguments, environment in ways:
            check(
                password, *said(["audit", *arguments, *roles], EVENHAND_DEBUG="1", PGPASSWORD=password, **environment)
            )


@given(password=PASSWORDS)
def test_no_function_of_the_library_shows_a_password(password):
    doors = (eh.audit, eh.Cube.load, eh.Audit.load, eh.Policy.load, lambda url: eh.trend([url]), eh.Cube.merge)
    for address in addresses(password).values():
        for door in (*doors, lambda url: open_table(url, table="t").__enter__()):
            with pytest.raises(EvenhandError) as caught:
                door(address)
            text = repr(caught.value) + "".join(traceback.format_exception_only(caught.value))
            chain, error = [], caught.value.__cause__ or caught.value.__context__
            while error is not None:
                chain.append(repr(error))
                error = error.__cause__ or error.__context__
            assert [piece for piece in pieces(password) if piece in text + "".join(chain)] == []


@given(password=PASSWORDS, before=st.sampled_from(["", "--policy=", "no file '", "x" * 70]))
def test_what_cuts_a_text_cuts_the_address_first(password, before):
    for address in addresses(password).values():
        for text in (without_secrets(before + address), short_path(before + address), str(CallError(before + address))):
            assert [piece for piece in pieces(password) if piece in text] == []
        for text in (shorten(before + address, 30), listing([before + address])):
            assert [piece for piece in pieces(password) if piece in str(CallError(text))] == []


@pytest.mark.parametrize("part", ["a", "pwd", "user=", "://", "a://", "?key", "=", "a:", "[", " ", "@"])
def test_long_texts_take_no_time(part):
    start = time.perf_counter()
    without_secrets(part * 200_000)
    assert time.perf_counter() - start < 5


KEPT = [
    "decisions.csv",
    "--label=y",
    "duckdb:///x.db",
    "duckdb:////data/x.db",
    "postgresql://[::1]:5432/loans",
    "postgresql://db.example/loans",
    "--sensitive=a@b",
    "-",
    "--reference=site=https://example.org/a?page=2#top",
    "--bands=passengers=0,25",
    "--reference=password=yes",
    "--threshold=key=1",
    "C:/Users/ann@work/x.csv",
    "ratio:/2",
    "see https://example.org: there",
    "user=a",
]


@pytest.mark.parametrize("text", KEPT)
def test_what_is_not_a_secret_stays(text):
    assert without_secrets(text) == text
    assert conceal([text]).shown == [text]


def test_a_command_gets_what_was_typed():
    url, query = "postgresql://ann:hunter2@db.example/loans?sslmode=require", "SELECT 'https://ann:hunter2@x/y', 1"
    for given_ in (["--database", url, "--query", query], [f"--database={url}", f"--query={query}"]):
        found = conceal(["audit", *given_])
        assert "hunter2" not in repr(found)
        assert "hunter2" not in " ".join(found.shown)
        with click.Context(click.Command("x"), obj=found):
            assert typed("postgresql://db.example/loans") == url
            assert typed(without_secrets(query)) == query
            assert typed("other") == "other"
            assert typed(None) is None
    with click.Context(click.Command("x")):
        assert typed("other") == "other"
    assert conceal([]) == Call()
