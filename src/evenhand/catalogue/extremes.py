"""Worst-group metrics, one for each measure: "accuracy_group_min" is the accuracy of the group that has the least.

They are made when they are asked for, because there are twice as many as measures. A minimum is judged against a floor,
a maximum against a ceiling; neither has a threshold unless somebody sets one.
"""

from __future__ import annotations

from functools import cache

from evenhand.catalogue.metric import Metric
from evenhand.errors import EvenhandError
from evenhand.measures import find_measure
from evenhand.measures.indices import GroupExtreme

ENDINGS = {"_group_min": "min", "_group_max": "max"}


@cache
def find_extreme(name: str) -> Metric | None:
    """The metric of the least or the most that any group has of a measure; None where the name does not say so.

    >>> find_extreme("accuracy_group_min").title, find_extreme("accuracy") is None
    ('lowest accuracy of any group', True)
    """
    ending = next((each for each in ENDINGS if name.endswith(each)), None)
    if ending is None:
        return None
    try:
        measure = find_measure(name.removesuffix(ending))
    except EvenhandError:
        return None
    if measure.name == "count":
        return None  # which has no interval, and no people to be drawn from
    least = ENDINGS[ending] == "min"
    end = "lowest" if least else "highest"
    return Metric(
        f"{measure.name}{ending}",
        f"{end} {measure.title} of any group",
        "regression" if measure.tasks == {"regression"} else "own",
        index=GroupExtreme(
            measure,
            "min" if least else "max",
            needs=tuple(sorted(measure.needs)),
            any_number=measure.tasks == {"regression"},
        ),
        judged_on="floor" if least else "value",
        threshold=None,
        question=f"How {'low' if least else 'high'} is the {measure.title} of the group that has the {end}?",
        formula=f"{'min' if least else 'max'} over groups a of the {measure.title}",
        compares=(
            f"The {measure.title} of each group with a limit that holds for all of them: the {end} is judged. "
            "Its interval holds whichever group is truly the one."
        ),
    )
