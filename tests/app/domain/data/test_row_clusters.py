"""Clusters of rows: templates stay whole where they can, and are divided where they must be."""

import random
import re
from collections import Counter

from app.files.division import Division, RowClusters, StratifiedRow, cluster_and_divide, pieces_of
from tests.support.cases import cases

CITIES = ["Paris", "Rome", "Oslo", "Bern", "Lima", "Cairo", "Tokyo", "Quito", "Delhi", "Accra"]
CHINESE = ["巴黎", "罗马", "东京", "北京", "伦敦", "上海", "柏林"]
WORDS = [f"{one}{two}{three}" for one in "bdfgklm" for two in "aeiou" for three in "nrst"]


def divided(rows: list[tuple[str, str]]) -> tuple[RowClusters, Division]:
    """Divides rows with a tag; a text is its own key."""
    stratified = [StratifiedRow(text, (tag,)) for text, tag in rows]
    texts = {text: pieces_of(text) for text, _ in rows}
    return cluster_and_divide(stratified, texts, share=0.2)


@cases(
    ("template", "names", "held"),
    [
        ("How far is {a} from {b} in month {n}?", CITIES, 240),
        ("How far is {a} from {b} in month {n}?", CITIES[:3], 12),
        ("从{a}到{b}在{n}月有多远？", CHINESE, 108),
    ],
)
def test_rows_of_one_template_are_divided_by_more_than_their_numbers(
    template: str, names: list[str], held: int
) -> None:
    rows = [
        (template.format(a=a, b=b, n=n), "far") for a in names for b in names for n in range(1, 13)
    ]
    clustered, division = divided(rows)
    assert len(clustered.divided) == len(rows), "the report says that they are alike"
    assert len(division.held_out) == held
    without_number = [re.sub(r"\d+", "", text) for text, _ in rows if text in division.held_out]
    inside = [re.sub(r"\d+", "", text) for text, _ in rows if text not in division.held_out]
    assert set(without_number).isdisjoint(inside)
    assert set(Counter(without_number).values()) == {12}


def test_templates_stay_whole_where_there_are_enough() -> None:
    rows = [
        (f"{' '.join(WORDS[8 * t : 8 * t + 8])} number {n}", "any")
        for t in range(17)
        for n in range(7)
    ] + [(f"Alone {' '.join(WORDS[n : n + 9 : 2])} {WORDS[-n]}", "any") for n in range(3)]
    clustered, division = divided(rows)
    assert clustered.divided == frozenset()
    held = {text.partition(" number")[0] for text in division.held_out}
    assert len(division.held_out) == 24
    inside = {text.partition(" number")[0] for text, _ in rows if text not in division.held_out}
    assert held.isdisjoint(inside)


def test_each_tag_has_both_sides_though_its_rows_are_of_one_template() -> None:
    tags = ("refunds", "invoices", "greetings")
    rows = [(f"Ticket {n} about {tag}: what now?", tag) for tag in tags for n in range(25)]
    clustered, division = divided(rows)
    assert len(clustered.divided) == 75
    held = Counter(tag for text, tag in rows if text in division.held_out)
    assert held == dict.fromkeys(tags, 5)


def test_repeats_of_one_prompt_are_no_template() -> None:
    """Ten near-duplicates of forty rows stay together, though the held-out part has no room."""
    one = " ".join(WORDS[:40])
    rows = [(f"{one} {WORDS[60 + n]}", "any") for n in range(10)]
    rows += [(" ".join(random.Random(n).sample(WORDS, 20)), "any") for n in range(30)]
    clustered, division = divided(rows)
    assert max(map(len, clustered.clusters)) >= 10
    assert clustered.divided == frozenset()
    assert not [text for text in division.held_out if text.startswith(one)]


@cases(("prompts", "parts"), [(7, 1), (8, 8)])
def test_eight_prompts_are_a_template_and_seven_are_repeats(prompts: int, parts: int) -> None:
    cities = [f"How far is {city} from the place where I live?" for city in CITIES[:prompts]]
    others = [" ".join(random.Random(n).sample(WORDS, 20)) for n in range(10)]
    clustered, _ = divided([(text, "any") for text in cities * 5 + others])
    assert len(clustered.clusters) == len(others) + parts
    assert clustered.divided == frozenset(cities if parts > 1 else ())
