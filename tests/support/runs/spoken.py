"""An engine whose samples a test writes, with the log-probs that the engine has for them."""

from collections.abc import Callable
from typing import Any

from typing_extensions import override

from app.models.engine import Completion
from app.models.engine_http import HttpInference
from app.models.models import BaseModelSpec
from app.settings import shipped_models
from tests.support.rollout.policies import Writer

Says = Callable[[str, int], str]
"""The text of a turn, by the text of the prompt and the seed."""


def roomy_model() -> BaseModelSpec:
    """The shipped model, with room for programs."""
    (spec,) = shipped_models()
    return spec.model_copy(update={"context_length": 2048, "max_turn_tokens": 768})


class SpokenInference(HttpInference):
    def __init__(self, url: str, says: Says) -> None:
        super().__init__(url)
        self._says = says
        self._writer = Writer()

    @override
    async def complete(self, model: str, prompt_token_ids: list[int], **options: Any) -> Completion:
        if options.get("prompt_logprobs"):  # a probe
            return await super().complete(model, prompt_token_ids, **options)
        text = self._says(self._writer.renderer.decode(prompt_token_ids), options["seed"])
        ids = [*self._writer.ids(text), self._writer.end]
        scored = await super().complete(
            model,
            [*prompt_token_ids, *ids],
            **{**options, "max_tokens": 1, "prompt_logprobs": True},
        )
        assert scored.prompt_logprobs is not None
        logprobs = scored.prompt_logprobs[len(prompt_token_ids) :]
        return Completion(tuple(ids), tuple(value or 0.0 for value in logprobs), "stop")
