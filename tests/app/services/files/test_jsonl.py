import json
import random
import tracemalloc

import pytest

from app.files import service as jsonl
from app.files.service import MAX_BLANK_LINES, JsonlCheck
from app.kit.errors import InvalidRequest
from tests.support.cases import cases

SEEDS = [
    b'{"messages": [{"role": "user", "content": "a\\n\\u00e9\\ud83d\\ude00"}], "n": -1.5e+3}',
    b'{"a": [1, 0, -0, 1e9, true, false, null, {}, [], ""], "": {"b": {"c": "\\"\\\\\\/"}}}',
    '{"é": "日本語 😀", "x": [[[[]]]]}'.encode(),
]


def fault(content: bytes, purpose: str = "fine-tune", *, block: int = 1 << 20) -> str | None:
    check = JsonlCheck()
    for start in range(0, len(content), block):
        check.feed(content[start : start + block])
    check.end()
    try:
        check.check(purpose)
    except InvalidRequest as error:
        return error.message
    return None


def by_the_standard_library(line: bytes) -> bool:
    """The same question answered by building the value. Python's parser also takes NaN and halves
    of surrogate pairs, which are not JSON, and refuses integers of very many digits.
    """

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        value = json.loads(line.decode(), parse_constant=refuse, parse_int=float)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def test_the_skipping_parser_judges_like_the_building_one() -> None:
    chance = random.Random(20261121)
    accepted = 0
    for _ in range(15_000):
        line = bytearray(chance.choice(SEEDS))
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            index = chance.randrange(len(line))
            change = chance.randrange(3)
            if change == 0:
                line[index] = chance.choice(
                    b'{}[]",:\\/0123456789eE+-.truefalsn \t\x00\x1f\xff\xc3'
                )
            elif change == 1:
                del line[index]
            else:
                line[index:index] = line[chance.randrange(len(line)) :][: chance.randrange(1, 6)]
        if b"\n" in line or not line.strip():
            continue
        good = by_the_standard_library(bytes(line))
        assert (fault(bytes(line)) is None) == good, bytes(line)
        accepted += good
    assert 750 < accepted < 11_000


@cases("block", [1, 3, 7, 64])
def test_where_blocks_are_cut_changes_nothing(block: int) -> None:
    good = b"\xef\xbb\xbf" + b"\r\n".join(SEEDS) + b"\n\n" + SEEDS[0]
    assert fault(good, block=block) is None
    bad = fault(good + b"\n[1]\n{}", block=block)
    assert bad is not None
    assert "Line 6 is not a dictionary" in bad


def test_what_each_purpose_requires_is_its_own() -> None:
    for content in (b"", b"[]", b"\xff", b'{"a":1}\n' * 100_001):
        assert fault(content, "vision") is None
        assert fault(content) is not None
    assert fault(b'{"a":1}\n' * 100_001, "batch") is None


def test_a_line_without_end_is_not_kept() -> None:
    check = JsonlCheck()
    block = b'{"a": "' + b"x" * (1 << 20)
    tracemalloc.start()
    try:
        for _ in range(64):
            check.feed(block)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 << 20
    with pytest.raises(InvalidRequest, match="Line 1 is longer than 8388608 bytes"):
        check.check("evals")


def test_a_line_of_a_million_values_builds_none_of_them() -> None:
    line = b'{"a": [' + b"[]," * 2_000_000 + b"[]]}"
    check = JsonlCheck()
    tracemalloc.start()
    try:
        check.feed(line)
        check.end()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    check.check("fine-tune")
    assert peak < 4 * len(line)


def test_blank_lines_are_skipped_unparsed_and_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []
    read = jsonl._read

    def counted(line: bytes) -> object:
        parsed.append(line)
        return read(line)

    monkeypatch.setattr(jsonl, "_read", counted)
    blank = b"\n \r\n" * (MAX_BLANK_LINES // 2)
    assert fault(b"{}\n" + blank + b"{}") is None
    assert parsed == [b"{}", b"{}"]
    reported = fault(b"{}\n" + blank + b"\n{}", "evals")
    assert reported is not None
    assert reported.startswith(
        f"The file has more than {MAX_BLANK_LINES} blank lines. Line 200002 is"
    )
