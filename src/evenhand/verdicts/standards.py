"""STANDARDS: policies that ship with the package, as rules and practice read them. A screen, not legal advice."""

from __future__ import annotations

from evenhand.errors import CallError, nearest
from evenhand.verdicts.policy import Policy

# US practice: 29 CFR 1607.4(D) (1978) compares each group with the one of the highest rate at four fifths; Hazelwood
# School District v. United States, 433 U.S. 299 (1977), note 14, reads more than two or three standard deviations as
# more than chance, and Fisher's exact test stands in where numbers are small.
_FOUR_FIFTHS = Policy(
    metrics=("disparate_impact",),
    required=("disparate_impact",),
    thresholds={"disparate_impact": 0.8},
    reference="highest",
    notes=(
        "Four fifths is a rule of thumb of US enforcement agencies (29 CFR 1607.4(D)), read beside tests of "
        "significance and the facts of the case; it is no definition of discrimination.",
        "The tests take the most selected group as if it had been chosen beforehand. The intervals do not.",
    ),
)

# New York City Local Law 144 of 2021 and its rules, 6 RCNY 5-300 and 5-301 (2023).
_NYC_LL144 = Policy(
    metrics=("disparate_impact", "scoring_rate_parity"),
    thresholds={"disparate_impact": None, "scoring_rate_parity": None},
    on="all",
    reference="highest",
    min_group_share=0.02,
    notes=(
        "Local Law 144 asks for rates and impact ratios by sex, by race or ethnicity and by both together, and sets "
        "no threshold: nothing is judged here.",
        "The rule lets an auditor leave out categories under 2 % of the data, with a justification, their numbers and "
        "their rates; min_group_share = 0 keeps them in.",
    ),
)

STANDARDS: dict[str, Policy] = {"four-fifths": _FOUR_FIFTHS, "nyc-ll144": _NYC_LL144}


def find(name: str) -> Policy:
    """A policy by its name.

    >>> find("four-fifths").required
    ('disparate_impact',)
    >>> find("fourfifths")
    Traceback (most recent call last):
    evenhand.errors.CallError: there is no policy called 'fourfifths'; did you mean 'four-fifths'?
    """
    if not isinstance(name, str) or name not in STANDARDS:
        raise CallError(f"there is no policy called {name!r}; {nearest(str(name), STANDARDS)}")
    return STANDARDS[name]
