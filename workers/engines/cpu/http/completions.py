"""`POST /v1/completions`: token ids in, token ids and log-probs out, in vLLM's shape."""

import time
from collections.abc import AsyncGenerator
from typing import Any
from uuid import uuid4

from workers.engines.cpu.batching.sequence import Sampling, Sequence
from workers.engines.cpu.engine import Engine, choice_seed
from workers.engines.cpu.http.bodies import CompletionBody


def completion_sequences(
    engine: Engine, body: CompletionBody, *, streamed: bool = False
) -> list[Sequence]:
    """Creates one sequence per choice. Raises `AdapterMissing` or `InvalidRequest`."""
    version = engine.versions.get(body.model)
    sequences = []
    for choice in range(body.n):
        sampling = Sampling(
            max_tokens=body.max_tokens,
            temperature=1.0 if body.temperature is None else body.temperature,
            seed=choice_seed(body.seed, choice),
            top_p=1.0 if body.top_p is None else body.top_p,
            stop_token_ids=frozenset(
                version.base.renderer.stop_token_ids
                if body.stop_token_ids is None
                else body.stop_token_ids
            ),
            top_logprobs=body.logprobs or 0,
            prompt_logprobs=body.prompt_logprobs is not None and choice == 0,
            cache_salt=body.cache_salt or "",
        )
        sequences.append(
            engine.sequence(
                version, body.prompt, sampling, streamed=streamed, background=body.background
            )
        )
    return sequences


async def complete(engine: Engine, body: CompletionBody) -> dict[str, Any]:
    sequences = completion_sequences(engine, body)
    await engine.finish(sequences)
    choices = [_choice(body, i, sequence) for i, sequence in enumerate(sequences)]
    if body.prompt_logprobs is not None:
        for choice in choices:
            choice["prompt_logprobs"] = _prompt_logprobs(sequences[0])
    return {**_envelope(body), "choices": choices, "usage": _usage(sequences)}


async def stream_completion(
    engine: Engine, body: CompletionBody, sequence: Sequence
) -> AsyncGenerator[dict[str, Any]]:
    """Yields the chunks of one choice, then a chunk with the usage if requested."""
    envelope, streamed = _envelope(body), 0
    async for update in engine.updates(sequence):
        choice = _choice(body, 0, sequence, first=streamed, last=update.count)
        # The sequence may contain more tokens than this update.
        choice["finish_reason"] = update.finish_reason
        if update.finish_reason is None:
            choice["stop_reason"] = None
        streamed = update.count
        yield {**envelope, "choices": [choice]}
    if body.include_usage:
        yield {**envelope, "choices": [], "usage": _usage([sequence])}


def _envelope(body: CompletionBody) -> dict[str, Any]:
    return {
        "id": f"cmpl-{uuid4().hex}",
        "object": "text_completion",
        "created": int(time.time()),
        "model": body.model,
    }


def _choice(
    body: CompletionBody, index: int, sequence: Sequence, *, first: int = 0, last: int | None = None
) -> dict[str, Any]:
    """Returns one choice with the sampled tokens first … last - 1."""
    base = sequence.version.base
    end = sequence.sampled if last is None else last
    ids = sequence.tokens[sequence.prompt_length + first : sequence.prompt_length + end]
    choice: dict[str, Any] = {
        "index": index,
        "text": base.renderer.decode(ids),
        "logprobs": None,
        "finish_reason": sequence.finish_reason,
        "stop_reason": ids[-1] if ids and sequence.finish_reason == "stop" else None,
    }
    if body.return_token_ids:
        choice["token_ids"] = ids
        choice["prompt_token_ids"] = body.prompt if first == 0 else None
    if body.logprobs is not None:
        choice["logprobs"] = {
            "text_offset": [0] * len(ids),
            "token_logprobs": sequence.logprobs[first:end],
            "tokens": [base.text(token) for token in ids],
            "top_logprobs": _top_logprobs(sequence, first, end),
        }
    return choice


def _top_logprobs(sequence: Sequence, first: int, last: int) -> list[dict[str, float]] | None:
    """Returns alternatives by text, or by `token_id:N` (as in vLLM) if texts are empty or equal."""
    base = sequence.version.base
    listed = []
    for best in sequence.top_logprobs[first:last]:
        entry: dict[str, float] = {}
        for token, logprob in best.items():
            text = base.text(token)
            entry[text if text and text not in entry else f"token_id:{token}"] = logprob
        listed.append(entry)
    return listed or None


def _prompt_logprobs(sequence: Sequence) -> list[dict[str, Any] | None]:
    pairs = zip(sequence.tokens, sequence.prompt_logprobs or [], strict=False)
    return [
        None if logprob is None else {str(token): {"logprob": logprob}} for token, logprob in pairs
    ]


def _usage(sequences: list[Sequence]) -> dict[str, Any]:
    prompt, sampled = sequences[0].prompt_length, sum(s.sampled for s in sequences)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": sampled,
        "total_tokens": prompt + sampled,
        "prompt_tokens_details": {"cached_tokens": sequences[0].reused},
    }
