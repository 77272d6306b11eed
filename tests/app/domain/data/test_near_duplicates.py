"""Prompts that are nearly the same are of one cluster, in every script and of any length."""

from itertools import combinations
from random import Random
from statistics import fmean

import pytest

from app.files import division as room
from app.files.division import near_duplicates, pieces_of
from tests.support.cases import cases


def prompt(seed: int, words: int) -> list[str]:
    random = Random(seed)
    return [f"w{random.randrange(10**9)}" for _ in range(words)]


def clusters(texts: dict[str, str]) -> list[list[str]]:
    return near_duplicates({key: pieces_of(text) for key, text in texts.items()})


def near(words: list[str], changed: int) -> str:
    copy = list(words)
    for at in range(0, len(copy), len(copy) // changed):
        copy[at] = "changed"
    return " ".join(copy)


@cases("words", [40, 5_000])
def test_near_duplicates_of_any_length_are_found(words: int) -> None:
    texts = dict[str, str]()
    pairs = list[list[str]]()
    for number in range(5):
        own = prompt(number, words)
        texts |= {f"{number}": " ".join(own), f"{number} again": near(own, max(1, words // 40))}
        pairs.append([f"{number}", f"{number} again"])
    assert sorted(sorted(cluster) for cluster in clusters(texts)) == sorted(pairs)


def test_the_work_grows_with_the_texts_and_not_with_their_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashed = []
    signature = room._signature

    def counted(pieces: list[int]) -> object:
        hashed.append(len(pieces))
        return signature(pieces)

    monkeypatch.setattr(room, "_signature", counted)
    clusters({str(number): " ".join(prompt(number, 50_000)) for number in range(8)})
    assert hashed == [25_000] * 8


ENGLISH = [f"{one}{two}" for one in ("ba", "lo", "ki", "mu", "re") for two in "bcdfghklmnprst"]
CHINESE = [chr(0x4E00 + 37 * n) + chr(0x5000 + 41 * n) for n in range(70)]
THAI = ["บ้าน", "ที่", "น้ำ", "ไกล", "เดือน", "เมือง", "กี่", "จาก", "ถึง", "รถไฟ", "วันนี้", "ราคา"] + [
    chr(0x0E01 + n) + "า" + chr(0x0E20 + n % 20) for n in range(40)
]


@cases(("words", "space"), [(ENGLISH, " "), (CHINESE, ""), (THAI, "")], ids=["english", "zh", "th"])
def test_planted_near_duplicates_are_found_and_no_others(words: list[str], space: str) -> None:
    """Half of 200 prompts of 8 to 30 words come again: with another word or number, in full width,
    or with a word before them.
    """
    luck, texts, planted = Random(3), dict[str, str](), set[tuple[str, ...]]()
    for number in range(200):
        own = luck.choices(words, k=luck.randint(8, 30))
        texts[f"{number:03}"] = space.join(own)
        if number % 2:
            changed = list(own)
            changed[luck.randrange(len(own))] = luck.choice([luck.choice(words), "17", "4"])
            wide = "".join(chr(ord(letter) + 0xFEE0) if letter.isascii() and letter != " " else
                           letter for letter in space.join(own))  # fmt: skip
            again = [
                space.join(changed),
                f"{wide}!",
                f"{luck.choice(words)}{space}{space.join(own)}",
            ]
            texts[f"{number:03} again"] = luck.choice(again)
            planted.add((f"{number:03}", f"{number:03} again"))
    found = {pair for cluster in clusters(texts) for pair in combinations(sorted(cluster), 2)}
    assert len(found & planted) >= 0.98 * len(planted)
    assert len(found - planted) <= 0.01 * len(planted)


def test_a_bounded_sketch_estimates_the_share_of_common_pieces() -> None:
    """A text in the other one, with a header of twice its length, shares a third of the pieces."""
    errors = []
    for number in range(60):
        own = prompt(number, 300)
        header = prompt(1000 + number, 600)
        pieces = {
            name: pieces_of(" ".join(text), most=96)
            for name, text in (("own", own), ("with", [*header, *own]))
        }
        one, other = room._compared(pieces, "whole").values()
        errors.append(room._likeness(one, other) - 299 / 899)
    assert abs(fmean(errors)) < 0.03
