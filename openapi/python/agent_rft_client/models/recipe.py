from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.recipe_method import check_recipe_method
from ..models.recipe_method import RecipeMethod
from ..models.recipe_owner import check_recipe_owner
from ..models.recipe_owner import RecipeOwner
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.knobs import Knobs
  from ..models.recipe_metadata_type_0 import RecipeMetadataType0
  from ..models.recipe_options import RecipeOptions
  from ..models.recipe_source import RecipeSource





T = TypeVar("T", bound="Recipe")



@_attrs_define
class Recipe:
    """ A starting point of plans for one kind of task.

        Attributes:
            name (str): Name for readers; it need not be unique.
            purpose (str): The task that the recipe is for, in a sentence or two.
            base_model_advice (str): Base models that it suits. Default: ''.
            method (RecipeMethod): The training method.
            options (RecipeOptions): Options of the method that no knob sets: grader, mode, loss, advantage.
            knobs (Knobs): Positions of all knobs of a plan.
            rubric (list[str]): Marks of a good answer, for the writer of a grader or of pairs.
            stop_rules (list[str]): When the job stops, in sentences.
            risks (list[str]): Faults that occur with it, and where they show.
            sources (list[RecipeSource]): The evidence behind the defaults.
            id (str): Id of the object.
            owner (RecipeOwner): `service`: it ships with the service, the same for every project. Default: 'service'.
            version (int): Number of the version, from 1. Default: 1.
            created_at (int | None): Creation time, unix seconds; `null` for one that ships.
            metadata (None | RecipeMetadataType0): Up to 16 pairs of text of the user's own; the service does not read them.
            object_ (Literal['recipe']): Type of the object; each type has one constant value. Default: 'recipe'.
     """

    name: str
    purpose: str
    method: RecipeMethod
    options: RecipeOptions
    knobs: Knobs
    rubric: list[str]
    stop_rules: list[str]
    risks: list[str]
    sources: list[RecipeSource]
    id: str
    created_at: int | None
    metadata: None | RecipeMetadataType0
    base_model_advice: str = ''
    owner: RecipeOwner = 'service'
    version: int = 1
    object_: Literal['recipe'] = 'recipe'





    def to_dict(self) -> dict[str, Any]:
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.recipe_metadata_type_0 import RecipeMetadataType0 # noqa: PLC0415
        from ..models.recipe_options import RecipeOptions # noqa: PLC0415
        from ..models.recipe_source import RecipeSource # noqa: PLC0415
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



        id = self.id

        owner: str = self.owner

        version = self.version

        created_at: int | None
        created_at = self.created_at

        metadata: dict[str, Any] | None
        if isinstance(self.metadata, RecipeMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        object_ = self.object_


        field_dict: dict[str, Any] = {}

        field_dict.update({
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
            "id": id,
            "owner": owner,
            "version": version,
            "created_at": created_at,
            "metadata": metadata,
            "object": object_,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.recipe_metadata_type_0 import RecipeMetadataType0 # noqa: PLC0415
        from ..models.recipe_options import RecipeOptions # noqa: PLC0415
        from ..models.recipe_source import RecipeSource # noqa: PLC0415
        d = dict(src_dict)
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


        id = d.pop("id")

        owner = check_recipe_owner(d.pop("owner"))




        version = d.pop("version")

        def _parse_created_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        created_at = _parse_created_at(d.pop("created_at"))


        def _parse_metadata(data: object) -> None | RecipeMetadataType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = RecipeMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RecipeMetadataType0, data)

        metadata = _parse_metadata(d.pop("metadata"))


        object_ = cast(Literal['recipe'] , d.pop("object"))
        if object_ != 'recipe':
            raise ValueError(f"object must match const 'recipe', got '{object_}'")

        recipe = cls(
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
            id=id,
            owner=owner,
            version=version,
            created_at=created_at,
            metadata=metadata,
            object_=object_,
        )

        return recipe

