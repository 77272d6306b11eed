"""Token records as values of the column `tokens`."""

from dataclasses import replace
from typing import Any

from app.domain.errors import NotFound
from app.domain.rollouts.token_records import TokenRecord
from app.store.storable import storable


def stored_record(record: TokenRecord | None) -> Any:
    """Returns the value of the column, with unstorable characters replaced."""
    if record is None:
        return None
    turns = [replace(turn, texts=_storable_texts(turn.texts)) for turn in record.turns]
    return replace(record, turns=turns).to_json()


def no_tokens(rollout_id: str, *, sampled: int) -> NotFound:
    """Returns the error for a rollout whose column is empty."""
    reason = (
        "it was written before this installation stored them"
        if sampled
        else "it ended before the model sampled any"
    )
    return NotFound(f"Rollout {rollout_id} has no stored tokens: {reason}.", code="no_tokens")


def _storable_texts(texts: list[str]) -> list[str]:
    """Reads thousands of tokens at once."""
    whole = "".join(texts)
    return texts if storable(whole) == whole else storable(texts)
