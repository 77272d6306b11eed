from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.update_recipe_method_type_0 import check_update_recipe_method_type_0
from ..models.update_recipe_method_type_0 import UpdateRecipeMethodType0
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.knobs import Knobs
  from ..models.recipe_rows import RecipeRows
  from ..models.recipe_source import RecipeSource
  from ..models.update_recipe_metadata_type_0 import UpdateRecipeMetadataType0
  from ..models.update_recipe_options_type_0 import UpdateRecipeOptionsType0





T = TypeVar("T", bound="UpdateRecipe")



@_attrs_define
class UpdateRecipe:
    """ Changes that make a new version of a recipe; absent fields do not change;
    `null` removes an optional one and keeps a required one.

        Attributes:
            name (None | str | Unset): Name that no other recipe of the project has, and none that ships.
            purpose (None | str | Unset): The task that the recipe is for, in a sentence or two.
            base_model_advice (None | str | Unset): Base models that it suits.
            method (None | Unset | UpdateRecipeMethodType0): The training method.
            options (None | Unset | UpdateRecipeOptionsType0): Options of the method that no knob sets, all of them.
            knobs (Knobs | None | Unset): The positions from which a plan starts, all of them.
            rubric (list[str] | None | Unset): Marks of a good answer.
            stop_rules (list[str] | None | Unset): When the job stops, in sentences.
            risks (list[str] | None | Unset): Faults that occur with it, and where they show.
            sources (list[RecipeSource] | None | Unset): The evidence behind the defaults.
            sample_curriculum (None | RecipeRows | Unset): Rows to try the recipe with.
            metadata (None | Unset | UpdateRecipeMetadataType0): Up to 16 pairs of text of the user's own; the service does
                not read them.
     """

    name: None | str | Unset = UNSET
    purpose: None | str | Unset = UNSET
    base_model_advice: None | str | Unset = UNSET
    method: None | Unset | UpdateRecipeMethodType0 = UNSET
    options: None | Unset | UpdateRecipeOptionsType0 = UNSET
    knobs: Knobs | None | Unset = UNSET
    rubric: list[str] | None | Unset = UNSET
    stop_rules: list[str] | None | Unset = UNSET
    risks: list[str] | None | Unset = UNSET
    sources: list[RecipeSource] | None | Unset = UNSET
    sample_curriculum: None | RecipeRows | Unset = UNSET
    metadata: None | Unset | UpdateRecipeMetadataType0 = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.recipe_rows import RecipeRows # noqa: PLC0415
        from ..models.recipe_source import RecipeSource # noqa: PLC0415
        from ..models.update_recipe_metadata_type_0 import UpdateRecipeMetadataType0 # noqa: PLC0415
        from ..models.update_recipe_options_type_0 import UpdateRecipeOptionsType0 # noqa: PLC0415
        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        purpose: None | str | Unset
        if isinstance(self.purpose, Unset):
            purpose = UNSET
        else:
            purpose = self.purpose

        base_model_advice: None | str | Unset
        if isinstance(self.base_model_advice, Unset):
            base_model_advice = UNSET
        else:
            base_model_advice = self.base_model_advice

        method: None | str | Unset
        if isinstance(self.method, Unset):
            method = UNSET
        elif isinstance(self.method, str):
            method = self.method
        else:
            method = self.method

        options: dict[str, Any] | None | Unset
        if isinstance(self.options, Unset):
            options = UNSET
        elif isinstance(self.options, UpdateRecipeOptionsType0):
            options = self.options.to_dict()
        else:
            options = self.options

        knobs: dict[str, Any] | None | Unset
        if isinstance(self.knobs, Unset):
            knobs = UNSET
        elif isinstance(self.knobs, Knobs):
            knobs = self.knobs.to_dict()
        else:
            knobs = self.knobs

        rubric: list[str] | None | Unset
        if isinstance(self.rubric, Unset):
            rubric = UNSET
        elif isinstance(self.rubric, list):
            rubric = self.rubric


        else:
            rubric = self.rubric

        stop_rules: list[str] | None | Unset
        if isinstance(self.stop_rules, Unset):
            stop_rules = UNSET
        elif isinstance(self.stop_rules, list):
            stop_rules = self.stop_rules


        else:
            stop_rules = self.stop_rules

        risks: list[str] | None | Unset
        if isinstance(self.risks, Unset):
            risks = UNSET
        elif isinstance(self.risks, list):
            risks = self.risks


        else:
            risks = self.risks

        sources: list[dict[str, Any]] | None | Unset
        if isinstance(self.sources, Unset):
            sources = UNSET
        elif isinstance(self.sources, list):
            sources = []
            for sources_type_0_item_data in self.sources:
                sources_type_0_item = sources_type_0_item_data.to_dict()
                sources.append(sources_type_0_item)


        else:
            sources = self.sources

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
        elif isinstance(self.metadata, UpdateRecipeMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if name is not UNSET:
            field_dict["name"] = name
        if purpose is not UNSET:
            field_dict["purpose"] = purpose
        if base_model_advice is not UNSET:
            field_dict["base_model_advice"] = base_model_advice
        if method is not UNSET:
            field_dict["method"] = method
        if options is not UNSET:
            field_dict["options"] = options
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
        from ..models.knobs import Knobs # noqa: PLC0415
        from ..models.recipe_rows import RecipeRows # noqa: PLC0415
        from ..models.recipe_source import RecipeSource # noqa: PLC0415
        from ..models.update_recipe_metadata_type_0 import UpdateRecipeMetadataType0 # noqa: PLC0415
        from ..models.update_recipe_options_type_0 import UpdateRecipeOptionsType0 # noqa: PLC0415
        d = dict(src_dict)
        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))


        def _parse_purpose(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        purpose = _parse_purpose(d.pop("purpose", UNSET))


        def _parse_base_model_advice(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        base_model_advice = _parse_base_model_advice(d.pop("base_model_advice", UNSET))


        def _parse_method(data: object) -> None | Unset | UpdateRecipeMethodType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                method_type_0 = check_update_recipe_method_type_0(data)



                return method_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateRecipeMethodType0, data)

        method = _parse_method(d.pop("method", UNSET))


        def _parse_options(data: object) -> None | Unset | UpdateRecipeOptionsType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                options_type_0 = UpdateRecipeOptionsType0.from_dict(data)



                return options_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateRecipeOptionsType0, data)

        options = _parse_options(d.pop("options", UNSET))


        def _parse_knobs(data: object) -> Knobs | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                knobs_type_0 = Knobs.from_dict(data)



                return knobs_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Knobs | None | Unset, data)

        knobs = _parse_knobs(d.pop("knobs", UNSET))


        def _parse_rubric(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                rubric_type_0 = cast(list[str], data)

                return rubric_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        rubric = _parse_rubric(d.pop("rubric", UNSET))


        def _parse_stop_rules(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                stop_rules_type_0 = cast(list[str], data)

                return stop_rules_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        stop_rules = _parse_stop_rules(d.pop("stop_rules", UNSET))


        def _parse_risks(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                risks_type_0 = cast(list[str], data)

                return risks_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        risks = _parse_risks(d.pop("risks", UNSET))


        def _parse_sources(data: object) -> list[RecipeSource] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                sources_type_0 = []
                _sources_type_0 = data
                for sources_type_0_item_data in (_sources_type_0):
                    sources_type_0_item = RecipeSource.from_dict(sources_type_0_item_data)



                    sources_type_0.append(sources_type_0_item)

                return sources_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[RecipeSource] | None | Unset, data)

        sources = _parse_sources(d.pop("sources", UNSET))


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


        def _parse_metadata(data: object) -> None | Unset | UpdateRecipeMetadataType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = UpdateRecipeMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateRecipeMetadataType0, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        update_recipe = cls(
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
            sample_curriculum=sample_curriculum,
            metadata=metadata,
        )


        update_recipe.additional_properties = d
        return update_recipe

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
