"""Carded: a result that a notebook shows as a card."""

from __future__ import annotations


class Carded:
    """A result that a notebook shows as a compact card, made of the same words and numbers as its text."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The card, where a notebook shows HTML."""
        from evenhand.report import cards

        return cards.html(self)
