"""The texts of sampled tokens join to the decoded turn, and no character is torn."""

from random import Random

import pytest

from app.rendering.renderer import Renderer
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


def test_any_ids_join_to_their_decoded_text(renderer: Renderer) -> None:
    random = Random(7)
    for _ in range(500):
        ids = [random.randrange(1000) for _ in range(random.randrange(40))]
        pieces = renderer.pieces(ids, ALL)
        assert "".join(pieces) == renderer.decode(ids), ids
        assert len(pieces) == len(ids)
