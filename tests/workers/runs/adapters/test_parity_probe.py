"""Tests which engines are taken to serve an adapter, with rounding of the size of bf16's."""

import math
import random

from tests.support.cases import cases
from workers.runs.publisher import ProbeSides, served_share, serves_the_adapter

TOKENS = 255


def _sides(
    *, noise: float, change: float, served: float, seed: int = 5
) -> tuple[ProbeSides, ProbeSides]:
    """Returns the sides under adapter and base. `noise`: mean difference by rounding, of which a
    third is new under the adapter; `served`: share of the change that the engine makes.
    """
    generator = random.Random(seed)

    def rounding(size: float) -> list[float]:
        return [generator.gauss(0, size * math.sqrt(math.pi / 2)) for _ in range(TOKENS)]

    base = [-generator.expovariate(1) for _ in range(TOKENS)]
    moved = rounding(change)
    of_engine = [a + b for a, b in zip(base, rounding(noise), strict=True)]
    more = rounding(noise / 3)
    adapted = ProbeSides(
        [a + b for a, b in zip(base, moved, strict=True)],
        [a + served * b + c for a, b, c in zip(of_engine, moved, more, strict=True)],
    )
    return adapted, ProbeSides(base, of_engine)


@cases("noise", [0.01, 0.05, 0.16])
@cases("change", [0.001, 0.1, 1.0])
def test_rounding_of_bf16_is_no_other_adapter(noise: float, change: float) -> None:
    assert serves_the_adapter(*_sides(noise=noise, change=change, served=1.0))


@cases("noise", [0.01, 0.05, 0.16])
@cases("change", [0.25, 1, 2, 5])
@cases("served", [0.0, 0.2])
def test_an_engine_that_ignores_a_change_is_found(
    noise: float, change: float, served: float
) -> None:
    """Also where the change of a token is a quarter of its rounding."""
    for seed in range(20):
        sides = _sides(noise=noise, change=change * noise, served=served, seed=seed)
        assert not serves_the_adapter(*sides), seed


def test_chance_refuses_no_engine() -> None:
    for seed in range(400):
        change = 0.05 * 1.02 ** (seed - 200)  # from a fiftieth of the noise to fifty times it
        assert serves_the_adapter(*_sides(noise=0.05, change=change, served=1.0, seed=seed)), seed


def test_an_adapter_that_changes_nothing_proves_nothing() -> None:
    adapted, of_base = _sides(noise=0.05, change=0.0, served=1.0)
    assert serves_the_adapter(adapted, of_base)
    assert math.isinf(served_share(adapted, of_base).error)


def test_another_adapter_of_the_same_size_is_found() -> None:
    assert not serves_the_adapter(*_sides(noise=0.05, change=0.5, served=-1.0))


def test_another_base_is_found() -> None:
    assert not serves_the_adapter(*_sides(noise=0.8, change=0.1, served=1.0))


def test_what_is_no_number_is_no_agreement() -> None:
    adapted, of_base = _sides(noise=0.01, change=0.1, served=1.0)
    broken = ProbeSides([math.nan, *adapted.trainer[1:]], adapted.engine)
    assert not serves_the_adapter(broken, of_base)
