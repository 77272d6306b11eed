from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.recipe_method import check_recipe_method
from ..models.recipe_method import RecipeMethod
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.knobs import Knobs
  from ..models.recipe_options import RecipeOptions
  from ..models.recipe_source import RecipeSource





T = TypeVar("T", bound="Recipe")



@_attrs_define
class Recipe:
    """ A starting point of plans for one kind of task.

        Attributes:
            id (str): Id of the object.
            name (str): Name for readers; it need not be unique.
            purpose (str): The task that the recipe is for, in a sentence or two.
            base_model_advice (str): Base models that it suits.
            method (RecipeMethod): The training method.
            options (RecipeOptions): Options of the method that no knob sets: grader, mode, loss, advantage.
            knobs (Knobs): Positions of all knobs of a plan.
            rubric (list[str]): Marks of a good answer, for the writer of a grader or of pairs.
            stop_rules (list[str]): When the job stops, in sentences.
            risks (list[str]): Faults that occur with it, and where they show.
            sources (list[RecipeSource]): The evidence behind the defaults.
            object_ (Literal['recipe']): Type of the object; each type has one constant value. Default: 'recipe'.
     """

    id: str
    name: str
    purpose: str
    base_model_advice: str
    method: RecipeMethod
    options: RecipeOptions
    knobs: Knobs
    rubric: list[str]
    stop_rules: list[str]
    risks: list[str]
    sources: list[RecipeSource]
    object_: Literal['recipe'] = 'recipe'





    def to_dict(self) -> dict[str, Any]:
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.recipe_options import RecipeOptions # noqa: PLC0415
        from ..models.recipe_source import RecipeSource # noqa: PLC0415
        id = self.id

        name = self.name

        purpose = self.purpose

        base_model_advice = self.base_model_advice

        method: str = self.method

        options = self.options.to_dict()

        knobs = self.knobs.to_dict()

        rubric = self.rubric



        stop_rules = self.stop_rules



        risks = self.risks



        sources = []
        for sources_item_data in self.sources:
            sources_item = sources_item_data.to_dict()
            sources.append(sources_item)



        object_ = self.object_


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "id": id,
            "name": name,
            "purpose": purpose,
            "base_model_advice": base_model_advice,
            "method": method,
            "options": options,
            "knobs": knobs,
            "rubric": rubric,
            "stop_rules": stop_rules,
            "risks": risks,
            "sources": sources,
            "object": object_,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.recipe_options import RecipeOptions # noqa: PLC0415
        from ..models.recipe_source import RecipeSource # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        purpose = d.pop("purpose")

        base_model_advice = d.pop("base_model_advice")

        method = check_recipe_method(d.pop("method"))




        options = RecipeOptions.from_dict(d.pop("options"))




        knobs = Knobs.from_dict(d.pop("knobs"))




        rubric = cast(list[str], d.pop("rubric"))


        stop_rules = cast(list[str], d.pop("stop_rules"))


        risks = cast(list[str], d.pop("risks"))


        sources = []
        _sources = d.pop("sources")
        for sources_item_data in (_sources):
            sources_item = RecipeSource.from_dict(sources_item_data)



            sources.append(sources_item)


        object_ = cast(Literal['recipe'] , d.pop("object"))
        if object_ != 'recipe':
            raise ValueError(f"object must match const 'recipe', got '{object_}'")

        recipe = cls(
            id=id,
            name=name,
            purpose=purpose,
            base_model_advice=base_model_advice,
            method=method,
            options=options,
            knobs=knobs,
            rubric=rubric,
            stop_rules=stop_rules,
            risks=risks,
            sources=sources,
            object_=object_,
        )

        return recipe

