"""Policies whose turns are scripted: the ids a test wants, with log-probs it can recognise."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tokenizers import Tokenizer

from app.rollouts.renderer import Renderer
from app.settings import shipped_model_dir
from workers.rollout.environment import SampledTurn, SamplingParams


def shipped_renderer() -> Renderer:
    return Renderer(str(shipped_model_dir()), tool_parser="hermes", chat_template=None)


@dataclass
class Writer:
    """Text to ids of the shipped model, in its own or in an unusual split."""

    renderer: Renderer = field(default_factory=shipped_renderer)

    def __post_init__(self) -> None:
        file = shipped_model_dir() / "tokenizer.json"
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(file))
        self.end = self.renderer.end_of_turn_id
        self.vocab_size = self._tokenizer.get_vocab_size()

    def ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def odd_ids(self, text: str, random: Random) -> list[int]:
        """Ids that decode to `text` but are not how the tokenizer would write it."""
        ids: list[int] = []
        while text:
            length = random.randint(1, 6)
            ids += self.ids(text[:length])
            text = text[length:]
        return ids


def call_text(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


Script = Callable[[list[int], SamplingParams], list[int]]


@dataclass
class ScriptedPolicy:
    """Turn after turn from a list of ids. Log-probs are `-(id + 1) / 1000 - call number`.

    A turn longer than `max_tokens` is cut there, as an engine does.
    """

    turns: list[list[int]]
    stop_ids: tuple[int, ...]
    calls: list[tuple[list[int], SamplingParams]] = field(default_factory=list)

    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        number = len(self.calls)
        self.calls.append((list(prompt_token_ids), params))
        ids = self.turns[number][: params.max_tokens]
        stopped = bool(ids) and ids[-1] in self.stop_ids
        return SampledTurn(
            token_ids=tuple(ids),
            logprobs=tuple(-(token + 1) / 1000 - number for token in ids),
            finish_reason="stop" if stopped else "length",
            policy_version=number + 3,
        )
