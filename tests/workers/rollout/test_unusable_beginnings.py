"""The words about a conversation that a customer's environment began and no model can read."""

from pathlib import Path

import pytest

from app.files.datasets import DatasetRow
from app.rollouts.renderer import Renderer
from tests.support.models.tiny_model import DROPS_THINKING, build_tokenizer
from tests.support.rollout.rollouts import KEY
from workers.rollout.environment import InfrastructureFailure, Observation
from workers.rollout.episode import prompt_ids

STRICT = (
    "{% for message in messages %}{% for key in message %}{% if key not in "
    "('role', 'content', 'tool_calls', 'tool_call_id', 'name', 'reasoning_content') %}"
    "{{ raise_exception('no message has ' ~ key) }}{% endif %}{% endfor %}{% endfor %}"
)
LONG = "\x1b[31m" + "canary-key" * 1000


async def test_a_template_that_repeats_a_key_is_quoted_in_short(tmp_path: Path) -> None:
    build_tokenizer(STRICT + DROPS_THINKING).save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 256}')
    renderer = Renderer(str(tmp_path), tool_parser="hermes", chat_template=None)
    messages = [{"role": "user", "content": "hi", LONG: 1}]
    row = DatasetRow(0, messages, [], {})
    with pytest.raises(InfrastructureFailure) as caught:
        await prompt_ids(
            renderer, Observation(messages, [], source="world"), row, KEY, context_length=256
        )
    message = caught.value.failure.message
    assert message.startswith("the conversation that it began cannot be rendered: ")
    assert "no message has \ufffd[31mcanary-key" in message
    assert len(message) < 400
