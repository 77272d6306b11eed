"""Reads and writes values of nested JSON by the dotted path of a parameter."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from app.jobs.reinforcement import DEFAULT_ROLLOUTS_PER_EXAMPLE
from app.jobs.requests import JobRequest, RequestedMethod
from app.jobs.supervised import DpoMethod, MethodType, SupervisedMethod
from app.kit.fields import DescribedFields
from app.teaching.plans import knobs as scales
from app.teaching.plans.knobs import KnobName, Knobs, checked_knobs
from app.tools.references import ReinforcementBody, read_curriculum


def value_at(document: Any, parameter: str) -> Any:
    """Returns the value at a path, `None` where there is none."""
    for name in parameter.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def with_value(document: dict[str, Any], parameter: str, value: Any) -> dict[str, Any]:
    """Returns a copy of the document with a value at a path."""
    name, _, rest = parameter.partition(".")
    if not rest:
        return {**document, name: value}
    inner = document.get(name)
    return {**document, name: with_value(inner if isinstance(inner, dict) else {}, rest, value)}


def leaves(document: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns the values that are no objects, by their paths."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            found |= leaves(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


_HYPER: Final = "hyperparameters"
_RULES: Final[dict[MethodType, tuple[str, ...]]] = {
    "reinforcement": ("plateau", "gap", "nothing_trained", "entropy_collapse", "entropy_rise"),
    "supervised": ("plateau", "gap", "nothing_trained"),
    "dpo": ("plateau", "gap", "nothing_trained", "chosen_reward"),
}
_RULE_REASONS: Final = {
    "plateau": "validation has not improved for three validations in succession",
    "gap": "training is ahead of validation, so that rows are memorised or the grader is exploited",
    "nothing_trained": "the first steps have changed no weight",
    "entropy_collapse": "the model has stopped trying different answers",
    "entropy_rise": "the model becomes random",
    "chosen_reward": "the preferred answers become less probable",
}


@dataclass(frozen=True, slots=True)
class Setting(DescribedFields):
    """One hyperparameter that a knob sets."""

    parameter: str
    """Path of the hyperparameter in the job's body."""
    value: Any
    """The value that the knob sets."""
    reason: str
    """Reason for the value."""


@dataclass(frozen=True, slots=True)
class KnobSettings:
    """One knob, its position, and everything that it sets; `target` may set nothing."""

    knob: KnobName
    position: Any
    settings: tuple[Setting, ...]

    @property
    def sentence(self) -> str:
        """Returns the effect of the knob in one plain sentence."""
        name = self.knob.replace("_", " ").capitalize()
        if not self.settings:
            return f"{name} is not set, so no value of the validation ends the job."
        parts = [
            f"sets {each.parameter.rpartition('method.')[2].partition('.')[2]} to {each.value} "
            f"because {each.reason}"
            for each in self.settings
        ]
        return f"{name} {self.position} " + "; it ".join(parts) + "."


def settings_of(knobs: Knobs, kind: MethodType) -> Iterator[KnobSettings]:
    """Yields what each knob sets in the method of this type; `knobs` are checked ones."""
    yield KnobSettings("practice_mode", knobs.practice_mode, (_practice(knobs, kind),))
    yield KnobSettings("drift_guard", knobs.drift_guard, tuple(_drift(knobs, kind)))
    yield KnobSettings("effort", knobs.effort, tuple(_effort(knobs, kind)))
    if knobs.creativity is not None:
        creative = tuple(_creativity(knobs.creativity, kind))
        yield KnobSettings("creativity", knobs.creativity, creative)
    yield KnobSettings("auto_stop", knobs.auto_stop, tuple(_stops(knobs, kind)))
    target = () if knobs.target is None else (_target(knobs.target, kind),)
    yield KnobSettings("target", knobs.target, target)


def _practice(knobs: Knobs, kind: MethodType) -> Setting:
    path = _path(kind, _HYPER, "n_epochs")
    mode = knobs.practice_mode
    if mode == "custom":
        return Setting(path, knobs.n_epochs, "you chose this number of passes over the rows")
    count = scales.epochs(kind, mode, knobs.effort)
    return Setting(path, count, f"a {mode} practice passes {count} times over the rows")


def _drift(knobs: Knobs, kind: MethodType) -> Iterator[Setting]:
    guard = knobs.drift_guard
    match kind:
        case "reinforcement":
            reason = "this much advantage is lost for each nat that an answer moves from the start"
            path = _path(kind, "objective", "kl_coefficient")
            yield Setting(path, scales.kl_coefficient(guard), reason)
        case "dpo":
            reason = "it weighs the distance from the start model, and 0.1 is the DPO paper's"
            yield Setting(_path(kind, _HYPER, "beta"), scales.beta(guard), reason)
        case "supervised":
            pass
        case _:
            assert_never(kind)
    reason = "smaller steps stay nearer to the start, and 1 is the base model's own rate"
    path = _path(kind, _HYPER, "learning_rate_multiplier")
    yield Setting(path, scales.rate_multiplier(guard), reason)


def _effort(knobs: Knobs, kind: MethodType) -> Iterator[Setting]:
    match kind:
        case "reinforcement":
            compute = scales.compute_multiplier(knobs.effort)
            rollouts = round(DEFAULT_ROLLOUTS_PER_EXAMPLE * compute)
            path = _path(kind, _HYPER, "compute_multiplier")
            yield Setting(path, compute, f"each row gets {rollouts} rollouts to compare")
            samples = scales.eval_samples(knobs.effort)
            reason = "more rollouts of a held-out row make a validation less noisy"
            yield Setting(_path(kind, _HYPER, "eval_samples"), samples, reason)
        case "supervised" | "dpo":
            size = scales.batch_size(kind, knobs.effort)
            reason = "fewer rows in a step are more steps over the same rows"
            yield Setting(_path(kind, _HYPER, "batch_size"), size, reason)
        case _:
            assert_never(kind)


def _creativity(creativity: int, kind: MethodType) -> Iterator[Setting]:
    reason = (
        "validations choose the best checkpoint at the temperature at which you will call it, "
        "while training always samples at 1"
    )
    temperature = scales.eval_temperature(creativity)
    yield Setting(_path(kind, _HYPER, "eval_temperature"), temperature, reason)
    reason = "below this entropy in nats per token the answers are no longer varied enough"
    path = _path(kind, "stop", "entropy_collapse", "below")
    yield Setting(path, scales.entropy_floor(creativity), reason)


def _stops(knobs: Knobs, kind: MethodType) -> Iterator[Setting]:
    for rule in _RULES[kind]:
        reason = f"this is what you want done when {_RULE_REASONS[rule]}"
        yield Setting(_path(kind, "stop", rule, "action"), knobs.auto_stop, reason)


def _target(value: float, kind: MethodType) -> Setting:
    reason = "the job ends once validation has reached it beyond chance"
    return Setting(_path(kind, "stop", "target", "value"), value, reason)


def _path(kind: MethodType, *names: str) -> str:
    return ".".join(("method", kind, *names))


BODIES: Final[dict[MethodType, type[RequestedMethod]]] = {
    "supervised": SupervisedMethod,
    "dpo": DpoMethod,
    "reinforcement": ReinforcementBody,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A plan with its recipe filled in."""

    kind: MethodType
    knobs: Knobs
    call: dict[str, Any]
    """Parameters of the job outside its method: model, data, seed, suffix, metadata."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the method before the knobs: those of the recipe, grader and tools."""


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    job: dict[str, Any]
    """The body of the create call."""
    knobs: Knobs
    explanation: tuple[KnobSettings, ...]


def compile_plan(request: PlanRequest) -> CompiledPlan:
    """Returns the job of a plan. Raises `InvalidRequest` for knobs that mean nothing together."""
    knobs = checked_knobs(request.knobs, request.kind)
    explanation = tuple(settings_of(knobs, request.kind))
    method = {"type": request.kind, request.kind: request.options}
    job = {**request.call, "method": method}
    for knob in explanation:
        for setting in knob.settings:
            job = with_value(job, setting.parameter, setting.value)
    return CompiledPlan(job, knobs, explanation)


def job_request(plan: CompiledPlan) -> JobRequest:
    """Returns the create call that the body of a plan stands for. The recipes' schema and the
    knobs have checked its method.
    """
    job, curriculum = plan.job, plan.job.get("curriculum")
    kind: MethodType = job["method"]["type"]
    request = JobRequest(
        model=job["model"],
        training_file=job.get("training_file"),
        validation_file=job.get("validation_file"),
        curriculum=None if curriculum is None else read_curriculum(curriculum),
        method=BODIES[kind].model_validate(job["method"][kind]),
        seed=job.get("seed"),
        suffix=job.get("suffix"),
        metadata=job.get("metadata"),
    )
    request.check_files()
    return request
