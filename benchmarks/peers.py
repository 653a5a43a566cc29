"""A virtual environment for each tool that a benchmark compares with, made on first use and kept in .peers/.

A peer never shares an environment, or a process, with evenhand: its own pins decide what it runs on. Run this file to
make all of them now; remove benchmarks/.peers to make them anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / ".peers"

# The data libraries are pinned as well, so that a ratio measured today can be measured again.
PEERS = {
    "fairlearn": (
        "fairlearn==0.15.0",
        "scikit-learn==1.9.1",
        "pandas==3.1.1",
        "pyarrow==26.0.1",
        "numpy==2.4.6",
    ),
    "aif360": ("aif360==0.6.1", "scikit-learn==1.9.1", "pandas==3.1.1", "numpy==2.4.6"),
    "aequitas": ("aequitas==1.1.0", "pandas==2.3.3", "numpy==2.4.6"),
    "error-parity": ("error-parity==0.3.12", "numpy==1.26.4"),
    "virny": ("virny==0.6.0", "scikit-learn==1.9.1", "pandas==3.1.1", "numpy==2.4.6"),
}


def python(name: str) -> Path:
    """The interpreter of a peer's environment, which is made when it is not there or its pins have changed."""
    home = FOLDER / name
    program = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = home / "pins.json"
    wanted = json.dumps(PEERS[name])
    if program.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return program
    print(f"making an environment for {name} in {home} ...", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
    install = [str(program), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PEERS[name]]
    subprocess.run(install, check=True)
    stamp.write_text(wanted, encoding="utf-8")
    return program


if __name__ == "__main__":
    for peer in PEERS:
        print(peer, python(peer))
