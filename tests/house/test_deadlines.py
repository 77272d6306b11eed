from pathlib import Path

import pytest

from tests.house import deadlines


def test_no_test_depends_on_the_speed_of_the_machine() -> None:
    assert [str(each) for each in deadlines.findings()] == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("await asyncio.wait_for(child.wait(), timeout=5)", [1]),
        ("await asyncio.wait_for(child.wait(), 5)", [1]),
        ("await asyncio.wait_for(child.wait(), PATIENCE_S)", []),
        ("async with asyncio.timeout(20):\n    pass", [1]),
        ("process.wait(timeout=20)", [1]),
        ("assert event.wait(5)", [1]),
        ("await asyncio.wait([task], timeout=0.2)", []),
        ("wait_for(done, timeout_s=10, what='the end')", [1]),
        ("wait_until_final(client, job, timeout_s=600)", []),
        ("assert time.monotonic() - began < 5", [1]),
        ("assert time.monotonic() - began >= 2", []),
        ("assert 0.3 <= time.perf_counter() - began < 2", [1]),
        ("took = time.monotonic() - began\nassert took < limit", [2]),
        ("took = time.monotonic() - began\nassert 8 > took", [2]),
        ("assert count < 5", []),
        ("client.wait(job, timeout_s=0)", []),
    ],
)
def test_a_short_deadline_and_an_upper_limit_are_found(source: str, lines: list[int]) -> None:
    assert [each.line for each in deadlines.find(Path("x.py"), source)] == lines
