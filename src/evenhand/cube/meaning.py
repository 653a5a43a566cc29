"""Meaning: what the numbers of a cube stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from evenhand.core.records import NEWER
from evenhand.core.signs import Printable
from evenhand.sources.roles import Direction, Missing, Roles, Task


@dataclass(frozen=True)
class Meaning(Printable):
    """What the numbers of a cube stand for; two cubes can be added only if their meanings are equal."""

    sensitive: tuple[str, ...]
    control: tuple[str, ...] = ()
    label: str | None = None
    prediction: str | None = None
    score: str | None = None
    weight: str | None = None
    exposure: str | None = field(default=None, metadata=NEWER)
    cluster: str | None = field(default=None, metadata=NEWER)
    design_strata: str | None = field(default=None, metadata=NEWER)
    cutoff: float | None = None
    higher_is: Direction = "positive"
    positive: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bands: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    missing: Missing = "group"
    task: Task = "binary"

    @classmethod
    def from_roles(cls, roles: Roles, bands: Mapping[str, tuple[float, ...]]) -> Meaning:
        """What a count by these roles means; `bands` are those that the attributes were cut into."""
        same: dict[str, Any] = {part.name: getattr(roles, part.name) for part in fields(cls)}
        positive = {role: favourable.values for role, favourable in roles.positive.items()}
        return cls(**{**same, "positive": positive, "bands": bands})

    def differences(self, other: Meaning) -> list[str]:
        return [
            f"{part.name} is {getattr(self, part.name)!r} here and {getattr(other, part.name)!r} there"
            for part in fields(self)
            if getattr(self, part.name) != getattr(other, part.name)
        ]
