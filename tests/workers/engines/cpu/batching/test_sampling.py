import math

import numpy as np
import pytest
import torch

from tests.support.cases import cases
from workers.engines.cpu.batching.version_batch import draw, uniforms


def _draw(
    logits: torch.Tensor, **changes: list[float] | list[int]
) -> tuple[list[int], list[float]]:
    rows = logits.shape[0]
    settings: dict[str, list[float] | list[int]] = {
        "temperatures": [1.0] * rows,
        "top_ps": [1.0] * rows,
        "seeds": list(range(rows)),
        "positions": [0] * rows,
    }
    draws = draw(logits, **{**settings, **changes})  # type: ignore[arg-type]  # mypy cannot match a dict to the keywords
    return draws.token_ids, draws.logprobs


def test_uniforms_are_uniform_over_seeds_and_over_positions() -> None:
    for numbers in (
        uniforms(list(range(20_000)), [0] * 20_000),
        uniforms([7] * 20_000, list(range(20_000))),
        uniforms([2**63 - 1 - i for i in range(20_000)], [3] * 20_000),
    ):
        counts, _ = np.histogram(numbers, bins=50, range=(0, 1))
        chi_square = float(((counts - 400) ** 2 / 400).sum())
        assert chi_square < 94.0  # 49 degrees of freedom, p = 0.0001
        assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.03


def _split_mix(state: int) -> int:
    """Computes the published algorithm with Python integers."""
    mask = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
    return state ^ (state >> 31)


def test_uniforms_are_a_fixed_function_of_seed_and_position() -> None:
    # A resumed job must draw the same tokens as an uninterrupted one.
    seeds, positions = [0, 0, 1, 2**64 - 1], [0, 1, 0, 511]
    words = [
        _split_mix((_split_mix(seed) + position) % 2**64) >> 11
        for seed, position in zip(seeds, positions, strict=True)
    ]
    assert uniforms(seeds, positions).tolist() == [(word + 0.5) * 2.0**-53 for word in words]


def test_draws_follow_the_distribution() -> None:
    logits = torch.log(torch.tensor([0.5, 0.25, 0.15, 0.1]))
    rows = 20_000
    tokens, _ = _draw(logits.expand(rows, -1).clone())
    shares = np.bincount(tokens, minlength=4) / rows
    assert shares == pytest.approx([0.5, 0.25, 0.15, 0.1], abs=0.015)


def test_log_probs_are_of_the_tempered_distribution() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    tokens, logprobs = _draw(logits, temperatures=[0.5, 2.0])
    for row, temperature in enumerate((0.5, 2.0)):
        expected = torch.log_softmax(logits[row] / temperature, -1)[tokens[row]].item()
        assert logprobs[row] == pytest.approx(expected, abs=1e-6)


def test_temperature_zero_is_greedy_with_log_probs_at_temperature_one() -> None:
    logits = torch.tensor([[0.1, 3.0, 0.2]])
    tokens, logprobs = _draw(logits, temperatures=[0.0])
    assert tokens == [1]
    assert logprobs[0] == pytest.approx(torch.log_softmax(logits[0], -1)[1].item(), abs=1e-6)


def test_top_p_keeps_the_smallest_sufficient_set_and_renormalises() -> None:
    logits = torch.log(torch.tensor([0.1, 0.5, 0.3, 0.1])).expand(4000, -1).clone()
    tokens, logprobs = _draw(logits, top_ps=[0.7] * 4000)
    assert set(tokens) == {1, 2}
    expected = {1: math.log(0.5 / 0.8), 2: math.log(0.3 / 0.8)}
    for token, logprob in zip(tokens, logprobs, strict=True):
        assert logprob == pytest.approx(expected[token], abs=1e-5)


def test_only_what_can_be_drawn_is_named_beside_a_draw() -> None:
    logits = torch.log(torch.tensor([[0.1, 0.5, 0.3, 0.1]]))
    draws = draw(logits, temperatures=[1.0], top_ps=[0.7], seeds=[0], positions=[0])
    best = draws.best(0, 20)
    assert list(best) == [1, 2]
    assert list(best.values()) == pytest.approx([math.log(0.5 / 0.8), math.log(0.3 / 0.8)])


@cases("temperature", [0.0, 1e-300, 1e-39, 1e-30, 9e-6])
def test_a_temperature_too_small_to_divide_by_is_greedy(temperature: float) -> None:
    logits = torch.tensor([[9.0, 3.0, 9.5, -40.0], [9.0, 3.0, 9.5, -40.0]])
    tokens, logprobs = _draw(logits, temperatures=[temperature, 1e-5])
    assert tokens == [2, 2]
    assert logprobs[0] == pytest.approx(torch.log_softmax(logits[0], -1)[2].item(), abs=1e-6)
    assert logprobs[1] == 0.0


def test_greedy_has_no_nucleus() -> None:
    """With equal logits, a nucleus could exclude the greedy token."""
    logits = torch.zeros(1, 600)
    tokens, logprobs = _draw(logits, temperatures=[0.0], top_ps=[0.001])
    assert tokens == [0]
    assert logprobs == pytest.approx([-math.log(600)])


def test_an_impossible_token_is_never_drawn() -> None:
    logits = torch.tensor([[-math.inf, 0.0, -math.inf]]).expand(500, -1).clone()
    tokens, logprobs = _draw(logits)
    assert set(tokens) == {1}
    assert logprobs == [0.0] * 500


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    torch.manual_seed(0)
    logits = torch.randn(32, 300)
    together, _ = _draw(logits, positions=list(range(32)))
    alone = [_draw(logits[row : row + 1], seeds=[row], positions=[row])[0][0] for row in range(32)]
    assert together == alone
