"""The texts of sampled tokens join to the decoded turn, and no character is torn."""

from collections.abc import Sequence
from random import Random

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers

from app.rollouts.chat_template import ModelTokens
from app.rollouts.renderer import Renderer
from tests.support.rollout.policies import shipped_renderer

ALL = 10_000
TEXTS = [
    "Grüße, 你好 🎉👩\u200d👩\u200d👧!\n\n  x",
    "<think>hm</think><tool_call>\n{}\n</tool_call>",
    "שלום \u202e عليكم",
    "\ufffd is the model's own",
    " ",
]


@pytest.fixture(scope="module")
def byte_tokens(tmp_path_factory: pytest.TempPathFactory) -> ModelTokens:
    """Returns a tokenizer of words that begin with a sign for their space, with tokens of bytes for
    all other characters, as SentencePiece writes them.
    """
    vocabulary = {name: number for number, name in enumerate(["<unk>", "<s>", "</s>"])}
    for name in (*(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b", "▁a", "ab", "▁ab"):
        vocabulary[name] = len(vocabulary)
    merges = [("▁", "a"), ("▁a", "b"), ("a", "b")]
    tokenizer = Tokenizer(
        models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.add_special_tokens(["<s>", "</s>"])
    file = tmp_path_factory.mktemp("tokens") / "tokenizer.json"
    tokenizer.save(str(file))
    return ModelTokens(file)


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return shipped_renderer()


@pytest.mark.parametrize("text", TEXTS)
def test_the_pieces_of_a_text_join_to_it(renderer: Renderer, text: str) -> None:
    ids = [*renderer.encode(text), renderer.end_of_turn_id]
    pieces = renderer.pieces(ids, ALL)
    assert "".join(pieces) == renderer.decode(ids) == text
    assert len(pieces) == len(ids)
    assert pieces[-1] == "", "the end of the turn is no text"


def test_the_first_token_of_a_character_has_all_of_it(renderer: Renderer) -> None:
    ids = renderer.encode("你🎉")
    assert len(ids) > 4
    pieces = renderer.pieces(ids, ALL)
    assert [piece for piece in pieces if piece] == ["你", "🎉"]
    assert pieces[0] == "你"
    assert "\ufffd" not in "".join(pieces)


def test_a_turn_that_ends_within_a_character_shows_its_rest(renderer: Renderer) -> None:
    ids = renderer.encode("ab🎉")[:-1]
    pieces = renderer.pieces(ids, ALL)
    assert "".join(pieces) == renderer.decode(ids)
    assert "".join(pieces).startswith("ab\ufffd")
    assert pieces[-1] == "", "the rest stands where the character begins"


def test_a_limit_within_a_character_leaves_no_broken_one(renderer: Renderer) -> None:
    ids = renderer.encode("ab🎉 cd")
    whole = renderer.decode(ids)
    for most in range(len(ids) + 1):
        pieces = renderer.pieces(ids, most)
        assert len(pieces) == most
        assert whole.startswith("".join(pieces)), most


def test_words_keep_their_spaces_and_bytes_their_character(byte_tokens: ModelTokens) -> None:
    ids = [*byte_tokens.encode("ab 你🎉 ab a"), 2]
    pieces = byte_tokens.pieces(ids, ALL)
    assert [piece for piece in pieces if piece] == ["ab", " ", "你", "🎉", " ab", " a"]
    assert "".join(pieces) == byte_tokens.decode(ids) == "ab 你🎉 ab a"
    assert pieces[-1] == ""


def test_any_bytes_join_to_their_decoded_text(byte_tokens: ModelTokens) -> None:
    random = Random(5)
    for _ in range(500):
        ids = [random.randrange(3, 265) for _ in range(random.randrange(40))]
        pieces = byte_tokens.pieces(ids, ALL)
        assert "".join(pieces) == byte_tokens.decode(ids), ids
        assert len(pieces) == len(ids)
        assert byte_tokens.decode(ids).startswith("".join(byte_tokens.pieces(ids, 9))), ids


def test_a_run_of_broken_bytes_is_decoded_in_short_parts(
    byte_tokens: ModelTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = list[int]()
    decode = byte_tokens.decode

    def counted(ids: Sequence[int]) -> str:
        decoded.append(len(ids))
        return decode(ids)

    monkeypatch.setattr(byte_tokens, "decode", counted)
    byte_tokens.pieces([3 + 0x80] * 4096, ALL)
    assert sum(decoded) < 20 * 4096


def test_any_ids_join_to_their_decoded_text(renderer: Renderer) -> None:
    random = Random(7)
    for _ in range(500):
        ids = [random.randrange(1000) for _ in range(random.randrange(40))]
        pieces = renderer.pieces(ids, ALL)
        assert "".join(pieces) == renderer.decode(ids), ids
        assert len(pieces) == len(ids)
