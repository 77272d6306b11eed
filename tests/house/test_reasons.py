from pathlib import Path

import pytest

from tests.house import reasons


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = 1  # noqa: E501 - a long address\n", []),
        ("x = 1  # type: ignore[misc]  # celery has no types\n", []),
        ("x = 1  # noqa: E501, S603 - reason\ny = 2  # noqa: E501 - as above\n", []),
        ("x = 1  # noqa: E501\n", [1]),
        ("x = 1  # noqa\n", [1]),
        ("x = 1  # type: ignore[misc]\n", [1]),
        ("x = 1  # type: ignore\n", [1]),
        ("x = 1  # noqa: E501 - as above\n", [1]),
        ("x = 1  # noqa: E501 - why\n\ny = 2  # noqa: E501 - as above\n", [3]),
        ("x = 1  # noqa: E501 - why\ny = 2  # type: ignore[misc]  # as above\n", [2]),
        ("x = '# noqa: E501'\n", []),
        ("x = 1  # type: ignore[misc]  # noqa: E501\n", [1, 1]),
        ("x = 1  # type: ignore[misc]  # noqa: E501 - celery has no types\n", []),
        ("# ruff: noqa: E501\n", [1]),
        ("# ruff: noqa\n", [1]),
        ("# mypy: ignore-errors\n", [1]),
        ("# mypy: ignore-errors - generated\n", []),
        ("if x:  # pragma: no cover\n    pass\n", [1]),
        ("if x:  # pragma: no cover - Windows\n    pass\n", []),
        ("x = 1  # nosec: B101\n", [1]),
    ],
)
def test_an_ignore_without_its_own_reason_is_found(source: str, lines: list[int]) -> None:
    assert [each.line for each in reasons.find(Path("x.py"), source)] == lines
