from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.mlflow_tags_type_0 import MlflowTagsType0





T = TypeVar("T", bound="Mlflow")



@_attrs_define
class Mlflow:
    """ Server, experiment and run for the curves.

        Attributes:
            tracking_uri (None | str | Unset): Address of your MLflow server; absent: a store in the installation's
                directory of trackers.
            experiment (str | Unset): Name of the experiment; it is made if the server has none of the name. Default:
                'agent-rft'.
            run_name (None | str | Unset): Name of the run; absent: the suffix of the job, or its id.
            tags (MlflowTagsType0 | None | Unset): Tags of the run.
            token (None | str | Unset): Token that the server wants as `Authorization: Bearer …`; stored sealed and never
                shown.
            username (None | str | Unset): User of the server, instead of a token.
            password (None | str | Unset): Password of the user; stored sealed and never shown.
            traces_per_step (int | Unset): Rollouts of each training step that become artifacts below `rollouts`: those of
                the highest and of the lowest rewards; 0 writes none. Default: 2.
     """

    tracking_uri: None | str | Unset = UNSET
    experiment: str | Unset = 'agent-rft'
    run_name: None | str | Unset = UNSET
    tags: MlflowTagsType0 | None | Unset = UNSET
    token: None | str | Unset = UNSET
    username: None | str | Unset = UNSET
    password: None | str | Unset = UNSET
    traces_per_step: int | Unset = 2
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.mlflow_tags_type_0 import MlflowTagsType0 # noqa: PLC0415
        tracking_uri: None | str | Unset
        if isinstance(self.tracking_uri, Unset):
            tracking_uri = UNSET
        else:
            tracking_uri = self.tracking_uri

        experiment = self.experiment

        run_name: None | str | Unset
        if isinstance(self.run_name, Unset):
            run_name = UNSET
        else:
            run_name = self.run_name

        tags: dict[str, Any] | None | Unset
        if isinstance(self.tags, Unset):
            tags = UNSET
        elif isinstance(self.tags, MlflowTagsType0):
            tags = self.tags.to_dict()
        else:
            tags = self.tags

        token: None | str | Unset
        if isinstance(self.token, Unset):
            token = UNSET
        else:
            token = self.token

        username: None | str | Unset
        if isinstance(self.username, Unset):
            username = UNSET
        else:
            username = self.username

        password: None | str | Unset
        if isinstance(self.password, Unset):
            password = UNSET
        else:
            password = self.password

        traces_per_step = self.traces_per_step


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if tracking_uri is not UNSET:
            field_dict["tracking_uri"] = tracking_uri
        if experiment is not UNSET:
            field_dict["experiment"] = experiment
        if run_name is not UNSET:
            field_dict["run_name"] = run_name
        if tags is not UNSET:
            field_dict["tags"] = tags
        if token is not UNSET:
            field_dict["token"] = token
        if username is not UNSET:
            field_dict["username"] = username
        if password is not UNSET:
            field_dict["password"] = password
        if traces_per_step is not UNSET:
            field_dict["traces_per_step"] = traces_per_step

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.mlflow_tags_type_0 import MlflowTagsType0 # noqa: PLC0415
        d = dict(src_dict)
        def _parse_tracking_uri(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        tracking_uri = _parse_tracking_uri(d.pop("tracking_uri", UNSET))


        experiment = d.pop("experiment", UNSET)

        def _parse_run_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        run_name = _parse_run_name(d.pop("run_name", UNSET))


        def _parse_tags(data: object) -> MlflowTagsType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tags_type_0 = MlflowTagsType0.from_dict(data)



                return tags_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MlflowTagsType0 | None | Unset, data)

        tags = _parse_tags(d.pop("tags", UNSET))


        def _parse_token(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        token = _parse_token(d.pop("token", UNSET))


        def _parse_username(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        username = _parse_username(d.pop("username", UNSET))


        def _parse_password(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        password = _parse_password(d.pop("password", UNSET))


        traces_per_step = d.pop("traces_per_step", UNSET)

        mlflow = cls(
            tracking_uri=tracking_uri,
            experiment=experiment,
            run_name=run_name,
            tags=tags,
            token=token,
            username=username,
            password=password,
            traces_per_step=traces_per_step,
        )


        mlflow.additional_properties = d
        return mlflow

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
