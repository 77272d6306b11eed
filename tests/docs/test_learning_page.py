"""The page about learning names everything that a job may say."""

from pathlib import Path

from pydantic import BaseModel

from app.jobs import learning, losses, stop_options
from tests.support.cases import cases

PAGE = (Path(__file__).parents[2] / "docs" / "learning.md").read_text(encoding="utf-8")
ROOMS = (losses, learning, stop_options)
OPTIONS = sorted(
    {
        model
        for room in ROOMS
        for model in vars(room).values()
        if isinstance(model, type) and issubclass(model, BaseModel) and model.model_fields
        if model.__module__ == room.__name__
    },
    key=lambda model: model.__name__,
)


@cases("model", OPTIONS, ids=lambda model: model.__name__)
def test_every_option_is_on_the_page(model: type[BaseModel]) -> None:
    names = set(model.model_fields)
    kind = model.model_fields.get("type")
    if kind is not None and isinstance(kind.default, str):
        names.add(kind.default)
    assert [name for name in sorted(names) if f"`{name}`" not in PAGE] == []
