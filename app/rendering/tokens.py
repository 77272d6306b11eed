"""A model's tokenizer: text to ids, and ids to the text that parsers and users read.

Owns the choice of the control tokens that decoded text hides. Must not know messages.
"""

import copy
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import DecodeStream

THREAD_FROM: Final = 65_536
"""Number of characters from which a caller with an event loop encodes on a thread."""
_UNFINISHED: Final = "\ufffd"
_LONGEST_CHARACTER: Final = 8
"""Number of tokens after which a text that ends with a broken character is a piece: four may write
one character, and a run of broken bytes would else be decoded again for each of its tokens.
"""


class ModelTokens:
    def __init__(self, file: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.added: Mapping[int, AddedToken] = self._tokenizer.get_added_tokens_decoder()
        self.control_ids = frozenset(n for n, token in self.added.items() if token.special)
        self._hidden_ids = self.control_ids

    def showing(self, marks: Collection[str]) -> Self:
        """Returns the tokenizer with these control tokens visible in decoded text."""
        other = copy.copy(self)
        other._hidden_ids = frozenset(  # noqa: SLF001 - its own class
            number for number in self.control_ids if self.added[number].content not in marks
        )
        return other

    def encode(self, text: str) -> list[int]:
        """Returns the ids of a text, about 2 MB a second. Encoding a long text releases the
        interpreter lock, unlike the tokenizer's method for single texts.
        """
        if len(text) < THREAD_FROM:
            ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
            return ids
        [encoding] = self._tokenizer.encode_batch_fast([text], add_special_tokens=False)
        return list(encoding.ids)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Returns the text without hidden control tokens."""
        visible = [number for number in token_ids if number not in self._hidden_ids]
        text: str = self._tokenizer.decode(visible, skip_special_tokens=False)
        return text

    def decoding(self) -> Callable[[int], str]:
        """Returns a function that takes the ids of a text one by one, and returns the text that
        each adds. This is one pass over a long turn; calling `decode` on each prefix would take
        quadratic time.
        """
        stream = DecodeStream(skip_special_tokens=False)

        def step(number: int) -> str:
            shown = None if number in self._hidden_ids else stream.step(self._tokenizer, number)
            return shown or ""

        return step

    def pieces(self, token_ids: Sequence[int], most: int) -> list[str]:
        """Returns the text of each of the first `most` ids; joined, the pieces of all ids are
        `decode` of them. The first token of a character that spans several has all of it, and the
        others have an empty text, like a hidden control token.
        """
        shown = [i for i, number in enumerate(token_ids) if number not in self._hidden_ids]
        stored = [index for index in shown if index < most]
        lengths, last = self._lengths([token_ids[index] for index in stored])
        text, start = self.decode(token_ids), 0
        pieces = [""] * min(most, len(token_ids))
        for index, length in zip(stored, lengths, strict=True):
            pieces[index] = text[start : start + length]
            start += length
        if stored and len(stored) == len(shown):
            # The rest of a turn that ends within a character stands where that one begins.
            pieces[stored[last]] += text[start:]
        # A step's rollouts have millions of tokens and few different texts.
        return [sys.intern(piece) for piece in pieces]

    def _lengths(self, ids: Sequence[int]) -> tuple[list[int], int]:
        """Returns the number of characters of each id's piece, and the index of the id at which the
        last piece begins. Decodes each id after the piece before it, because a first token may lose
        its space.
        """
        lengths, known, start, begin = [0] * len(ids), 0, 0, 0
        for end in range(1, len(ids) + 1):
            text = self.decode(ids[start:end])
            if text.endswith(_UNFINISHED) and end - begin < _LONGEST_CHARACTER:
                continue
            lengths[begin] = max(0, len(text) - known)
            known = len(self.decode(ids[begin:end]))
            start, begin = begin, end
        return lengths, min(begin, len(ids) - 1)

    def id_of(self, token: str) -> int | None:
        number: int | None = self._tokenizer.token_to_id(token)
        return number
