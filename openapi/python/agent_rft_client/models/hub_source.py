from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.columns import Columns





T = TypeVar("T", bound="HubSource")



@_attrs_define
class HubSource:
    """ A public data set of the operator's hub, by default Hugging Face. It is read no further than
    it is needed, and kept at its commit.

        Attributes:
            type_ (Literal['huggingface']): A data set of the hub.
            data_set (str): Name of the data set, such as `openai/gsm8k`.
            columns (Columns | Unset): The columns of a table by the part of a row that they become. Those that are left out
                are
                guessed from the names of the columns; all other columns keep their names, for graders.
            limit (int | None | Unset): Reads no more than this many rows; without it, more rows than a curriculum may have
                are refused.
            config (None | str | Unset): Name of its configuration; absent: `default`, or the only one.
            split (str | Unset): Name of its split. Default: 'train'.
            revision (None | str | Unset): A branch, tag or commit; absent: `main`. `made_from` keeps the commit.
     """

    type_: Literal['huggingface']
    data_set: str
    columns: Columns | Unset = UNSET
    limit: int | None | Unset = UNSET
    config: None | str | Unset = UNSET
    split: str | Unset = 'train'
    revision: None | str | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.columns import Columns # noqa: PLC0415
        type_ = self.type_

        data_set = self.data_set

        columns: dict[str, Any] | Unset = UNSET
        if not isinstance(self.columns, Unset):
            columns = self.columns.to_dict()

        limit: int | None | Unset
        if isinstance(self.limit, Unset):
            limit = UNSET
        else:
            limit = self.limit

        config: None | str | Unset
        if isinstance(self.config, Unset):
            config = UNSET
        else:
            config = self.config

        split = self.split

        revision: None | str | Unset
        if isinstance(self.revision, Unset):
            revision = UNSET
        else:
            revision = self.revision


        field_dict: dict[str, Any] = {}

        field_dict.update({
            "type": type_,
            "data_set": data_set,
        })
        if columns is not UNSET:
            field_dict["columns"] = columns
        if limit is not UNSET:
            field_dict["limit"] = limit
        if config is not UNSET:
            field_dict["config"] = config
        if split is not UNSET:
            field_dict["split"] = split
        if revision is not UNSET:
            field_dict["revision"] = revision

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.columns import Columns # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['huggingface'] , d.pop("type"))
        if type_ != 'huggingface':
            raise ValueError(f"type must match const 'huggingface', got '{type_}'")

        data_set = d.pop("data_set")

        _columns = d.pop("columns", UNSET)
        columns: Columns | Unset
        if isinstance(_columns,  Unset):
            columns = UNSET
        else:
            columns = Columns.from_dict(_columns)




        def _parse_limit(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        limit = _parse_limit(d.pop("limit", UNSET))


        def _parse_config(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        config = _parse_config(d.pop("config", UNSET))


        split = d.pop("split", UNSET)

        def _parse_revision(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        revision = _parse_revision(d.pop("revision", UNSET))


        hub_source = cls(
            type_=type_,
            data_set=data_set,
            columns=columns,
            limit=limit,
            config=config,
            split=split,
            revision=revision,
        )

        return hub_source

