"""Chat templates in the published form of each model family, reduced to turns, calls and replies,
and a tokenizer with a family's control tokens.
"""

from pathlib import Path
from typing import Final, NamedTuple

from app.rollouts.renderer import Renderer
from tests.support.models.tiny_model import KEEPS_THINKING, build_tokenizer

_EACH: Final = "{% for m in messages %}"
_END: Final = "{% endfor %}"
_ARGUMENTS: Final = "{{ c.function.arguments | tojson }}"


class Family(NamedTuple):
    template: str
    control: tuple[str, ...]
    """Control tokens; the last one ends a text."""
    marks: tuple[str, ...] = ()
    """Added tokens that are not control tokens."""
    stops: tuple[str, ...] = ()


_IM: Final = ("<|im_start|>", "<|im_end|>")
_QWEN3_CODER = (
    _EACH + "{% if m.role == 'tool' %}<|im_start|>user\n<tool_response>\n{{ m.content }}\n"
    "</tool_response><|im_end|>\n{% else %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n<function={{ c.function.name }}>\n"
    "{% for k, v in c.function.arguments | items %}<parameter={{ k }}>\n"
    "{{ v if v is string else v | tojson }}\n</parameter>\n{% endfor %}</function>\n</tool_call>"
    "{% endfor %}<|im_end|>\n{% endif %}"
    + _END
    + "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)
_LAST_QUESTION = (
    "{% set ns = namespace(last=-1) %}"
    + _EACH
    + "{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}"
    + _END
)
_QWEN3 = (
    _LAST_QUESTION
    + _EACH
    + "{% if m.role == 'tool' %}{% if loop.previtem.role != 'tool' %}<|im_start|>user{% endif %}"
    "{{ '\\n<tool_response>' }}\n{{ m.content }}\n</tool_response>"
    "{% if loop.last or loop.nextitem.role != 'tool' %}<|im_end|>\n{% endif %}"
    "{% else %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' and loop.index0 > ns.last and "
    "(loop.last or m.reasoning_content) %}<think>\n{{ (m.reasoning_content or '').strip('\\n') }}"
    "\n</think>\n\n{{ m.content.lstrip('\\n') }}{% else %}{{ m.content }}{% endif %}"
    "{% for c in m.tool_calls or [] %}{{ '\\n' if m.content or not loop.first else '' }}"
    '<tool_call>\n{"name": "{{ c.function.name }}", "arguments": ' + _ARGUMENTS + "}\n</tool_call>"
    "{% endfor %}<|im_end|>\n{% endif %}"
    + _END
    + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_LLAMA = (
    _EACH
    + "<|start_header_id|>{{ 'ipython' if m.role == 'tool' else m.role }}<|end_header_id|>\n\n"
    "{% if m.tool_calls %}{% if m.tool_calls | length > 1 %}"
    "{{ raise_exception('only one call at once') }}{% endif %}{% set c = m.tool_calls[0] %}"
    '{"name": "{{ c.function.name }}", "parameters": ' + _ARGUMENTS + "}"
    "{% else %}{{ {'output': m.content} | tojson if m.role == 'tool' else m.content }}{% endif %}"
    "<|eot_id|>"
    + _END
    + "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
_MISTRAL = (
    "<s>" + _EACH + "{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]"
    "{% elif m.role == 'tool' %}"
    "{% if m.tool_call_id | length != 9 %}{{ raise_exception('ids have 9 characters') }}{% endif %}"
    '[TOOL_RESULTS]{"content": {{ m.content | tojson }}, "call_id": "{{ m.tool_call_id }}"}'
    "[/TOOL_RESULTS]{% elif m.tool_calls %}[TOOL_CALLS] [{% for c in m.tool_calls %}"
    "{% if c.id | length != 9 %}{{ raise_exception('ids have 9 characters') }}{% endif %}"
    '{"name": "{{ c.function.name }}", "arguments": ' + _ARGUMENTS + ', "id": "{{ c.id }}"}'
    "{{ '' if loop.last else ', ' }}{% endfor %}]</s>"
    "{% else %}{{ m.content }}</s>{% endif %}" + _END
)
_MISTRAL_11 = (
    "<s>" + _EACH + "{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]"
    "{% elif m.role == 'tool' %}[TOOL_RESULTS]{{ m.content }}[/TOOL_RESULTS]"
    "{% else %}{{ m.content }}{% for c in m.tool_calls or [] %}[TOOL_CALLS]{{ c.function.name }}"
    "[ARGS]" + _ARGUMENTS + "{% endfor %}</s>{% endif %}" + _END
)
_GEMMA_VALUE = (
    "{% macro value(v) %}{% if v is string %}QUOTE{{ v }}QUOTE{% elif v is mapping %}{ {%- for k, x"
    " in v | dictsort %}{{ k }}:{{ value(x) }}{{ '' if loop.last else ',' }}{% endfor %}}"
    "{% elif v is boolean %}{{ 'true' if v else 'false' }}{% elif v is iterable %}[{% for x in v %}"
    "{{ value(x) }}{{ '' if loop.last else ',' }}{% endfor %}]{% else %}{{ v }}{% endif %}"
    "{% endmacro %}"
)
_GEMMA_TURNS = (
    _EACH
    + "{% if m.role == 'tool' %}{% if not loop.previtem.get('tool_calls') and loop.previtem.role "
    "!= 'tool' %}{{ raise_exception('a reply without a call') }}{% endif %}"
    "REPLYresponse:{{ m.name }}{value:{{ value(m.content) }}}ENDREPLY"
    "{% else %}OPEN{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}STARTcall:{{ c.function.name }}"
    "{{ value(c.function.arguments) }}END{% endfor %}"
    "{% if not m.tool_calls %}CLOSE\n{% endif %}{% endif %}"
    + _END
    + "{% if add_generation_prompt and messages[-1].role != 'tool' %}OPENmodel\n{% endif %}"
)


def _gemma(words: dict[str, str]) -> Family:
    template = _GEMMA_VALUE + _GEMMA_TURNS
    for word in ("QUOTE", "ENDREPLY", "REPLY", "OPEN", "START", "END", "CLOSE"):
        template = template.replace(word, words[word])
    return Family(template, (*words.values(), "<eos>"), stops=(words["CLOSE"], words["REPLY"]))


_GLM = (
    _LAST_QUESTION
    + "[gMASK]<sop>"
    + _EACH
    + "{% if m.role == 'user' %}<|user|>\n{{ m.content }}{% elif m.role == 'tool' %}"
    "{% if loop.previtem.role != 'tool' %}<|observation|>{% endif %}{{ '\\n<tool_response>' }}\n"
    "{{ m.content }}\n</tool_response>{% else %}<|assistant|>\n<think>"
    "{{ (m.reasoning_content or '').strip() if loop.index0 > ns.last else '' }}</think>"
    "{{ '\\n' + m.content if m.content else '' }}"
    "{% for c in m.tool_calls or [] %}{{ '\\n<tool_call>' + c.function.name }}\n"
    "{% for k, v in c.function.arguments | items %}<arg_key>{{ k }}</arg_key>\n"
    "<arg_value>{{ v if v is string else v | tojson }}</arg_value>\n{% endfor %}</tool_call>"
    "{% endfor %}{% endif %}" + _END + "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_DEEPSEEK = (
    "{% set ns = namespace(tool=false) %}<｜begin▁of▁sentence｜>"
    + _EACH
    + "{% if m.role == 'user' %}"
    "<｜User｜>{{ m.content }}{% elif m.role == 'tool' %}{% if not ns.tool %}"
    "<｜tool▁outputs▁begin｜>{% endif %}<｜tool▁output▁begin｜>{{ m.content }}<｜tool▁output▁end｜>"
    "{% else %}<｜Assistant｜>{{ m.content }}{% if m.tool_calls %}<｜tool▁calls▁begin｜>"
    "{% for c in m.tool_calls %}<｜tool▁call▁begin｜>CALL<｜tool▁call▁end｜>{% endfor %}"
    "<｜tool▁calls▁end｜>{% endif %}<｜end▁of▁sentence｜>{% endif %}"
    "{% set ns.tool = m.role == 'tool' %}" + _END + "{% if ns.tool %}<｜tool▁outputs▁end｜>"
    "{% elif add_generation_prompt %}<｜Assistant｜><think>\n{% endif %}"
)
_DEEPSEEK_V3 = (
    "function<｜tool▁sep｜>{{ c.function.name }}\n```json\n{{ c.function.arguments | tojson }}\n```"
)
_DEEPSEEK_V31 = "{{ c.function.name }}<｜tool▁sep｜>{{ c.function.arguments | tojson }}"
_DEEPSEEK_TOKENS = (
    *("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"),
    *("<｜User｜>", "<｜Assistant｜>", "<｜tool▁sep｜>"),
    *(f"<｜tool▁{what}▁{edge}｜>" for what in ("calls", "call") for edge in ("begin", "end")),
    *(f"<｜tool▁{what}▁{edge}｜>" for what in ("outputs", "output") for edge in ("begin", "end")),
)
_HARMONY = (
    "{% set ns = namespace(name=none) %}" + _EACH + "{% if m.role == 'tool' %}{% if ns.name is none"
    " %}{{ raise_exception('a reply without a call') }}{% endif %}<|start|>functions.{{ ns.name }}"
    " to=assistant<|channel|>commentary<|message|>{{ m.content | tojson }}<|end|>"
    "{% elif m.tool_calls %}{% set c = m.tool_calls[0] %}{% set ns.name = c.function.name %}"
    "<|start|>assistant to=functions.{{ c.function.name }}<|channel|>commentary json<|message|>"
    + _ARGUMENTS
    + "<|call|>{% elif m.role == 'assistant' %}{% set ns.name = none %}"
    "<|start|>assistant<|channel|>final<|message|>{{ m.content }}"
    "{{ '<|return|>' if loop.last and not add_generation_prompt else '<|end|>' }}"
    "{% else %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endif %}"
    + _END
    + "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)


def _lists(call: str) -> str:
    """Returns a template whose calls are a list in an otherwise plain conversation."""
    return (
        _EACH
        + "<|im_start|>{{ m.role }}\n{{ m.content }}{% if m.tool_calls %}"
        + call
        + "{% endif %}<|im_end|>\n"
        + _END
        + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )


_JSON_CALLS = (
    '[{% for c in m.tool_calls %}{"name": "{{ c.function.name }}", "arguments": '
    + _ARGUMENTS
    + "}{{ '' if loop.last else ', ' }}{% endfor %}]"
)
_PYTHON_CALLS = (
    "{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments | items "
    "%}{{ k }}={{ v | tojson }}{{ '' if loop.last else ', ' }}{% endfor %})"
    "{{ '' if loop.last else 'NEXT' }}{% endfor %}"
)
FAMILIES: Final[dict[str, Family]] = {
    "hermes": Family(KEEPS_THINKING, _IM),
    "hermes thinking": Family(_QWEN3, _IM),
    "qwen3_coder": Family(_QWEN3_CODER, _IM),
    "llama3_json": Family(
        _LLAMA, ("<|start_header_id|>", "<|end_header_id|>", "<|python_tag|>", "<|eot_id|>")
    ),
    "mistral": Family(
        _MISTRAL,
        ("<s>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "</s>"),
    ),
    "mistral 11": Family(
        _MISTRAL_11,
        *(
            (
                *("<s>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[ARGS]"),
                *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[THINK]", "[/THINK]", "</s>"),
            ),
        ),
    ),
    "functiongemma": _gemma(
        {
            "QUOTE": "<escape>",
            "ENDREPLY": "<end_function_response>",
            "REPLY": "<start_function_response>",
            "OPEN": "<start_of_turn>",
            "START": "<start_function_call>",
            "END": "<end_function_call>",
            "CLOSE": "<end_of_turn>",
        }
    ),
    "gemma4": _gemma(
        {
            "QUOTE": '<|"|>',
            "ENDREPLY": "<tool_response|>",
            "REPLY": "<|tool_response>",
            "OPEN": "<|turn>",
            "START": "<|tool_call>",
            "END": "<tool_call|>",
            "CLOSE": "<turn|>",
        }
    ),
    "glm45": Family(
        _GLM,
        ("[gMASK]", "<sop>", "<|user|>", "<|assistant|>", "<|observation|>", "<|endoftext|>"),
        marks=("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
        stops=("<|user|>", "<|observation|>"),
    ),
    "deepseek_v3": Family(_DEEPSEEK.replace("CALL", _DEEPSEEK_V3), _DEEPSEEK_TOKENS),
    "deepseek_v31": Family(_DEEPSEEK.replace("CALL", _DEEPSEEK_V31), _DEEPSEEK_TOKENS),
    "openai": Family(
        _HARMONY,
        *(
            (
                *("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>"),
                *("<|end|>", "<|call|>", "<|return|>"),
            ),
        ),
        stops=("<|call|>", "<|return|>"),
    ),
    "pythonic": Family(_lists("[" + _PYTHON_CALLS.replace("NEXT", ", ") + "]"), _IM),
    "olmo3": Family(
        _lists("<function_calls>\n" + _PYTHON_CALLS.replace("NEXT", "\\n") + "\n</function_calls>"),
        _IM,
    ),
    "granite": Family(_lists("<|tool_call|>" + _JSON_CALLS), (*_IM[:1], "<|tool_call|>", _IM[1])),
    "phi4_mini_json": Family(
        _lists("<|tool_call|>" + _JSON_CALLS + "<|/tool_call|>"),
        (*_IM[:1], "<|tool_call|>", "<|/tool_call|>", _IM[1]),
    ),
}
"""The families by vLLM's name of their tool-call parser."""

NO_TOOLS: Final = Family(
    _EACH + "{% if m.role in ('user', 'assistant') %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "<|im_end|>\n{% endif %}"
    + _END
    + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    _IM,
)
"""A template that prints neither calls nor replies, as those of Phi-3 and Gemma 3."""


def save_family(directory: Path, family: Family) -> Path:
    """Writes the tokenizer of a family, with its control tokens."""
    tokenizer = build_tokenizer(family.template)
    tokenizer.add_special_tokens({"additional_special_tokens": list(family.control)})
    tokenizer.add_tokens(list(family.marks))
    tokenizer.eos_token = family.control[-1]
    tokenizer.save_pretrained(directory)
    ids = [tokenizer.convert_tokens_to_ids(token) for token in family.stops]
    (directory / "config.json").write_text('{"max_position_embeddings": 512}')
    (directory / "generation_config.json").write_text(f'{{"eos_token_id": {ids}}}')
    return directory


def family_renderer(directory: Path, name: str) -> Renderer:
    save_family(directory, FAMILIES[name])
    return Renderer(str(directory), tool_parser="auto", chat_template=None)
