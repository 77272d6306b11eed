"""The way to compute on this machine: measured once, kept, read, and decided by the operator."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

from app.models.compute import ComputeChoice, ComputeScore, Products
from workers import autotuning as measurement
from workers import autotuning as room
from workers.autotuning import (
    FEWEST_ROUNDS,
    Autotuning,
    ForcedCompute,
    TooBusy,
    Work,
    busy_neighbours,
    choose,
    measured_scores,
    ways,
)

ALL = ways(("onednn", "torch"), (2, 1))
ASSUMED = ALL[0]
FREE = ForcedCompute()


class Times:
    """A clock that each piece of work moves on by a time of its own."""

    def __init__(self, seconds: Callable[[ComputeChoice, int], float]) -> None:
        self.now = 0.0
        self.done: list[ComputeChoice] = []
        self._seconds = seconds

    def work(self, way: ComputeChoice) -> Work:
        def work() -> None:
            self.now += self._seconds(way, len(self.done))
            self.done.append(way)

        return work

    def measure(self, works: Mapping[ComputeChoice, Work]) -> tuple[ComputeScore, ...]:
        return measured_scores(works, clock=lambda: self.now, neighbours=nullcontext)

    def autotuning(self, widths: tuple[int, int] = (128, 384)) -> Autotuning:
        return Autotuning("engine", widths, ALL, self.work)


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def steady(**seconds: float) -> Times:
    """Names a way by its products and threads, such as `torch1`."""
    return Times(lambda way, _: seconds.get(f"{way.products}{way.threads}", 0.01))


def test_the_fastest_way_is_chosen_once_and_read_from_then_on(tmp_path: Path) -> None:
    times = steady(torch1=0.004)
    found = choose(times.autotuning(), tmp_path / "compute", FREE, measure=times.measure)
    assert (found.products, found.threads) == ("torch", 1)
    measured_once = len(times.done)
    assert measured_once > 0
    again = choose(times.autotuning(), tmp_path / "compute", FREE, measure=times.measure)
    assert (again, len(times.done)) == (found, measured_once), "read, not measured"
    (file,) = (tmp_path / "compute").iterdir()
    kept = json.loads(file.read_text())
    assert [score["alone_s"] for score in kept["scores"]] == pytest.approx([0.01] * 3 + [0.004])
    assert [score["won"] for score in kept["scores"]] == [0, 0, 0, 1]


def test_another_width_and_another_version_are_measured_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = steady()
    for expected in (1, 2, 3):
        if expected == 3:
            monkeypatch.setattr(room, "VERSION", room.VERSION + 1)
        before = len(times.done)
        choose(times.autotuning((expected > 1, 9)), tmp_path, FREE, measure=times.measure)
        assert len(times.done) > before
        assert len(list(tmp_path.iterdir())) == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:9],
        lambda text: text.replace('"threads": 1', '"threads": 64'),
        lambda text: text.replace('"onednn"', '"mkl"'),
    ],
)
def test_a_file_that_does_not_fit_is_measured_anew(
    tmp_path: Path, damage: Callable[[str], str]
) -> None:
    times = steady(torch1=0.004)
    found = choose(times.autotuning(), tmp_path, FREE, measure=times.measure)
    (file,) = tmp_path.iterdir()
    file.write_text(damage(file.read_text()))
    before = len(times.done)
    assert choose(times.autotuning(), tmp_path, FREE, measure=times.measure) == found
    assert len(times.done) > before


@pytest.mark.parametrize("seconds", [0.0095, 0.01, 0.02])
def test_the_assumed_way_stays_unless_another_is_clearly_faster(
    tmp_path: Path, seconds: float
) -> None:
    times = steady(onednn1=seconds, torch1=seconds, torch2=seconds)
    assert choose(times.autotuning(), tmp_path, FREE, measure=times.measure) == ASSUMED


def test_a_way_that_is_faster_by_luck_is_not_chosen(tmp_path: Path) -> None:
    """The fastest of its rounds is fast, and every other one is slow."""
    times = Times(lambda way, done: 0.001 if way != ASSUMED and done % 16 > 8 else 0.01)
    assert choose(times.autotuning(), tmp_path, FREE, measure=times.measure) == ASSUMED
    scores = json.loads(next(tmp_path.iterdir()).read_text())["scores"]
    assert any(score["alone_s"] < 0.002 for score in scores[1:])


@pytest.mark.parametrize(
    ("products", "threads", "expected", "measures"),
    [
        ("onednn", None, ("onednn", 1), True),
        (None, 2, ("torch", 2), True),
        (None, 3, ("torch", 3), True),
        ("onednn", 5, ("onednn", 5), False),
    ],
)
def test_what_the_operator_decides_is_no_candidate(
    tmp_path: Path,
    products: Products | None,
    threads: int | None,
    expected: tuple[Products, int],
    measures: bool,
) -> None:
    times = steady(onednn1=0.004, torch1=0.003, torch2=0.005, torch3=0.001)
    found = choose(
        times.autotuning(), tmp_path, ForcedCompute(products, threads), measure=times.measure
    )
    assert (found.products, found.threads) == expected
    assert bool(times.done) is measures
    assert all(products in (None, way.products) for way in times.done)
    assert all(threads in (None, way.threads) for way in times.done)


def test_without_a_directory_nothing_is_measured() -> None:
    times = steady(torch1=0.001)
    assert choose(times.autotuning(), None, FREE, measure=times.measure) == ASSUMED
    assert times.done == []


def test_on_a_busy_machine_the_assumed_way_is_kept(tmp_path: Path) -> None:
    times = steady(onednn2=2, onednn1=0.1, torch2=0.1, torch1=0.1)
    with pytest.raises(TooBusy):
        times.measure({way: times.work(way) for way in ALL})
    assert choose(times.autotuning(), tmp_path, FREE, measure=times.measure) == ASSUMED
    before = len(times.done)
    assert choose(times.autotuning(), tmp_path, FREE, measure=times.measure) == ASSUMED
    assert len(times.done) == before, "its bits are those of every later start"


def test_a_directory_that_cannot_be_written_changes_no_choice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    times = steady(torch1=0.004)
    found = choose(times.autotuning(), tmp_path / "file", FREE, measure=times.measure)
    assert (found.products, found.threads) == ("torch", 1)


def test_the_real_clock_and_real_neighbours_time_every_way() -> None:
    """A machine that is too busy for them answers so."""
    done: list[int] = []

    def work_of(number: int) -> Work:
        return lambda: done.append(number)

    works = {way: work_of(number) for number, way in enumerate(ALL)}
    try:
        scores = measured_scores(works)
    except TooBusy:
        return
    assert [score.choice for score in scores] == list(ALL)
    assert all(score.alone_s > 0 and score.beside_s > 0 for score in scores)
    assert min(done.count(number) for number in range(4)) >= 4 * FEWEST_ROUNDS


def test_neighbours_that_do_not_begin_are_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "TOO_LONG_S", 0.0)
    with pytest.raises(TooBusy), busy_neighbours():
        pass
