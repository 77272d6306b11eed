"""Writes the description and the rollouts of sources, and refuses paths instead of ids."""

import json

from app.domain.curricula.sources import AnySource
from app.domain.documents.json_object import Json
from app.domain.errors import refused_value
from app.domain.rollouts.rollouts import RolloutRow


def refuse_path(sent: str, param: str) -> None:
    """Raises `InvalidRequest` for a path or an address instead of an id."""
    if "/" in sent or "\\" in sent or sent.startswith(".") or ":" in sent:
        raise refused_value(
            param,
            "it is a path or an address, and the service reads no files of its machine: upload the "
            "file with POST /v1/files, and send its id",
        )


def description_of(source: AnySource) -> Json:
    sent: Json = source.model_dump(
        mode="json", exclude={"rows"}, exclude_none=True, exclude_defaults=True
    )
    return {"type": source.type, **sent}


def rollout_line(rollout: RolloutRow) -> bytes:
    kept = {
        "split": rollout.split,
        "prompt_index": rollout.prompt_index,
        "reward": rollout.reward,
        "messages": rollout.trace["messages"],
    }
    return json.dumps(kept, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"
