"""What log() writes to Weights & Biases in offline mode is read back from the file of the run, by wandb's own messages.

The file is a log of LevelDB: a header of seven bytes, then blocks of 32 KB that hold pieces of records.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import wandb
from wandb.proto import wandb_internal_pb2

import evenhand as eh
from evenhand.report.tracking import PAGE, figures, labels

_BLOCK, _FULL, _LAST = 32768, 1, 4


def records(folder: Path) -> list[wandb_internal_pb2.Record]:
    """The records of the one run."""
    (path,) = folder.rglob("*.wandb")
    content = path.read_bytes()
    assert content[:4] == b":W&B"
    found, whole, place = [], b"", 7
    while place + 7 <= len(content):
        if _BLOCK - place % _BLOCK < 7:  # no piece begins in the last bytes of a block
            place += _BLOCK - place % _BLOCK
            continue
        length, kind = struct.unpack_from("<HB", content, place + 4)
        whole += content[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (_FULL, _LAST):
            found.append(wandb_internal_pb2.Record.FromString(whole))
            whole = b""
    return found


def items(entries) -> dict[str, object]:
    return {each.key or "/".join(each.nested_key): json.loads(each.value_json) for each in entries}


def test_figures_tags_and_page_are_read_back(audit: eh.Audit, folder: Path):
    logged = eh.log(audit, to="wandb")
    found = records(folder)
    (history,) = [items(each.history.item) for each in found if each.WhichOneof("record_type") == "history"]
    assert {key: value for key, value in history.items() if not key.startswith("_")} == logged == figures(audit)
    summary: dict[str, object] = {}
    for each in found:
        if each.WhichOneof("record_type") == "summary":
            summary |= items(each.summary.update)
    assert labels(audit).items() <= summary.items()
    tags = [tag for each in found if each.WhichOneof("record_type") == "run" for tag in each.run.tags]
    assert f"evenhand: {audit.verdict}" in tags
    manifests = [each.request.log_artifact.artifact for each in found if each.request.HasField("log_artifact")]
    manifests += [each.artifact for each in found if each.WhichOneof("record_type") == "artifact"]
    (artifact,) = manifests
    assert (artifact.name, artifact.type) == ("evenhand-audit", "audit")
    (entry,) = artifact.manifest.contents
    assert entry.path == PAGE
    assert '<meta name="generator" content="evenhand">' in Path(entry.local_path).read_text(encoding="utf-8")


def test_the_run_that_is_under_way_is_used_and_left_open(audit: eh.Audit, folder: Path):
    run = wandb.init(project="p", tags=["mine"])
    eh.log(audit, to="wandb")
    assert wandb.run is run
    assert run.tags == ("mine", f"evenhand: {audit.verdict}")
    run.finish()
    assert len(list(folder.rglob("*.wandb"))) == 1
