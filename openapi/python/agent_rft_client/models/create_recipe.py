from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.create_recipe_method import check_create_recipe_method
from ..models.create_recipe_method import CreateRecipeMethod
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.create_recipe_metadata_type_0 import CreateRecipeMetadataType0
  from ..models.create_recipe_options import CreateRecipeOptions
  from ..models.knobs import Knobs
  from ..models.recipe_rows import RecipeRows
  from ..models.recipe_source import RecipeSource





T = TypeVar("T", bound="CreateRecipe")



@_attrs_define
class CreateRecipe:
    """ A recipe of the project's own: a starting point of plans for one kind of task.

        Attributes:
            name (str): Name for readers; it need not be unique.
            purpose (str): The task that the recipe is for, in a sentence or two.
            method (CreateRecipeMethod): The training method.
            options (CreateRecipeOptions): Options of the method that no knob sets: grader, mode, loss, advantage.
            base_model_advice (str | Unset): Base models that it suits. Default: ''.
            knobs (Knobs | Unset): Positions of all knobs of a plan.
            rubric (list[str] | Unset): Marks of a good answer, for the writer of a grader or of pairs.
            stop_rules (list[str] | Unset): When the job stops, in sentences.
            risks (list[str] | Unset): Faults that occur with it, and where they show.
            sources (list[RecipeSource] | Unset): The evidence behind the defaults.
            sample_curriculum (None | RecipeRows | Unset): Rows to try the recipe with; absent: a plan needs data of its
                own.
            metadata (CreateRecipeMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the service does
                not read them.
     """

    name: str
    purpose: str
    method: CreateRecipeMethod
    options: CreateRecipeOptions
    base_model_advice: str | Unset = ''
    knobs: Knobs | Unset = UNSET
    rubric: list[str] | Unset = UNSET
    stop_rules: list[str] | Unset = UNSET
    risks: list[str] | Unset = UNSET
    sources: list[RecipeSource] | Unset = UNSET
    sample_curriculum: None | RecipeRows | Unset = UNSET
    metadata: CreateRecipeMetadataType0 | None | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.create_recipe_metadata_type_0 import CreateRecipeMetadataType0 # noqa: PLC0415
        from ..models.create_recipe_options import CreateRecipeOptions # noqa: PLC0415
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.recipe_rows import RecipeRows # noqa: PLC0415
        from ..models.recipe_source import RecipeSource # noqa: PLC0415
        name = self.name

        purpose = self.purpose

        method: str = self.method

        options = self.options.to_dict()

        base_model_advice = self.base_model_advice

        knobs: dict[str, Any] | Unset = UNSET
        if not isinstance(self.knobs, Unset):
            knobs = self.knobs.to_dict()

        rubric: list[str] | Unset = UNSET
        if not isinstance(self.rubric, Unset):
            rubric = self.rubric



        stop_rules: list[str] | Unset = UNSET
        if not isinstance(self.stop_rules, Unset):
            stop_rules = self.stop_rules



        risks: list[str] | Unset = UNSET
        if not isinstance(self.risks, Unset):
            risks = self.risks



        sources: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.sources, Unset):
            sources = []
            for sources_item_data in self.sources:
                sources_item = sources_item_data.to_dict()
                sources.append(sources_item)



        sample_curriculum: dict[str, Any] | None | Unset
        if isinstance(self.sample_curriculum, Unset):
            sample_curriculum = UNSET
        elif isinstance(self.sample_curriculum, RecipeRows):
            sample_curriculum = self.sample_curriculum.to_dict()
        else:
            sample_curriculum = self.sample_curriculum

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CreateRecipeMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "name": name,
            "purpose": purpose,
            "method": method,
            "options": options,
        })
        if base_model_advice is not UNSET:
            field_dict["base_model_advice"] = base_model_advice
        if knobs is not UNSET:
            field_dict["knobs"] = knobs
        if rubric is not UNSET:
            field_dict["rubric"] = rubric
        if stop_rules is not UNSET:
            field_dict["stop_rules"] = stop_rules
        if risks is not UNSET:
            field_dict["risks"] = risks
        if sources is not UNSET:
            field_dict["sources"] = sources
        if sample_curriculum is not UNSET:
            field_dict["sample_curriculum"] = sample_curriculum
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.create_recipe_metadata_type_0 import CreateRecipeMetadataType0 # noqa: PLC0415
        from ..models.create_recipe_options import CreateRecipeOptions # noqa: PLC0415
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.recipe_rows import RecipeRows # noqa: PLC0415
        from ..models.recipe_source import RecipeSource # noqa: PLC0415
        d = dict(src_dict)
        name = d.pop("name")

        purpose = d.pop("purpose")

        method = check_create_recipe_method(d.pop("method"))




        options = CreateRecipeOptions.from_dict(d.pop("options"))




        base_model_advice = d.pop("base_model_advice", UNSET)

        _knobs = d.pop("knobs", UNSET)
        knobs: Knobs | Unset
        if isinstance(_knobs,  Unset):
            knobs = UNSET
        else:
            knobs = Knobs.from_dict(_knobs)




        rubric = cast(list[str], d.pop("rubric", UNSET))


        stop_rules = cast(list[str], d.pop("stop_rules", UNSET))


        risks = cast(list[str], d.pop("risks", UNSET))


        _sources = d.pop("sources", UNSET)
        sources: list[RecipeSource] | Unset = UNSET
        if _sources is not UNSET:
            sources = []
            for sources_item_data in _sources:
                sources_item = RecipeSource.from_dict(sources_item_data)



                sources.append(sources_item)


        def _parse_sample_curriculum(data: object) -> None | RecipeRows | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sample_curriculum_type_0 = RecipeRows.from_dict(data)



                return sample_curriculum_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RecipeRows | Unset, data)

        sample_curriculum = _parse_sample_curriculum(d.pop("sample_curriculum", UNSET))


        def _parse_metadata(data: object) -> CreateRecipeMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateRecipeMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateRecipeMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        create_recipe = cls(
            name=name,
            purpose=purpose,
            method=method,
            options=options,
            base_model_advice=base_model_advice,
            knobs=knobs,
            rubric=rubric,
            stop_rules=stop_rules,
            risks=risks,
            sources=sources,
            sample_curriculum=sample_curriculum,
            metadata=metadata,
        )

        return create_recipe

