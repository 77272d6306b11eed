"""Exports of models as the API inserts them."""

from app.kit.ids import new_id
from app.models.adapters import ModelExport


def an_export() -> ModelExport:
    """Returns a new export of a model of its own."""
    return ModelExport(
        id=new_id("export_"), model=f"ft:{new_id('m')}", base_model="b", kind="merged", bytes=0
    )
