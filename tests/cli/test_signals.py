"""A signal ends the program with 128 and its number, wherever it arrives, and leaves no half of a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evenhand.cli import run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

CALL = ["counterfactual", "people.csv", "--sensitive", "g", "--flip", "--prediction-function"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"{'AB'[i % 2]},{i},{i // 2 % 2}" for i in range(200)]
    Path("people.csv").write_text("g,x,y\n" + "\n".join(lines) + "\n")
    Path("waiting.py").write_text(
        "import pathlib, time\nready = pathlib.Path('ready')\n"
        "def wait():\n    if not ready.exists():\n        ready.touch()\n        time.sleep(60)\n"
    )
    return tmp_path


WAIT = "from waiting import wait; wait()"
PLACES = {
    "import": f"{WAIT}\ndef predict(table): return [1] * len(table)\n",
    "predict": f"def predict(table):\n    {WAIT}\n",
    "swallowed": f"def predict(table):\n    try:\n        {WAIT}\n    except BaseException: return [1] * len(table)\n",
    "another error": f"def predict(table):\n    try:\n        {WAIT}\n    except BaseException: raise SystemExit(0)\n",
    "numpy": (
        "import numpy as np, pathlib\ndef predict(table):\n    pathlib.Path('ready').touch()\n"
        "    while True: np.linalg.eigvals(np.random.rand(300, 300))\n"
    ),
}  # fmt: skip


@pytest.fixture
def started():
    """A function that starts the program; what still runs in the end is ended."""
    processes = []

    def start(*call: str, **options) -> subprocess.Popen:
        command = [sys.executable, "-m", "evenhand", *call]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options))
        return processes[-1]

    yield start
    for process in processes:
        with process:
            process.kill()


def when_ready(process: subprocess.Popen, ready: Path) -> None:
    end = time.monotonic() + 60
    while not ready.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    assert ready.exists(), process.communicate()


@pytest.mark.parametrize(
    ("place", "sent", "code"),
    [
        *((place, signal.SIGINT, 130) for place in PLACES),
        ("predict", signal.SIGTERM, 143),
        ("import", signal.SIGTERM, 143),
    ],
)
def test_a_signal_ends_the_program_with_its_code(place, sent, code, folder, started):
    Path("slow_model.py").write_text(PLACES[place])
    process = started(*CALL, "slow_model:predict", "-o", "x.html")
    when_ready(process, Path("ready"))
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert b"Traceback" not in err
    if place != "swallowed":
        assert out == b""
        assert not Path("x.html").exists()


@pytest.mark.parametrize("whom", ["program", "all"])
def test_a_signal_while_workers_fit(whom, folder, started):
    Path("slow_model.py").write_text(
        "from sklearn.linear_model import LogisticRegression\n"
        f"class Slow(LogisticRegression):\n    def fit(self, X, y):\n        {WAIT}\n"
    )
    call = ["replicate", "people.csv", "--label", "y", "--sensitive", "g", "--n-replicas", "4", "--n-jobs", "2"]
    process = started(
        *call,
        "--estimator",
        "slow_model:Slow",
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)])},
    )
    when_ready(process, Path("ready"))
    if whom == "all":
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
    else:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b""), err


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_server_is_ended_by_a_signal(sent, code, folder, started):
    assert run(["demo", "-o", "even.html"]) == 0
    process = started("serve", "even.html", "--no-browser")
    assert b"is at http://127.0.0.1" in process.stderr.readline()
    time.sleep(0.2)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, b"")
    assert b"Traceback" not in err


def test_a_signal_while_it_writes_to_a_reader_who_waits(started):
    process = started("demo", "--json")
    assert process.stdout.read(1) == b"{"
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    process.stdout.close()
    assert process.returncode == 130


def test_an_ignored_signal_stays_ignored(folder, started):
    Path("slow_model.py").write_text(
        "import pathlib, time\ndef predict(table):\n    pathlib.Path('ready').touch()\n    time.sleep(1)\n"
        "    return [int(g == 'A') for g in table['g']]\n"
    )
    process = started(
        *CALL,
        "slow_model:predict",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    when_ready(process, Path("ready"))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 1
