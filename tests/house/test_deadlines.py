from pathlib import Path

import pytest

from tests.house import deadlines


def test_no_test_depends_on_the_speed_of_the_machine() -> None:
    assert [str(each) for each in deadlines.violations()] == []


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
        ("wait_for(done, timeout_s=120)", [1]),
        ("async with timeout(120):\n    pass", [1]),
        ("await asyncio.to_thread(wait_for, done, timeout_s=60)", [1]),
        ("live._wait_for_step(job, 1, timeout_s=60)", [1]),
        ("pool(egress, timeout_s=0.3)", []),
        ("LIMIT_S = 20\nprocess.wait(LIMIT_S)", [2]),
        ("LIMIT_S: Final = 20.0\nprocess.wait(timeout=2 * LIMIT_S)", [2]),
        ("LIMIT_S = 20\nLIMIT_S = other()\nprocess.wait(LIMIT_S)", []),
        ("def end(process, limit_s=20):\n    process.wait(limit_s)", [2]),
        ("def end(process, *, limit_s: float = 20):\n    process.wait(limit_s)", [2]),
        ("def end(process, *, limit_s: float):\n    process.wait(limit_s)", []),
        ("subprocess.run(['x'], timeout=30)", [1]),
        ("process.communicate(timeout=30)", [1]),
        ("thread.join(5)", [1]),
        ("','.join(names)", []),
        ("connection.settimeout(5)", [1]),
        ("socket.create_connection(address, 5)", [1]),
        ("urllib.request.urlopen(url, timeout=5)", [1]),
        ("@pytest.mark.timeout(30)\ndef test(): ...", [1]),
        ("httpx.get(url, timeout=5)", [1]),
        ("httpx.get(url)", [1]),
        ("httpx.AsyncClient(base_url=url)", [1]),
        ("httpx.AsyncClient(transport=transport)", []),
        ("httpx.get(url, **options)", []),
        ("client.get(url)", []),
        ("OpenAI(timeout=0.5, max_retries=50)", []),
        ("give_up_at = time.monotonic() + 20", [1]),
        ("give_up_at = 20 + monotonic()", [1]),
        ("give_up_at = time.monotonic() + PATIENCE_S", []),
        ("for _ in range(9):\n    if done():\n        break\n    time.sleep(0.1)", [1]),
        ("for _ in range(9):\n    if done():\n        return\n    await asyncio.sleep(1)", [1]),
        ("for _ in range(9):\n    if done():\n        break\n    await asyncio.sleep(0)", []),
        ("for _ in range(9):\n    send()\n    time.sleep(0.1)", []),
        ("while not done():\n    time.sleep(0.1)", []),
        ("with pytest.raises(TimeoutError):\n    await asyncio.wait_for(never, 0.1)", []),
        ("with pytest.raises(subprocess.TimeoutExpired):\n    process.wait(1)", []),
        ("with pytest.raises(Unavailable):\n    wait_for(ended, timeout_s=60)", [2]),
    ],
)
def test_a_short_deadline_and_an_upper_limit_are_found(source: str, lines: list[int]) -> None:
    assert [each.line for each in deadlines.find(Path("x.py"), source)] == lines
