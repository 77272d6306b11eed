"""Variables of chat templates: the reasoning effort, and those that a model's settings give."""

from pathlib import Path

from app.jobs.response_formats import template_variables
from app.rollouts.chat_template import ChatTemplate
from tests.support.cases import cases
from tests.support.models.tiny_model import KEEPS_THINKING
from tests.support.rendering.renderers import renderer_of

USER = {"role": "user", "content": "What is the weight of part P017?"}


_EFFORT = "{% if reasoning_effort is defined %}Reasoning: {{ reasoning_effort }}.{% endif %}"
_SWITCH = "{% if enable_thinking is defined %}{{ 'on' if enable_thinking else 'off' }}.{% endif %}"


@cases(
    ("source", "opened"),
    [
        (_EFFORT, ["", "Reasoning: low.", "Reasoning: medium.", "Reasoning: high."]),
        (_SWITCH, ["", "off.", "", "on."]),
        (
            _EFFORT + _SWITCH,
            ["", "Reasoning: low.off.", "Reasoning: medium.", "Reasoning: high.on."],
        ),
        ("", ["", "", "", ""]),
    ],
)
def test_a_template_gets_the_effort_in_its_own_variables(source: str, opened: list[str]) -> None:
    body = "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
    levels = (None, "low", "medium", "high")
    made = [ChatTemplate(source + body, {}, reasoning_effort=level) for level in levels]
    rendered = [
        template.render([{"role": "user", "content": "a"}], None, generate=False)
        for template in made
    ]
    assert rendered == [f"{words}<|im_start|>a<|im_end|>" for words in opened]


def test_a_renderer_given_other_variables_reads_and_writes_by_them(tmp_path: Path) -> None:
    """A renderer whose template opens the turn with a thought unless a variable disables it."""
    opens = "{% if add_generation_prompt and enable_thinking | default(true) %}<think>\n{% endif %}"
    usual = renderer_of(tmp_path, _EFFORT + KEEPS_THINKING + opens)
    assert usual.parser.opened
    brief = usual.with_variables(template_variables("low"))
    text = brief.prompt_text([USER], None)
    assert text.startswith("Reasoning: low.<|im_start|>user")
    assert not text.endswith("<think>\n")
    ids = brief.turn_ids([USER, {"role": "assistant", "content": "It is 42."}], None)
    assert (brief.parser.parse(ids).content, usual.parser.parse(ids).content) == ("It is 42.", "")
    assert brief.with_variables({}).prompt_text([USER], None) == usual.prompt_text([USER], None)
    assert usual.parser.opened
