"""The reference's log-probs: asked once, kept in parts, taken up by the next claim."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from app.kit.objects import LocalObjects
from workers.learning.trainer import TrainingSample
from workers.methods.supervised.examples import (
    Example,
    ExampleRow,
    ExampleRows,
    Examples,
    ReferenceLogprobs,
)
from workers.runs.context import JobDirectories

ROWS = 7
LINE = (
    '{{"input": {{"messages": [{{"role": "user", "content": "{n}"}}]}}, '
    '"preferred_output": [{{"role": "assistant", "content": "a"}}], '
    '"non_preferred_output": [{{"role": "assistant", "content": "b"}}]}}'
)


class Counting:
    """Answers with what a token is, and counts the samples it was asked about."""

    def __init__(self) -> None:
        self.asked = 0

    def reference_logprobs(self, samples: Sequence[TrainingSample]) -> list[list[float]]:
        self.asked += len(samples)
        return [
            [-float(t) if m else 0.0 for t, m in zip(sample.tokens, sample.mask, strict=True)]
            for sample in samples
        ]


def _pair(row: ExampleRow) -> Example:
    chosen = TrainingSample([1, row.line, 3], [0, 1, 1], [0.0] * 3, 1.0)
    rejected = TrainingSample([1, 10 + row.line], [0, 1], [0.0] * 2, 1.0)
    return Example((chosen, rejected), cut=False)


@pytest.fixture
def examples(tmp_path: Path) -> Examples:
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(LINE.format(n=n) for n in range(ROWS)))
    return Examples(ExampleRows(path, "dpo", 100), _pair)


def _directories(root: Path) -> JobDirectories:
    """The stored parts, and the scratch directory of a new claim."""
    return JobDirectories(LocalObjects(root / "objects"), "kept", root / uuid4().hex)


def _nothing() -> None:
    pass


async def test_each_row_gets_its_own(examples: Examples, tmp_path: Path) -> None:
    model = Counting()
    references = ReferenceLogprobs(_directories(tmp_path), model, examples, part_rows=3)
    await references.fill(_nothing)
    for row, example in enumerate(examples):
        chosen, rejected = references.with_reference(row, example).samples
        assert list(chosen.logprobs) == [0.0, -float(row + 1), -3.0]
        assert list(rejected.logprobs) == [0.0, -float(row + 11)]
    assert model.asked == 2 * ROWS


async def test_a_killed_claim_leaves_its_parts(examples: Examples, tmp_path: Path) -> None:
    first, calls = Counting(), 0

    def killed_at_the_third_part() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        await ReferenceLogprobs(_directories(tmp_path), first, examples, part_rows=3).fill(
            killed_at_the_third_part
        )
    second = Counting()
    references = ReferenceLogprobs(_directories(tmp_path), second, examples, part_rows=3)
    await references.fill(_nothing)
    assert (first.asked, second.asked) == (12, 2), "no pair is asked about twice"
    chosen, _ = references.with_reference(0, examples[0]).samples
    assert list(chosen.logprobs) == [0.0, -1.0, -3.0]


@pytest.mark.parametrize("damage", ["garbage", "truncated", "no manifest", "empty", "other rows"])
async def test_only_a_damaged_part_is_computed_again(
    examples: Examples, tmp_path: Path, damage: str
) -> None:
    kept = tmp_path / "objects" / "kept"
    first = ReferenceLogprobs(_directories(tmp_path), Counting(), examples, part_rows=3)
    await first.fill(_nothing)
    part = kept / "part-00001"
    file = part / "logprobs.safetensors"
    match damage:
        case "garbage":
            file.write_bytes(b"no longer")
        case "truncated":
            file.write_bytes(file.read_bytes()[:-4])
        case "no manifest":
            (part / "manifest.json").unlink()
        case "empty":
            shutil.rmtree(part)
            part.mkdir()
        case _:
            shutil.rmtree(part)
            (kept / "part-00002").rename(part)  # whole, and of the last row only
    second = Counting()
    references = ReferenceLogprobs(_directories(tmp_path), second, examples, part_rows=3)
    await references.fill(_nothing)
    assert second.asked == (8 if damage == "other rows" else 6)
    for row, example in enumerate(examples):
        chosen, rejected = references.with_reference(row, example).samples
        assert list(chosen.logprobs) == [0.0, -float(row + 1), -3.0]
        assert list(rejected.logprobs) == [0.0, -float(row + 11)]
    third = Counting()
    await ReferenceLogprobs(_directories(tmp_path), third, examples, part_rows=3).fill(_nothing)
    assert third.asked == 0, "what was asked again is kept"
