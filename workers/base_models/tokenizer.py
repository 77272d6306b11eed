"""The tiny base model's byte-level BPE tokenizer with its chat template.

Owns splitting, special tokens and the files that make a stock `AutoTokenizer`. Promises: every
digit and the capital letter of an identifier is a separate token; identifiers and numbers are
therefore copied token by token. The names of tools and arguments have the same tokens in a schema
as in a call, whatever they are, so that they can be copied too. Any text round-trips, because the
byte alphabet is in the vocabulary. Must not know the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

TEMPLATE: Final = Path(__file__).parent / "chat_template.jinja"
END_OF_TEXT: Final = "<|endoftext|>"
TURN_START: Final = "<|im_start|>"
TURN_END: Final = "<|im_end|>"
HIDDEN_MARKS: Final = (END_OF_TEXT, TURN_START, TURN_END)
# Marks that decoded text retains, because tool-call parsers read them there.
VISIBLE_MARKS: Final = ("<tool_call>", "</tool_call>", "<think>", "</think>")
MAX_LENGTH: Final = 2048
# A word never merges with a quote or another word, so that a name has the same tokens in a schema
# and in a call and can be copied; the scaffold of a call costs one token a piece.
SPLIT: Final = (
    r"\n\{\"name\": \"|\", \"arguments\": \{\"?|\"\}\}\n?"
    r"|\p{N}|\n|\p{Lu}(?=\p{N})| ?\p{Lu}?\p{Ll}+|\p{Lu}| (?=\p{L})"
    r"|[^\n\p{N}\p{Lu}\p{Ll}]+?(?= ?\p{L}|[\n\p{N}]|$)"
)


def train_tokenizer(texts: Iterable[str], *, vocab_size: int) -> PreTrainedTokenizerFast:
    """Trains a tokenizer of at most `vocab_size` tokens on rendered transcripts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    marks = [*HIDDEN_MARKS, *VISIBLE_MARKS]
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=marks,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    # The trainer does not split at special tokens, so letters would merge with their brackets.
    cut = re.compile("|".join(map(re.escape, marks)))
    tokenizer.train_from_iterator((piece for t in texts for piece in cut.split(t)), trainer)
    fast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # untyped upstream
        tokenizer_object=_with_visible_marks(tokenizer),
        eos_token=TURN_END,
        pad_token=END_OF_TEXT,
        model_max_length=MAX_LENGTH,
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = TEMPLATE.read_text(encoding="utf-8")
    return fast


def _with_visible_marks(tokenizer: Tokenizer) -> Tokenizer:
    """Clears the `special` flag of visible marks, so that decoding retains them: the trainer flags
    every added token.
    """
    state = json.loads(tokenizer.to_str())
    for token in state["added_tokens"]:
        token["special"] = token["content"] in HIDDEN_MARKS
    return Tokenizer.from_str(json.dumps(state))
