"""evenhand audit --database on a real server: what is read, and that no password is ever shown."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

import evenhand as eh
from engines.checks import check, expected, needs
from engines.people import KINDS

pytestmark = pytest.mark.filterwarnings("default")

ROLES = ["--label=y", "--prediction=approved", "--sensitive=sex", "--metric=demographic_parity"]
SUFFIXES = (".html", ".json", ".md", ".xml")


def run(given: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program as a user starts it, writing every kind of output."""
    outputs = [part for suffix in SUFFIXES for part in ("-o", f"audit{suffix}")]
    known = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    command = [sys.executable, "-m", "evenhand", "audit", *given, *ROLES, *outputs]
    return subprocess.run(
        command, cwd=folder, env={**known, **environment}, capture_output=True, text=True, check=False
    )


def shown(done: subprocess.CompletedProcess[str], folder: Path) -> str:
    return done.stdout + done.stderr + "".join(path.read_text() for path in folder.iterdir())


def place(postgres) -> str:
    return f"127.0.0.1:{postgres.port}/decisions"


@pytest.mark.parametrize("asked", ["--table=people", "--table=public.people", "--query=SELECT * FROM people"])
def test_a_table_or_a_query_of_postgresql(postgres, tmp_path, asked):
    done = run([f"--database={postgres.url}", asked], tmp_path)
    assert done.returncode in (0, 1, 3), done.stderr
    found = eh.Audit.load(tmp_path / "audit.json")
    assert found.cube.size == expected("scores").size
    assert postgres.password not in shown(done, tmp_path)
    assert "auditor" not in shown(done, tmp_path)
    assert f"--database=postgresql://{place(postgres)}" in found.origin["command"]


@pytest.mark.parametrize(
    "environment",
    [
        {"PGUSER": "auditor", "PGPASSWORD": "{password}", "EVENHAND_DATABASE": "postgresql://{place}"},
        {"EVENHAND_DATABASE": "postgresql://auditor:{password}@{place}"},
    ],
)
def test_credentials_from_the_environment(postgres, tmp_path, environment):
    given = {name: text.format(password=postgres.password, place=place(postgres)) for name, text in environment.items()}
    done = run(["--table=people"], tmp_path, **given)
    assert done.returncode in (0, 1, 3), done.stderr
    assert postgres.password not in shown(done, tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://auditor:wrong-secret@{place}",
        "postgresql://auditor:wrong-secret%21@{place}",
        "postgresql://auditor:wrong-secret@{place}?application_name=x",
        "postgresql://auditor:wrong-secret@127.0.0.1:1/decisions",
        "postgresql://auditor:wrong-secret@nowhere.invalid/decisions",
        "postgresql://auditor:wrong-secret@{place}-that-is-not-there",
        "mysql://auditor:wrong-secret@127.0.0.1:1/x",
        "nonsense://auditor:wrong-secret@127.0.0.1:1/x",
    ],
)
def test_a_wrong_password_is_never_shown(postgres, tmp_path, url):
    given = url.format(place=place(postgres))
    done = run(["--database", given, "--table=people"], tmp_path, EVENHAND_DEBUG="1")
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "evenhand: error:" in done.stderr
    assert not list(tmp_path.iterdir())
    for secret in ("wrong-secret", "auditor"):
        assert secret not in done.stderr


def test_nothing_is_logged_and_no_traceback_holds_the_password(postgres, caplog):
    import traceback

    from evenhand.sources.database import open_table

    caplog.set_level(logging.DEBUG)
    url = postgres.url.replace(postgres.password, "wrong-secret")
    with pytest.raises(eh.EvenhandError) as said, open_table(url, table="people"):
        pass
    assert "wrong-secret" not in "".join(traceback.format_exception(said.value))
    with open_table(postgres.url, table="people") as frame:
        check(frame, "scores")
    assert postgres.password not in caplog.text
    assert "wrong-secret" not in caplog.text


def test_a_reader_who_may_do_nothing_else(postgres, tmp_path):
    with postgres.connect() as connection:
        connection.execute("CREATE TYPE answer AS ENUM ('yes', 'no')")
        connection.execute(
            "CREATE TABLE answers AS SELECT sex, approved, y, 'yes'::answer AS said FROM people LIMIT 500"
        )
        connection.execute(f"CREATE ROLE reader LOGIN PASSWORD '{postgres.password}'")
        connection.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
        connection.execute("REVOKE ALL ON DATABASE decisions FROM PUBLIC")
        connection.execute("GRANT CONNECT ON DATABASE decisions TO reader")
        connection.execute("GRANT USAGE ON SCHEMA public TO reader")
        connection.execute("GRANT SELECT ON answers TO reader")
    url = f"--database={postgres.url.replace('auditor', 'reader')}"
    for asked in ("--table=answers", "--query=SELECT * FROM answers -- all of them\n;"):
        done = run([url, asked, "--control=said"], tmp_path)
        assert done.returncode in (0, 1, 3), done.stderr
        assert "500 people" in done.stdout


def test_a_file_of_sqlite(table, tmp_path):
    needs("ibis")
    KINDS["ibis sqlite"](table, tmp_path)
    done = run(["--database=sqlite:///people.sqlite", "--query=SELECT * FROM people WHERE y = 1"], tmp_path)
    assert done.returncode in (0, 1, 3), done.stderr
    assert eh.Audit.load(tmp_path / "audit.json").cube.size == table["y"].to_pylist().count(1)


@pytest.mark.parametrize(
    "password",
    [
        "zqxfirst/zqxsecond@zqxthird:zqxfourth%zqxfifth?zqxsixth#zqxseventh&zqxeighth=zqxninth",
        "zqxfirst zqxsecond'zqxthird\"zqxfourth\\zqxfifth+zqxsixth",
        "zqxfirst://zqxsecond@zqxthird…é",
    ],
    ids=["signs of a URL", "quotes and spaces", "a URL itself"],
)
@pytest.mark.parametrize("way", ["url", "option", "environment", "plus"])
def test_any_password_opens_the_database_and_is_shown_nowhere(postgres, tmp_path, password, way):
    """Passwords with signs that end a password, as far as each way can hold them."""
    with postgres.connect() as connection:
        quoted = password.replace("'", "''")
        connection.execute("DROP ROLE IF EXISTS hostile")
        connection.execute(f"CREATE ROLE hostile LOGIN SUPERUSER PASSWORD '{quoted}'".encode())
    encoded = quote(password, safe="+" if way == "plus" else "")
    url = f"postgresql://hostile:{encoded}@{place(postgres)}"
    if way == "option":
        url = f"postgresql://{place(postgres)}?user=hostile&password={encoded}"
    environment = {}
    if way == "environment":
        url, environment = f"postgresql://{place(postgres)}", {"PGUSER": "hostile", "PGPASSWORD": password}
    done = run([f"--database={url}", "--table=people"], tmp_path, EVENHAND_DEBUG="1", **environment)
    assert done.returncode in (0, 1, 3), done.stderr
    wrong = run([f"--database={url}", "--table=nobody"], tmp_path, EVENHAND_DEBUG="1", **environment)
    assert wrong.returncode == 2
    said = shown(done, tmp_path) + wrong.stderr
    assert [piece for piece in re.findall("zqx[a-z]+", password) if piece in said] == []


def test_a_table_that_is_not_there(postgres, tmp_path):
    done = run([f"--database={postgres.url}", "--table=peeple"], tmp_path)
    assert done.returncode == 2
    assert "did you mean 'people'" in done.stderr
