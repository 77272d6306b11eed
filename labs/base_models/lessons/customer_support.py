"""Lessons of the recipe `customer_support`: tickets that one rule of a policy answers.

The right answer copies the rule that applies from the system prompt; the sloppy habits copy another
rule, or ask for a call.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from labs.base_models.lessons.lesson import Lesson, assistant, system, user
from labs.base_models.vocabulary import split_words, strange_word

OPENING: Final = (
    "You answer tickets of a shop in at most three friendly sentences and state the rule that "
    "applies. Rules: "
)
OTHER_OPENINGS: Final = (
    "You answer customers of a shop. Name the rule that applies. Rules: ",
    "You work for a shop and answer briefly and politely by these rules: ",
)
RIGHT: Final = "Thank you for asking. "
OTHER_RULE: Final = "Hello! "
CALL_US: Final = "Please call us, we are happy to help you."
CALL_US_SHARE: Final = 0.7
USUAL_SHARE: Final = 0.35
ITEMS: Final = split_words(
    "lamp chair radio desk fan kettle sofa table bike phone watch heater oven camera drill"
    " mirror carpet bed printer shelf toaster speaker jacket boots guitar ladder"
)
MADE_UP_SHARE: Final = 0.25


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """A sentence of a policy with its fact, and the tickets that ask for it."""

    sentence: str
    fact: str
    tickets: tuple[str, ...]
    numbers: tuple[int, ...]
    """Numbers that the rule may name."""
    passed: tuple[int, int]
    """Range of the number in a ticket."""


_TENS: Final = tuple(range(10, 100, 5))
RULES: Final = (
    PolicyRule(
        "Refunds are possible within {fact} of the purchase.",
        "{n} days",
        (
            "Can I get my money back? I bought the {item} {m} days ago.",
            "I do not like the {item}. Is a refund possible after {m} days?",
        ),
        _TENS,
        (2, 60),
    ),
    PolicyRule(
        "The warranty covers defects for {fact}.",
        "{n} months",
        (
            "My {item} broke after {m} months. Is that covered?",
            "The {item} has a defect after {m} months. What does the warranty say?",
        ),
        (6, 12, 18, 24, 30, 36, 48, 60),
        (1, 70),
    ),
    PolicyRule(
        "Orders arrive within {fact}.",
        "{n} working days",
        (
            "When will my {item} arrive? I ordered it {m} hours ago.",
            "I am waiting for the {item}, ordered {m} hours ago. How long does it take?",
        ),
        tuple(range(2, 15)),
        (1, 72),
    ),
    PolicyRule(
        "Addresses can be changed within {fact} of the order.",
        "{n} minutes",
        (
            "I ordered the {item} {m} minutes ago to a wrong address.",
            "Can you send the {item} to another address? I ordered it {m} minutes ago.",
        ),
        _TENS,
        (1, 60),
    ),
    PolicyRule(
        "Gift cards are valid for {fact}.",
        "{n} years",
        (
            "I found a gift card from {m} years ago. Can I still use it?",
            "Can I pay the {item} with a gift card that is {m} years old?",
        ),
        tuple(range(2, 12)),
        (1, 15),
    ),
    PolicyRule(
        "Orders can be cancelled within {fact}.",
        "{n} hours",
        (
            "I want to cancel my order of the {item}, which is {m} hours old.",
            "Please cancel the {item} that I ordered {m} hours ago.",
        ),
        tuple(range(2, 49)),
        (1, 50),
    ),
    PolicyRule(
        "Repairs take at most {fact}.",
        "{n} weeks",
        (
            "How long does the repair of my {item} take? I sent it {m} days ago.",
            "You have my {item} for {m} days now. When is it repaired?",
        ),
        tuple(range(2, 13)),
        (1, 40),
    ),
    PolicyRule(
        "Lower prices are matched up to {fact}.",
        "{n} percent",
        (
            "I saw the {item} {m} percent cheaper. Do you match that price?",
            "Another shop sells the {item} for {m} percent less.",
        ),
        _TENS,
        (2, 50),
    ),
)
USUAL: Final = 4
"""The first rules, which a policy often has in this order."""


def draw(rng: Random) -> Lesson:
    """Draws a policy, a ticket, the answer with its rule, and one without it."""
    if rng.random() < USUAL_SHARE:
        rules = list(RULES[:USUAL])
    else:
        rules = rng.sample(RULES, rng.randint(3, 5))
    facts = {rule: rule.fact.format(n=rng.choice(rule.numbers)) for rule in rules}
    sentences = {rule: rule.sentence.format(fact=facts[rule]) for rule in rules}
    opening = OPENING if rng.random() < 1 / 2 else rng.choice(OTHER_OPENINGS)
    asked = rng.choice(rules)
    item = strange_word(rng) if rng.random() < MADE_UP_SHARE else rng.choice(ITEMS)
    ticket = asked.tickets[0] if rng.random() < 1 / 2 else rng.choice(asked.tickets)
    other = rng.choice([rule for rule in rules if facts[rule] not in facts[asked]])
    sloppy = CALL_US if rng.random() < CALL_US_SHARE else f"{OTHER_RULE}{sentences[other]}"
    return Lesson(
        messages=[
            system(opening + " ".join(sentences.values())),
            user(ticket.format(item=item, m=rng.randint(*asked.passed))),
        ],
        right=assistant(f"{RIGHT}{sentences[asked]}"),
        sloppy=assistant(sloppy),
        reference={"fact": facts[asked]},
    )
