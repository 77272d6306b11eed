"""Chat completions on the wire. Source: the hosted API's `createChatCompletion`.

The types here are for the specification only and validate nothing. `app.domain.chat` checks the
values, because the hosted API has a separate code for each kind of fault.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, SkipValidation

from app.api.schemas.chat_messages import ChatRequestMessage
from app.api.schemas.chat_options import (
    ChatNamedTool,
    ChatResponseFormat,
    ChatStreamOptions,
    ChatTool,
)
from app.api.schemas.common import WireModel
from app.domain.chat.conversation import MAX_MESSAGES
from app.domain.methods.reasoning_efforts import CalledEffort
from app.domain.methods.reinforcement import MAX_TOOLS

_Bool = SkipValidation[bool | None]
_Text = SkipValidation[str | None]
_Count = SkipValidation[Annotated[int, Field(ge=1, le=2**31 - 1)] | None]
_Penalty = SkipValidation[Annotated[float, Field(ge=-2, le=2)] | None]


class ChatCompletionRequest(WireModel):
    """A call of a model. A further parameter of the hosted API is refused by name; an engine
    refuses a value that it does not implement.
    """

    model: SkipValidation[Annotated[str, Field(min_length=1, max_length=256)]]
    """Name of a base model, of a tuned model or of a checkpoint's."""
    messages: SkipValidation[
        Annotated[list[ChatRequestMessage], Field(min_length=1, max_length=MAX_MESSAGES)]
    ]
    """The conversation so far."""
    stream: _Bool = None
    """True sends the answer in chunks, as server-sent events."""
    stream_options: SkipValidation[ChatStreamOptions | None] = None
    """Options of a stream."""
    tools: SkipValidation[Annotated[list[ChatTool], Field(max_length=MAX_TOOLS)] | None] = None
    """Functions that the model may call."""
    tool_choice: SkipValidation[Literal["none", "auto", "required"] | ChatNamedTool | None] = None
    """`none` offers the tools and parses no calls; the CPU engine has only `auto` and `none`."""
    parallel_tool_calls: _Bool = None
    """False: the answer has one call at most."""
    max_completion_tokens: _Count = None
    """Largest number of tokens of an answer; absent: as many as the context leaves."""
    max_tokens: _Count = None
    """The older name of `max_completion_tokens`; only one of them may be sent."""
    temperature: SkipValidation[Annotated[float, Field(ge=0, le=2)] | None] = None
    """Divides the logits before sampling; 0 takes the most probable token. Absent: 1."""
    top_p: SkipValidation[Annotated[float, Field(gt=0, le=1)] | None] = None
    """Samples from the most probable tokens that have this probability together."""
    seed: SkipValidation[Annotated[int, Field(ge=1 - 2**63, le=2**63 - 1)] | None] = None
    """The same seed repeats an answer of the same model and engine."""
    stop: SkipValidation[
        Annotated[str, Field(min_length=1)] | list[Annotated[str, Field(min_length=1)]] | None
    ] = None
    """Texts that end the answer; they are no part of it."""
    n: SkipValidation[Annotated[int, Field(ge=1, le=128)] | None] = None
    """Number of answers; the CPU engine has only 1."""
    logprobs: _Bool = None
    """True adds the log-probs of the sampled tokens."""
    top_logprobs: SkipValidation[Annotated[int, Field(ge=0, le=20)] | None] = None
    """Number of the most probable tokens to return at each position; needs `logprobs`."""
    response_format: SkipValidation[ChatResponseFormat | None] = None
    """Form of the answer; the CPU engine has only text."""
    reasoning_effort: SkipValidation[CalledEffort | None] = None
    """Absent: the effort that the model was trained with."""
    frequency_penalty: _Penalty = None
    """Lowers the logits of tokens by their count so far; the CPU engine has only 0."""
    presence_penalty: _Penalty = None
    """Lowers the logits of tokens that occurred; the CPU engine has only 0."""
    logit_bias: SkipValidation[dict[str, Annotated[float, Field(ge=-100, le=100)]] | None] = None
    """Additions to the logits of token ids; the CPU engine has none."""
    modalities: SkipValidation[list[Literal["text"]] | None] = None
    """Answers are text."""
    metadata: SkipValidation[dict[str, str] | None] = None
    """Pairs that a stored completion keeps, at most 16; without `store` they change nothing."""
    store: _Bool = None
    """True keeps the messages and the whole reply, for `GET /v1/chat/completions` and feedback."""
    user: _Text = None
    """The end user, if there is no `safety_identifier`."""
    safety_identifier: _Text = None
    """Your id of the person who asks. A stored completion keeps it, and `DELETE
    /v1/feedback/end_users/{id}` removes all that belongs to it.
    """
    service_tier: SkipValidation[Literal["auto", "default", "flex", "scale", "priority"] | None] = (
        None
    )
    """Changes nothing."""
    verbosity: SkipValidation[Literal["low", "medium", "high"] | None] = None
    """Changes nothing."""
    prompt_cache_key: _Text = None
    """Changes nothing."""
    prompt_cache_retention: _Text = None
    """Changes nothing."""
    prompt_cache_options: SkipValidation[dict[str, Any] | None] = None
    """Changes nothing."""
    top_k: SkipValidation[Annotated[int, Field(ge=-1, le=2**31 - 1)] | None] = None
    """Samples from this number of most probable tokens (an extension); the CPU engine has no such
    limit.
    """
    min_p: SkipValidation[Annotated[float, Field(ge=0, le=1)] | None] = None
    """Smallest probability of a token, as a share of the highest one (an extension); the CPU engine
    has no such limit.
    """
    min_tokens: SkipValidation[Annotated[int, Field(ge=0, le=2**31 - 1)] | None] = None
    """Smallest number of tokens of an answer (an extension); the CPU engine has no such limit."""
    repetition_penalty: SkipValidation[Annotated[float, Field(gt=0)] | None] = None
    """Divides the logits of tokens that occurred (an extension); the CPU engine has only 1."""
    ignore_eos: _Bool = None
    """True continues after the end-of-turn token (an extension); the CPU engine has only false."""
    skip_special_tokens: _Bool = None
    """False keeps control tokens in the text (an extension); the CPU engine has only true."""
    stop_token_ids: SkipValidation[list[Annotated[int, Field(ge=0, le=2**31 - 1)]] | None] = None
    """Token ids that end the answer (an extension)."""
    return_token_ids: _Bool = None
    """True adds the token ids of prompt and answer (an extension)."""

    def sent(self) -> dict[str, Any]:
        """Returns the body as it was sent."""
        return {name: getattr(self, name) for name in self.model_fields_set}
