from app.jobs.jobs import Caps, ReachedCap, Usage


def test_amounts_add_up_and_survive_storage() -> None:
    first = Usage(
        rollouts=3, training_time_s=1.5, model_graders={"j": {"train_prompt_tokens": 2.0}}
    )
    second = Usage(
        rollouts=4,
        training_time_s=2.0,
        estimated_cost=0.25,
        currency="EUR",
        model_graders={"j": {"train_prompt_tokens": 3.0}, "k": {"eval_prompt_tokens": 1.0}},
    )
    total = first.plus(second)
    assert (total.rollouts, total.training_time_s) == (7, 3.5)
    assert (total.estimated_cost, total.currency) == (0.25, "EUR")
    assert total.model_graders == {
        "j": {"train_prompt_tokens": 5.0},
        "k": {"eval_prompt_tokens": 1.0},
    }
    assert Usage.from_json(total.to_json()) == total
    assert total.plus(second).estimated_cost == 0.5
    assert total.plus(Usage()).estimated_cost == 0.25
    assert Usage.from_json({"rollouts": 1, "of_a_later_release": 2}) == Usage(rollouts=1)


def test_a_cap_is_reached_at_its_number() -> None:
    usage = Usage(rollouts=64, training_time_s=10.0)
    assert Caps().reached(usage) is None
    assert Caps(max_rollouts=65, max_training_time_s=10.1).reached(usage) is None
    assert Caps(max_rollouts=1).reached(None) is None
    assert Caps(max_rollouts=64).reached(usage) == ReachedCap(
        "max_rollouts", "max_rollouts of 64 is reached (64 used)"
    )
    assert Caps(max_training_time_s=10).reached(usage) == ReachedCap(
        "max_training_time_s", "max_training_time_s of 10 is reached (10.0 used)"
    )


def test_a_new_cap_replaces_its_own_kind_only() -> None:
    assert Caps(5.0, 10).raised(Caps(None, 20)) == Caps(5.0, 20)
    assert Caps(5.0, 10).raised(Caps(6.0, None)) == Caps(6.0, 10)
