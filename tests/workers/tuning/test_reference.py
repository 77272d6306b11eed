"""The reference's log-probs: asked once, kept in parts, taken up by the next claim."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from workers.learning.committed import ManifestMismatch
from workers.learning.samples import TrainingSample
from workers.tuning.examples import Example, Examples
from workers.tuning.reference import References
from workers.tuning.rows import TextRow, TextRows

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
            [-float(t) if m else 0.0 for t, m in zip(one.tokens, one.mask, strict=True)]
            for one in samples
        ]


def _pair(row: TextRow) -> Example:
    chosen = TrainingSample([1, row.line, 3], [0, 1, 1], [0.0] * 3, 1.0)
    rejected = TrainingSample([1, 10 + row.line], [0, 1], [0.0] * 2, 1.0)
    return Example((chosen, rejected), cut=False)


@pytest.fixture
def examples(tmp_path: Path) -> Examples:
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(LINE.format(n=n) for n in range(ROWS)))
    return Examples(TextRows(path, "dpo", 100), _pair)


def _nothing() -> None:
    pass


def test_each_row_gets_its_own(examples: Examples, tmp_path: Path) -> None:
    model = Counting()
    references = References(tmp_path / "kept", model, examples, part_rows=3)
    references.fill(_nothing)
    for row, example in enumerate(examples):
        chosen, rejected = references.with_reference(row, example).samples
        assert list(chosen.logprobs) == [0.0, -float(row + 1), -3.0]
        assert list(rejected.logprobs) == [0.0, -float(row + 11)]
    assert model.asked == 2 * ROWS


def test_a_killed_claim_leaves_its_parts(examples: Examples, tmp_path: Path) -> None:
    first, calls = Counting(), 0

    def killed_at_the_third_part() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        References(tmp_path / "kept", first, examples, part_rows=3).fill(killed_at_the_third_part)
    second = Counting()
    references = References(tmp_path / "kept", second, examples, part_rows=3)
    references.fill(_nothing)
    assert (first.asked, second.asked) == (12, 2), "no pair is asked about twice"
    chosen, _ = references.with_reference(0, examples[0]).samples
    assert list(chosen.logprobs) == [0.0, -1.0, -3.0]


def test_a_damaged_part_is_noticed(examples: Examples, tmp_path: Path) -> None:
    References(tmp_path / "kept", Counting(), examples).fill(_nothing)
    (part,) = (tmp_path / "kept").glob("part-*")
    (part / "logprobs.safetensors").write_bytes(b"no longer")
    with pytest.raises(ManifestMismatch):
        References(tmp_path / "kept", Counting(), examples).fill(_nothing)
