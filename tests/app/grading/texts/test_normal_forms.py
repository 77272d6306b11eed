"""Normal forms of long texts, in pieces that let other threads run."""

import unicodedata
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graders import texts as normal_forms
from app.graders.answer_words import MAX_MARKS, PIECE, has_long_run_of_marks, pieces
from app.graders.texts import NormalForm, length_normalised, normalised_text, words
from tests.support.cases import cases

# Letters, marks of several classes, syllables and their parts, vowel signs, and ligatures.
ALPHABET = (
    "a\u00e9\u1e69\u0301\u0316\u0323\u0f73\u1100\u1161\u11a8\uac00"
    "\u09c7\u09be\ufdfa\uff76\uff9e\u2126"
)


@given(
    text=st.text(st.sampled_from(ALPHABET) | st.characters(exclude_categories=["Cs"]), max_size=40),
    size=st.integers(1, 6),
    form=st.sampled_from(get_args(NormalForm)),
)
def test_pieces_have_the_normal_form_of_the_text(text: str, size: int, form: NormalForm) -> None:
    cut = list(pieces(text, size))
    assert "".join(cut) == text
    if not has_long_run_of_marks(text):
        joined = "".join(unicodedata.normalize(form, piece) for piece in cut)
        assert joined == unicodedata.normalize(form, text)


@cases("first", ["", "\u09be", "\u1100", "\u1100\u1161\u11a8"])
@cases("text", ["\u09c7\u09be", "\u1100\u1161\u11a8", "\u1161\u11a8"])
@cases("size", [1, 2, 5])
def test_letters_that_join_are_not_cut_apart(first: str, text: str, size: int) -> None:
    long = first + text * 2 * MAX_MARKS
    for form in get_args(NormalForm):
        joined = "".join(unicodedata.normalize(form, piece) for piece in pieces(long, size))
        assert joined == unicodedata.normalize(form, long)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of the texts that one call of the interpreter normalises or counts."""
    lengths: list[int] = []
    words("\u00e9")  # makes the pattern of words, which is kept

    class Watched:
        @staticmethod
        def normalize(form: Any, text: str) -> str:
            lengths.append(len(text))
            return unicodedata.normalize(form, text)

    monkeypatch.setattr(normal_forms, "unicodedata", Watched)
    return lengths


@pytest.mark.parametrize("text", ["\ufdfa", "\u1161", "a\u0301", "\u0316\u0301"])
def test_no_call_holds_the_interpreter_for_a_long_text(text: str, at_once: list[int]) -> None:
    long = text * (3 * PIECE // len(text))
    assert len(normalised_text("NFKC", long)) > 0
    assert len(at_once) > 2
    assert max(at_once) <= PIECE + MAX_MARKS


def test_the_length_counts_each_character_in_its_form() -> None:
    assert length_normalised("NFKC", "\ufdfa" * 3 + "ab" * PIECE) == 54 + 2 * PIECE
    assert length_normalised("NFC", "\ufdfa" * 3) == 3


def test_words_of_a_run_of_marks_sort_few_of_them_at_a_time(at_once: list[int]) -> None:
    """A whole run would be sorted in quadratic time, with the interpreter held."""
    assert words("a" + "\u0316\u0301" * 1000) != []
    assert max(at_once) <= 1 + MAX_MARKS


@pytest.mark.parametrize("at", [0, 1, PIECE - MAX_MARKS - 1, PIECE - MAX_MARKS, PIECE - 1, PIECE])
def test_a_long_run_of_marks_is_found_wherever_pieces_meet(at: int) -> None:
    before = "\u6f22" * at
    assert has_long_run_of_marks(f"{before}{(MAX_MARKS + 1) * chr(0x301)}")
    assert not has_long_run_of_marks(f"{before}{MAX_MARKS * chr(0x301)}a" * 2)
