"""Prompts that are nearly the same are held out together, however long they are."""

from random import Random

import pytest

from app.domain.feedback import held_out
from app.domain.feedback.held_out import clusters


def prompt(seed: int, words: int) -> list[str]:
    random = Random(seed)
    return [f"w{random.randrange(10**9)}" for _ in range(words)]


def near(words: list[str], changed: int) -> str:
    copy = list(words)
    for at in range(0, len(copy), len(copy) // changed):
        copy[at] = "changed"
    return " ".join(copy)


@pytest.mark.parametrize("words", [40, 30_000])
def test_near_duplicates_of_any_length_are_found(words: int) -> None:
    texts = dict[str, str]()
    pairs = list[list[str]]()
    for number in range(12):
        own = prompt(number, words)
        texts |= {f"{number}": " ".join(own), f"{number} again": near(own, max(1, words // 40))}
        pairs.append([f"{number}", f"{number} again"])
    assert sorted(sorted(group) for group in clusters(texts)) == sorted(pairs)


def test_the_work_grows_with_the_texts_and_not_with_their_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashed = []
    signature = held_out._signature

    def counted(pieces: list[int]) -> object:
        hashed.append(len(pieces))
        return signature(pieces)

    monkeypatch.setattr(held_out, "_signature", counted)
    clusters({str(number): " ".join(prompt(number, 50_000)) for number in range(8)})
    assert hashed == [25_000] * 8
