"""Every command takes the options that it took in 0.1: names, types, defaults, how often.

Help texts may improve, and options may be added.
"""

from __future__ import annotations

import json
from typing import Any

import click
import pytest

from conftest import ROOT
from support.commands import COMMANDS as NOW

BEFORE = json.loads((ROOT / "tests" / "data" / "cli-options-0.1.json").read_text(encoding="utf-8"))


def described(parameter: click.Parameter) -> dict[str, Any]:
    kind: dict[str, Any] = {"name": parameter.type.name}
    if isinstance(parameter.type, click.Choice):
        kind["choices"] = list(parameter.type.choices)
    if isinstance(parameter.type, click.IntRange):
        kind |= {"min": parameter.type.min, "max": parameter.type.max}
    default: Any = parameter.default
    if default is False or "UNSET" in repr(default):  # how click says "none" differs from version to version
        default = None
    return {
        "name": parameter.name,
        "kind": parameter.param_type_name,
        "names": [*parameter.opts, *parameter.secondary_opts],
        "type": kind,
        "default": default if isinstance(default, (bool, int, float, str, type(None))) else str(default),
        "nargs": parameter.nargs,
        "required": parameter.required,
        "multiple": getattr(parameter, "multiple", False),
        "is_flag": getattr(parameter, "is_flag", False),
    }


def test_every_command_of_before_is_there():
    assert set(BEFORE) <= set(NOW)


@pytest.mark.parametrize("name", BEFORE)
def test_a_command_takes_the_options_of_before(name):
    today = [described(each) for each in NOW[name].params]
    assert [option for option in BEFORE[name] if option not in today] == []
    arguments = [each["name"] for each in today if each["kind"] == "argument"]
    assert arguments == [each["name"] for each in BEFORE[name] if each["kind"] == "argument"]


@pytest.mark.parametrize("name", NOW)
def test_every_option_is_explained(name):
    for parameter in NOW[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert parameter.help.endswith("."), parameter.help
