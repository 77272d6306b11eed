"""A model's tokenizer: text to ids, and ids to the text that parsers and users read."""

import copy
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Final, Self

from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import DecodeStream

from app.kit.errors import InvalidRequest
from app.rollouts.chat_template import ChatTemplate, Message

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


_SENTINEL: Final = "Qx7sentinelZ"
_MARKED: Final = ("Rq3markedA", "Rq3markedB")


@dataclass(frozen=True, slots=True)
class Bridge:
    closing: list[int]
    """The end of the sampled turn, if it is not in the turn itself."""
    rest: list[int]
    """The replies and the opening of the next turn."""

    def after(self, sampled: Sequence[int] | None, stop_ids: Sequence[int]) -> list[int]:
        """Returns the ids after a turn. A turn that was cut still needs its end, and some families
        end a turn with the token that opens the reply. `None` means a turn with its usual end.
        """
        if sampled is None:
            return self.rest
        last = [*sampled[-1:]]
        if not last or last[0] not in stop_ids:
            return [*self.closing, *self.rest]
        return self.rest[1:] if self.rest[:1] == last != self.closing else self.rest


class BridgeRenderer:
    def __init__(self, template: ChatTemplate, tokens: ModelTokens) -> None:
        """Raises `InvalidRequest` for a template that cannot show a conversation."""
        self._template = template
        self._tokens = tokens
        turn = _assistant(_SENTINEL)
        end = self._first_control_id([turn])
        self.turns_end = end is not None
        """False for a template whose turns end where the next message begins (GLM)."""
        end = self._first_control_id([turn, _user("b")]) if end is None else end
        if end is None:
            raise InvalidRequest("It ends an assistant's turn with no special token.")
        self.end_of_turn_id = end
        self._calls = False
        """True if the template shows the reply of a tool only after a turn that calls it."""
        self.fault = self._choose()
        """The reason why the template shows no replies of tools; `None` if it shows them."""

    def bridge(self, turn: Message, replies: list[Message], tools: list[Message] | None) -> Bridge:
        """Returns the bridge from a turn, of which only the calls are read, to the next one. The
        messages must be free of control text. Raises `InvalidRequest`.
        """
        of_tools = any(reply["role"] == "tool" for reply in replies)
        if of_tools and self.fault is not None:
            raise InvalidRequest(f"This model {self.fault}.", param="messages")
        if of_tools and self._calls:
            return self._after_calls(turn, replies, tools)
        return self._after_text(replies, tools)

    def with_template(self, template: ChatTemplate) -> Self:
        """Returns bridges by the same template with other variables."""
        other = copy.copy(self)
        other._template = template  # noqa: SLF001 - its own class
        return other

    def _first_control_id(self, turns: list[Message]) -> int | None:
        """Returns the first control token after the text of the first turn."""
        ids = self._tokens.encode(self._tail(turns, None, generate=False))
        return next((number for number in ids if number in self._tokens.control_ids), None)

    def _after_text(self, replies: list[Message], tools: list[Message] | None) -> Bridge:
        turn = _assistant(_unused_in(replies))
        ids = self._tokens.encode(self._tail([turn, *replies], tools, generate=True))
        if not self.turns_end:
            return Bridge([], ids)
        end = next((i for i, number in enumerate(ids) if number in self._tokens.control_ids), None)
        if end is None:
            raise InvalidRequest("The model's chat template does not end a turn.", param="messages")
        return Bridge(ids[end : end + 1], ids[end + 1 :])

    def _after_calls(
        self, turn: Message, replies: list[Message], tools: list[Message] | None
    ) -> Bridge:
        """Renders calls with and without their replies: the turn is what both have in common, up to
        its last control token.
        """
        calls, replies = _with_calls(turn, replies)
        called = [_user("a"), {"role": "assistant", "content": "", "tool_calls": calls}]
        alone = self._tokens.encode(self._template.render(called, tools, generate=False))
        whole = self._tokens.encode(
            self._template.render([*called, *replies], tools, generate=True)
        )
        common = common_length(alone, whole)
        ends = [i for i, number in enumerate(whole[:common]) if number in self._tokens.control_ids]
        if not ends:
            raise InvalidRequest("The model's chat template does not end a turn.", param="messages")
        return Bridge(whole[ends[-1] : ends[-1] + 1], whole[ends[-1] + 1 :])

    def _tail(self, turns: list[Message], tools: list[Message] | None, *, generate: bool) -> str:
        """Renders turns, and returns the text after that of the first one."""
        text = self._template.render([_user("a"), *turns], tools, generate=generate)
        _, sentinel, tail = text.rpartition(turns[0]["content"])
        if not sentinel:
            raise InvalidRequest("The model's chat template does not show a turn's text.")
        return tail

    def _choose(self) -> str | None:
        faults = []
        for calls in (False, True):
            self._calls = calls
            fault = self._reply_fault()
            if fault is None:
                return None
            faults.append(fault)
        return f"cannot be used with tools: its chat template {faults[-1]}"

    def _reply_fault(self) -> str | None:
        """Returns the fault of the bridge over one or two marked replies."""
        replies: list[Message] = [
            {"role": "tool", "name": "probe", "content": content} for content in _MARKED
        ]
        render = self._after_calls if self._calls else lambda _, *rest: self._after_text(*rest)
        for shown in (replies[:1], replies):
            try:
                text = self._tokens.decode(render({}, shown, None).rest)
            except InvalidRequest as error:
                return f"refuses the reply of a tool ({error.message})"
            for reply in shown:
                times = text.count(reply["content"])
                if times != 1:
                    return f"shows the reply of a tool {times} times instead of once"
        return None


def common_length(left: list[int], right: list[int]) -> int:
    """Returns the length of the longest common prefix."""
    pairs = zip(left, right, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _with_calls(turn: Message, replies: list[Message]) -> tuple[list[Message], list[Message]]:
    """Returns a call for each reply of a tool, and the replies with the ids of these calls."""
    names = {
        call.get("id"): (call.get("function") or {}).get("name")
        for call in turn.get("tool_calls") or ()
    }
    calls, answered = [], []
    for number, reply in enumerate(replies):
        if reply["role"] == "tool":
            call_id = reply.get("tool_call_id") or f"call{number:05}"
            name = reply.get("name") or names.get(call_id) or "tool"
            function = {"name": name, "arguments": "{}"}
            calls.append({"id": call_id, "type": "function", "function": function})
            answered.append({**reply, "tool_call_id": call_id})
        else:
            answered.append(reply)
    return calls, answered


def _unused_in(replies: list[Message]) -> str:
    """Returns a text that is in none of the replies."""
    texts = "".join(text for reply in replies for text in reply.values() if isinstance(text, str))
    return next(
        sentinel for number in count() if (sentinel := f"{_SENTINEL}{number or ''}") not in texts
    )


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}
