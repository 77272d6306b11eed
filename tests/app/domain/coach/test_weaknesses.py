"""Weaknesses, slices and the choice of what is practised, by value."""

import random
from collections import Counter

import pytest

from app.graders.kinds.judges import ScoreModelGrader
from app.jobs.intervals import Scale, ScoreRanges, ranges_of
from app.teaching.coach.sessions import CoachGain, expected_gains, practice_rows, practice_slices
from app.teaching.coach.statistics import (
    Attempt,
    Measurement,
    PracticeRow,
    practice_row,
    share_limits,
)
from app.teaching.coach.weaknesses import TextSlices, find_weaknesses, slices_of
from tests.support.cases import cases

WORDS = {
    "refund": "Customer {n} wants a refund for a broken lamp",
    "invoice": "Print the invoice of order {n} as a document",
}


def _rows(count: int = 10, *, tagged: bool = True) -> list[PracticeRow]:
    return [
        PracticeRow(place * count + number, text.format(n=number), (tag,) if tagged else ())
        for place, (tag, text) in enumerate(WORDS.items())
        for number in range(count)
    ]


def _measured(rewards: dict[str, tuple[float, ...]], **more: object) -> Measurement:
    return Measurement(
        tuple(
            Attempt(f"{row.index}-{place}", row.index, reward, **more)  # type: ignore[arg-type]  # fields of a sample
            for row in _rows()
            for place, reward in enumerate(rewards[row.tags[0]])
        )
    )


def test_a_slice_that_lacks_score_is_a_weakness_with_an_interval() -> None:
    measured = _measured({"refund": (0.0, 0.5), "invoice": (1.0, 1.0)})
    [weak] = [each for each in find_weaknesses(measured, slices_of(_rows())) if each.kind == "tag"]
    assert (weak.name, weak.rows, weak.share, weak.mean) == ("refund", 10, 0.75, 0.25)
    assert weak.interval == share_limits(0.75, 10, tail=0.025 / 2)
    assert weak.examples == ("0-0", "1-0", "2-0")


def _session(
    luck: random.Random, *, lacking: float, planted: float | None = None
) -> tuple[list[PracticeRow], Measurement]:
    """Returns 50 rows of four tags with four attempts each. Turns run out in a fifth of the
    attempts, and a tool fails in the attempts at a third of the rows, whatever their score.
    """
    rows = [PracticeRow(n, "same", (f"tag{n % 4}",)) for n in range(50)]
    attempts = []
    for row in rows:
        lacks = lacking if planted is None or row.tags != ("tag0",) else planted
        fails = frozenset({"search"}) if luck.random() < 1 / 3 else frozenset[str]()
        chance = luck.betavariate(2 * lacks, 2 * (1 - lacks))
        for number in range(4):
            reason = "max_turns" if luck.random() < 0.2 else "final_answer"
            reward = float(luck.random() >= chance)
            attempts.append(
                Attempt(f"{row.index}-{number}", row.index, reward, reason, None, fails)
            )
    return rows, Measurement(tuple(attempts), ScoreRanges(Scale(0.0, 1.0)))


def test_chance_names_a_weakness_in_at_most_one_session_of_twenty() -> None:
    """All slices lack the share that is too small; a planted one of 0.5 is found."""
    luck, named = random.Random(14), Counter[str]()
    for _ in range(120):
        rows, measured = _session(luck, lacking=0.05)
        named["any"] += bool(find_weaknesses(measured, slices_of(rows)))
        rows, measured = _session(luck, lacking=0.02, planted=0.5)
        found = {each.name for each in find_weaknesses(measured, slices_of(rows))}
        named["planted"] += "tag0" in found
        named["others"] += bool(found - {"tag0"})
    assert named["any"] <= 6
    assert named["others"] <= 6
    assert named["planted"] >= 110


@cases(("rows", "attempts", "success"), [(100, 1, 0.1), (30, 8, 0.05)])
def test_kinds_are_no_weaknesses_where_hardly_any_attempt_succeeds(
    rows: int, attempts: int, success: float
) -> None:
    """All attempts of a kind without effect score 0 in many of these sessions."""
    draw, named = random.Random(3), 0
    for _ in range(120):
        made = [
            Attempt(
                f"{row}-{number}",
                row,
                float(draw.random() < success),
                "max_turns" if draw.random() < 0.2 else "final_answer",
            )
            for row in range(rows)
            for number in range(attempts)
        ]
        measured = Measurement(tuple(made), ScoreRanges(Scale(0, 1)))
        named += any(each.kind == "stop_reason" for each in find_weaknesses(measured, []))
    assert named <= 7


def test_one_high_score_is_no_ceiling() -> None:
    rewards = dict.fromkeys(range(40), 0.5) | {0: 100.0}
    attempts = tuple(Attempt(f"{row}", row, reward) for row, reward in rewards.items())
    rows = [PracticeRow(row, "same") for row in rewards]
    assert find_weaknesses(Measurement(attempts), slices_of(rows)) == ()
    assert Measurement(attempts).scale == Scale(0.0, 0.5)
    three = (*attempts, *(Attempt(f"{row}b", row, 2.0) for row in (1, 2)))
    assert Measurement(three).scale == Scale(0.0, 2.0)


def test_the_range_of_the_grader_is_the_scale() -> None:
    judge = ScoreModelGrader.model_validate(
        {
            "type": "score_model",
            "name": "judge",
            "model": "m",
            "range": [1, 5],
            "input": [{"role": "user", "content": "Rate it."}],
        }
    )
    assert ranges_of(judge) == ScoreRanges(Scale(1.0, 5.0))
    rows = [PracticeRow(row, "same") for row in range(20)]
    attempts = tuple(Attempt(f"{row.index}", row.index, 1.0) for row in rows)
    [found] = find_weaknesses(Measurement(attempts, ranges_of(judge)), slices_of(rows))
    assert (found.kind, found.share) == ("all", 1.0)
    [gain] = expected_gains(Measurement(attempts, ranges_of(judge)), slices_of(rows), unhelped={})
    assert gain.gain == 0.0, "practice learns from differences alone"


def test_kinds_of_attempts_are_weaknesses_too() -> None:
    measured = _measured(
        {"refund": (0.0, 1.0), "invoice": (0.0, 1.0)},
        stop_reason="max_turns",
        failed_tools=frozenset({"search"}),
        components={"polite": 0.0},
    )
    found = {(each.kind, each.name): each.share for each in find_weaknesses(measured, [])}
    assert found == {("stop_reason", "max_turns"): 1.0, ("failing_tool", "search"): 1.0}
    mixed = Measurement(
        tuple(
            Attempt(f"r{row}", row, float(row % 2), components={"polite": float(row % 2)})
            for row in range(20)
        )
    )
    [polite] = find_weaknesses(mixed, [])
    assert (polite.kind, polite.name, polite.share) == ("component", "polite", 0.5)


def test_rows_without_tags_are_divided_by_their_words() -> None:
    slices = TextSlices(_rows(tagged=False)).slices
    assert [each.rows for each in slices] == [tuple(range(10)), tuple(range(10, 20))]
    assert "refund" in slices[0].name or "lamp" in slices[0].name
    one = TextSlices([PracticeRow(n, f"Ticket {n} is late") for n in range(8)])
    assert one.slices == []


def test_the_expected_gain_is_the_documented_formula() -> None:
    measured = _measured({"refund": (0.0, 1.0), "invoice": (1.0, 1.0)})
    tags = [each for each in slices_of(_rows()) if each.kind == "tag"]
    refund, invoice = expected_gains(measured, tags, unhelped={})
    assert (refund.name, refund.weight, refund.headroom, refund.spread) == ("refund", 0.5, 0.5, 10)
    assert refund.gain == pytest.approx(0.5 * 0.5 * 11 / 12)
    assert invoice.gain == 0.0
    assert practice_slices((refund, invoice), least=0.02) == (refund,)
    assert practice_slices((refund, invoice), least=0.5) == ()
    twice = expected_gains(measured, tags, unhelped={"tag:refund": 2})
    assert twice[0].gain == pytest.approx(refund.gain / 4)


def test_practice_has_the_slice_and_a_quarter_of_others() -> None:
    rows = _rows(12)
    chosen = practice_rows(["tag:refund"], training=rows, held_out=rows)
    refunds = [index for index in chosen if index < 12]
    assert (len(refunds), len(chosen)) == (12, 16)
    few = [row for row in rows if row.index < 12 or row.index % 6 == 0]
    assert practice_rows(["tag:invoice"], training=few, held_out=few) == [row.index for row in few]


def test_slices_of_held_out_rows_find_training_rows() -> None:
    held_out = _rows(tagged=False)
    training = [
        PracticeRow(index, WORDS["invoice" if index % 2 else "refund"].format(n=90 + index))
        for index in range(40)
    ]
    name = TextSlices(held_out).slices[1].name
    chosen = practice_rows([f"cluster:{name}"], training=training, held_out=held_out)
    assert {index for index in range(40) if index % 2} <= set(chosen)
    assert len(chosen) == 27


@cases(
    ("tags", "read"),
    [(["b", "a", "a"], ("a", "b")), ("one", ("one",)), ([1, " "], ("1",)), (None, ())],
)
def test_tags_are_a_value_or_a_list_of_values(tags: object, read: tuple[str, ...]) -> None:
    content = [{"type": "text", "text": "Hello"}]
    row = {"messages": [{"role": "user", "content": content}], "tags": tags}
    assert practice_row(3, row) == PracticeRow(3, "Hello", read)


def test_similar_texts_of_a_tag_are_left_out() -> None:
    assert [each.key for each in slices_of(_rows())] == ["tag:invoice", "tag:refund"]
    assert {each.kind for each in slices_of(_rows(tagged=False))} == {"cluster"}
    [everything] = slices_of([PracticeRow(0, "hello"), PracticeRow(1, "hello")])
    assert (everything.kind, everything.rows) == ("all", (0, 1))


@cases(("lacking_of_10", "is_weak"), [(0.3, True), (0.29, False)])
def test_a_weakness_begins_at_an_interval_above_5_percent(
    lacking_of_10: float, is_weak: bool
) -> None:
    measured = _measured({"refund": (1 - lacking_of_10,), "invoice": (1.0,)})
    low, _ = share_limits(lacking_of_10, 10, tail=0.025 / 2)
    assert low == pytest.approx(0.0515 if is_weak else 0.0480, abs=2e-3)
    assert (low > 0.05) is is_weak
    found = find_weaknesses(measured, slices_of(_rows()))
    assert [(each.kind, each.name) for each in found] == ([("tag", "refund")] if is_weak else [])


def test_groups_with_half_of_the_best_gain_are_practised_with_it() -> None:
    gains = [
        CoachGain("tag", name, 10, 0.5, 0.4, 0.6, 5, gain)
        for name, gain in (("best", 0.3), ("half", 0.15), ("less", 0.149))
    ]
    assert [each.name for each in practice_slices(gains, least=0.02)] == ["best", "half"]
    assert practice_slices(gains, least=0.31) == ()


def _words_of(topic: str, count: int = 10) -> list[str]:
    return [topic + letter for letter in "abcdefghij"[:count]]


def _alike(topics: str) -> list[PracticeRow]:
    """Returns six rows of each topic, which share all of their ten words and no other's."""
    texts = [" ".join(_words_of(topic)) for topic in topics for _ in range(6)]
    return [PracticeRow(number, text) for number, text in enumerate(texts)]


@cases(("others", "cosine", "found"), [("xyz", 0.3162, [100]), ("wxyz", 0.2860, [])])
def test_a_row_joins_the_slice_from_a_cosine_of_0_3(
    others: str, cosine: float, found: list[int]
) -> None:
    words = [*_words_of("v", 3), *(word for other in others for word in _words_of(other, 2))]
    assert 3 / (10 * len(words)) ** 0.5 == pytest.approx(cosine, abs=1e-4)
    slices = TextSlices(_alike("vwxyz")).assigned([PracticeRow(100, " ".join(words))])
    assert [row for rows in slices.values() for row in rows] == found
    assert all("v" in name for name in slices)


def test_there_are_at_most_12_slices_by_text_and_no_row_is_lost() -> None:
    slices = TextSlices(_alike("abcdefghijklm")).slices
    assert sorted(len(each.rows) for each in slices) == [6] * 11 + [12]
    assert len({row for each in slices for row in each.rows}) == 78
