"""The held-out part of a curriculum: no leakage, all tags, and a choice that the seed decides."""

from collections import Counter
from typing import Any

from app.files.division import StratifiedRow, divide, near_duplicates, pieces_of
from tests.support.cases import cases

ROWS = [StratifiedRow(f"key{n}", (("easy", "hard")[n % 4 == 0],)) for n in range(200)]
ALONE = [[row.key] for row in ROWS]


def options(share: float = 0.2, seed: int = 0) -> Any:
    return {"share": share, "seed": seed}


def test_each_tag_gives_its_share() -> None:
    held = divide(ROWS, ALONE, **options()).held_out
    tags = Counter(row.tags for row in ROWS if row.key in held)
    assert tags == {("easy",): 30, ("hard",): 10}


def test_what_rounding_leaves_is_carried_to_the_next_tag() -> None:
    tags = "a" * 7 + "b" * 8 + "c" * 15
    rows = [StratifiedRow(f"key{n}", (tag,)) for n, tag in enumerate(tags)]
    held = divide(rows, [[row.key] for row in rows], **options(0.5)).held_out
    assert Counter(row.tags for row in rows if row.key in held) == {
        ("a",): 4, ("b",): 4, ("c",): 7,
    }  # fmt: skip


def test_a_tag_of_large_clusters_does_not_take_the_rows_of_another() -> None:
    large = [[StratifiedRow(f"{n} {at}", ("greeting",)) for at in range(100)] for n in range(3)]
    small = [[StratifiedRow(f"alone{n}", ("orders",))] for n in range(60)]
    clusters = [*large, *small]
    keys = [[row.key for row in cluster] for cluster in clusters]
    held = divide([row for cluster in clusters for row in cluster], keys, **options()).held_out
    assert len(held) == 13  # a fifth of 60, and what rounding may carry


def test_a_cluster_counts_for_its_most_frequent_tag() -> None:
    mixed = [[StratifiedRow(f"{n}{at}", (tag,)) for at, tag in enumerate("bba")] for n in range(10)]
    alone = [[StratifiedRow(f"alone{n}", ("a",))] for n in range(30)]
    rows = [row for cluster in [*mixed, *alone] for row in cluster]
    clusters = [[row.key for row in cluster] for cluster in [*mixed, *alone]]
    for seed in range(5):
        held = divide(rows, clusters, **options(seed=seed)).held_out
        assert sum(cluster[0].key in held for cluster in mixed) == 2
        assert sum(cluster[0].key in held for cluster in alone) == 6


def test_a_share_of_zero_holds_out_nothing() -> None:
    division = divide(ROWS, ALONE, **options(0))
    assert (division.held_out, division.reason) == (frozenset(), None)


@cases(("shared", "together"), [(14, True), (13, False)])
def test_prompts_are_alike_from_0_55_of_their_pieces(shared: int, together: bool) -> None:
    """Texts of 18 words have 17 pieces each; 13 common ones of 21 are more than that, 12 of 22
    less.
    """
    same = [f"same{n}" for n in range(shared)]
    texts = [" ".join([*same, *(f"{own}{n}" for n in range(18 - shared))]) for own in "xy"]
    clusters = near_duplicates({text: pieces_of(text) for text in texts})
    assert sorted(map(len, clusters)) == ([2] if together else [1, 1])


def test_a_cluster_is_never_cut() -> None:
    clusters = [[f"key{n}" for n in range(start, start + 8)] for start in range(0, 200, 8)]
    held = divide(ROWS, clusters, **options()).held_out
    assert len(held) == 40
    assert all(held.issuperset(cluster) or held.isdisjoint(cluster) for cluster in clusters)


def test_the_seed_decides_and_repeats_itself() -> None:
    first = divide(ROWS, ALONE, **options())
    assert divide(ROWS, ALONE, **options()) == first
    other = divide(ROWS, ALONE, **options(seed=1))
    assert other.held_out != first.held_out
    assert len(other.held_out) == len(first.held_out) == 40


@cases("rows", [1, 19, 20, 21, 37, 100, 199])
@cases("share", [0.01, 0.2, 0.5])
def test_both_files_are_large_enough_for_a_job(rows: int, share: float) -> None:
    division = divide(ROWS[:rows], ALONE[:rows], **options(share))
    held = len(division.held_out)
    if rows < 20:
        assert (held, division.reason is None) == (0, False)
    else:
        assert held == max(10, min(round(share * rows), rows - 10))


def test_no_more_than_a_job_reads_is_held_out() -> None:
    many = [StratifiedRow(f"key{n}", ()) for n in range(9_000)]
    division = divide(many, [[row.key] for row in many], **options())
    assert (len(division.held_out), division.reason) == (
        1_000, "at most 1000 rows may be held out",
    )  # fmt: skip


def test_clusters_that_round_to_less_than_a_job_needs_are_added_to() -> None:
    clusters = [[f"key{n}" for n in range(start, start + 4)] for start in range(0, 48, 4)]
    for seed in range(4):
        division = divide(ROWS[:48], clusters, **options(seed=seed))
        assert (len(division.held_out), division.reason) == (12, None)
    halves = [[row.key for row in ROWS[:24]], [row.key for row in ROWS[24:48]]]
    assert divide(ROWS[:48], halves, **options()).held_out == frozenset()


def test_one_large_cluster_holds_out_nothing_for_a_reason() -> None:
    division = divide(ROWS, [[row.key for row in ROWS]], **options())
    assert division.held_out == frozenset()
    assert "nearly the same" in (division.reason or "")


def test_clusters_that_leave_the_training_file_short_hold_out_nothing() -> None:
    clusters = [[f"{n}{at}" for at in range(4)] for n in range(5)]
    rows = [StratifiedRow(key, ()) for cluster in clusters for key in cluster]
    found = divide(rows, clusters, **options())
    assert (found.held_out, found.reason and "two parts have 10 rows" in found.reason) == (
        frozenset(),
        True,
    )
