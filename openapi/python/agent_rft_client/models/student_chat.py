from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.student_chat_reasoning_effort_type_0 import check_student_chat_reasoning_effort_type_0
from ..models.student_chat_reasoning_effort_type_0 import StudentChatReasoningEffortType0
from ..models.student_chat_service_tier_type_0 import check_student_chat_service_tier_type_0
from ..models.student_chat_service_tier_type_0 import StudentChatServiceTierType0
from ..models.student_chat_tool_choice_type_0 import check_student_chat_tool_choice_type_0
from ..models.student_chat_tool_choice_type_0 import StudentChatToolChoiceType0
from ..models.student_chat_verbosity_type_0 import check_student_chat_verbosity_type_0
from ..models.student_chat_verbosity_type_0 import StudentChatVerbosityType0
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.chat_assistant_message import ChatAssistantMessage
  from ..models.chat_named_tool import ChatNamedTool
  from ..models.chat_response_format import ChatResponseFormat
  from ..models.chat_stream_options import ChatStreamOptions
  from ..models.chat_system_message import ChatSystemMessage
  from ..models.chat_tool import ChatTool
  from ..models.chat_tool_message import ChatToolMessage
  from ..models.chat_user_message import ChatUserMessage
  from ..models.student_chat_logit_bias_type_0 import StudentChatLogitBiasType0
  from ..models.student_chat_metadata_type_0 import StudentChatMetadataType0
  from ..models.student_chat_prompt_cache_options_type_0 import StudentChatPromptCacheOptionsType0





T = TypeVar("T", bound="StudentChat")



@_attrs_define
class StudentChat:
    """ A chat completion of a student: a call of a model without the model's name.

        Attributes:
            messages (list[ChatAssistantMessage | ChatSystemMessage | ChatToolMessage | ChatUserMessage]): The conversation
                so far.
            model (None | str | Unset): May be left out; if sent, it must be `student:NAME` with the name in the path.
            stream (bool | None | Unset): True sends the answer in chunks, as server-sent events.
            stream_options (ChatStreamOptions | None | Unset): Options of a stream.
            tools (list[ChatTool] | None | Unset): Functions that the model may call.
            tool_choice (ChatNamedTool | None | StudentChatToolChoiceType0 | Unset): `none` offers the tools and parses no
                calls; the CPU engine has only `auto` and `none`.
            parallel_tool_calls (bool | None | Unset): False: the answer has one call at most.
            max_completion_tokens (int | None | Unset): Largest number of tokens of an answer; absent: as many as the
                context leaves.
            max_tokens (int | None | Unset): The older name of `max_completion_tokens`; only one of them may be sent.
            temperature (float | None | Unset): Divides the logits before sampling; 0 takes the most probable token. Absent:
                1.
            top_p (float | None | Unset): Samples from the most probable tokens that have this probability together.
            seed (int | None | Unset): The same seed repeats an answer of the same model and engine.
            stop (list[str] | None | str | Unset): Texts that end the answer; they are no part of it.
            n (int | None | Unset): Number of answers; the CPU engine has only 1.
            logprobs (bool | None | Unset): True adds the log-probs of the sampled tokens.
            top_logprobs (int | None | Unset): Number of the most probable tokens to return at each position; needs
                `logprobs`.
            response_format (ChatResponseFormat | None | Unset): Form of the answer; the CPU engine has only text.
            reasoning_effort (None | StudentChatReasoningEffortType0 | Unset): Absent: the effort that the model was trained
                with.
            frequency_penalty (float | None | Unset): Lowers the logits of tokens by their count so far; the CPU engine has
                only 0.
            presence_penalty (float | None | Unset): Lowers the logits of tokens that occurred; the CPU engine has only 0.
            logit_bias (None | StudentChatLogitBiasType0 | Unset): Additions to the logits of token ids; the CPU engine has
                none.
            modalities (list[Literal['text']] | None | Unset): Answers are text.
            metadata (None | StudentChatMetadataType0 | Unset): Pairs that a stored completion keeps, at most 16; without
                `store` they change nothing.
            store (bool | None | Unset): True keeps the messages and the whole reply, for `GET /v1/chat/completions` and
                feedback.
            user (None | str | Unset): The end user, if there is no `safety_identifier`.
            safety_identifier (None | str | Unset): Your id of the person who asks. A stored completion keeps it, and
                `DELETE /v1/feedback/end_users/{id}` removes all that belongs to it.
            service_tier (None | StudentChatServiceTierType0 | Unset): Changes nothing.
            verbosity (None | StudentChatVerbosityType0 | Unset): Changes nothing.
            prompt_cache_key (None | str | Unset): Changes nothing.
            prompt_cache_retention (None | str | Unset): Changes nothing.
            prompt_cache_options (None | StudentChatPromptCacheOptionsType0 | Unset): Changes nothing.
            top_k (int | None | Unset): Samples from this number of most probable tokens (an extension); the CPU engine has
                no such limit.
            min_p (float | None | Unset): Smallest probability of a token, as a share of the highest one (an extension); the
                CPU engine has no such limit.
            min_tokens (int | None | Unset): Smallest number of tokens of an answer (an extension); the CPU engine has no
                such limit.
            repetition_penalty (float | None | Unset): Divides the logits of tokens that occurred (an extension); the CPU
                engine has only 1.
            ignore_eos (bool | None | Unset): True continues after the end-of-turn token (an extension); the CPU engine has
                only false.
            skip_special_tokens (bool | None | Unset): False keeps control tokens in the text (an extension); the CPU engine
                has only true.
            stop_token_ids (list[int] | None | Unset): Token ids that end the answer (an extension).
            return_token_ids (bool | None | Unset): True adds the token ids of prompt and answer (an extension).
     """

    messages: list[ChatAssistantMessage | ChatSystemMessage | ChatToolMessage | ChatUserMessage]
    model: None | str | Unset = UNSET
    stream: bool | None | Unset = UNSET
    stream_options: ChatStreamOptions | None | Unset = UNSET
    tools: list[ChatTool] | None | Unset = UNSET
    tool_choice: ChatNamedTool | None | StudentChatToolChoiceType0 | Unset = UNSET
    parallel_tool_calls: bool | None | Unset = UNSET
    max_completion_tokens: int | None | Unset = UNSET
    max_tokens: int | None | Unset = UNSET
    temperature: float | None | Unset = UNSET
    top_p: float | None | Unset = UNSET
    seed: int | None | Unset = UNSET
    stop: list[str] | None | str | Unset = UNSET
    n: int | None | Unset = UNSET
    logprobs: bool | None | Unset = UNSET
    top_logprobs: int | None | Unset = UNSET
    response_format: ChatResponseFormat | None | Unset = UNSET
    reasoning_effort: None | StudentChatReasoningEffortType0 | Unset = UNSET
    frequency_penalty: float | None | Unset = UNSET
    presence_penalty: float | None | Unset = UNSET
    logit_bias: None | StudentChatLogitBiasType0 | Unset = UNSET
    modalities: list[Literal['text']] | None | Unset = UNSET
    metadata: None | StudentChatMetadataType0 | Unset = UNSET
    store: bool | None | Unset = UNSET
    user: None | str | Unset = UNSET
    safety_identifier: None | str | Unset = UNSET
    service_tier: None | StudentChatServiceTierType0 | Unset = UNSET
    verbosity: None | StudentChatVerbosityType0 | Unset = UNSET
    prompt_cache_key: None | str | Unset = UNSET
    prompt_cache_retention: None | str | Unset = UNSET
    prompt_cache_options: None | StudentChatPromptCacheOptionsType0 | Unset = UNSET
    top_k: int | None | Unset = UNSET
    min_p: float | None | Unset = UNSET
    min_tokens: int | None | Unset = UNSET
    repetition_penalty: float | None | Unset = UNSET
    ignore_eos: bool | None | Unset = UNSET
    skip_special_tokens: bool | None | Unset = UNSET
    stop_token_ids: list[int] | None | Unset = UNSET
    return_token_ids: bool | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.chat_assistant_message import ChatAssistantMessage # noqa: PLC0415
        from ..models.chat_named_tool import ChatNamedTool # noqa: PLC0415
        from ..models.chat_response_format import ChatResponseFormat # noqa: PLC0415
        from ..models.chat_stream_options import ChatStreamOptions # noqa: PLC0415
        from ..models.chat_system_message import ChatSystemMessage # noqa: PLC0415
        from ..models.chat_tool import ChatTool # noqa: PLC0415
        from ..models.chat_tool_message import ChatToolMessage # noqa: PLC0415
        from ..models.chat_user_message import ChatUserMessage # noqa: PLC0415
        from ..models.student_chat_logit_bias_type_0 import StudentChatLogitBiasType0 # noqa: PLC0415
        from ..models.student_chat_metadata_type_0 import StudentChatMetadataType0 # noqa: PLC0415
        from ..models.student_chat_prompt_cache_options_type_0 import StudentChatPromptCacheOptionsType0 # noqa: PLC0415
        messages = []
        for messages_item_data in self.messages:
            messages_item: dict[str, Any]
            if isinstance(messages_item_data, ChatSystemMessage):
                messages_item = messages_item_data.to_dict()
            elif isinstance(messages_item_data, ChatUserMessage):
                messages_item = messages_item_data.to_dict()
            elif isinstance(messages_item_data, ChatAssistantMessage):
                messages_item = messages_item_data.to_dict()
            else:
                messages_item = messages_item_data.to_dict()

            messages.append(messages_item)



        model: None | str | Unset
        if isinstance(self.model, Unset):
            model = UNSET
        else:
            model = self.model

        stream: bool | None | Unset
        if isinstance(self.stream, Unset):
            stream = UNSET
        else:
            stream = self.stream

        stream_options: dict[str, Any] | None | Unset
        if isinstance(self.stream_options, Unset):
            stream_options = UNSET
        elif isinstance(self.stream_options, ChatStreamOptions):
            stream_options = self.stream_options.to_dict()
        else:
            stream_options = self.stream_options

        tools: list[dict[str, Any]] | None | Unset
        if isinstance(self.tools, Unset):
            tools = UNSET
        elif isinstance(self.tools, list):
            tools = []
            for tools_type_0_item_data in self.tools:
                tools_type_0_item = tools_type_0_item_data.to_dict()
                tools.append(tools_type_0_item)


        else:
            tools = self.tools

        tool_choice: dict[str, Any] | None | str | Unset
        if isinstance(self.tool_choice, Unset):
            tool_choice = UNSET
        elif isinstance(self.tool_choice, str):
            tool_choice = self.tool_choice
        elif isinstance(self.tool_choice, ChatNamedTool):
            tool_choice = self.tool_choice.to_dict()
        else:
            tool_choice = self.tool_choice

        parallel_tool_calls: bool | None | Unset
        if isinstance(self.parallel_tool_calls, Unset):
            parallel_tool_calls = UNSET
        else:
            parallel_tool_calls = self.parallel_tool_calls

        max_completion_tokens: int | None | Unset
        if isinstance(self.max_completion_tokens, Unset):
            max_completion_tokens = UNSET
        else:
            max_completion_tokens = self.max_completion_tokens

        max_tokens: int | None | Unset
        if isinstance(self.max_tokens, Unset):
            max_tokens = UNSET
        else:
            max_tokens = self.max_tokens

        temperature: float | None | Unset
        if isinstance(self.temperature, Unset):
            temperature = UNSET
        else:
            temperature = self.temperature

        top_p: float | None | Unset
        if isinstance(self.top_p, Unset):
            top_p = UNSET
        else:
            top_p = self.top_p

        seed: int | None | Unset
        if isinstance(self.seed, Unset):
            seed = UNSET
        else:
            seed = self.seed

        stop: list[str] | None | str | Unset
        if isinstance(self.stop, Unset):
            stop = UNSET
        elif isinstance(self.stop, list):
            stop = self.stop


        else:
            stop = self.stop

        n: int | None | Unset
        if isinstance(self.n, Unset):
            n = UNSET
        else:
            n = self.n

        logprobs: bool | None | Unset
        if isinstance(self.logprobs, Unset):
            logprobs = UNSET
        else:
            logprobs = self.logprobs

        top_logprobs: int | None | Unset
        if isinstance(self.top_logprobs, Unset):
            top_logprobs = UNSET
        else:
            top_logprobs = self.top_logprobs

        response_format: dict[str, Any] | None | Unset
        if isinstance(self.response_format, Unset):
            response_format = UNSET
        elif isinstance(self.response_format, ChatResponseFormat):
            response_format = self.response_format.to_dict()
        else:
            response_format = self.response_format

        reasoning_effort: None | str | Unset
        if isinstance(self.reasoning_effort, Unset):
            reasoning_effort = UNSET
        elif isinstance(self.reasoning_effort, str):
            reasoning_effort = self.reasoning_effort
        else:
            reasoning_effort = self.reasoning_effort

        frequency_penalty: float | None | Unset
        if isinstance(self.frequency_penalty, Unset):
            frequency_penalty = UNSET
        else:
            frequency_penalty = self.frequency_penalty

        presence_penalty: float | None | Unset
        if isinstance(self.presence_penalty, Unset):
            presence_penalty = UNSET
        else:
            presence_penalty = self.presence_penalty

        logit_bias: dict[str, Any] | None | Unset
        if isinstance(self.logit_bias, Unset):
            logit_bias = UNSET
        elif isinstance(self.logit_bias, StudentChatLogitBiasType0):
            logit_bias = self.logit_bias.to_dict()
        else:
            logit_bias = self.logit_bias

        modalities: list[Literal['text']] | None | Unset
        if isinstance(self.modalities, Unset):
            modalities = UNSET
        elif isinstance(self.modalities, list):
            modalities = self.modalities


        else:
            modalities = self.modalities

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, StudentChatMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        store: bool | None | Unset
        if isinstance(self.store, Unset):
            store = UNSET
        else:
            store = self.store

        user: None | str | Unset
        if isinstance(self.user, Unset):
            user = UNSET
        else:
            user = self.user

        safety_identifier: None | str | Unset
        if isinstance(self.safety_identifier, Unset):
            safety_identifier = UNSET
        else:
            safety_identifier = self.safety_identifier

        service_tier: None | str | Unset
        if isinstance(self.service_tier, Unset):
            service_tier = UNSET
        elif isinstance(self.service_tier, str):
            service_tier = self.service_tier
        else:
            service_tier = self.service_tier

        verbosity: None | str | Unset
        if isinstance(self.verbosity, Unset):
            verbosity = UNSET
        elif isinstance(self.verbosity, str):
            verbosity = self.verbosity
        else:
            verbosity = self.verbosity

        prompt_cache_key: None | str | Unset
        if isinstance(self.prompt_cache_key, Unset):
            prompt_cache_key = UNSET
        else:
            prompt_cache_key = self.prompt_cache_key

        prompt_cache_retention: None | str | Unset
        if isinstance(self.prompt_cache_retention, Unset):
            prompt_cache_retention = UNSET
        else:
            prompt_cache_retention = self.prompt_cache_retention

        prompt_cache_options: dict[str, Any] | None | Unset
        if isinstance(self.prompt_cache_options, Unset):
            prompt_cache_options = UNSET
        elif isinstance(self.prompt_cache_options, StudentChatPromptCacheOptionsType0):
            prompt_cache_options = self.prompt_cache_options.to_dict()
        else:
            prompt_cache_options = self.prompt_cache_options

        top_k: int | None | Unset
        if isinstance(self.top_k, Unset):
            top_k = UNSET
        else:
            top_k = self.top_k

        min_p: float | None | Unset
        if isinstance(self.min_p, Unset):
            min_p = UNSET
        else:
            min_p = self.min_p

        min_tokens: int | None | Unset
        if isinstance(self.min_tokens, Unset):
            min_tokens = UNSET
        else:
            min_tokens = self.min_tokens

        repetition_penalty: float | None | Unset
        if isinstance(self.repetition_penalty, Unset):
            repetition_penalty = UNSET
        else:
            repetition_penalty = self.repetition_penalty

        ignore_eos: bool | None | Unset
        if isinstance(self.ignore_eos, Unset):
            ignore_eos = UNSET
        else:
            ignore_eos = self.ignore_eos

        skip_special_tokens: bool | None | Unset
        if isinstance(self.skip_special_tokens, Unset):
            skip_special_tokens = UNSET
        else:
            skip_special_tokens = self.skip_special_tokens

        stop_token_ids: list[int] | None | Unset
        if isinstance(self.stop_token_ids, Unset):
            stop_token_ids = UNSET
        elif isinstance(self.stop_token_ids, list):
            stop_token_ids = self.stop_token_ids


        else:
            stop_token_ids = self.stop_token_ids

        return_token_ids: bool | None | Unset
        if isinstance(self.return_token_ids, Unset):
            return_token_ids = UNSET
        else:
            return_token_ids = self.return_token_ids


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "messages": messages,
        })
        if model is not UNSET:
            field_dict["model"] = model
        if stream is not UNSET:
            field_dict["stream"] = stream
        if stream_options is not UNSET:
            field_dict["stream_options"] = stream_options
        if tools is not UNSET:
            field_dict["tools"] = tools
        if tool_choice is not UNSET:
            field_dict["tool_choice"] = tool_choice
        if parallel_tool_calls is not UNSET:
            field_dict["parallel_tool_calls"] = parallel_tool_calls
        if max_completion_tokens is not UNSET:
            field_dict["max_completion_tokens"] = max_completion_tokens
        if max_tokens is not UNSET:
            field_dict["max_tokens"] = max_tokens
        if temperature is not UNSET:
            field_dict["temperature"] = temperature
        if top_p is not UNSET:
            field_dict["top_p"] = top_p
        if seed is not UNSET:
            field_dict["seed"] = seed
        if stop is not UNSET:
            field_dict["stop"] = stop
        if n is not UNSET:
            field_dict["n"] = n
        if logprobs is not UNSET:
            field_dict["logprobs"] = logprobs
        if top_logprobs is not UNSET:
            field_dict["top_logprobs"] = top_logprobs
        if response_format is not UNSET:
            field_dict["response_format"] = response_format
        if reasoning_effort is not UNSET:
            field_dict["reasoning_effort"] = reasoning_effort
        if frequency_penalty is not UNSET:
            field_dict["frequency_penalty"] = frequency_penalty
        if presence_penalty is not UNSET:
            field_dict["presence_penalty"] = presence_penalty
        if logit_bias is not UNSET:
            field_dict["logit_bias"] = logit_bias
        if modalities is not UNSET:
            field_dict["modalities"] = modalities
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if store is not UNSET:
            field_dict["store"] = store
        if user is not UNSET:
            field_dict["user"] = user
        if safety_identifier is not UNSET:
            field_dict["safety_identifier"] = safety_identifier
        if service_tier is not UNSET:
            field_dict["service_tier"] = service_tier
        if verbosity is not UNSET:
            field_dict["verbosity"] = verbosity
        if prompt_cache_key is not UNSET:
            field_dict["prompt_cache_key"] = prompt_cache_key
        if prompt_cache_retention is not UNSET:
            field_dict["prompt_cache_retention"] = prompt_cache_retention
        if prompt_cache_options is not UNSET:
            field_dict["prompt_cache_options"] = prompt_cache_options
        if top_k is not UNSET:
            field_dict["top_k"] = top_k
        if min_p is not UNSET:
            field_dict["min_p"] = min_p
        if min_tokens is not UNSET:
            field_dict["min_tokens"] = min_tokens
        if repetition_penalty is not UNSET:
            field_dict["repetition_penalty"] = repetition_penalty
        if ignore_eos is not UNSET:
            field_dict["ignore_eos"] = ignore_eos
        if skip_special_tokens is not UNSET:
            field_dict["skip_special_tokens"] = skip_special_tokens
        if stop_token_ids is not UNSET:
            field_dict["stop_token_ids"] = stop_token_ids
        if return_token_ids is not UNSET:
            field_dict["return_token_ids"] = return_token_ids

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chat_assistant_message import ChatAssistantMessage # noqa: PLC0415
        from ..models.chat_named_tool import ChatNamedTool # noqa: PLC0415
        from ..models.chat_response_format import ChatResponseFormat # noqa: PLC0415
        from ..models.chat_stream_options import ChatStreamOptions # noqa: PLC0415
        from ..models.chat_system_message import ChatSystemMessage # noqa: PLC0415
        from ..models.chat_tool import ChatTool # noqa: PLC0415
        from ..models.chat_tool_message import ChatToolMessage # noqa: PLC0415
        from ..models.chat_user_message import ChatUserMessage # noqa: PLC0415
        from ..models.student_chat_logit_bias_type_0 import StudentChatLogitBiasType0 # noqa: PLC0415
        from ..models.student_chat_metadata_type_0 import StudentChatMetadataType0 # noqa: PLC0415
        from ..models.student_chat_prompt_cache_options_type_0 import StudentChatPromptCacheOptionsType0 # noqa: PLC0415
        d = dict(src_dict)
        messages = []
        _messages = d.pop("messages")
        for messages_item_data in (_messages):
            def _parse_messages_item(data: object) -> ChatAssistantMessage | ChatSystemMessage | ChatToolMessage | ChatUserMessage:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    messages_item_type_0 = ChatSystemMessage.from_dict(data)



                    return messages_item_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    messages_item_type_1 = ChatUserMessage.from_dict(data)



                    return messages_item_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    messages_item_type_2 = ChatAssistantMessage.from_dict(data)



                    return messages_item_type_2
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                messages_item_type_3 = ChatToolMessage.from_dict(data)



                return messages_item_type_3

            messages_item = _parse_messages_item(messages_item_data)

            messages.append(messages_item)


        def _parse_model(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        model = _parse_model(d.pop("model", UNSET))


        def _parse_stream(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        stream = _parse_stream(d.pop("stream", UNSET))


        def _parse_stream_options(data: object) -> ChatStreamOptions | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                stream_options_type_0 = ChatStreamOptions.from_dict(data)



                return stream_options_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChatStreamOptions | None | Unset, data)

        stream_options = _parse_stream_options(d.pop("stream_options", UNSET))


        def _parse_tools(data: object) -> list[ChatTool] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tools_type_0 = []
                _tools_type_0 = data
                for tools_type_0_item_data in (_tools_type_0):
                    tools_type_0_item = ChatTool.from_dict(tools_type_0_item_data)



                    tools_type_0.append(tools_type_0_item)

                return tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[ChatTool] | None | Unset, data)

        tools = _parse_tools(d.pop("tools", UNSET))


        def _parse_tool_choice(data: object) -> ChatNamedTool | None | StudentChatToolChoiceType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                tool_choice_type_0 = check_student_chat_tool_choice_type_0(data)



                return tool_choice_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tool_choice_type_1 = ChatNamedTool.from_dict(data)



                return tool_choice_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChatNamedTool | None | StudentChatToolChoiceType0 | Unset, data)

        tool_choice = _parse_tool_choice(d.pop("tool_choice", UNSET))


        def _parse_parallel_tool_calls(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        parallel_tool_calls = _parse_parallel_tool_calls(d.pop("parallel_tool_calls", UNSET))


        def _parse_max_completion_tokens(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_completion_tokens = _parse_max_completion_tokens(d.pop("max_completion_tokens", UNSET))


        def _parse_max_tokens(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_tokens = _parse_max_tokens(d.pop("max_tokens", UNSET))


        def _parse_temperature(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        temperature = _parse_temperature(d.pop("temperature", UNSET))


        def _parse_top_p(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        top_p = _parse_top_p(d.pop("top_p", UNSET))


        def _parse_seed(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        seed = _parse_seed(d.pop("seed", UNSET))


        def _parse_stop(data: object) -> list[str] | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                stop_type_1 = cast(list[str], data)

                return stop_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | str | Unset, data)

        stop = _parse_stop(d.pop("stop", UNSET))


        def _parse_n(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        n = _parse_n(d.pop("n", UNSET))


        def _parse_logprobs(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        logprobs = _parse_logprobs(d.pop("logprobs", UNSET))


        def _parse_top_logprobs(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        top_logprobs = _parse_top_logprobs(d.pop("top_logprobs", UNSET))


        def _parse_response_format(data: object) -> ChatResponseFormat | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_format_type_0 = ChatResponseFormat.from_dict(data)



                return response_format_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChatResponseFormat | None | Unset, data)

        response_format = _parse_response_format(d.pop("response_format", UNSET))


        def _parse_reasoning_effort(data: object) -> None | StudentChatReasoningEffortType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                reasoning_effort_type_0 = check_student_chat_reasoning_effort_type_0(data)



                return reasoning_effort_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StudentChatReasoningEffortType0 | Unset, data)

        reasoning_effort = _parse_reasoning_effort(d.pop("reasoning_effort", UNSET))


        def _parse_frequency_penalty(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        frequency_penalty = _parse_frequency_penalty(d.pop("frequency_penalty", UNSET))


        def _parse_presence_penalty(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        presence_penalty = _parse_presence_penalty(d.pop("presence_penalty", UNSET))


        def _parse_logit_bias(data: object) -> None | StudentChatLogitBiasType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                logit_bias_type_0 = StudentChatLogitBiasType0.from_dict(data)



                return logit_bias_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StudentChatLogitBiasType0 | Unset, data)

        logit_bias = _parse_logit_bias(d.pop("logit_bias", UNSET))


        def _parse_modalities(data: object) -> list[Literal['text']] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                modalities_type_0 = []
                _modalities_type_0 = data
                for modalities_type_0_item_data in (_modalities_type_0):
                    modalities_type_0_item = cast(Literal['text'] , modalities_type_0_item_data)
                    if modalities_type_0_item != 'text':
                        raise ValueError(f"modalities_type_0_item must match const 'text', got '{modalities_type_0_item}'")
                    modalities_type_0.append(modalities_type_0_item)

                return modalities_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Literal['text']] | None | Unset, data)

        modalities = _parse_modalities(d.pop("modalities", UNSET))


        def _parse_metadata(data: object) -> None | StudentChatMetadataType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = StudentChatMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StudentChatMetadataType0 | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        def _parse_store(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        store = _parse_store(d.pop("store", UNSET))


        def _parse_user(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        user = _parse_user(d.pop("user", UNSET))


        def _parse_safety_identifier(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        safety_identifier = _parse_safety_identifier(d.pop("safety_identifier", UNSET))


        def _parse_service_tier(data: object) -> None | StudentChatServiceTierType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                service_tier_type_0 = check_student_chat_service_tier_type_0(data)



                return service_tier_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StudentChatServiceTierType0 | Unset, data)

        service_tier = _parse_service_tier(d.pop("service_tier", UNSET))


        def _parse_verbosity(data: object) -> None | StudentChatVerbosityType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                verbosity_type_0 = check_student_chat_verbosity_type_0(data)



                return verbosity_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StudentChatVerbosityType0 | Unset, data)

        verbosity = _parse_verbosity(d.pop("verbosity", UNSET))


        def _parse_prompt_cache_key(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        prompt_cache_key = _parse_prompt_cache_key(d.pop("prompt_cache_key", UNSET))


        def _parse_prompt_cache_retention(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        prompt_cache_retention = _parse_prompt_cache_retention(d.pop("prompt_cache_retention", UNSET))


        def _parse_prompt_cache_options(data: object) -> None | StudentChatPromptCacheOptionsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                prompt_cache_options_type_0 = StudentChatPromptCacheOptionsType0.from_dict(data)



                return prompt_cache_options_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StudentChatPromptCacheOptionsType0 | Unset, data)

        prompt_cache_options = _parse_prompt_cache_options(d.pop("prompt_cache_options", UNSET))


        def _parse_top_k(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        top_k = _parse_top_k(d.pop("top_k", UNSET))


        def _parse_min_p(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        min_p = _parse_min_p(d.pop("min_p", UNSET))


        def _parse_min_tokens(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        min_tokens = _parse_min_tokens(d.pop("min_tokens", UNSET))


        def _parse_repetition_penalty(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        repetition_penalty = _parse_repetition_penalty(d.pop("repetition_penalty", UNSET))


        def _parse_ignore_eos(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        ignore_eos = _parse_ignore_eos(d.pop("ignore_eos", UNSET))


        def _parse_skip_special_tokens(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        skip_special_tokens = _parse_skip_special_tokens(d.pop("skip_special_tokens", UNSET))


        def _parse_stop_token_ids(data: object) -> list[int] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                stop_token_ids_type_0 = cast(list[int], data)

                return stop_token_ids_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | Unset, data)

        stop_token_ids = _parse_stop_token_ids(d.pop("stop_token_ids", UNSET))


        def _parse_return_token_ids(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        return_token_ids = _parse_return_token_ids(d.pop("return_token_ids", UNSET))


        student_chat = cls(
            messages=messages,
            model=model,
            stream=stream,
            stream_options=stream_options,
            tools=tools,
            tool_choice=tool_choice,
            parallel_tool_calls=parallel_tool_calls,
            max_completion_tokens=max_completion_tokens,
            max_tokens=max_tokens,
            temperature=temperature,
            top_p=top_p,
            seed=seed,
            stop=stop,
            n=n,
            logprobs=logprobs,
            top_logprobs=top_logprobs,
            response_format=response_format,
            reasoning_effort=reasoning_effort,
            frequency_penalty=frequency_penalty,
            presence_penalty=presence_penalty,
            logit_bias=logit_bias,
            modalities=modalities,
            metadata=metadata,
            store=store,
            user=user,
            safety_identifier=safety_identifier,
            service_tier=service_tier,
            verbosity=verbosity,
            prompt_cache_key=prompt_cache_key,
            prompt_cache_retention=prompt_cache_retention,
            prompt_cache_options=prompt_cache_options,
            top_k=top_k,
            min_p=min_p,
            min_tokens=min_tokens,
            repetition_penalty=repetition_penalty,
            ignore_eos=ignore_eos,
            skip_special_tokens=skip_special_tokens,
            stop_token_ids=stop_token_ids,
            return_token_ids=return_token_ids,
        )


        student_chat.additional_properties = d
        return student_chat

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
