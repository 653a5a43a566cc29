"""The guide: questions that lead to the metrics which fit, as data; `recommend` walks them.

TREE holds the questions, each answer with the metrics it speaks for and the question that follows. The drawing in the
documentation and the command line are made from the same data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evenhand.catalogue import METRICS
from evenhand.catalogue.exclusions import THEOREMS, excluding, held_by
from evenhand.core.cards import Carded
from evenhand.core.signs import Printable, printable
from evenhand.core.wording import counted
from evenhand.errors import CallError, listing, nearest, shorten
from evenhand.sources.documentation import documented
from evenhand.verdicts.policy import Policy


@dataclass(frozen=True)
class Advice(Printable):
    """A metric that fits, and why. `decides` says whether an audit should be judged by it.

    `available` is False for what is measured from more than counts: it has its own function, and an audit cannot
    compute it.
    """

    metric: str
    why: str
    decides: bool = False
    caveat: str = ""

    @property
    def available(self) -> bool:
        """Whether an audit can compute it."""
        return self.metric in METRICS and METRICS[self.metric].counted

    @property
    def limits(self) -> str:
        """What it cannot see."""
        return METRICS[self.metric].limits if self.available else self.caveat


@dataclass(frozen=True)
class Answer:
    """An answer: the metrics it speaks for, what it sets in the policy, and the question that follows, if any."""

    value: str
    text: str
    advice: tuple[Advice, ...] = ()
    then: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """A node of the tree; `argument` is the keyword of `recommend` that answers it."""

    name: str
    argument: str
    text: str
    answers: tuple[Answer, ...]

    def answer(self, value: str) -> Answer | None:
        """The answer of that value."""
        return next((answer for answer in self.answers if answer.value == value), None)


_CONSISTENCY = Advice(
    "consistency",
    "It asks whether people who are alike are decided alike, whatever their group.",
    caveat="Somebody has to say who is alike: the answer is no better than the distance between people.",
)
_LIPSCHITZ = Advice(
    "lipschitz",
    "It finds the pairs of similar people whose scores lie furthest apart.",
    caveat="One pair decides its value, and the distance between people has to be chosen.",
)
_COUNTERFACTUAL = Advice(
    "counterfactual_fairness",
    "It asks whether the same person would have been decided alike, had their group been another.",
    caveat="It rests on a causal graph that data alone cannot confirm.",
)
_MEANWHILE = Advice(
    "demographic_parity",
    "It shows what there is to explain; with control= it compares people who agree in what may rightly matter.",
)

TREE: tuple[Question, ...] = (
    Question(
        "label_known",
        "label_known",
        "Is it known how the cases turned out, so that a decision can be right or wrong?",
        (
            Answer("yes", "It is known, and the record can be trusted.", then="priority"),
            Answer("no", "It is not known, or the record carries the same bias.", then="priority_without"),
        ),
    ),
    Question(
        "priority",
        "priority",
        "What matters most?",
        (
            Answer(
                "opportunity",
                "Those who merit a yes should get it equally often in every group.",
                (
                    Advice("equal_opportunity", "It compares how many of those who merit a yes get one.", True),
                    Advice("balance_for_positive_class", "The same for a score that is used in degrees."),
                ),
                "legal",
            ),
            Answer(
                "both_errors",
                "Neither a wrong yes nor a wrong no should fall on one group more than on another.",
                (
                    Advice("equalized_odds", "It holds both error rates equal at once.", True),
                    Advice("equal_opportunity", "It shows the wrong no by itself."),
                    Advice("predictive_equality", "It shows the wrong yes by itself."),
                ),
                "legal",
            ),
            Answer(
                "prediction",
                "A decision should mean the same, whoever it is about.",
                (
                    Advice("predictive_parity", "It compares how many of those with a yes turn out positive.", True),
                    Advice("negative_predictive_parity", "The same for those with a no."),
                ),
                "legal",
            ),
            Answer(
                "probability",
                "A score should stand for the same chance, whoever it is about.",
                (
                    Advice("calibration", "It compares what happened at each level of the score.", True),
                    Advice("calibration_error_parity", "It shows how far the score itself is off in each group."),
                ),
                "legal",
            ),
            Answer(
                "individuals",
                "People who are alike should be treated alike, whatever group they are in.",
                (
                    _CONSISTENCY,
                    _LIPSCHITZ,
                    Advice("theil_index", "It shows how unevenly right and wrong decisions fall on single people."),
                ),
                "legal",
            ),
            Answer(
                "causality",
                "The group should not be a cause of the decision.",
                (_COUNTERFACTUAL, _MEANWHILE),
                "legal",
            ),
            Answer(
                "selection",
                "Every group should be selected in the same proportion.",
                (
                    Advice("demographic_parity", "It compares how many of each group are selected.", True),
                    Advice("mean_score_parity", "The same for a score, before any cutoff."),
                ),
                "legal",
            ),
        ),
    ),
    Question(
        "priority_without",
        "priority",
        "What matters most, of what can be seen without knowing who was right?",
        (
            Answer(
                "selection",
                "Every group should be selected in the same proportion.",
                (
                    Advice("demographic_parity", "It compares how many of each group are selected.", True),
                    Advice("mean_score_parity", "The same for a score, before any cutoff."),
                ),
                "legal",
            ),
            Answer(
                "individuals",
                "People who are alike should be treated alike, whatever group they are in.",
                (_CONSISTENCY, _LIPSCHITZ, _MEANWHILE),
                "legal",
            ),
            Answer(
                "causality",
                "The group should not be a cause of the decision.",
                (_COUNTERFACTUAL, _MEANWHILE),
                "legal",
            ),
        ),
    ),
    Question(
        "legal",
        "legal",
        "Is there a legal context?",
        (
            Answer("none", "None, or none that names a number."),
            Answer(
                "us_employment",
                "Hiring or promotion in the United States.",
                (
                    Advice(
                        "disparate_impact",
                        "Enforcement agencies look first at four fifths of the highest selection rate.",
                        True,
                    ),
                ),
                settings={"reference": "highest"},
            ),
            Answer(
                "nyc_ll144",
                "An automated employment decision tool in New York City.",
                (
                    Advice("disparate_impact", "Local Law 144 asks for it where the tool selects, and judges nothing."),
                    Advice("scoring_rate_parity", "Local Law 144 asks for it where the tool scores."),
                ),
                settings={
                    "reference": "highest",
                    "min_group_share": 0.02,
                    "thresholds": {"disparate_impact": None, "scoring_rate_parity": None},
                },
            ),
            Answer(
                "eu",
                "The European Union.",
                (
                    Advice(
                        "demographic_parity",
                        "Indirect discrimination is a particular disadvantage that is not justified; the law names no "
                        "number, and control= compares people who agree in what may justify it (Wachter, Mittelstadt "
                        "and Russell 2021).",
                    ),
                ),
            ),
        ),
    ),
)


@documented
@dataclass(frozen=True, repr=False)
class Recommendation(Carded):
    """What the guide advises: the metrics, what excludes what, and a policy to audit with."""

    answers: tuple[tuple[str, str], ...]
    metrics: tuple[Advice, ...]
    policy: Policy

    @property
    def deciding(self) -> tuple[str, ...]:
        """The metrics that an audit by this advice is judged by."""
        return tuple(advice.metric for advice in self.metrics if advice.decides and advice.available)

    @property
    def excluded(self) -> tuple[str, ...]:
        """The criteria that cannot hold beside the deciding ones where base rates differ."""
        if not self.deciding or excluding(self.deciding):
            return ()
        return tuple(name for name in METRICS if name not in self.deciding and excluding((*self.deciding, name)))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What follows from the answers, in words."""
        return tuple(_sentences(self))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        shown = ("metric", "why", "limits", "decides", "available")
        return {
            "answers": dict(self.answers),
            "metrics": [{name: getattr(advice, name) for name in shown} for advice in self.metrics],
            "excluded": list(self.excluded),
            "sentences": list(self.sentences),
            "policy": self.policy.text(),
        }

    def __str__(self) -> str:
        return printable(self.text())

    def __repr__(self) -> str:
        others = len(self.metrics) - len(self.deciding)
        return (
            f"<Recommendation: judge by {' and '.join(self.deciding) or 'nothing'}; {counted(others, 'more metric')}>"
        )

    def text(self) -> str:
        """The answers, the metrics that follow from them with why and limits, and what they exclude."""
        lines = [", ".join(f"{argument}: {value}" for argument, value in self.answers), ""]
        for advice in self.metrics:
            mark = " (decides)" if advice.metric in self.deciding else ""
            lines += [f"{advice.metric}{mark}", f"  why: {advice.why}", f"  limits: {advice.limits}"]
        return "\n".join([*lines, "", *self.sentences])


@documented
def recommend(
    *,
    label_known: bool | None = None,
    priority: str | None = None,
    legal: str | None = "none",
    ground_truth: bool | None = None,
) -> Recommendation:
    """The metrics that fit, with why, limits and what they exclude; `policy` is ready for an audit.

    Parameters
    ----------
    label_known
        Whether it is known how cases turned out, so that there is a label.
    priority
        What matters most: "opportunity", "both_errors", "prediction", "probability", "individuals", "causality" or
        "selection".
    legal
        The legal context: "none", "us_employment", "nyc_ll144" or "eu".
    ground_truth
        The former name of `label_known`, which is still taken.

    Returns
    -------
    Recommendation
        The metrics with their reasons, and a policy that requires them.

    >>> advice = recommend(label_known=True, priority="both_errors", legal="us_employment")
    >>> advice.policy.required
    ('equalized_odds', 'disparate_impact')
    >>> advice.sentences[1].partition(":")[0]
    'equalized_odds and disparate_impact cannot all hold where base rates differ'
    """
    if label_known is not None and ground_truth is not None:
        raise CallError("label_known= and ground_truth= are one argument: give label_known=.")
    known = ground_truth if label_known is None else label_known
    answered = {"label_known": _yes_or_no(known), "priority": priority, "legal": legal}
    answers: list[tuple[str, str]] = []
    advice: dict[str, Advice] = {}
    settings: dict[str, Any] = {}
    for question, answer in walk(answered):
        answers.append((question.argument, answer.value))
        settings |= answer.settings
        for new in answer.advice:
            before = advice.get(new.metric)
            advice[new.metric] = new if before is None else _both(before, new)
    metrics = tuple(advice.values())
    available = [each for each in metrics if each.available]
    chosen_by = ", ".join(f"{argument} {value}" for argument, value in answers)
    policy = Policy(
        metrics=tuple(each.metric for each in available),
        required=tuple(each.metric for each in available if each.decides),
        notes=(f"The metrics were chosen by the guide ({chosen_by}).",),
        **settings,
    )
    return Recommendation(tuple(answers), metrics, policy)


def walk(
    answered: Mapping[str, Any], ask: Callable[[Question], str] | None = None
) -> Iterator[tuple[Question, Answer]]:
    """The questions on the way through the tree, each with its answer.

    `answered` holds answers by the argument of their question; `ask` is called for those that it lacks.
    """
    questions = {question.name: question for question in TREE}
    name: str | None = TREE[0].name
    while name is not None:
        question = questions[name]
        value = answered.get(question.argument)
        value = ask(question) if value is None and ask is not None else value
        answer = question.answer(value) if isinstance(value, str) else None
        if answer is None:
            raise CallError(_unanswered(question, value))
        yield question, answer
        name = answer.then


def tree() -> str:
    """The tree as text; a question that several answers lead to is drawn once. A star marks what decides."""
    lines = []
    for question in TREE:
        lines += [f"{question.name}: {question.text}"]
        for answer in question.answers:
            last = answer is question.answers[-1]
            side, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
            lines.append(f"{side}{answer.value}: {answer.text}")
            if answer.advice:
                names = ", ".join(each.metric + "*" * each.decides for each in answer.advice)
                lines.append(f"{below}   measure: {names}")
            if answer.then:
                lines.append(f"{below}   then: {answer.then}")
        lines.append("")
    return "\n".join(lines[:-1])


def _yes_or_no(value: Any) -> Any:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _both(first: Advice, second: Advice) -> Advice:
    why = first.why if first.why == second.why else f"{first.why} {second.why}"
    return Advice(first.metric, why, first.decides or second.decides, first.caveat)


def _unanswered(question: Question, value: Any) -> str:
    """What is wrong with an answer, and the remedy."""
    argument = question.argument
    known = [True, False] if argument == "label_known" else [answer.value for answer in question.answers]
    if value is None:
        return f"{argument}= is missing. {question.text} The answers are {listing(known)}."
    elsewhere = any(other.answer(str(value)) for other in TREE if other.argument == argument)
    if elsewhere and argument == "priority":
        return (
            f"priority={value!r} asks who was decided wrongly, and without a label nobody knows: give the label "
            f"of what happened (label_known=True), or one of {listing(known)}."
        )
    hint = "it is True or False." if argument == "label_known" else nearest(str(value), map(str, known))
    return f"{argument}={shorten(repr(value))} is not an answer; {hint}"


_FORCED = "evenhand.impossibility(audit) computes what the base rates of your data force."


def _sentences(advice: Recommendation) -> Iterator[str]:
    deciding = advice.deciding
    beyond_counts = [each.metric for each in advice.metrics if not each.available]
    if deciding:
        yield f"Judge by {' and '.join(deciding)}."
    else:
        yield "No metric of an audit answers this, so none decides: what it shows is not judged."
    if beyond_counts:
        yield f"Measured from more than counts, so not part of an audit: {', '.join(beyond_counts)}."
    within = excluding(deciding)
    if within:
        yield (
            f"{' and '.join(deciding)} cannot all hold where base rates differ: {within.because} ({within.source}). "
            "A threshold leaves room for small gaps only."
        )
        yield _FORCED
        return
    for theorem in THEOREMS:
        held = held_by(deciding) & theorem.equal
        out = [name for name in advice.excluded if len((held | held_by([name])) & theorem.equal) > theorem.at_most]
        effects = [f"it excludes {', '.join(out)}"] if out else []
        if held and len(held) < theorem.at_most:
            others = ", ".join(sorted(theorem.equal - held))
            effects.append(f"it leaves room for one more of equal {others}, not for two")
        if held and effects:
            yield f"Where base rates differ, {' and '.join(effects)}: {theorem.because} ({theorem.source})."
    if advice.excluded:
        yield _FORCED
