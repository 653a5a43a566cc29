"""The command line: what it prints, where it writes, and how it ends."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import evenhand
from evenhand import cli
from evenhand.cli import run
from evenhand.datasets import compas
from support.backends import BACKENDS, FILES, csv_text


def program(*arguments: str, **options) -> subprocess.CompletedProcess:
    code = "import sys; from evenhand.cli import main; main(sys.argv[1:])"
    given = {"capture_output": True} | options
    return subprocess.run([sys.executable, "-c", code, *arguments], timeout=120, check=False, **given)


def decisions(gap: float, size: int = 4000) -> dict[str, list]:
    """Two races and two sexes; the second race is selected less often by `gap`, everything else is even."""
    rows = []
    for i in range(size):
        race, sex, label = i % 2, i // 2 % 2, i // 4 % 2
        place = (i // 8) / (size / 8)
        rows.append(
            (("A", "B")[race], ("F", "M")[sex], label, int(place < 0.6 - gap * race), 20 + i % 50, round(place, 3))
        )
    names = ("race", "sex", "label", "decision", "age", "score")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


@pytest.fixture
def even(tmp_path) -> Path:
    return FILES["csv"](decisions(0.0), tmp_path)


@pytest.fixture
def uneven(tmp_path) -> Path:
    (tmp_path / "uneven").mkdir()
    return FILES["csv"](decisions(0.4), tmp_path / "uneven")


ROLES = ("--label", "label", "--prediction", "decision", "--sensitive", "race")


def test_exit_codes_of_verdicts(even, uneven, tmp_path, capsys):
    assert run(["audit", str(even), *ROLES]) == 0
    assert capsys.readouterr().out.startswith("Verdict: pass")
    assert run(["audit", str(uneven), *ROLES]) == 1
    assert capsys.readouterr().out.startswith("Verdict: fail")
    (tmp_path / "few.csv").write_text("race,label,decision\n" + "A,1,1\nA,0,0\nB,1,0\nB,0,0\n" * 3)
    assert run(["audit", str(tmp_path / "few.csv"), *ROLES]) == 3
    assert capsys.readouterr().out.startswith("Verdict: inconclusive")


@pytest.mark.parametrize("source", ["file", "standard input", "two files", "with a damaged one"])
def test_functions_of_rows_are_computed_as_in_python(source, uneven, even, tmp_path, monkeypatch, capsys):
    files, more = {"file": [uneven], "standard input": ["-"]}.get(source, [uneven, even]), []
    if source == "standard input":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(uneven.read_bytes())))
    if source == "with a damaged one":
        damaged = tmp_path / "damaged.csv"
        damaged.write_bytes(b"race\0")
        more = [str(damaged), "--skip-bad"]
    metrics = ("--metric", "f1_score", "--metric", "log_loss", "--metric", "equalized_odds", "--where", "age > 30")
    asked = ["audit", *map(str, files), *more, *ROLES, "--score", "score", *metrics, "--json"]
    code, printed = run(asked), capsys.readouterr()
    assert printed.out, printed.err
    shown = json.loads(printed.out)
    roles = {"label": "label", "prediction": "decision", "score": "score", "sensitive": "race", "where": "age > 30"}
    expected = evenhand.audit(
        [uneven] if source == "standard input" else files, **roles, metrics=["f1_score", "log_loss", "equalized_odds"]
    )
    assert code == cli.EXIT_CODES[expected.verdict]
    assert [each["value"]["value"] for each in shown["findings"]] == [f.value.value for f in expected.findings]
    assert [each["value"]["high"] for each in shown["findings"]] == [f.value.high for f in expected.findings]


def test_functions_of_rows_need_rows(even, tmp_path, capsys):
    assert run(["cube", str(even), *ROLES, "-o", str(tmp_path / "x.cube")]) == 0
    assert run(["audit", str(tmp_path / "x.cube"), "--metric", "f1_score"]) == 2
    assert "a cube does not keep them: audit the data itself" in capsys.readouterr().err


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("not judged", 0), ("fail", 1), ("inconclusive", 3)])
def test_every_verdict_has_its_code(verdict, code):
    assert cli.EXIT_CODES[verdict] == code


def test_an_internal_error_never_looks_like_a_verdict(even, monkeypatch, capsys):
    def crash(*_given, **_roles):
        raise ZeroDivisionError("a bug\x1b[31m")

    monkeypatch.setattr("evenhand.cli.audit.audit_cube", crash)
    assert run(["audit", str(even), *ROLES]) == 70
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("evenhand: internal error: ZeroDivisionError: a bug")
    assert "not a finding about the data" in shown.err
    assert "Traceback" not in shown.err
    assert "\x1b" not in shown.err
    monkeypatch.setenv("EVENHAND_DEBUG", "1")
    assert run(["audit", str(even), *ROLES]) == 70
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" in shown.err
    assert "\x1b" not in shown.err


def test_an_interrupt_is_130(even, monkeypatch, capsys):
    def interrupt(*_given, **_roles):
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.cli.audit.audit_cube", interrupt)
    assert run(["audit", str(even), *ROLES]) == 130
    assert capsys.readouterr() == ("", "\nevenhand: interrupted\n")


def test_json_is_json_without_nan(even, tmp_path, capsys):
    def refuse(constant):
        raise AssertionError(constant)

    output = tmp_path / "audit.json"
    assert run(["audit", str(even), *ROLES, "--json", "-o", str(output)]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out, parse_constant=refuse)
    assert (found["format"], found["verdict"], found["data"]["rows"]) == ("evenhand-audit", "pass", 4000)
    saved = json.loads(output.read_text(encoding="utf-8"), parse_constant=refuse)
    assert {**saved, "created": "", "sha256": ""} == {**found, "created": "", "sha256": ""}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.json", "data.csv"]


def test_json_of_undefined_rates(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("race,label,decision\nA,1,1\nA,1,0\nB,0,1\nB,0,0\n")
    run(["audit", str(path), *ROLES, "--json"])
    found = json.loads(capsys.readouterr().out)
    undefined = [row for finding in found["findings"] for row in finding["rows"] if row.get("reason")]
    assert undefined
    assert all(row["estimate"]["value"] is None for row in undefined)


def test_quiet_prints_nothing(uneven, tmp_path, capsys):
    assert run(["audit", str(uneven), *ROLES, "--quiet", "-o", str(tmp_path / "x.json")]) == 1
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "x.json").exists()


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("x.txt", r"--output 'x\.txt': an audit is saved as .*\.json"),
        ("x", "an audit is saved as"),
        ("nowhere/x.json", "there is no folder 'nowhere'"),
        ("data.csv/x.json", r"there is no folder 'data\.csv'"),
        ("folder.json", "it is a folder. Name a file in it"),
    ],
)
@pytest.mark.parametrize("command", ["audit", "demo"])
def test_where_an_audit_cannot_be_saved(command, output, message, even, monkeypatch, capsys):
    monkeypatch.chdir(even.parent)
    Path("folder.json").mkdir()
    given = ["demo"] if command == "demo" else ["audit", "data.csv", *ROLES]
    assert run([*given, "-o", output]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.search(message, shown.err)
    assert sorted(os.listdir()) == ["data.csv", "folder.json"]


def test_a_folder_that_cannot_be_written(even, tmp_path, capsys, monkeypatch):
    def full(*_given, **_more):
        raise OSError(28, "No space left on device", "x.json")

    monkeypatch.setattr("evenhand.report.write_text", full)
    assert run(["audit", str(even), *ROLES, "-o", str(tmp_path / "x.json")]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "evenhand: error: No space left on device: 'x.json'\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("no_color", [False, True])
def test_colours_only_on_a_terminal_that_wants_them(no_color, uneven, monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    with redirect_stdout(Terminal()) as page:
        assert run(["audit", str(uneven), *ROLES]) == 1
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]m", page.getvalue())) is not no_color
    assert run(["audit", str(uneven), *ROLES]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_demo_always_exits_0(tmp_path, capsys):
    assert run(["demo"]) == 0
    assert "7,214 people" in capsys.readouterr().out
    assert run(["demo", "--json", "-o", str(tmp_path / "demo.json")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == json.loads((tmp_path / "demo.json").read_text())["verdict"]


def test_metrics_finds_an_abbreviation(capsys):
    assert run(["metrics", "FPR"]) == 0
    assert capsys.readouterr().out.startswith("predictive_equality: ")
    assert run(["metrics", "eo"]) == 2
    assert "say 'equalized_odds' or 'equal_opportunity'" in " ".join(capsys.readouterr().err.split())


def test_metrics_lists_and_explains(capsys, monkeypatch):
    assert run(["metrics"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in ("demographic_parity", "equalized_odds", "theil_index"))
    assert run(["metrics", "equalized_odds_difference"]) == 0
    assert capsys.readouterr().out.startswith("equalized_odds: equalized odds\n")
    monkeypatch.setenv("COLUMNS", "1")
    assert run(["metrics", "equalized_odds"]) == 0
    assert run(["metrics", "equalised_odds"]) == 2
    assert "did you mean 'equalized_odds'" in capsys.readouterr().err


def test_version_help_and_what_is_not_known(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"evenhand, version {evenhand.__version__}\n"
    for given in (["-h"], ["audit", "--help"], ["demo", "-h"], ["metrics", "-h"]):
        assert run(given) == 0
        assert capsys.readouterr().out.startswith("Usage: evenhand")
    for given, message in (
        (["audi"], "did you mean 'audit'?"),
        (["audit"], "Missing argument 'FILES...'"),
        (["audit", "x.csv"], "there is no file 'x.csv'"),
        (["audit", "x.csv", "--sensitive", "a", "--cutoff", "high"], "'high' is not a number"),
        (["audit", "x.csv", "--nonsense"], "No such option"),
        (["audit", "x.csv", "--sensitive", "a", "--missing", "x"], "'x' is not one of"),
    ):
        assert run(given) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert message in shown.err


def audited(capsys, *given: str) -> dict:
    code = run(["audit", *given, "--json"])
    shown = capsys.readouterr()
    assert (code in (0, 1, 3), shown.err) == (True, ""), shown.err
    return json.loads(shown.out)


def test_positive_by_value(tmp_path, capsys):
    words = {1: "granted", 0: "refused"}
    table = decisions(0.4)
    spelled = {**table, "decision": [words[value] for value in table["decision"]]}
    spelled["decision"][0] = "granted later"
    path = str(FILES["csv"](spelled, tmp_path))
    common = (path, "--prediction", "decision", "--sensitive", "race", "--metric", "demographic_parity")
    one = audited(capsys, *common, "--positive", "granted")
    both = audited(capsys, *common, "--positive", "granted", "--positive", "granted later")
    assert one["data"]["positive"]["prediction"] == ["granted"]
    assert both["data"]["positive"]["prediction"] == ["granted", "granted later"]
    assert both["findings"][0]["value"]["value"] > one["findings"][0]["value"]["value"]
    apart = audited(
        capsys, *common[:-2], "--label", "label", "--positive-prediction", "granted", "--positive-label", "0"
    )
    assert apart["data"]["positive"] == {"label": ["0"], "prediction": ["granted"]}


@pytest.mark.parametrize(
    ("given", "against"),
    [
        (["B"], "B"),
        (["race=A"], "A"),
        (["rest"], "everyone else"),
        (["overall"], "everyone"),
        (["largest"], "A"),
        (["race=A", "sex=F"], "A"),
    ],
)
def test_reference(given, against, uneven, capsys):
    options = [part for value in given for part in ("--reference", value)]
    found = audited(capsys, str(uneven), *ROLES, "--sensitive", "sex", *options, "--metric", "demographic_parity")
    assert found["findings"][0]["settings"]["against"] == against
    if len(given) == 2:
        assert found["findings"][-1]["settings"]["against"] == "A, F"


def test_a_reference_may_hold_an_equals_sign(tmp_path, capsys):
    table = {"a=b": [">=65", "<65", "a=b=c"] * 40, "p": [1, 0, 1, 1] * 30}
    path = str(FILES["csv"](table, tmp_path))
    for value in (">=65", "<65", "a=b=>=65", "a=b=a=b=c"):
        found = audited(capsys, path, "--prediction", "p", "--sensitive", "a=b", "--reference", value)
        assert found["findings"][0]["settings"]["against"] in (value, value.removeprefix("a=b="))
    assert run(["audit", path, "--prediction=p", "--sensitive=a=b", "--reference=x", "--reference=y"]) == 2
    assert "write each as COLUMN=VALUE" in capsys.readouterr().err


def test_bands_thresholds_requirements(uneven, capsys):
    found = audited(capsys, str(uneven), *ROLES[:4], "--sensitive", "age", "--bands", "age=0,40,60,100")
    assert found["data"]["bands"] == {"age": [0, 40, 60, 100]}
    assert run(["audit", str(uneven), *ROLES, "-q", "--threshold", "equalized_odds=0.9"]) == 0
    assert run(["audit", str(uneven), *ROLES, "-q", "--require", "base_rate_parity"]) == 0
    found = audited(
        capsys, str(uneven), *ROLES, "--require", "demographic_parity", "--metric", "overall_accuracy_equality"
    )
    assert found["required"] == ["demographic_parity"]
    assert {finding["metric"] for finding in found["findings"]} == {"demographic_parity", "overall_accuracy_equality"}
    for given, message in (
        (("--threshold", "equalized_odds"), "write it as NAME=VALUE"),
        (("--threshold", "equalized_odds=low"), "'low' is not a number"),
        (("--bands", "race=1,x"), "'x' is not a number"),
        (("--bands", "=1,2"), "write it as NAME=VALUE"),
    ):
        assert run(["audit", str(uneven), *ROLES, *given]) == 2
        assert message in capsys.readouterr().err


def test_every_option_reaches_the_audit(even, capsys):
    given = ("--control", "sex", "--score", "score", "--cutoff", "0.5", "--min-group-size", "7", "--missing", "drop")
    found = audited(capsys, str(even), *ROLES, *given, "--weight", "age", "--no-intersections")
    assert found["data"]["control"] == ["sex"]
    assert (found["data"]["cutoff"], found["data"]["weight"], found["data"]["missing"]) == (0.5, "age", "drop")
    assert found["policy"]["min_group_size"] == 7
    counted = audited(capsys, str(even), *ROLES, "--count", "age")
    assert counted["data"]["rows"] == sum(decisions(0.0)["age"])


def test_na_on_the_command_line(tmp_path, capsys):
    path = str(FILES["csv"]({"g": ["A", "B", "NA", "?"] * 30, "p": [1, 0, 1, 1] * 30}, tmp_path))
    given = (path, "--prediction", "p", "--sensitive", "g", "--metric", "demographic_parity")
    groups = [row["group"] for row in audited(capsys, *given)["findings"][0]["rows"]]
    assert groups == [["?"], ["A"], ["B"], ["NA"]]
    groups = [row["group"] for row in audited(capsys, *given, "--na", "NA", "--na", "?")["findings"][0]["rows"]]
    assert groups == [["A"], ["B"], [None]]


@pytest.mark.parametrize("backend", ["csv-glob", "jsonl-glob", "parquet-glob", "parquet-paths", "tsv-gz", "feather"])
def test_files_and_globs(backend, tmp_path, capsys):
    made = BACKENDS[backend](decisions(0.4), tmp_path)
    paths = [str(path) for path in made] if isinstance(made, list) else [str(made)]
    assert audited(capsys, *paths, *ROLES)["data"]["rows"] == 4000


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_standard_input(delimiter):
    text = csv_text(decisions(0.4), delimiter).encode()
    found = program("audit", "-", *ROLES, "--json", input=text)
    assert (found.returncode, found.stderr) == (1, b"")
    assert json.loads(found.stdout)["data"]["rows"] == 4000


def test_standard_input_that_is_empty_closed_or_not_alone(even):
    for arguments, options, message in (
        (["-"], {"input": b""}, b"standard input is empty"),
        (["-", str(even)], {"input": b""}, b"- (standard input) stands alone"),
        (["-"], {"input": gzip.compress(b"a,b")}, b"is gzipped, not CSV"),
    ):
        found = program("audit", *arguments, *ROLES, **options)
        assert (found.returncode, found.stdout) == (2, b"")
        assert message in found.stderr


def test_streams_that_are_closed(even):
    quoted = " ".join(f"'{part}'" for part in (str(even), *ROLES))
    call = f"'{sys.executable}' -c 'import sys; from evenhand.cli import main; main(sys.argv[1:])' audit"
    for tail, code in ((f"{quoted} >&-", 0), (f"{quoted} --json >&-", 0), (f"- {' '.join(ROLES)} <&-", 2)):
        found = subprocess.run(f"{call} {tail}", shell=True, capture_output=True, timeout=120, check=False)
        assert found.returncode == code, found.stderr
        assert b"internal" not in found.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_no_room_for_the_output(even):
    with open("/dev/full", "wb") as full:
        found = program("audit", str(even), *ROLES, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert found.returncode == 2
    assert found.stderr == b"evenhand: error: standard output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("arguments", [["metrics"], ["audit", "FILE", *ROLES, "--json"], ["audit", "FILE", *ROLES]])
def test_a_broken_pipe_is_quiet_and_keeps_the_verdict(arguments, uneven):
    code = "import sys; from evenhand.cli import main; main(sys.argv[1:])"
    given = [str(uneven) if part == "FILE" else part for part in arguments]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        found = subprocess.run(
            [sys.executable, "-c", code, *given], stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False
        )
    finally:
        os.close(writer)
    assert found.stderr == b""
    assert found.returncode == (0 if given == ["metrics"] else 1)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_a_terminal_that_cannot_show_a_name(encoding, tmp_path):
    table = {**decisions(0.4), "race": ["東京", "Größe"] * 2000}
    path = str(FILES["csv"](table, tmp_path))
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    found = program("audit", path, *ROLES, env=environment)
    assert (found.returncode, found.stderr) == (1, b"")
    found = program("audit", path, *ROLES, "--json", env=environment)
    assert ["東京"] in [row.get("group") for row in json.loads(found.stdout)["findings"][0]["rows"]]
    found = program("audit", path, *ROLES, "--reference", "x", env=environment)
    assert found.returncode == 2
    assert found.stderr.startswith(b"evenhand: error: --reference 'x' is not a group")


def test_commands_are_loaded_when_they_are_called():
    code = "import sys, evenhand.cli; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, check=True)
    loaded = set(found.stdout.decode().split())
    assert "evenhand.cli" in loaded
    heavy = {"rich", "duckdb", "pandas", "polars", "pyarrow", "scipy", "narwhals"}
    assert loaded.isdisjoint(heavy | {f"evenhand.cli.{name}" for name in ("audit", "demo", "metrics")})


def test_the_demo_is_the_data_of_the_package(capsys):
    assert run(["demo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["rows"] == int(compas()["count"].sum())
