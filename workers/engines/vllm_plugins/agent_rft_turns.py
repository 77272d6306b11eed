"""Reads turns in vLLM with the parsers of training, so that a client plays the episode that was
trained: a call that cannot be parsed stays text, and reasoning ends where training ends it. vLLM
imports this module by `--tool-parser-plugin`. It offers each pair of a tool-call format and a
reasoning format as one parser, under the names of `app.rollouts.turns`. Of this project it
imports what reads turns and templates, whose libraries vLLM's own environment has.
"""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    FunctionCall,
)
from vllm.parser.abstract_parser import DelegatingParser
from vllm.parser.parser_manager import ParserManager
from vllm.renderers.chat_utils import make_tool_call_id
from vllm.tool_parsers.abstract_tool_parser import ToolParser, ToolParserManager

_APP: Final = Path(__file__).resolve().parents[3] / "app"


def _offer(package: Path) -> None:
    """Makes `app` importable without the other packages of its directory. In an installed service
    these are its libraries, in versions that vLLM cannot use.
    """
    if package.name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        package.name, package / "__init__.py", submodule_search_locations=[str(package)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{package} is not the package of the service")
    module = importlib.util.module_from_spec(spec)
    sys.modules[package.name] = module
    spec.loader.exec_module(module)


_offer(_APP)

from app.rollouts.chat_template import ModelFiles, ModelTokens  # noqa: E402 - importable by now
from app.rollouts.marked_formats import build_tool_format  # noqa: E402 - as above
from app.rollouts.turns import (  # noqa: E402 - as above
    TURN_FORMATS,
    Delta,
    ParsedTurn,
    TurnFormats,
    TurnOptions,
    TurnParser,
    TurnReading,
)


@lru_cache(maxsize=4)
def _tokens(model: str) -> ModelTokens:
    return ModelTokens(ModelFiles(model).required("tokenizer.json"))


class TurnReader(DelegatingParser):  # type: ignore[misc]  # vLLM is not in the environment of the checks
    """Reads one choice of a chat; a forced call is JSON of vLLM's grammar, which vLLM reads."""

    formats: TurnFormats

    def __init__(
        self, tokenizer: Any, tools: Any = None, *args: Any, model_config: Any = None, **more: Any
    ) -> None:
        super().__init__(tokenizer, tools, *args, model_config=model_config, **more)
        self._model = None if model_config is None else str(model_config.tokenizer)
        self._prompt: Sequence[int] = ()
        self._ids: list[int] = []
        self._turn: TurnReading | None = None
        self._decoding: Callable[[int], str] = lambda _: ""

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        self._prompt = prompt_token_ids

    def parse(
        self,
        model_output: str,
        request: Any,
        enable_auto_tools: bool = False,
        model_output_token_ids: Sequence[int] = (),
    ) -> tuple[str | None, str | None, list[Any] | None]:
        if _forced(request):
            found: tuple[str | None, str | None, list[Any] | None] = super().parse(
                model_output, request, enable_auto_tools, model_output_token_ids
            )
            return found
        turn, parser = self._begun(request)
        turn.show(parser.tokens.decode(model_output_token_ids))
        answer = turn.answer(model_output_token_ids)
        calls = [
            FunctionCall(name=call.name, arguments=call.arguments_json)
            for call in answer.tool_calls
        ]
        content = answer.content or None if calls else answer.content
        return answer.reasoning or None, content, calls

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Any,
        prompt_token_ids: list[int] | None = None,
        *,
        finished: bool,
    ) -> Any:
        if _forced(request):
            return super().parse_delta(
                delta_text, delta_token_ids, request, prompt_token_ids, finished=finished
            )
        turn = self._turn
        if turn is None:
            self._prompt = prompt_token_ids or ()
            turn, parser = self._begun(request)
            self._turn, self._decoding = turn, parser.tokens.decoding()
        if turn.cut is None:  # the turn ends at a stop string
            self._ids += delta_token_ids
            turn.show(turn.text + "".join(map(self._decoding, delta_token_ids)))
        if finished:
            answer = turn.answer(self._ids)
            return _message(turn.rest(answer), request, answer)
        return None if turn.cut is not None else _message(turn.new(), request)

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        parser = self._parser()
        return parser.parse(token_ids, with_tools=False, after=self._prompt).reasoning_tokens

    def _begun(self, request: Any) -> tuple[TurnReading, TurnParser]:
        parser = self._parser()
        return TurnReading(parser, _options(request), prompt=self._prompt), parser

    def _parser(self) -> TurnParser:
        if self._model is None:
            raise ValueError("a turn is read for a model")
        return TurnParser(
            _tokens(self._model), build_tool_format(self.formats.calls), self.formats.reasoning
        )


def _options(request: Any) -> TurnOptions:
    tools = tuple(tool.model_dump(exclude_none=True) for tool in request.tools or ())
    stop = request.stop or ()
    return TurnOptions(
        tools=tools,
        reads_calls=bool(tools) and request.tool_choice != "none",
        one_call=request.parallel_tool_calls is False,
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
    )


def _forced(request: Any) -> bool:
    return request.tool_choice not in (None, "auto", "none")


def _message(new: Delta, request: Any, answer: ParsedTurn | None = None) -> Any:
    fields: dict[str, Any] = {}
    if new.reasoning and request.include_reasoning:
        fields["reasoning"] = new.reasoning
    if new.content:
        fields["content"] = new.content
    if answer is not None and answer.tool_calls:
        fields["tool_calls"] = [
            DeltaToolCall(
                index=index,
                id=make_tool_call_id(),
                type="function",
                function=DeltaFunctionCall(name=call.name, arguments=call.arguments_json),
            )
            for index, call in enumerate(answer.tool_calls)
        ]
    return DeltaMessage(**fields) if fields else None


class _NamedToolParser(ToolParser):  # type: ignore[misc]  # vLLM is not in the environment of the checks
    """In vLLM's registry for `TurnReader`; gives forced calls their grammar, parses nothing."""


_compose = ParserManager._compose_parser  # noqa: SLF001 - no other way to offer a whole parser


def _composed(tool_parser_name: str | None, *args: Any, **options: Any) -> Any:
    """Returns `TurnReader` for its names, even where vLLM would choose a parser of its own."""
    formats = TURN_FORMATS.get(tool_parser_name or "")
    if formats is None:
        return _compose(tool_parser_name, *args, **options)
    name = options.get("reasoning_parser_name")
    fields = {
        "formats": formats,
        "tool_parser_cls": _NamedToolParser,
        "reasoning_parser_cls": ParserManager.get_reasoning_parser(name),
    }
    return type("_TurnReader", (TurnReader,), fields)


ToolParserManager.register_module(list(TURN_FORMATS), module=_NamedToolParser)
ParserManager._compose_parser = staticmethod(_composed)  # noqa: SLF001 - no other way
