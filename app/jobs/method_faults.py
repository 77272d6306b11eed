"""Faults of methods and definitions that their types do not show, and parts without an effect.
Works on models and on JSON, valid or not; makes no calls.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, assert_never

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from app.graders.definitions import AnyGrader, literal_faults, pattern_faults, read_grader
from app.graders.grader_model import GraderModel
from app.graders.kinds.python import source_faults
from app.graders.template_faults import REWARDS_ALIKE, constant_scores, sample_fault, template_fault
from app.graders.templates import DefinitionWork
from app.jobs.jobs import TuningMethod
from app.jobs.losses import PpoOptions
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.response_formats import NOT_ENFORCED, gives_json, response_format_fault
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.addresses import read_url
from app.kit.egress import check_headers
from app.kit.errors import EndpointRefused, InvalidRequest, NoEffect, refused_value, unused_option
from app.kit.faults import NOWHERE, KeyHints, is_refused, unknown_key_error
from app.kit.fields import (
    AddressMark,
    Models,
    WalkedField,
    headers_of,
    parameter,
    value_of,
    walk_fields,
)
from app.kit.redaction import MAX_CREDENTIALS, bound_faults, credentials_of, placeholder_faults
from app.models.models import suffix_in_name
from app.tools import tools as rates
from app.tools.environment_options import HTTP
from app.tools.environments import is_built_in_name, is_graded_by

_OWN_HEADERS: Final = frozenset({"accept", "last-event-id"})
_OWN_PREFIX: Final = "mcp-"


def mcp_faults(method: Any, root: str) -> Iterator[InvalidRequest]:
    servers = value_of(method, "mcp_servers")
    labels: set[str] = set()
    for index, server in enumerate(servers if isinstance(servers, list | tuple) else ()):
        at = f"{root}.mcp_servers[{index}]"
        label = value_of(server, "server_label")
        if isinstance(label, str):
            if label in labels:
                message = f"another MCP server of the job is labelled '{label}' as well"
                yield refused_value(f"{at}.server_label", message)
            labels.add(label)
        yield from server_faults(server, at)


def server_faults(server: Any, at: str) -> Iterator[InvalidRequest]:
    for name in ("listing", "listing_summary"):
        if value_of(server, name) is not None:
            message = "the service sets it when the job starts; remove it"
            yield refused_value(f"{at}.{name}", message)
    headers = value_of(server, "headers")
    for name in headers if isinstance(headers, Mapping) else ():
        lower = str(name).lower()
        if lower in _OWN_HEADERS or lower.startswith(_OWN_PREFIX):
            yield refused_value(f"{at}.headers", f"the header '{lower}' is set by the service")
        elif lower == "authorization" and value_of(server, "authorization") is not None:
            yield refused_value(
                f"{at}.authorization", "'headers' has an Authorization already; send one of them"
            )


def reinforcement_faults(
    method: Any, root: str, walked: Sequence[WalkedField]
) -> Iterator[InvalidRequest]:
    yield from _repeated_tools(method, root)
    sent = value_of(method, "response_format")
    fault = response_format_fault(sent, f"{root}.response_format")
    if fault is not None:
        yield fault
    json_output, in_environment = gives_json(sent), _has_http_environment(method)
    for name in ("tools", "mcp_servers") if in_environment else ():
        if value_of(method, name):
            yield refused_value(
                f"{root}.{name}",
                "the tools of the job come from its environment, which offers them when an episode "
                f"begins: send '{name}' or an 'environment' of type 'http', not both",
            )
    work = DefinitionWork()
    for field in walked:
        fault = template_fault(field, root) or sample_fault(
            field, root, json_output=json_output, environment=in_environment, work=work
        )
        if fault is None and field.path[:1] == ("tools",) and field.path[2:] == (rates.KEY,):
            fault = rates.rate_fault(field.value, parameter(root, field.path))
        if fault is not None:
            yield fault
    yield from mcp_faults(method, root)
    grader = readable_grader(method)
    if grader is not None:
        yield from literal_faults(grader, f"{root}.grader")
        yield from () if in_environment else _without_environment(grader, f"{root}.grader")
        yield from _useless_pass_reward(method, grader, root)


def _repeated_tools(method: Any, root: str) -> Iterator[InvalidRequest]:
    tools = value_of(method, "tools")
    names: set[str] = set()
    for tool in tools if isinstance(tools, list | tuple) else ():
        name = value_of(tool, "name")
        if isinstance(name, str) and name in names:
            yield InvalidRequest(
                f"Tool '{name}' is registered twice.", param=f"{root}.tools", code="invalid_value"
            )
            return
        if isinstance(name, str):
            names.add(name)


def _without_environment(grader: GraderModel, path: str) -> Iterator[InvalidRequest]:
    if grader.needs_environment:
        yield refused_value(
            f"{path}.type",
            "it takes the rewards of an HTTP environment: send an 'environment' of type 'http', "
            "or another grader",
        )
    for name, part in grader.parts.items():
        yield from _without_environment(part, f"{path}.graders.{name}")


def _useless_pass_reward(method: Any, grader: GraderModel, root: str) -> Iterator[InvalidRequest]:
    """Refuses a `pass_reward` by which all rows would have one pass rate for ever."""
    reward = value_of(value_of(method, "ordering"), "pass_reward")
    if not isinstance(reward, int | float) or isinstance(reward, bool):
        return
    useless = grader.out_of_reach(reward)
    if useless is not None:
        yield refused_value(f"{root}.ordering.pass_reward", useless)


def _has_http_environment(method: Any) -> bool:
    environment = value_of(method, "environment")
    if isinstance(environment, str):
        return not is_built_in_name(environment)
    kind = value_of(environment, "type")
    return bool(kind == HTTP or (kind is None and value_of(environment, "id") is not None))


def readable_grader(method: Any) -> AnyGrader | None:
    try:
        return read_grader(value_of(method, "grader"))
    except (ValidationError, PydanticCustomError):
        return None


def format_warning(method: Any) -> str | None:
    return NOT_ENFORCED if gives_json(value_of(method, "response_format")) else None


MAX_UNKNOWN_KEYS: Final = 200
NOT_ALLOWED: Final = "endpoint_not_allowed"
_Choice = Callable[[str, WalkedField], bool]


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition at a parameter, and its fields: all checks of it share one walk."""

    root: str
    value: Any
    fields: Sequence[WalkedField]

    @classmethod
    def of(cls, root: str, value: BaseModel) -> "Definition":
        return cls.of_json(root, type(value), value)

    @classmethod
    def of_json(cls, root: str, models: Models, value: Any) -> "Definition":
        return cls(root, value, list(walk_fields(models, value)))


def _every(root: str, field: WalkedField) -> bool:  # noqa: ARG001 - the default of a choice
    return True


def definition_faults(
    definitions: Sequence[Definition],
    *,
    elsewhere: KeyHints = NOWHERE,
    read: _Choice = _every,
    called: _Choice = _every,
) -> Iterator[InvalidRequest]:
    """`read` chooses the unknown keys that are judged, `called` the addresses."""
    walked = [(each.root, field) for each in definitions for field in each.fields]
    yield from bound_faults(walked)
    unknown = (one for one in walked if is_refused(one[1]) and read(*one))
    for root, field in islice(unknown, MAX_UNKNOWN_KEYS):
        if (fault := unknown_key_error(field, root, elsewhere)) is not None:
            yield fault
    for root, field in walked:
        if (fault := template_fault(field, root)) is not None:
            yield fault
    for definition in definitions:
        yield from placeholder_faults(definition.fields, definition.root)
    models = [(each.root, each.value) for each in definitions if isinstance(each.value, BaseModel)]
    yield from source_faults(models)
    yield from pattern_faults(models)
    for root, field in walked:
        if called(root, field):
            yield from _address_faults(field, root)


def _address_faults(field: WalkedField, root: str) -> Iterator[InvalidRequest]:
    if not isinstance(field.mark, AddressMark):
        return
    url = field.mark.called(field.value)
    owner, name = parameter(root, field.path[:-1]), str(field.path[-1])
    sent = headers_of(field) or {}
    headers = {str(key): str(value) for key, value in sent.items()}
    at = f"{owner}.headers" if owner else "headers"
    try:
        read_url(url)
    except EndpointRefused as error:
        yield not_allowed(name, f"{owner}.{name}" if owner else name, error)
        return
    try:
        check_headers(headers)
    except EndpointRefused as error:
        yield not_allowed("headers", at, error)
    if len(credentials_of(headers, url)) > MAX_CREDENTIALS:
        yield refused_value(
            at,
            f"with the query of the address, they hold more than {MAX_CREDENTIALS} different "
            "credentials; send fewer",
        )


def not_allowed(field: str, param: str, error: EndpointRefused) -> InvalidRequest:
    return InvalidRequest(f"{field} is not allowed: {error}", param=param, code=NOT_ALLOWED)


NO_REPORT: Final = "no_report"
LEAST_RATE: Final = 1e-4
"""Smallest `learning_rate_multiplier` without a warning: a thousand steps of it move a weight by a
tenth of one step at the base model's own rate.
"""
_TIME: Final = "max_training_time_s"
_OF_VALIDATIONS: Final = ("plateau", "target", "gap")


def call_warnings(
    method: TuningMethod, *, has_validation: bool, has_rollout_cap: bool
) -> Iterator[NoEffect]:
    root = f"method.{method.kind}"
    match method:
        case ReinforcementMethod():
            yield from _of_grader(method, root)
            yield from _of_loss(method, root)
            yield from _of_stop(method, root)
        case SupervisedMethod() | DpoMethod():
            if has_rollout_cap:
                why = f"a job of the method '{method.kind}' has no rollouts; '{_TIME}' limits it"
                yield unused_option("max_rollouts", why)
            if not has_validation:
                yield from _without_validations(method, root)
            yield from _negative_loss(method, root)
        case _:
            assert_never(method)
    yield from tiny_rate(method, root)


def _of_grader(method: ReinforcementMethod, root: str) -> Iterator[NoEffect]:
    grader, environment = method.grader, method.environment
    param = f"{root}.grader"
    yield from constant_scores(grader, param, REWARDS_ALIKE)
    for name in grader.unused_parts:
        part = f"{param}.graders.{name}"
        message = f"'{part}' changes nothing: 'calculate_output' does not use it"
        yield NoEffect("unused_grader", part, message)
    if environment is None or not is_graded_by(environment, grader):
        for name, child in grader.parts.items():
            if child.pass_threshold is not None:
                yield unused_option(
                    f"{param}.graders.{name}.pass_threshold",
                    "the reward of the formula passes or fails as a whole, by "
                    f"'{param}.pass_threshold'",
                )
    if environment is not None and not is_graded_by(environment, grader):
        for name, field in type(environment).model_fields.items():
            if name in environment.grader_options and getattr(environment, name) != field.default:
                yield unused_option(
                    f"{root}.environment.{name}",
                    "it is about the environment's own grader, and the job has another one in "
                    f"'{param}'",
                )
    for judge in paths_of_judges(grader, root):
        yield NoEffect(
            "judged_apart",
            judge,
            f"'{judge}' judges the rollouts of base and tuned model in groups of their own, whose "
            "scores are not comparable, and groups of one where "
            f"'{root}.hyperparameters.eval_samples' is 1: validations and the report can miss a "
            "gain. Measure it by an eval with a grader of single answers",
        )


def paths_of_judges(grader: AnyGrader, root: str) -> list[str]:
    parts = (
        f"{root}.grader.graders.{name}"
        for name, part in grader.parts.items()
        if part.compares_rollouts
    )
    return [f"{root}.grader"] if grader.compares_rollouts else list(parts)


def _of_loss(method: ReinforcementMethod, root: str) -> Iterator[NoEffect]:
    loss = method.loss
    if loss is None or loss.resolved == PpoOptions().resolved:
        return
    if method.trains_on_policy and method.hyperparameters.minibatches == 1:
        why = (
            "a batch is one optimizer step, whose ratio of policies is 1, so that every loss has "
            "the same gradient, up to what the engine rounds. It counts with "
            "'hyperparameters.minibatches' above 1, and in 'async' with 'mismatch.truncation' null"
        )
        yield unused_option(f"{root}.loss", why)


def _of_stop(method: ReinforcementMethod, root: str) -> Iterator[NoEffect]:
    stop, grader = method.stop, method.grader
    if stop is None:
        return
    target = stop.target
    if target is not None and target.action != "off":
        why = grader.out_of_reach(target.value)
        if why is not None:
            yield unused_option(f"{root}.stop.target.value", why)
    if grader.lowest is None or grader.highest is None or stop.gap.action == "off":
        return
    if (
        stop.gap.threshold > grader.highest - grader.lowest
        and "threshold" in stop.gap.model_fields_set
    ):
        yield unused_option(
            f"{root}.stop.gap.threshold", "the scores of the grader never differ by that much"
        )


def _without_validations(method: SupervisedMethod | DpoMethod, root: str) -> Iterator[NoEffect]:
    yield NoEffect(
        NO_REPORT,
        "validation_file",
        f"A job of the method '{method.kind}' without 'validation_file' has no validations and no "
        "report: nothing will show whether the tuned model is better than the base model on rows "
        "that it has not seen. Send held-out rows, 10 at least, as 'validation_file'",
    )
    stop = method.stop
    for name in () if stop is None else _OF_VALIDATIONS:
        rule = getattr(stop, name)
        if stop is not None and name in stop.model_fields_set and rule and rule.action != "off":
            yield unused_option(
                f"{root}.stop.{name}", "it compares validations, and the job has none"
            )


def _negative_loss(method: SupervisedMethod | DpoMethod, root: str) -> Iterator[NoEffect]:
    target = None if method.stop is None else method.stop.target
    is_on = target is not None and target.action != "off"
    if target is not None and is_on and target.value < 0 and method.kind == "supervised":
        why = f"a validation loss is at least 0, so that none reaches {target.value:g}"
        yield unused_option(f"{root}.stop.target.value", why)


def tiny_rate(method: Any, root: str) -> Iterator[NoEffect]:
    rate = value_of(value_of(method, "hyperparameters"), "learning_rate_multiplier")
    if isinstance(rate, int | float) and not isinstance(rate, bool) and 0 < rate < LEAST_RATE:
        param = f"{root}.hyperparameters.learning_rate_multiplier"
        yield NoEffect(
            "tiny_learning_rate",
            param,
            f"'{param}' of {rate:g} makes steps so small that the job changes next to nothing, and "
            "the model stays what it is: 1 is the base model's own rate, and values from 0.1 to 10 "
            "are usual",
        )


def overridden(older: Any, newer: Any) -> Iterator[NoEffect]:
    """Yields deprecated top-level hyperparameters with another value in the method, which wins."""
    if not isinstance(older, Mapping) or not isinstance(newer, Mapping):
        return
    for name, value in older.items():
        if value is not None and newer.get(name) is not None and newer[name] != value:
            param = f"hyperparameters.{name}"
            yield unused_option(
                param, f"'method.supervised.{param}' has another value, which is used"
            )


def suffix_warnings(suffix: Any) -> Iterator[NoEffect]:
    if not isinstance(suffix, str) or suffix_in_name(suffix) == suffix.lower():
        return
    shown = suffix_in_name(suffix)
    instead = f"has '{shown}' instead" if shown else "has none"
    yield NoEffect(
        "suffix_changed",
        "suffix",
        f"The name of the tuned model {instead} of the suffix '{suffix}': a name has small letters "
        "from a to z, digits and '-'",
    )
