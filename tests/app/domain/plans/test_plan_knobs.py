"""The knobs of an improvement plan: each scale moves one way, and a job gives its knobs back."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.jobs.methods import METHOD_MODELS
from app.jobs.reinforcement import ReinforcementMethod, resolve_hyperparameters
from app.jobs.supervised import (
    DpoMethod,
    MethodType,
    SupervisedMethod,
    resolve_supervised_hyperparameters,
)
from app.models.models import BaseModelSpec
from app.teaching.plans import plans as scales
from app.teaching.plans.knob_readings import reading_of
from app.teaching.plans.plans import (
    EFFORTS,
    PRESET_MODES,
    Knobs,
    PlanRequest,
    PresetMode,
    compile_plan,
    value_at,
)
from tests.support.cases import cases

KINDS: tuple[MethodType, ...] = ("reinforcement", "supervised", "dpo")
OFFLINE: dict[MethodType, type[SupervisedMethod | DpoMethod]] = {
    "supervised": SupervisedMethod,
    "dpo": DpoMethod,
}
BASE = BaseModelSpec(name="m", path="m", context_length=1024)
GRADER = {"type": "json_valid", "name": "g"}


def options_of(kind: MethodType, knobs: Knobs) -> dict[str, Any]:
    """Returns the options of the compiled method, as the service reads them."""
    own = {"grader": GRADER} if kind == "reinforcement" else {}
    job = compile_plan(PlanRequest(kind=kind, knobs=knobs, call={}, options=own)).job
    read = METHOD_MODELS[kind].model_validate(job["method"][kind])
    options: dict[str, Any] = read.model_dump(mode="json")
    return options


@st.composite
def plans(draw: st.DrawFn) -> tuple[MethodType, Knobs]:
    kind = draw(st.sampled_from(KINDS))
    effort = draw(st.sampled_from(EFFORTS))
    mode = draw(st.sampled_from((*PRESET_MODES, "custom")))
    presets = {scales.epochs(kind, preset, effort) for preset in PRESET_MODES}
    own = st.integers(1, 50).filter(lambda number: number not in presets)
    knobs = Knobs(
        practice_mode=mode,
        n_epochs=draw(own) if mode == "custom" else None,
        drift_guard=draw(st.integers(0, 100)),
        effort=effort,
        creativity=draw(st.integers(0, 100)) if kind == "reinforcement" else None,
        auto_stop=draw(st.sampled_from(("off", "warn", "pause", "stop"))),
        target=draw(st.none() | st.floats(-1e9, 1e9)),
    )
    return kind, knobs


@given(plans())
def test_a_compiled_job_gives_its_knobs_back(plan: tuple[MethodType, Knobs]) -> None:
    kind, knobs = plan
    reading = reading_of(kind, options_of(kind, knobs))
    assert (reading.knobs, reading.outside) == (knobs, ())


def values(kind: MethodType, path: str, knobs: list[Knobs]) -> list[Any]:
    return [value_at(options_of(kind, each), path) for each in knobs]


@cases("kind", KINDS)
def test_more_drift_guard_is_more_distance_cost_and_a_lower_rate(kind: MethodType) -> None:
    guards = [Knobs(drift_guard=position) for position in range(101)]
    rates = values(kind, "hyperparameters.learning_rate_multiplier", guards)
    assert rates == sorted(set(rates), reverse=True)
    assert (rates[0], rates[50], rates[100]) == (2.0, 1.0, 0.5)
    if kind == "reinforcement":
        costs = values(kind, "objective.kl_coefficient", guards)
        assert costs == sorted(set(costs))
        assert (costs[0], costs[10], costs[50], costs[100]) == (0.0, 0.001, 0.025, 0.1)
    if kind == "dpo":
        betas = values(kind, "hyperparameters.beta", guards)
        assert betas == sorted(set(betas))
        assert (betas[0], betas[50], betas[100]) == (0.01, 0.1, 1.0)


def test_more_creativity_is_never_a_lower_temperature_or_entropy_share() -> None:
    creative = [Knobs(creativity=position) for position in range(101)]
    temperatures = values("reinforcement", "hyperparameters.eval_temperature", creative)
    shares = values("reinforcement", "stop.entropy_collapse.share", creative)
    assert temperatures == sorted(set(temperatures))
    assert shares == sorted(set(shares))
    assert (temperatures[0], temperatures[50], temperatures[100]) == (0.5, 1.0, 1.5)
    assert (shares[0], shares[50], shares[100]) == (0.025, 0.1, 0.4)


def test_more_effort_is_more_rollouts_samples_and_passes() -> None:
    presets = [Knobs(effort=effort) for effort in EFFORTS]
    hyper = "hyperparameters"
    assert values("reinforcement", f"{hyper}.compute_multiplier", presets) == [0.5, 1, 2, 4]
    assert values("reinforcement", f"{hyper}.eval_samples", presets) == [1, 1, 2, 4]
    assert values("reinforcement", f"{hyper}.n_epochs", presets) == [3, 3, 5, 6]
    assert values("dpo", f"{hyper}.batch_size", presets) == [64, 32, 16, 8]
    assert values("supervised", f"{hyper}.batch_size", presets) == [32, 16, 8, 4]


@given(st.sampled_from(PRESET_MODES), st.integers(10, 100_000))
def test_more_effort_is_never_fewer_rollouts_or_steps(mode: PresetMode, rows: int) -> None:
    counted = []
    for effort in EFFORTS:
        own = options_of("reinforcement", Knobs(practice_mode=mode, effort=effort))
        hyper = resolve_hyperparameters(
            ReinforcementMethod.model_validate(own), train_rows=rows, base_model=BASE
        )
        counted.append((rows * hyper.n_epochs * hyper.group_size, hyper.total_steps))
    rollouts, steps = zip(*counted, strict=True)
    assert list(rollouts) == sorted(set(rollouts))
    assert list(steps) == sorted(steps)
    for kind, method in OFFLINE.items():
        resolved = [
            resolve_supervised_hyperparameters(
                method.model_validate(options_of(kind, Knobs(practice_mode=mode, effort=effort))),
                train_rows=rows,
                base_model=BASE,
            ).total_steps
            for effort in EFFORTS
        ]
        assert resolved == sorted(resolved)


def test_a_custom_number_of_a_preset_is_read_as_the_preset() -> None:
    sent = Knobs(practice_mode="custom", n_epochs=3)
    read = reading_of("dpo", options_of("dpo", sent)).knobs
    assert (read.practice_mode, read.n_epochs) == ("balanced", None)
    assert options_of("dpo", read) == options_of("dpo", sent)
