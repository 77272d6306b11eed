"""The guess of the tiny base model: one word, as likely as a call where a turn begins.

Owns the two rows of the output layer between which a turn begins, a guess and a call. Promises that
the share of guesses does not depend on the names of tools, and that a small change of the hidden
state moves it. Must not know how the model is trained.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Final

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from workers.base_models.corpus import STEADY_GUESS
from workers.base_models.transcript_tokens import IGNORED, Row
from workers.base_models.wording import WORDS

LEVERAGE: Final = 3.0
"""Change of the logit of a guess beside that of a call for each unit by which the normalised state
moves: as between rows of different words. At 0.13, which is left where one row is a copy of the
other, tuning brought the reward from 0.27 to 0.54 only."""


def untie_output(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """Returns the model with an output layer of its own, in which a guess is as likely as a call
    wherever a call begins, whatever the tools are called, and ends the turn as a word does.
    """
    config = copy.deepcopy(model.config)
    config.tie_word_embeddings = False
    state = model.state_dict()
    guess, call = guess_and_call(tokenizer)
    word = tokenizer.encode(WORDS["color"][0])[0]
    rows = state["model.embed_tokens.weight"]
    inputs, outputs = rows.clone(), rows.clone()
    inputs[guess], outputs[guess] = rows[word], rows[call]
    new = Qwen3ForCausalLM(config)
    new.load_state_dict(state | {"model.embed_tokens.weight": inputs, "lm_head.weight": outputs})
    return new


def guess_and_call(tokenizer: PreTrainedTokenizerFast) -> tuple[int, int]:
    """Returns the tokens with which a guess and a call begin."""
    return tokenizer.encode(STEADY_GUESS)[0], tokenizer.encode("<tool_call>")[0]


@torch.no_grad()
def set_apart(
    model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, rows: Iterable[Row]
) -> None:
    """Moves the output row of a guess away from that of a call, in the direction in which the
    states at the first tokens of turns vary least: the share of guesses stays, and an adapter that
    writes in this direction changes it.
    """
    scale = model.model.norm.weight
    starts, others = _states(model, rows)
    _, directions = torch.linalg.eigh(starts.T @ starts)
    direction = (LEVERAGE * directions[:, 0]).float() / scale
    guess, _ = guess_and_call(tokenizer)
    output = model.lm_head.weight
    # The one of the two signs that adds fewer guesses in the middle of turns.
    logits_NV = others.float() @ (output * scale).T
    shift_N = others.float() @ (direction * scale)
    shares = []
    for sign in (1.0, -1.0):
        moved_NV = logits_NV.clone()
        moved_NV[:, guess] += sign * shift_N
        shares.append((float(moved_NV.softmax(-1)[:, guess].sum()), sign))
    output[guess] += min(shares)[1] * direction


def _states(model: Qwen3ForCausalLM, rows: Iterable[Row]) -> tuple[Tensor, Tensor]:
    """Returns the normalised states that predict first tokens of turns, and those that predict
    other tokens of the assistant, in fp64.
    """
    starts, others = [], []
    for row in rows:
        hidden = model.model(input_ids=torch.tensor([row.ids]), use_cache=False).last_hidden_state
        states = hidden[0, :-1].double() / model.model.norm.weight.double()
        trained = torch.tensor(row.labels[1:]) != IGNORED
        inside = torch.tensor(row.labels[:-1]) != IGNORED
        starts.append(states[trained & ~inside])
        others.append(states[trained & inside])
    return torch.cat(starts), torch.cat(others)
