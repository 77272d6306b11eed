"""The two further files of an adapter's archive: a manifest and a model card.

Owns their names and contents. Pure; promises that the same model and files always give the same
bytes, and that neither file names a path or a key of the service.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from app.domain.models.adapter_files import CONFIG_FILE, WEIGHTS_FILE
from app.domain.models.manifests import MANIFEST

CARD: Final = "README.md"
ADAPTER_FILES: Final = frozenset({CONFIG_FILE, WEIGHTS_FILE})


@dataclass(frozen=True, slots=True)
class AdapterFacts:
    """Facts about an adapter that its user needs outside of the service."""

    model: str
    base_model: str
    """The service's name for the base model."""
    base_weights: str | None
    """Hub id of the base model's weights; `None` for weights in a directory of the operator."""
    step: int
    created_at: int
    reasoning_effort: str | None


def model_card(facts: AdapterFacts) -> bytes:
    """Returns a model card with front matter as model hubs read it."""
    weights = facts.base_weights
    front = ["---", "library_name: peft", "tags:", "- lora"]
    if weights is not None:
        front.append(f"base_model: {json.dumps(weights)}")
    origin = (
        f"The weights of the base model are `{weights}`."
        if weights is not None
        else "Ask the operator of the service for the weights of the base model."
    )
    shown = json.dumps(weights or f"directory of {facts.base_model}")
    lines = [
        *(*front, "---", f"# {facts.model}", ""),
        f"A LoRA adapter for `{facts.base_model}`, as it was after step {facts.step} of its job.",
        *(origin, ""),
        "    from peft import PeftModel",
        "    from transformers import AutoModelForCausalLM",
        "",
        f"    base = AutoModelForCausalLM.from_pretrained({shown})",
        '    model = PeftModel.from_pretrained(base, "directory of this file")',
        "",
        f"`{MANIFEST}` has the SHA-256 of every other file.",
    ]
    return "\n".join([*lines, ""]).encode()


def archive_manifest(facts: AdapterFacts, digests: Mapping[str, str]) -> bytes:
    """Returns the manifest: the facts, and under `sha256` the digest of every other file."""
    content = {**asdict(facts), "sha256": dict(digests)}
    return (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()


def sha256_hex(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
