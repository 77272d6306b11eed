from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.recipe_details_method import check_recipe_details_method
from ..models.recipe_details_method import RecipeDetailsMethod
from ..models.recipe_details_owner import check_recipe_details_owner
from ..models.recipe_details_owner import RecipeDetailsOwner
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.knobs import Knobs
  from ..models.recipe_details_metadata_type_0 import RecipeDetailsMetadataType0
  from ..models.recipe_details_options import RecipeDetailsOptions
  from ..models.recipe_rows import RecipeRows
  from ..models.recipe_source import RecipeSource





T = TypeVar("T", bound="RecipeDetails")



@_attrs_define
class RecipeDetails:
    """ A recipe with its rows.

        Attributes:
            name (str): Name for readers; it need not be unique.
            purpose (str): The task that the recipe is for, in a sentence or two.
            base_model_advice (str): Base models that it suits. Default: ''.
            method (RecipeDetailsMethod): The training method.
            options (RecipeDetailsOptions): Options of the method that no knob sets: grader, mode, loss, advantage.
            knobs (Knobs): Positions of all knobs of a plan.
            rubric (list[str]): Marks of a good answer, for the writer of a grader or of pairs.
            stop_rules (list[str]): When the job stops, in sentences.
            risks (list[str]): Faults that occur with it, and where they show.
            sources (list[RecipeSource]): The evidence behind the defaults.
            id (str): Id of the object.
            owner (RecipeDetailsOwner): `service`: it ships with the service, the same for every project. Default:
                'service'.
            version (int): Number of the version, from 1. Default: 1.
            created_at (int | None): Creation time, unix seconds; `null` for one that ships.
            metadata (None | RecipeDetailsMetadataType0): Up to 16 pairs of text of the user's own; the service does not
                read them.
            sample_curriculum (None | RecipeRows): Rows to try the recipe with; `null`: a plan needs data of its own.
            object_ (Literal['recipe']): Type of the object; each type has one constant value. Default: 'recipe'.
     """

    name: str
    purpose: str
    method: RecipeDetailsMethod
    options: RecipeDetailsOptions
    knobs: Knobs
    rubric: list[str]
    stop_rules: list[str]
    risks: list[str]
    sources: list[RecipeSource]
    id: str
    created_at: int | None
    metadata: None | RecipeDetailsMetadataType0
    sample_curriculum: None | RecipeRows
    base_model_advice: str = ''
    owner: RecipeDetailsOwner = 'service'
    version: int = 1
    object_: Literal['recipe'] = 'recipe'





    def to_dict(self) -> dict[str, Any]:
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.recipe_details_metadata_type_0 import RecipeDetailsMetadataType0 # noqa: PLC0415
        from ..models.recipe_details_options import RecipeDetailsOptions # noqa: PLC0415
        from ..models.recipe_rows import RecipeRows # noqa: PLC0415
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
        if isinstance(self.metadata, RecipeDetailsMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        sample_curriculum: dict[str, Any] | None
        if isinstance(self.sample_curriculum, RecipeRows):
            sample_curriculum = self.sample_curriculum.to_dict()
        else:
            sample_curriculum = self.sample_curriculum

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
            "sample_curriculum": sample_curriculum,
            "object": object_,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.recipe_details_metadata_type_0 import RecipeDetailsMetadataType0 # noqa: PLC0415
        from ..models.recipe_details_options import RecipeDetailsOptions # noqa: PLC0415
        from ..models.recipe_rows import RecipeRows # noqa: PLC0415
        from ..models.recipe_source import RecipeSource # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name")

        purpose = d.pop("purpose")

        base_model_advice = d.pop("base_model_advice")

        method = check_recipe_details_method(d.pop("method"))




        options = RecipeDetailsOptions.from_dict(d.pop("options"))




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

        owner = check_recipe_details_owner(d.pop("owner"))




        version = d.pop("version")

        def _parse_created_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        created_at = _parse_created_at(d.pop("created_at"))


        def _parse_metadata(data: object) -> None | RecipeDetailsMetadataType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = RecipeDetailsMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RecipeDetailsMetadataType0, data)

        metadata = _parse_metadata(d.pop("metadata"))


        def _parse_sample_curriculum(data: object) -> None | RecipeRows:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sample_curriculum_type_0 = RecipeRows.from_dict(data)



                return sample_curriculum_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RecipeRows, data)

        sample_curriculum = _parse_sample_curriculum(d.pop("sample_curriculum"))


        object_ = cast(Literal['recipe'] , d.pop("object"))
        if object_ != 'recipe':
            raise ValueError(f"object must match const 'recipe', got '{object_}'")

        recipe_details = cls(
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
            sample_curriculum=sample_curriculum,
            object_=object_,
        )

        return recipe_details

