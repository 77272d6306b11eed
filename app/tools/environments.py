"""The unions of environments, their parsing, and the tasks of built-in ones."""

from collections.abc import Collection, Iterator
from types import MappingProxyType
from typing import Annotated, Any, Final, get_args

from pydantic import Field, ValidationError, WrapValidator
from pydantic_core import PydanticCustomError

from app.graders.definitions import read_grader
from app.kit.errors import InvalidRequest
from app.kit.faults import MAX_COMPARED, SIMILARITY, name_like
from app.tools.environment_options import HTTP, EnvironmentOptions, HttpEnvironmentSpec, task_number
from app.tools.word_problems import ArithmeticEnvironment, Gsm8kEnvironment
from app.tools.written_tasks import CodeExecutionEnvironment, LlmJudgeEnvironment

PARAM: Final = "method.reinforcement.environment"
FILE_PARAM: Final = f"{PARAM}.file"
BuiltIn = ArithmeticEnvironment | Gsm8kEnvironment | CodeExecutionEnvironment | LlmJudgeEnvironment
AnyEnvironment = BuiltIn | HttpEnvironmentSpec
ENVIRONMENTS: Final = MappingProxyType(
    {str(get_args(model.model_fields["type"].annotation)[0]): model for model in get_args(BuiltIn)}
)


_MODELS: Final = MappingProxyType({**ENVIRONMENTS, HTTP: HttpEnvironmentSpec})


def read_environment(sent: Any) -> AnyEnvironment:
    """Reads an environment, by hand, so that an error has the path of the client's body."""
    if isinstance(sent, EnvironmentOptions | HttpEnvironmentSpec):
        return sent  # type: ignore[return-value]  # the union has every class of it
    if is_built_in_name(sent):
        sent = {"type": sent}
    if not isinstance(sent, dict):
        raise PydanticCustomError("environment_type", "an environment must be an object or a name")
    kind = sent.get("type")
    model = _MODELS.get(kind) if isinstance(kind, str) else None
    if model is not None:
        environment: AnyEnvironment = model.model_validate(sent)
        return environment
    fault: Any = "missing"
    if kind is not None:
        fault = PydanticCustomError(
            "environment_type",
            "{fault}",
            {"fault": f"there is no environment {kind!r:.80}; {_known_types(kind)}"},
        )
    raise ValidationError.from_exception_data(
        "Environment", [{"type": fault, "loc": ("type",), "input": sent}]
    )


def _known_types(kind: Any) -> str:
    near = _near(kind, _MODELS)
    beginning = "there are" if near is None else f"did you mean {near!r}? There are"
    return f"{beginning} {', '.join(_MODELS)}"


def _near(name: Any, known: Collection[str]) -> str | None:
    if not isinstance(name, str):
        return None
    return name_like(name[:MAX_COMPARED].casefold(), known, SIMILARITY)


def misspelt_environment(name: str, known: Collection[str] = ()) -> str | None:
    if name == HTTP:
        return "an environment of type 'http' is an object with a 'url'."
    near = _near(name, (*ENVIRONMENTS, *known))
    return None if near is None else f"did you mean {near!r}?"


def is_built_in_name(sent: object) -> bool:
    return isinstance(sent, str) and sent in ENVIRONMENTS


def built_in(environment: object) -> BuiltIn | None:
    if isinstance(environment, EnvironmentOptions):
        return environment  # type: ignore[return-value]  # the union has every class of it
    return None


def over_http(environment: AnyEnvironment | None) -> HttpEnvironmentSpec | None:
    return environment if isinstance(environment, HttpEnvironmentSpec) else None


Environment = Annotated[
    AnyEnvironment,
    Field(discriminator="type"),
    WrapValidator(lambda sent, _: read_environment(sent)),
]


def is_graded_by(environment: AnyEnvironment, grader: Any) -> bool:
    if environment.missing_option is not None:
        return False
    own = environment.grader()
    return bool(grader == own or grader == read_grader(own))


def check_count(environment: BuiltIn, problems: int) -> None:
    wanted = environment.training_tasks + environment.validation_tasks
    if wanted <= problems:
        return
    raise InvalidRequest(
        f"The environment has {problems:,} different problems with these options, and "
        f"{environment.training_tasks:,} training and {environment.validation_tasks:,} validation "
        "tasks need one each: send fewer tasks, or options with more problems.",
        param=f"{PARAM}.training_tasks",
        code="too_few_problems",
    )


def validation_numbers(environment: BuiltIn, problems: int) -> Iterator[int]:
    """Yields the held-out tasks, which come first: more training tasks do not change them."""
    for index in range(environment.validation_tasks):
        yield task_number(index, of=problems, seed=environment.seed)


def training_numbers(environment: BuiltIn, problems: int) -> Iterator[int]:
    first = environment.validation_tasks
    for index in range(first, first + environment.training_tasks):
        yield task_number(index, of=problems, seed=environment.seed)
