"""Renderers of models that have a template and nothing else."""

from pathlib import Path

from app.rollouts.renderer import Renderer
from tests.support.models.tiny_model import build_tokenizer


def renderer_of(directory: Path, template: str) -> Renderer:
    """Returns the renderer of a tiny tokenizer that writes its calls as Hermes does."""
    build_tokenizer(template).save_pretrained(directory)
    (directory / "config.json").write_text('{"max_position_embeddings": 512}')
    return Renderer(str(directory), tool_parser="hermes", chat_template=None)
