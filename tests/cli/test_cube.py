"""evenhand cube, evenhand audit of cubes, evenhand watch: whole files or none, and damaged ones named."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evenhand import Audit, Cube
from evenhand.cli import run
from support.backends import FILES, csv_text

ROLES = ("--label", "y", "--prediction", "d", "--sensitive", "g")


def columns(seed: int, gap: float = 0.0, size: int = 800) -> dict[str, list]:
    random = np.random.default_rng(seed)
    g = random.choice(["north", "south"], size)
    d = (random.random(size) < np.where(g == "north", 0.6, 0.6 - gap)).astype(int)
    return {"g": g.tolist(), "y": random.integers(0, 2, size).tolist(), "d": d.tolist()}


@pytest.fixture
def parts(tmp_path) -> list[Path]:
    """Three part files of CSV."""
    paths = [tmp_path / f"part-{i}.csv" for i in range(3)]
    for i, path in enumerate(paths):
        path.write_text(csv_text(columns(i)), encoding="utf-8")
    return paths


def whole() -> Cube:
    every = [columns(i) for i in range(3)]
    table = {name: [value for part in every for value in part[name]] for name in every[0]}
    return Cube.count(table, label="y", prediction="d", sensitive="g")


def test_part_files_become_one_cube(parts, tmp_path, capsys):
    assert run(["cube", *map(str, parts), *ROLES, "-o", str(tmp_path / "day.cube")]) == 0
    assert capsys.readouterr().out.startswith("<Cube: 2,400 people, 2 groups of g>, saved as ")
    assert Cube.load(tmp_path / "day.cube") == whole()
    assert run(["cube", str(tmp_path / "part-*.csv"), *ROLES, "-o", str(tmp_path / "glob.cube"), "-q"]) == 0
    assert Cube.load(tmp_path / "glob.cube") == whole()


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "feather", "csv-gz"])
def test_any_data_file_is_counted(kind, tmp_path):
    if kind not in FILES:
        pytest.skip(f"{kind} is not written here")
    path = FILES[kind](columns(0), tmp_path)
    assert run(["cube", str(path), *ROLES, "-o", str(tmp_path / "x.cube"), "-q"]) == 0
    assert Cube.load(tmp_path / "x.cube") == Cube.count(columns(0), label="y", prediction="d", sensitive="g")


def test_every_option_of_counting_is_heard(tmp_path, capsys):
    table = {**columns(0), "age": [20 + i % 50 for i in range(800)], "s": [i % 10 / 10 for i in range(800)]}
    path = tmp_path / "x.csv"
    path.write_text(csv_text(table), encoding="utf-8")
    given = ["--score", "s", "--cutoff", "0.5", "--control", "g", "--sensitive", "age", "--bands", "age=0,30,80"]
    given += ["--label", "y", "--positive", "1", "--na", "NA", "--bins", "5", "--missing", "drop"]
    assert run(["cube", str(path), *given, "-o", str(tmp_path / "x.cube")]) == 0
    arguments = {"score": "s", "cutoff": 0.5, "control": "g", "sensitive": "age", "bands": {"age": [0, 30, 80]}}
    expected = Cube.count(table, label="y", bins=5, missing="drop", **arguments)
    assert Cube.load(tmp_path / "x.cube") == expected
    capsys.readouterr()


def test_clusters_and_cubes_that_share_none(tmp_path, capsys):
    tables = [{**columns(i), "who": [f"{i} {j // 4}" for j in range(800)], "h": ["u", "v"] * 400} for i in range(2)]
    days = [tmp_path / f"{i}.cube" for i in range(2)]
    for i, table in enumerate(tables):
        (tmp_path / f"{i}.csv").write_text(csv_text(table), encoding="utf-8")
        given = [*ROLES, "--cluster", "who", "--design-strata", "h"]
        assert run(["cube", str(tmp_path / f"{i}.csv"), *given, "-o", str(days[i]), "-q"]) == 0
    both = {name: [*tables[0][name], *tables[1][name]] for name in tables[0]}
    wanted = Cube.count(both, label="y", prediction="d", sensitive="g", cluster="who", design_strata="h")
    merged = ["cube", *map(str, days), "-o", str(tmp_path / "both.cube")]
    assert run(merged) == 2
    assert "If none has, say --clusters within; else count" in capsys.readouterr().err
    assert run([*merged, "--clusters", "within", "-q"]) == 0
    assert Cube.load(tmp_path / "both.cube") == wanted
    saved = str(tmp_path / "audit.json")
    assert run(["audit", *map(str, days), "--clusters", "within", "-o", saved, "-q"]) != 2
    assert Audit.load(saved).cube.meaning == wanted.meaning
    assert run(["watch", *map(str, days)]) == 2
    assert "these cubes have clusters of 'who'" in capsys.readouterr().err


def test_cubes_are_audited_as_the_data_is(parts, tmp_path, capsys):
    days = []
    for i, path in enumerate(parts):
        days.append(str(tmp_path / f"{i}.cube"))
        run(["cube", str(path), *ROLES, "-o", days[-1], "-q"])
    run(["audit", *map(str, parts), *ROLES, "--json"])
    data = json.loads(capsys.readouterr().out)
    code = run(["audit", *days, "--json", "--reference", "g=north"])
    assert code in (0, 1, 3)
    assert json.loads(capsys.readouterr().out)["findings"][0]["settings"]["against"] == "north"
    run(["audit", *days, "--json"])
    cubes = json.loads(capsys.readouterr().out)
    assert cubes["findings"] == data["findings"]
    run(["cube", *days, "-o", str(tmp_path / "sum.cube"), "-q"])
    assert Cube.load(tmp_path / "sum.cube") == whole()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cube", "{part}", *ROLES, "-o", "{folder}/x.parquet"], "a cube is saved as .cube"),
        (["cube", "{part}", *ROLES, "-o", "{folder}/none/x.cube"], "there is no folder"),
        (["cube", "{part}", "--prediction", "d", "-o", "{folder}/x.cube"], "that makes the groups (--sensitive)"),
        (["audit", "{part}", "--prediction", "d"], "that makes the groups (--sensitive)"),
        (["audit", "{cube}", "--label", "y"], "a cube is counted already, so --label cannot be given"),
        (["cube", "{cube}", "--bins", "7", "-o", "{folder}/x.cube"], "so --bins cannot be given"),
        (["audit", "{cube}", "{part}"], "is a cube and"),
        (["watch", "{part}"], "is not a cube"),
        (["watch", "{folder}/none.cube"], "there is no file"),
        (["watch", "{cube}", "{cube}"], "given twice"),
        (["watch", "{cube}", "--metric", "treatment_equality"], "no alarm can be raised on treatment_equality"),
        (["watch", "{cube}", "-o", "x.docx"], "an audit is saved as"),
    ],
)
def test_a_wrong_call_is_2_and_says_what_to_do(arguments, said, parts, tmp_path, capsys):
    run(["cube", str(parts[0]), *ROLES, "-o", str(tmp_path / "good.cube"), "-q"])
    places = {"part": parts[0], "cube": tmp_path / "good.cube", "folder": tmp_path}
    assert run([text.format(**places) for text in arguments]) == 2
    assert said in capsys.readouterr().err


# --- damaged files


def spoil(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.fixture
def damaged(tmp_path) -> list[str]:
    """Four Parquet files, of which the third is cut short."""
    paths = []
    for i in range(4):
        (tmp_path / str(i)).mkdir()
        paths.append(FILES["parquet"](columns(i), tmp_path / str(i)).rename(tmp_path / f"part-{i}.parquet"))
    spoil(paths[2])
    return [str(path) for path in paths]


@pytest.mark.parametrize("command", ["cube", "audit"])
def test_a_damaged_part_is_named_and_nothing_is_written(command, damaged, tmp_path, capsys):
    output = tmp_path / ("x.cube" if command == "cube" else "x.json")
    assert run([command, *damaged, *ROLES, "-o", str(output)]) == 2
    said = capsys.readouterr().err
    assert "part-2.parquet" in said
    assert "part-1.parquet" not in said
    assert "1 of 4 files cannot be read" in said
    assert "--skip-bad" in said
    assert not output.exists()


def test_skip_bad_leaves_it_out_and_says_so_everywhere(damaged, tmp_path, capsys):
    cube = tmp_path / "x.cube"
    assert run(["cube", *damaged, *ROLES, "-o", str(cube), "--skip-bad"]) == 0
    assert "1 of 4 files could not be read and were left out" in capsys.readouterr().out
    found = Cube.load(cube)
    assert found.size == 2400
    for source in ([str(cube)], [*damaged, *ROLES, "--skip-bad"]):
        outputs = [tmp_path / f"x.{suffix}" for suffix in ("html", "json", "md", "xml")]
        run(["audit", *source, *(word for output in outputs for word in ("-o", str(output)))])
        assert "part-2.parquet" in capsys.readouterr().out
        for output in outputs:
            assert "part-2.parquet" in output.read_text(encoding="utf-8"), output
        assert any("left out" in note for note in Audit.load(tmp_path / "x.json").notes)


def test_damaged_cubes_are_named_and_left_out_alike(parts, tmp_path, capsys):
    days = []
    for i, path in enumerate(parts):
        days.append(str(tmp_path / f"day-{i}.cube"))
        run(["cube", str(path), *ROLES, "-o", days[-1], "-q"])
    spoil(Path(days[1]))
    assert run(["audit", *days]) == 2
    assert "day-1.cube" in capsys.readouterr().err
    assert run(["audit", *days, "--skip-bad"]) in (0, 1, 3)
    assert "day-1.cube" in capsys.readouterr().out
    assert run(["watch", *days]) == 2
    assert "day-1.cube" in capsys.readouterr().err


def test_when_every_file_is_damaged_nothing_is_left(damaged, capsys, tmp_path):
    for path in damaged:
        if "part-2" not in path:
            spoil(Path(path))
    assert run(["cube", *damaged, *ROLES, "-o", str(tmp_path / "x.cube"), "--skip-bad"]) == 2
    assert "None of the files can be read" in capsys.readouterr().err


def test_what_is_wrong_with_values_is_not_skipped(parts, tmp_path, capsys):
    parts[1].write_text(csv_text({**columns(1), "d": ["perhaps"] * 800}), encoding="utf-8")
    assert run(["cube", *map(str, parts), *ROLES, "-o", str(tmp_path / "x.cube"), "--skip-bad"]) == 2
    assert "'perhaps'" in capsys.readouterr().err


# --- interrupted


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_an_interrupt_leaves_nothing_and_keeps_what_was_there(parts, tmp_path, monkeypatch, capsys):
    output = tmp_path / "day.cube"
    run(["cube", str(parts[0]), *ROLES, "-o", str(output), "-q"])
    before, known = output.read_bytes(), left_in(tmp_path)

    def interrupt(*_given):
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.core.files.os.replace", interrupt)
    assert run(["cube", *map(str, parts), *ROLES, "-o", str(output)]) == 130
    assert output.read_bytes() == before
    assert left_in(tmp_path) == known
    capsys.readouterr()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a process cannot be killed like that here")
def test_a_killed_process_leaves_no_half_cube(parts, tmp_path):
    output = tmp_path / "day.cube"
    code = (
        "import os, signal, sys; import evenhand.core.files as whole\n"
        "whole.os.replace = lambda *given: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from evenhand.cli import main; main(sys.argv[1:])"
    )
    given = ["cube", *map(str, parts), *ROLES, "-o", str(output)]
    for there in (False, True):
        if there:
            run([*given, "-q"])
        before = output.read_bytes() if there else None
        done = subprocess.run([sys.executable, "-c", code, *given], check=False, capture_output=True, timeout=120)
        assert done.returncode == -signal.SIGKILL
        assert (output.read_bytes() if there else None) == before
        assert output.exists() == there


# --- over time


@pytest.fixture
def months(tmp_path) -> list[str]:
    """Twelve cubes; from the fifth on the south is selected less often, by thirty points."""
    for i in range(1, 13):
        cube = Cube.count(columns(i, 0.3 if i > 4 else 0.0), label="y", prediction="d", sensitive="g")
        cube.save(tmp_path / f"month-{i}.cube")
    return [str(tmp_path / f"month-{i}.cube") for i in sorted(range(1, 13), key=str)]  # as a shell sorts them


def test_watch_prints_a_table_and_its_exit_code_is_the_alarm(months, tmp_path, capsys):
    assert run(["watch", *months, "--metric", "demographic_parity"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("Alarm: since month-")
    lines = [line.split()[0] for line in shown.splitlines() if line.lstrip().startswith("month-")]
    assert lines == [f"month-{i}" for i in range(1, 13)]
    early = [path for path in months if int(Path(path).stem.partition("-")[2]) <= 4]
    assert run(["watch", *early, "--metric", "demographic_parity"]) == 0
    assert capsys.readouterr().out.startswith("Alarm: none so far")
    assert run(["watch", str(tmp_path / "month-*.cube"), "-q", "--threshold", "equalized_odds=0.05"]) == 1
    assert capsys.readouterr() == ("", "")


def test_watch_saves_pictures_and_json(months, tmp_path, capsys):
    outputs = [tmp_path / f"trend.{suffix}" for suffix in ("html", "json", "md")]
    given = [word for output in outputs for word in ("-o", str(output))]
    assert run(["watch", *months, "--metric", "demographic_parity", "--json", *given]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "fail"
    assert told["findings"][0]["panels"][0]["kind"] == "curve"
    assert Audit.load(outputs[1]).verdict == "fail"
    assert "over time" in outputs[1].read_text(encoding="utf-8")
    for output in outputs:
        assert "Evidence of a gap above 10 points" in output.read_text(encoding="utf-8")


def test_watch_compares_with_a_reference(months, capsys):
    run(["watch", *months, "--reference", "g=south", "--metric", "demographic_parity"])
    assert "is higher for" in capsys.readouterr().out


def test_environment_is_left_alone(months):
    before = dict(os.environ)
    run(["watch", *months, "-q"])
    assert dict(os.environ) == before
