"""Damaged and hostile files: cut, shuffled, mixed with other bytes, or with one value replaced; drawn by a seed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import pandas as pd

from fuzz import calls, commands

Mutation = Callable[[bytes, Random], bytes]


def _piece(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randrange(len(data))
    return start, min(len(data), start + random.choice((1, 2, 8, 64, 512)))


def cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))]


def without_start(data: bytes, random: Random) -> bytes:
    return data[random.randrange(1, len(data)) :]


def lose(data: bytes, random: Random) -> bytes:
    start, end = _piece(data, random)
    return data[:start] + data[end:]


def double(data: bytes, random: Random) -> bytes:
    start, end = _piece(data, random)
    return data[:end] + data[start:]


def scramble(data: bytes, random: Random) -> bytes:
    start, end = _piece(data, random)
    return data[:start] + random.randbytes(end - start) + data[end:]


def swap(data: bytes, random: Random) -> bytes:
    a, b = sorted(random.sample(range(len(data)), 2))
    return data[b:] + data[a:b] + data[:a]


FOREIGN = (
    b"\0",
    b"\0" * 4096,
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xed\xb3\xbf",
    b"\r",
    b"\n",
    b'"',
    b"'",
    b",",
    b"{",
    b"[" * 5000,
    b"}",
    b"\\u0000",
    b"\\ud800",
    b"=cmd()",
    b"<script>",
    b"\x1b[2J",
    b"nan",
    b"1e999",
    b"9" * 400,
    b"-1",
    b"NaN",
    b"Infinity",
)


def insert(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(FOREIGN) + data[place:]


def replace_word(data: bytes, random: Random) -> bytes:
    """One word or number of a text in place of another."""
    words = list(re.finditer(rb"[\w.+-]+", data))
    if not words:
        return data + b"\0"
    chosen = random.choice(words)
    return data[: chosen.start()] + random.choice(FOREIGN) + data[chosen.end() :]


WHOLE = (
    b"",
    b"\n",
    b"\0" * 5000,
    b"{}",
    b"[]",
    b"null",
    b"PAR1",
    b"PAR1PAR1",
    b"ARROW1",
    b"\x1f\x8b\x08\0",
    b"digraph {}",
)


def other(_: bytes, random: Random) -> bytes:
    return random.choice(WHOLE)


MUTATIONS: tuple[Mutation, ...] = (cut, without_start, lose, double, scramble, swap, insert, replace_word, other)

LEAVES = (
    None,
    True,
    -1,
    0,
    10**400,
    1e308,
    "",
    "\0",
    "\udcff",
    "constructor",
    "__proto__",
    "infinite",
    "x" * 5000,
    [],
    {},
    [[[]]],
    {"constructor": 1},
    "</script>",
)


def replace_leaf(data: bytes, random: Random) -> bytes:
    """One value of a JSON document in place of another, or one key taken away."""
    document = json.loads(data)
    parts = list(_parts(document))
    holder, key = random.choice(parts)
    if random.random() < 0.2 and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = random.choice(LEAVES)
    return json.dumps(document).encode()


def _parts(document: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(document, (dict, list)):
        for key in list(document) if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from _parts(document[key])


LITERALS = (
    "nan",
    "-1",
    "0",
    "1e400",
    "9" * 400,
    "true",
    '""',
    '"constructor"',
    "[]",
    "{}",
    "[[1]]",
    "1979-05-27",
    '"\\u0000"',
    "[" * 2000,
)


def replace_setting(data: bytes, random: Random) -> bytes:
    """One value of a TOML file in place of another, or one key in place of another."""
    lines = data.decode().splitlines()
    settings = [i for i, line in enumerate(lines) if re.match(r"#? ?[\w\".-]+ *=", line)]
    i = random.choice(settings)
    name = lines[i].lstrip("# ").partition("=")[0].strip()
    if random.random() < 0.2:
        name = random.choice(("__proto__", '""', "a.b.c", name + name, '"' + "x" * 5000 + '"', "thresholds"))
    lines[i] = f"{name} = {random.choice(LITERALS)}"
    return "\n".join(lines).encode()


# --- the files, the commands that read them, and how they are mutated

BINARY = tuple(each for each in MUTATIONS if each is not replace_word)
DATA = commands.ROLES


def prepare() -> None:
    """Write one good file of each kind into the current folder, beside those of `commands.prepare`."""
    commands.prepare()
    table = pd.DataFrame(calls.TABLE)
    table.to_parquet("people.parquet")
    table.to_json("people.jsonl", orient="records", lines=True)
    table.to_feather("people.arrow")
    table.to_csv("people.csv.gz", index=False)
    calls.thresholds().save("thresholds.json")
    Path("model.dot").write_text('digraph { "group" -> exam [weight=2]; effort -> exam; // a comment\n }', "utf-8")


class Kind:
    """One kind of file: the good one, the command that reads it (`{}` is its path), and what may happen to it."""

    def __init__(
        self, group: str, file: str, call: str, mutations: tuple[Mutation, ...] = MUTATIONS, *, same: bool = False
    ) -> None:
        self.group, self.file, self.call, self.mutations = group, file, call, mutations
        self.same = same  # must a damaged file be refused, unless it says the same?
        self.name = call.format(file)

    def mutant(self, good: bytes, number: int) -> bytes:
        random = Random(crc32(f"{self.name} {number}".encode()))
        return self.mutations[number % len(self.mutations)](good, random)

    def arguments(self, path: str) -> list[str]:
        return [part.format(path) for part in self.call.split()]


ROLES = " ".join(DATA)
OWN = "--prediction-function=own_predictors:by_exam"
QUICK = "--label=label --sensitive=group --n-jobs=1"
JSON = (*MUTATIONS, replace_leaf, replace_leaf, replace_leaf)
TOML = (*MUTATIONS, replace_setting, replace_setting, replace_setting)
KINDS = [
    Kind("data files", "people.csv", f"audit {{}} {ROLES}"),
    Kind("data files", "people.csv.gz", f"audit {{}} {ROLES}", BINARY),
    Kind("data files", "people.parquet", f"audit {{}} {ROLES}", BINARY),
    Kind("data files", "people.jsonl", f"audit {{}} {ROLES}"),
    Kind("data files", "people.arrow", f"audit {{}} {ROLES}", BINARY),
    Kind("data files", "people.parquet", f"cube {{}} {ROLES} --output=out.cube --quiet", BINARY),
    Kind("data files", "people.csv", f"mitigate {{}} {ROLES} --method=thresholds --constraint=demographic_parity"),
    Kind("data files", "people.csv", "individual {} --features=score,amount --prediction=prediction"),
    Kind("data files", "shares.csv", "representation people.csv --benchmark=group={}"),
    Kind("data files", "answers.csv", "correspondence {} --unit=unit --sensitive=group --prediction=prediction"),
    Kind("data files", "replicas.csv", "stability {} --replicas-columns=p_* --label=label --sensitive=group"),
    Kind("data files", "causal.csv", f"counterfactual {{}} --sensitive=group --flip {OWN}"),
    Kind("data files", "people.csv", f"replicate {{}} --feature=amount --n-replicas=2 {QUICK}"),
    Kind("saved files", "before.json", "report {}", JSON, same=True),
    Kind("saved files", "before.json", "diff {} after.json", JSON, same=True),
    Kind("saved files", "jan.cube", "audit {}", BINARY, same=True),
    Kind("saved files", "jan.cube", "watch {} feb.cube", BINARY, same=True),
    Kind("saved files", "before.html", "serve {} --no-browser", BINARY),
    Kind("policies and graphs", "policy.toml", "policy show {}", TOML),
    Kind("policies and graphs", "policy.toml", f"audit people.csv {ROLES} --policy={{}}", TOML),
    Kind(
        "policies and graphs",
        "model.dot",
        f"counterfactual causal.csv --sensitive=group --graph={{}} --refits=2 --jobs=1 {OWN}",
    ),
]
EACH = 60
"""How many mutants of each kind are tried."""
