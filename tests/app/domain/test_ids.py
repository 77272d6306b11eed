"""Keys of groups and of their rollouts are stable, and no two of them meet."""

from dataclasses import replace

from app.kit.ids import GroupKey, SampleKey, is_turn_key

GROUP = GroupKey("ftjob-1", "train", 2, 5, 1)


def test_a_group_names_its_samples_and_a_sample_its_group() -> None:
    assert GROUP.samples(2) == [
        SampleKey("ftjob-1", "train", 2, 5, 0, 1),
        SampleKey("ftjob-1", "train", 2, 5, 1, 1),
    ]
    assert {key.group for key in GROUP.samples(8)} == {GROUP}


def test_ids_that_receivers_have_seen_stay_the_same() -> None:
    """A resume on a newer release sends these ids again."""
    key = SampleKey("ftjob-1", "train", 2, 5, 1)
    assert key.trace_id == "trace_3f96aca1-22ad-04b5-e559-a67a87d7e6d7"
    assert key.grade_id("records") == "grade_6e8746417274193280ec3c19"
    assert key.turn_key(0) == "turn_f9a04550aa7bf10127287142"
    assert key.call_id(0, 1) == "call_bf299077c0e4ebc926f0d424"
    assert key.seed(7, 0) == 2015598081


def test_a_group_has_ids_of_its_own() -> None:
    others = [
        replace(GROUP, job_id="ftjob-2"),
        replace(GROUP, split="valid"),
        replace(GROUP, step=3),
        replace(GROUP, prompt_index=6),
        replace(GROUP, attempt=2),
    ]
    keys: list[GroupKey | SampleKey] = [GROUP, *others, *GROUP.samples(16), *others[0].samples(16)]
    grades = [key.grade_id("judge") for key in keys] + [GROUP.grade_id("other")]
    assert len(set(grades)) == len(grades)
    assert len({key.trace_id for key in keys}) == len(keys)
    assert not any(map(is_turn_key, grades))
