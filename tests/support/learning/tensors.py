"""Compares the tensors of two trainers by name: each has all of the other's, and at least one."""

from collections.abc import Mapping

import torch
from torch import Tensor


def assert_equal(found: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """Compares to the bit."""
    assert found.keys() == expected.keys() != set()
    assert [name for name in expected if not torch.equal(found[name], expected[name])] == []


def assert_close(
    found: Mapping[str, Tensor], expected: Mapping[str, Tensor], *, rtol: float, atol: float
) -> None:
    assert found.keys() == expected.keys() != set()
    torch.testing.assert_close(dict(found), dict(expected), rtol=rtol, atol=atol)
