from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from app.kit.errors import InvalidRequest
from app.rollouts.renderer import Renderer
from app.rollouts.tool_formats import ParsedToolCall
from app.rollouts.turns import call_fault
from app.settings import shipped_model_dir
from tests.support.models.tiny_model import DROPS_THINKING, KEEPS_THINKING, build_tokenizer
from tests.support.rendering.renderers import renderer_of

TOOL: dict[Any, Any] = {
    "type": "function",
    "function": {
        "name": "lookup",
        "description": "Read one field <of> a record; é.",
        "parameters": {"type": "object", "properties": {"record": {"type": "string"}}},
    },
}
USER = {"role": "user", "content": "What is the weight of part P017?"}
CALLS = '<tool_call>\n{"name": "lookup", "arguments": {"record": "P017"}}\n</tool_call>'


@pytest.fixture(scope="module", params=["keeps", "drops", "shipped"])
def model_dir(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "shipped":
        if not (shipped_model_dir() / "tokenizer.json").is_file():
            pytest.skip("the shipped model is not in the tree")
        return shipped_model_dir()
    directory = tmp_path_factory.mktemp("tokenizer")
    template = KEEPS_THINKING if request.param == "keeps" else DROPS_THINKING
    build_tokenizer(template).save_pretrained(directory)
    (directory / "config.json").write_text('{"max_position_embeddings": 512}')
    return directory


@pytest.fixture(scope="module")
def renderer(model_dir: Path) -> Renderer:
    return Renderer(str(model_dir), tool_parser="hermes", chat_template=None)


@pytest.fixture(scope="module")
def chatml(tmp_path_factory: pytest.TempPathFactory) -> Renderer:
    return renderer_of(tmp_path_factory.mktemp("chatml"), KEEPS_THINKING)


def whole_text(renderer: Renderer, ids: list[int]) -> str:
    """The text of ids, control tokens included."""
    return renderer._tokens.showing(["<|im_start|>", "<|im_end|>", "<|endoftext|>"]).decode(ids)


def _id(renderer: Renderer, token: str) -> int:
    (found,) = _ids(renderer, token)
    return found


def _ids(renderer: Renderer, text: str) -> list[int]:
    return renderer.encode(text)


def test_prompt_ids_equal_those_of_transformers(renderer: Renderer, model_dir: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    call = {"id": "call_1", "type": "function"}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief.\n"},
        USER,
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [
                {**call, "function": {"name": "lookup", "arguments": '{"record":  "P017"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "42 kg"},
        {"role": "assistant", "content": "42"},
        {"role": "user", "content": "And in pounds? é 日本"},
    ]
    choices: tuple[list[Any] | None, ...] = (None, [TOOL])
    for tools in choices:
        expected = tokenizer.apply_chat_template(
            messages, tools=tools, add_generation_prompt=True, return_dict=False
        )
        assert renderer.prompt_ids(messages, tools) == expected


def test_bridge_after_an_ended_turn_is_the_rest_of_the_conversation(chatml: Renderer) -> None:
    prompt = chatml.prompt_ids([USER], [TOOL])
    # Spacing that no template would write: what was sampled must come through as it is.
    sampled = _ids(chatml, '<tool_call>{"name":"lookup","arguments":{}}</tool_call><|im_end|>')
    replies = [
        {"role": "tool", "tool_call_id": "a", "content": "42"},
        {"role": "tool", "tool_call_id": "b", "content": "43"},
    ]
    bridge = chatml.bridge_ids([USER], replies, tools=[TOOL], sampled=sampled)
    text = whole_text(chatml, prompt + sampled + bridge)
    assert text.endswith(
        "P017?<|im_end|>\n<|im_start|>assistant\n"
        '<tool_call>{"name":"lookup","arguments":{}}</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\n42\n</tool_response>"
        "\n<tool_response>\n43\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    )


@given(
    content=st.text(max_size=20),
    reply=st.text(max_size=20) | st.sampled_from(["Qx7sentinelZ", "Qx7sentinelZQx7sentinelZ1"]),
    shown=st.booleans(),
)
def test_bridge_equals_the_template_where_the_template_is_prefix_stable(
    chatml: Renderer, content: str, reply: str, shown: bool
) -> None:
    assistant = {"role": "assistant", "content": content}
    tool = {"role": "tool", "content": reply}
    prompt = chatml.prompt_ids([USER], [TOOL])
    sampled = chatml.turn_ids([USER, assistant], [TOOL])
    history = [USER, assistant] if shown else [USER]
    bridge = chatml.bridge_ids(history, [tool], tools=[TOOL])
    assert prompt + sampled + bridge == chatml.prompt_ids([USER, assistant, tool], [TOOL])


def test_bridge_works_where_the_template_rewrites_earlier_turns(tmp_path: Path) -> None:
    drops = renderer_of(tmp_path, DROPS_THINKING)
    thought = {"role": "assistant", "content": "<think>\nhm\n</think>\n\nWhich part?"}
    assert "hm" in drops.prompt_text([USER, thought], None)
    assert "hm" not in drops.prompt_text([USER, thought, USER], None)
    bridge = drops.bridge_ids([USER, thought], [USER], tools=None)
    assert whole_text(drops, bridge) == (
        f"\n<|im_start|>user\n{USER['content']}<|im_end|>\n<|im_start|>assistant\n"
    )


def test_parse_reads_content_calls_and_reasoning(renderer: Renderer) -> None:
    text = f"<think>\nlook it up\n</think>\n\nLooking.\n{CALLS}\n{CALLS}<|im_end|>"
    turn = renderer.parser.parse(_ids(renderer, text))
    assert turn.content == "Looking."
    assert turn.reasoning == "look it up"
    assert turn.reasoning_tokens == len(_ids(renderer, "<think>\nlook it up\n</think>"))
    assert turn.tool_calls == [ParsedToolCall("lookup", '{"record": "P017"}')] * 2
    assert turn.parse_error is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<tool_call>{", "does not end with </tool_call>"),
        ("<tool_call>{nope}</tool_call>", "not valid JSON"),
        ("<tool_call>" + "[" * 3000 + "</tool_call>", "nested too deeply"),
        ('{"name": "f"}</tool_call>', "without <tool_call>"),
    ],
)
def test_a_broken_call_is_a_sentence_for_the_model(chatml: Renderer, text: str, fault: str) -> None:
    turn = chatml.parser.parse(_ids(chatml, text))
    assert turn.tool_calls == []
    assert turn.parse_error is not None
    assert fault in turn.parse_error


def test_a_broken_call_makes_its_whole_turn_content(chatml: Renderer) -> None:
    text = f"Well.\n{CALLS}<tool_call>{{</tool_call>{CALLS}"
    turn = chatml.parser.parse(_ids(chatml, text))
    assert (turn.content, turn.tool_calls) == (text, [])
    assert turn.parse_error == call_fault(text)
    assert turn.parse_error == call_fault(f"<think>\n<tool_call>\n</think>{text}")
    assert call_fault(f"<think>\n<tool_call>\n</think>{CALLS}") is None


def test_without_tools_everything_is_content(chatml: Renderer) -> None:
    for text in (CALLS, "<tool_call>{", "a </tool_call> b"):
        turn = chatml.parser.parse(_ids(chatml, f"<think>\nhm\n</think>\n{text}"), with_tools=False)
        assert (turn.content, turn.tool_calls, turn.parse_error) == (text.strip(), [], None)
        assert turn.reasoning == "hm"


def test_unclosed_reasoning_is_no_answer(chatml: Renderer) -> None:
    ids = _ids(chatml, f"<think>\nlook {CALLS}")
    turn = chatml.parser.parse(ids)
    assert (turn.content, turn.tool_calls) == ("", [])
    assert turn.reasoning_tokens == len(ids)


def test_a_prompt_that_opens_reasoning_makes_the_turn_reasoning(tmp_path: Path) -> None:
    opens = renderer_of(
        tmp_path,
        KEEPS_THINKING.replace("assistant\\n' }}{% endif", "assistant\\n<think>\\n' }}{% endif"),
    )
    assert opens.parser.parse(_ids(opens, "cut while thin")).reasoning == "cut while thin"
    assert opens.parser.parse(_ids(opens, "hm\n</think>\n42<|im_end|>")).content == "42"


@pytest.mark.parametrize(
    "messages", [[{"content": "x"}], ["x"], [{"role": "user", "content": [{"type": "image"}]}]]
)
def test_bad_messages_are_the_callers_fault(chatml: Renderer, messages: list[Any]) -> None:
    with pytest.raises(InvalidRequest):
        chatml.prompt_ids(messages, None)


def test_text_parts_are_joined(chatml: Renderer) -> None:
    parts = [{"type": "text", "text": "What is "}, {"type": "text", "text": "12?"}]
    assert chatml.prompt_ids([{"role": "user", "content": parts}], None) == chatml.prompt_ids(
        [{"role": "user", "content": "What is 12?"}], None
    )


def test_refusals_nulls_and_both_names_of_reasoning_render_as_in_a_chat(chatml: Renderer) -> None:
    said = {"role": "assistant", "content": "No."}
    for other in (
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {**said, "name": None, "tool_calls": None},
    ):
        assert chatml.prompt_ids([USER, other], None) == chatml.prompt_ids([USER, said], None)
    shown = chatml.control_text.broken({**said, "reasoning": "Because."})
    assert (shown["reasoning"], shown["reasoning_content"]) == ("Because.", "Because.")


def test_facts_of_the_model_files(chatml: Renderer) -> None:
    assert chatml.context_length == 512
    assert chatml.stop_token_ids == (_id(chatml, "<|im_end|>"),)
    assert chatml.count_tokens("<|im_end|>") == 1


def test_a_template_that_quotes_argument_text_gets_objects(tmp_path: Path) -> None:
    template = KEEPS_THINKING.replace(
        "arguments if arguments is string else arguments | tojson", "arguments | tojson"
    )
    strict = renderer_of(tmp_path, template)
    call = {"id": "1", "function": {"name": "lookup", "arguments": '{"record":"P1"}'}}
    ids = strict.prompt_ids([USER, {"role": "assistant", "tool_calls": [call]}], None)
    assert '"arguments": {"record": "P1"}}' in strict.decode(ids)
