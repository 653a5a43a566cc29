"""A policy as a TOML file: read with the standard library, written with a comment for every key."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from evenhand.core import cover as covers
from evenhand.core.cover import Cover
from evenhand.core.files import write_text
from evenhand.core.wording import clean
from evenhand.errors import CallError, Problems, either, nearest, short_path, shorten
from evenhand.sources.spelling import spelling
from evenhand.verdicts import rule as rules
from evenhand.verdicts.data_table import TABLE, check_table, names_a_file, read_toml, template
from evenhand.verdicts.policy import SHIPPED, Policy
from evenhand.verdicts.rule import Rule

_WIDTH = 100
NONE = "none"  # TOML has no null

# What each key means and, where it may be unset, an example. The order is that of the file; tables come last.
_KEYS: dict[str, tuple[str, str]] = {
    "metrics": (
        'Which metrics to compute: names, or "all" that the data allows. Unset: a core set of about a dozen.',
        '["equalized_odds"]',
    ),
    "required": (
        "Which metrics decide. Unset: those named in metrics, else the one that fits the data (equalized odds\n"
        "where there are decisions and labels). [] judges nothing.",
        '["equalized_odds"]',
    ),
    "on": ('Where the metrics decide: on "single" attributes, on "intersections" of them, or on "all".', ""),
    "inconclusive": (
        'What a required finding that the data cannot settle counts as: "inconclusive", "fail" or "pass".',
        "",
    ),
    "familywise": (
        'Whether all findings that decide share the error of a fail ("audit"), or each "finding" has its own.',
        "",
    ),
    "confidence": ("Confidence of the intervals.", ""),
    "interval": ("How the intervals are made: simultaneous, percentile, basic, bca, bayes, newcombe, ...", ""),
    "draws": ("Number of draws, for intervals made of draws, and their seed.", ""),
    "random_state": ("", ""),
    "correction": ('Correction of the p-values for their number: "holm", "bonferroni", "bh", "by" or "none".', ""),
    "min_group_size": ("Groups with fewer people in a rate are shown, but are too small to support a pass.", ""),
    "min_group_share": ("Groups with a smaller share of all people are shown and not compared.", ""),
    "min_reference_share": (
        'With reference = "highest", the least share of people that others are measured by.',
        "",
    ),
    "small_groups": ('A pass that leaves small groups out: "note" names them, or it is "inconclusive".', ""),
    "missing_labels": (
        'Where labels are missing more often for one decision than for another: "bounds" asks of a pass that it\n'
        'holds whatever they are; "ignore" takes them as missing at random.',
        "",
    ),
    "intersections": (
        "Whether attributes are combined: true, false, or how many at most. Unset: up to three, in at most 64 sets.",
        "true",
    ),
    "reference": (
        'What groups are compared with: a group, "rest", "overall", "largest", "highest" or "lowest". Unset: the\n'
        "highest group with the lowest. By attribute, write a table [reference] at the end.",
        '"rest"',
    ),
    "notes": ("Sentences that every audit by this policy shows.", ""),
    "thresholds": (
        'The largest difference or the smallest ratio that is tolerated, by metric. "none" shows a metric and does\n'
        "not judge it.",
        "equalized_odds = 0.1",
    ),
    "judged_on": (
        'Whether a metric is judged on its "difference" or its "ratio", where not as usual.',
        'demographic_parity = "ratio"',
    ),
}


def resolve(policy: Any) -> Policy:
    """A policy from whatever names it: itself, a policy of the package, a path, or None for the defaults."""
    if policy is None:
        return Policy()
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, (str, Path)):
        raise CallError(
            f"policy={shorten(repr(policy))} must be a Policy, the name of one ({either(SHIPPED)}), or the "
            "path of a TOML file."
        )
    if policy in SHIPPED:
        return SHIPPED[str(policy)]
    path = Path(policy)
    if isinstance(policy, str) and not names_a_file(policy):
        raise CallError(
            f"policy={shorten(policy)!r} is neither a policy of the package nor a file; {nearest(policy, SHIPPED)} "
            "evenhand policy init writes a file to start from."
        )
    return load(path)


def load(path: Path) -> Policy:
    """The policy in a file."""
    where, keys = repr(short_path(path)), read_toml(path, "a policy")
    check_table(keys.pop(TABLE, {}), where)
    return _settled(where, keys)


def _settled(where: str, keys: Mapping[str, Any]) -> Policy:
    """A policy from the keys of a file; all that is wrong with them is said at once, with the file's name."""
    keys = {**keys}
    report = keys.pop(covers.TABLE, None)
    known = {each.name for each in fields(Policy)} - {"cover"}
    problems = Problems()
    for key in keys:
        if key not in known:
            near = nearest(key, [*_KEYS, rules.TABLE, covers.TABLE, TABLE])
            problems.add(f"{where}: {shorten(key)!r} is not a key of a policy; {near}")
    policy = Policy()
    try:
        told = {key: _without_none(key, value) for key, value in keys.items() if key in known}
        policy = Policy(**told, cover={} if report is None else report)
    except CallError as error:
        for line in str(error).splitlines():
            if not re.fullmatch(r"\d+ problems:", line):
                problems.add(f"{where}: {line.removeprefix('- ')}")
    problems.raise_if_any(CallError)
    return policy


def _without_none(key: str, value: Any) -> Any:
    if key == "correction" and value == NONE:
        return None
    if key == "thresholds" and isinstance(value, Mapping):
        return {name: None if limit == NONE else limit for name, limit in value.items()}
    return value


def text(policy: Policy) -> str:
    """A policy as TOML with comments; `load` reads the same policy back."""
    lines, tables = ["# What an audit is judged by: evenhand audit ... --policy THIS_FILE", ""], []
    lines += _rule(policy.rule)
    for key, (comment, example) in _KEYS.items():
        value = getattr(policy, key)
        said = [f"# {line}" for line in comment.splitlines()]
        if isinstance(value, Mapping):
            entries = [f"{_key(name)} = {_value(item)}" for name, item in value.items()]
            tables += ["", *said, f"[{key}]", *(entries or [f"# {example}"])]
        elif value is None and key != "correction":
            lines += [*said, f"# {key} = {example}", ""]
        else:
            lines += [*said, f"{key} = {_value(value)}", *([] if key == "draws" else [""])]
    return "\n".join([*lines[:-1], *tables, "", *_report(policy.cover), "", *template()]) + "\n"


def _rule(rule: Rule | None) -> list[str]:
    """The rule that a policy follows, above all else; a screen is not legal advice, and the file says so."""
    if rule is None:
        return []
    told = {part.name: getattr(rule, part.name) for part in fields(rule)}
    lines = [f"{rules.TABLE}.{name} = {_value(value)}" for name, value in told.items() if value]
    return ["# The rule that it follows. This is a screen, and not legal advice.", *lines, ""]


def _report(cover: Cover) -> list[str]:
    """The table of the cover; what is not given stands as a comment, with an example."""
    lines = ["# What the makers of the audit say of it, for pages and forms. It changes no number and no verdict."]
    lines.append(f"[{covers.TABLE}]")
    told = cover.given()
    for part in fields(cover):
        lines += [f"# {part.metadata['about']}"] if part.metadata["about"] else []
        given, example = part.name in told, part.metadata["example"]
        lines.append(f"{part.name} = {_value(told[part.name])}" if given else f"# {part.name} = {example}")
    return lines


def save(policy: Policy, path: Path) -> None:
    """Write a policy, whole or not at all."""
    content = text(policy)
    try:
        write_text(path, content)
    except UnicodeEncodeError:
        raise CallError("the policy holds a character that no file in UTF-8 can: a lone surrogate.") from None


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    if value is None:
        return f'"{NONE}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Real):
        return str(int(value)) if isinstance(value, Integral) else repr(float(value))
    if isinstance(value, (tuple, list)):
        items = [_value(item) for item in value]
        if sum(map(len, items)) > _WIDTH:
            return "\n".join(["[", *(f"    {item}," for item in items), "]"])
        return f"[{', '.join(items)}]"
    if not isinstance(value, str) and hasattr(value, "measures"):
        raise CallError(f"{value.name} is a metric of your own, which a file cannot hold: pass it as metrics=[...].")
    # JSON's escapes are TOML's too. What a terminal would obey is escaped as well.
    return "".join(map(_visible, json.dumps(spelling(value), ensure_ascii=False)))


def _visible(mark: str) -> str:
    hidden = clean(mark) != mark and not "\ud800" <= mark <= "\udfff"  # a lone surrogate is an error of its own
    return f"\\U{ord(mark):08x}" if hidden else mark
