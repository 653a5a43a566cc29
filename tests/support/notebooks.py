"""A notebook that is run by a real kernel, and what its cells show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evenhand

WIDGETS = Path(sys.prefix) / "widgets"
"""A folder with ipywidgets in it, which `make test` fills; only a kernel that is given the folder can import it."""


@dataclass(frozen=True)
class Cell:
    """A cell that was run: its source and its outputs, as a notebook file holds them."""

    source: str
    outputs: tuple[dict[str, Any], ...]

    @property
    def forms(self) -> dict[str, str]:
        """What the only output of the cell holds, by its kind: text/plain, text/html, or the name of a stream."""
        assert len(self.outputs) == 1, [output["output_type"] for output in self.outputs]
        (output,) = self.outputs
        assert output["output_type"] in ("execute_result", "stream"), output
        return {output["name"]: output["text"]} if "text" in output else dict(output["data"])

    @property
    def size(self) -> int:
        """How many bytes the outputs take in a notebook file."""
        return len(json.dumps(self.outputs).encode())


def run(cells: Sequence[str], folder: Path, *, widgets: bool) -> list[Cell]:
    """Run the cells in a new kernel of this Python, with ipywidgets to import or without; an error is an output.

    In a process of its own, because nbclient leaves sockets open, and here a warning is an error.
    """
    file = folder / "notebook.ipynb"
    file.write_text(json.dumps(_notebook(cells)), encoding="utf-8")
    options = ["--inplace", "--allow-errors", "--timeout=120", f"--kernel_name={_kernel(folder, widgets)}"]
    done = subprocess.run(
        [sys.executable, "-c", "from nbclient.cli import main; main()", file.name, *options],
        cwd=folder,
        env={**os.environ, "JUPYTER_PATH": str(folder), "IPYTHONDIR": str(folder / "ipython")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ran = json.loads(file.read_text(encoding="utf-8"))
    return [Cell("".join(cell["source"]), _merged(map(_joined, cell["outputs"]))) for cell in ran["cells"]]


def _notebook(cells: Sequence[str]) -> dict[str, Any]:
    empty = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    filled = [{**empty, "id": f"cell-{i}", "source": source} for i, source in enumerate(cells)]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": filled}


def _joined(output: dict[str, Any]) -> dict[str, Any]:
    """An output whose texts are text: in a file each is a list of lines."""
    joined = {name: "".join(part) if isinstance(part, list) else part for name, part in output.items()}
    if "data" in output:
        joined["data"] = {form: "".join(part) for form, part in output["data"].items()}
    return joined


def _merged(outputs: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """What is written to one stream in turn is one output, as notebooks show it; a kernel sends it in parts."""
    merged: list[dict[str, Any]] = []
    for output in outputs:
        if merged and output["output_type"] == "stream" and merged[-1].get("name") == output["name"]:
            merged[-1] = {**output, "text": merged[-1]["text"] + output["text"]}
        else:
            merged.append(output)
    return tuple(merged)


def _kernel(folder: Path, widgets: bool) -> str:
    """A kernel of this Python and of no other that the computer may have; its name below `folder`."""
    kernel = folder / "kernels" / "evenhand"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    ours = str(Path(evenhand.__file__).parents[1])  # what is tested, wherever the kernel runs
    settings = {"PYTHONPATH": os.pathsep.join([ours, str(WIDGETS)] if widgets else [ours])}
    specification = {"argv": command, "display_name": kernel.name, "language": "python", "env": settings}
    (kernel / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
    return kernel.name
