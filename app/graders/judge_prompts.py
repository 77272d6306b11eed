"""The prompt of a model grader: its messages, whose texts are templates, and its sampling settings.

Source: the SDK's `ScoreModelGrader`.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from app.graders.templates import (
    DefinitionWork,
    RenderBudget,
    RenderedTooLong,
    Template,
    TemplateError,
    parse_template,
)
from app.kit.fields import DescribedModel, TemplateMark

MAX_MESSAGES: Final = 256
_TEXT_PARTS: Final = ("text", "input_text", "output_text")
_MEDIA_PARTS: Final = ("input_image", "input_audio", "image_url", "audio")


def _template(text: str, info: ValidationInfo) -> str:
    """Counts and parses a template. Raises an error of pydantic."""
    try:
        DefinitionWork.of(info).count(text)
        parse_template(text)
    except TemplateError as fault:
        raise PydanticCustomError("template_error", "{fault}", {"fault": str(fault)}) from None
    return text


TemplateText = Annotated[str, AfterValidator(_template), TemplateMark()]
MessageText = Annotated[str, TemplateMark()]
"""A template of a message, which `_text_only` has parsed: a union would parse it for each member.
"""


class TextPart(DescribedModel):
    """A part of the text of a model grader's message."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: Literal["text", "input_text", "output_text"]
    text: MessageText
    """A template."""


def _text_only(content: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Parses the texts of a content. Raises one clear error for content other than text, instead of
    the union's errors for each member.
    """
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _MEDIA_PARTS:
            raise PydanticCustomError(
                "media_not_available",
                "parts of type '{kind}' are not available: model graders read text",
                {"kind": kind},
            )
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            _template(text, info)
    try:
        return handler(content)
    except ValidationError:
        raise PydanticCustomError(
            "content_error",
            "content is a text, or a part or list of parts of type {kinds} with a text",
            {"kinds": ", ".join(_TEXT_PARTS)},
        ) from None


class JudgeMessage(DescribedModel):
    """One message of a model grader's prompt; texts are templates."""

    model_config = ConfigDict(frozen=True, extra="allow")

    role: Literal["user", "assistant", "system", "developer"]
    """Role of the message."""
    content: Annotated[
        MessageText | TextPart | list[MessageText | TextPart], WrapValidator(_text_only)
    ]
    """A template, or parts with a template each."""
    type: Literal["message"] | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def texts(self) -> list[str]:
        parts = self.content if isinstance(self.content, list) else [self.content]
        return [part if isinstance(part, str) else part.text for part in parts]


def _not_too_many(sent: Any) -> Any:
    """Raises the error of a list that is too long before any of its messages is read."""
    if isinstance(sent, list) and len(sent) > MAX_MESSAGES:
        counts = {"field_type": "List", "max_length": MAX_MESSAGES, "actual_length": len(sent)}
        raise PydanticKnownError("too_long", counts)
    return sent


FewMessages = BeforeValidator(_not_too_many)
"""Annotates a list of at most `MAX_MESSAGES` messages."""


class JudgeSampling(DescribedModel):
    """Sampling of a model grader; `max_completions_tokens` is the hosted spelling, and the usual
    spelling is accepted too.
    """

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63, strict=True)
    """Seed of sampling."""
    temperature: float | None = Field(default=None, ge=0, le=2, strict=True)
    """Temperature of sampling."""
    top_p: float | None = Field(default=None, gt=0, le=1, strict=True)
    """Nucleus of sampling."""
    max_completions_tokens: int | None = Field(default=None, ge=1, le=2**31 - 1, strict=True)
    """Largest number of tokens of an answer."""
    max_completion_tokens: int | None = Field(default=None, ge=1, le=2**31 - 1, strict=True)
    """Largest number of tokens of an answer, in the usual spelling."""
    reasoning_effort: str | None = Field(default=None, min_length=1, max_length=32)
    """Reasoning effort of the judge, if its model supports it."""


class Prompt:
    """Messages whose templates are parsed once and filled for each sample."""

    def __init__(self, messages: Iterable[JudgeMessage]) -> None:
        self._messages: list[tuple[str, list[Template]]] = [
            (message.role, [parse_template(text) for text in message.texts]) for message in messages
        ]

    def fill(self, *, sample: Mapping[str, Any], item: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Returns the messages in the form of Chat Completions. Raises as `Template.render`;
        the limit of one text applies to the whole prompt.
        """
        budget = RenderBudget(sample=sample, item=item)
        return [
            {"role": role, "content": "\n".join(map(budget.render, templates))}
            for role, templates in self._messages
        ]

    def row_fits(self, item: Mapping[str, Any]) -> bool:
        """Returns whether the texts that depend on the row only are within the limit of `fill`."""
        budget = RenderBudget(sample={}, item=item)
        try:
            for _, templates in self._messages:
                for template in templates:
                    if not template.reads_sample:
                        budget.render(template)
        except RenderedTooLong:
            return False
        return True
