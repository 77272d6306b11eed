"""Renders the prompt of a rollout to token ids.

Owns the attribution of a prompt that cannot be sampled from: to the row, whose file the user can
correct, or to the customer's environment that began the conversation.
"""

from typing import Final, Literal, assert_never

from app.domain.data.dataset import DatasetRow
from app.domain.errors import InvalidRequest, RunFailed
from app.domain.ids import SampleKey, Split
from app.domain.rollouts.trajectory import Failure, FailureClass
from app.domain.texts.storable_text import excerpt
from app.rendering.prompts import off_loop_if_long
from app.rendering.renderer import Renderer
from workers.rollout.environment import Observation
from workers.rollout.tools import InfrastructureFailure

_SHOWN: Final = 300


async def prompt_ids(
    renderer: Renderer,
    observation: Observation,
    row: DatasetRow,
    key: SampleKey,
    *,
    context_length: int,
) -> list[int]:
    """Renders the prompt. Raises `RunFailed` for an unusable row, `InfrastructureFailure` for an
    unusable first observation.
    """
    source = observation.source
    try:
        text = renderer.prompt_text(observation.messages, observation.tools)
        ids = await off_loop_if_long(len(text), lambda: renderer.encode(text))
    except InvalidRequest as error:
        if source is not None:
            # A template repeats what it does not expect, which is text of the environment.
            why = f"cannot be rendered: {excerpt(str(error), most=_SHOWN)}"
            raise _unusable(source, why) from error
        label = _file_of(key.split)
        raise RunFailed(
            f"Example {row.index + 1} of the {label} file cannot be rendered: {error}",
            code=f"invalid_{label}_file",
            param=f"{label}_file",
        ) from error
    if source is not None and len(ids) >= context_length:
        raise _unusable(source, f"has {len(ids)} tokens, and the context {context_length}")
    return ids


def _unusable(source: str, why: str) -> InfrastructureFailure:
    message = f"the conversation that it began {why}"
    return InfrastructureFailure(Failure(FailureClass.ENVIRONMENT_BAD_REPLY, message, source))


def _file_of(split: Split) -> Literal["training", "validation"]:
    match split:
        case "train":
            return "training"
        case "valid" | "valid_greedy" | "valid_base" | "test" | "report":
            return "validation"
        case _:
            assert_never(split)
