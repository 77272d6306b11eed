from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.attached_eval_body import AttachedEvalBody
  from ..models.create_fine_tuning_job_curriculum_type_1 import CreateFineTuningJobCurriculumType1
  from ..models.create_fine_tuning_job_hyperparameters_type_0 import CreateFineTuningJobHyperparametersType0
  from ..models.create_fine_tuning_job_metadata_type_0 import CreateFineTuningJobMetadataType0
  from ..models.method import Method
  from ..models.mlflow_integration import MlflowIntegration
  from ..models.tensorboard_integration import TensorboardIntegration
  from ..models.trackio_integration import TrackioIntegration
  from ..models.wandb_integration import WandbIntegration





T = TypeVar("T", bound="CreateFineTuningJob")



@_attrs_define
class CreateFineTuningJob:
    """ A new fine-tuning job.

        Example:
            {'method': {'reinforcement': {'grader': {'type': 'endpoint', 'url': 'https://g.example/grade'},
                'hyperparameters': {'batch_size': 16, 'n_epochs': 1}, 'max_episode_steps': 10, 'tools': [{'name': 'search',
                'server_url': 'https://t.example/search'}]}, 'type': 'reinforcement'}, 'model': 'tiny-agent', 'training_file':
                'file-abc', 'validation_file': 'file-def'}

        Attributes:
            model (str): Name of a base model, or of a tuned model (`ft:…`) to continue from.
            max_training_time_s (float | None | Unset): Cap in seconds of wall time: the job pauses at the step that reaches
                it (an extension).
            max_rollouts (int | None | Unset): Cap on rollouts of training and validation: the job pauses at the step that
                reaches it (an extension).
            training_file (None | str | Unset): Id of a file; required without a curriculum and without an environment.
            validation_file (None | str | Unset): Id of a file with held-out rows; required by reinforcement without a
                curriculum and without an environment.
            curriculum (CreateFineTuningJobCurriculumType1 | None | str | Unset): Replaces the files (an extension): an id,
                `{"id", "version"}`, or rows as `{"training", "validation"}`.
            method (Method | None | Unset): An absent method is supervised.
            hyperparameters (CreateFineTuningJobHyperparametersType0 | None | Unset): Deprecated: hyperparameters of a
                supervised job. `method.supervised` takes precedence.
            suffix (None | str | Unset): Part of the tuned model's name.
            seed (int | None | Unset): Seed of sampling and training; absent: chosen by the service and shown in the job.
            metadata (CreateFineTuningJobMetadataType0 | None | Unset): Up to 16 pairs of text of the user's own; the
                service does not read them.
            integrations (list[MlflowIntegration | TensorboardIntegration | TrackioIntegration | WandbIntegration] | None |
                Unset): Trackers of experiments, to which the service writes curves, settings, report and some rollouts: `wandb`
                in the hosted shape; `tensorboard`, `mlflow` and `trackio` are extensions.
            evals (list[AttachedEvalBody] | None | Unset): Evals that are run on the start model and the tuned model once
                the job has succeeded (an extension).
            priority (int | None | Unset): Jobs of the project with a higher priority start first (an extension; default 0).
                It has no effect on other projects.
     """

    model: str
    max_training_time_s: float | None | Unset = UNSET
    max_rollouts: int | None | Unset = UNSET
    training_file: None | str | Unset = UNSET
    validation_file: None | str | Unset = UNSET
    curriculum: CreateFineTuningJobCurriculumType1 | None | str | Unset = UNSET
    method: Method | None | Unset = UNSET
    hyperparameters: CreateFineTuningJobHyperparametersType0 | None | Unset = UNSET
    suffix: None | str | Unset = UNSET
    seed: int | None | Unset = UNSET
    metadata: CreateFineTuningJobMetadataType0 | None | Unset = UNSET
    integrations: list[MlflowIntegration | TensorboardIntegration | TrackioIntegration | WandbIntegration] | None | Unset = UNSET
    evals: list[AttachedEvalBody] | None | Unset = UNSET
    priority: int | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.attached_eval_body import AttachedEvalBody # noqa: PLC0415
        from ..models.create_fine_tuning_job_curriculum_type_1 import CreateFineTuningJobCurriculumType1 # noqa: PLC0415
        from ..models.create_fine_tuning_job_hyperparameters_type_0 import CreateFineTuningJobHyperparametersType0 # noqa: PLC0415
        from ..models.create_fine_tuning_job_metadata_type_0 import CreateFineTuningJobMetadataType0 # noqa: PLC0415
        from ..models.method import Method # noqa: PLC0415
        from ..models.mlflow_integration import MlflowIntegration # noqa: PLC0415
        from ..models.tensorboard_integration import TensorboardIntegration # noqa: PLC0415
        from ..models.trackio_integration import TrackioIntegration # noqa: PLC0415
        from ..models.wandb_integration import WandbIntegration # noqa: PLC0415
        model = self.model

        max_training_time_s: float | None | Unset
        if isinstance(self.max_training_time_s, Unset):
            max_training_time_s = UNSET
        else:
            max_training_time_s = self.max_training_time_s

        max_rollouts: int | None | Unset
        if isinstance(self.max_rollouts, Unset):
            max_rollouts = UNSET
        else:
            max_rollouts = self.max_rollouts

        training_file: None | str | Unset
        if isinstance(self.training_file, Unset):
            training_file = UNSET
        else:
            training_file = self.training_file

        validation_file: None | str | Unset
        if isinstance(self.validation_file, Unset):
            validation_file = UNSET
        else:
            validation_file = self.validation_file

        curriculum: dict[str, Any] | None | str | Unset
        if isinstance(self.curriculum, Unset):
            curriculum = UNSET
        elif isinstance(self.curriculum, CreateFineTuningJobCurriculumType1):
            curriculum = self.curriculum.to_dict()
        else:
            curriculum = self.curriculum

        method: dict[str, Any] | None | Unset
        if isinstance(self.method, Unset):
            method = UNSET
        elif isinstance(self.method, Method):
            method = self.method.to_dict()
        else:
            method = self.method

        hyperparameters: dict[str, Any] | None | Unset
        if isinstance(self.hyperparameters, Unset):
            hyperparameters = UNSET
        elif isinstance(self.hyperparameters, CreateFineTuningJobHyperparametersType0):
            hyperparameters = self.hyperparameters.to_dict()
        else:
            hyperparameters = self.hyperparameters

        suffix: None | str | Unset
        if isinstance(self.suffix, Unset):
            suffix = UNSET
        else:
            suffix = self.suffix

        seed: int | None | Unset
        if isinstance(self.seed, Unset):
            seed = UNSET
        else:
            seed = self.seed

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CreateFineTuningJobMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        integrations: list[dict[str, Any]] | None | Unset
        if isinstance(self.integrations, Unset):
            integrations = UNSET
        elif isinstance(self.integrations, list):
            integrations = []
            for integrations_type_0_item_data in self.integrations:
                integrations_type_0_item: dict[str, Any]
                if isinstance(integrations_type_0_item_data, WandbIntegration):
                    integrations_type_0_item = integrations_type_0_item_data.to_dict()
                elif isinstance(integrations_type_0_item_data, TensorboardIntegration):
                    integrations_type_0_item = integrations_type_0_item_data.to_dict()
                elif isinstance(integrations_type_0_item_data, MlflowIntegration):
                    integrations_type_0_item = integrations_type_0_item_data.to_dict()
                else:
                    integrations_type_0_item = integrations_type_0_item_data.to_dict()

                integrations.append(integrations_type_0_item)


        else:
            integrations = self.integrations

        evals: list[dict[str, Any]] | None | Unset
        if isinstance(self.evals, Unset):
            evals = UNSET
        elif isinstance(self.evals, list):
            evals = []
            for evals_type_0_item_data in self.evals:
                evals_type_0_item = evals_type_0_item_data.to_dict()
                evals.append(evals_type_0_item)


        else:
            evals = self.evals

        priority: int | None | Unset
        if isinstance(self.priority, Unset):
            priority = UNSET
        else:
            priority = self.priority


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "model": model,
        })
        if max_training_time_s is not UNSET:
            field_dict["max_training_time_s"] = max_training_time_s
        if max_rollouts is not UNSET:
            field_dict["max_rollouts"] = max_rollouts
        if training_file is not UNSET:
            field_dict["training_file"] = training_file
        if validation_file is not UNSET:
            field_dict["validation_file"] = validation_file
        if curriculum is not UNSET:
            field_dict["curriculum"] = curriculum
        if method is not UNSET:
            field_dict["method"] = method
        if hyperparameters is not UNSET:
            field_dict["hyperparameters"] = hyperparameters
        if suffix is not UNSET:
            field_dict["suffix"] = suffix
        if seed is not UNSET:
            field_dict["seed"] = seed
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if integrations is not UNSET:
            field_dict["integrations"] = integrations
        if evals is not UNSET:
            field_dict["evals"] = evals
        if priority is not UNSET:
            field_dict["priority"] = priority

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.attached_eval_body import AttachedEvalBody # noqa: PLC0415
        from ..models.create_fine_tuning_job_curriculum_type_1 import CreateFineTuningJobCurriculumType1 # noqa: PLC0415
        from ..models.create_fine_tuning_job_hyperparameters_type_0 import CreateFineTuningJobHyperparametersType0 # noqa: PLC0415
        from ..models.create_fine_tuning_job_metadata_type_0 import CreateFineTuningJobMetadataType0 # noqa: PLC0415
        from ..models.method import Method # noqa: PLC0415
        from ..models.mlflow_integration import MlflowIntegration # noqa: PLC0415
        from ..models.tensorboard_integration import TensorboardIntegration # noqa: PLC0415
        from ..models.trackio_integration import TrackioIntegration # noqa: PLC0415
        from ..models.wandb_integration import WandbIntegration # noqa: PLC0415
        d = dict(src_dict)
        model = d.pop("model")

        def _parse_max_training_time_s(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        max_training_time_s = _parse_max_training_time_s(d.pop("max_training_time_s", UNSET))


        def _parse_max_rollouts(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_rollouts = _parse_max_rollouts(d.pop("max_rollouts", UNSET))


        def _parse_training_file(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        training_file = _parse_training_file(d.pop("training_file", UNSET))


        def _parse_validation_file(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        validation_file = _parse_validation_file(d.pop("validation_file", UNSET))


        def _parse_curriculum(data: object) -> CreateFineTuningJobCurriculumType1 | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                curriculum_type_1 = CreateFineTuningJobCurriculumType1.from_dict(data)



                return curriculum_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateFineTuningJobCurriculumType1 | None | str | Unset, data)

        curriculum = _parse_curriculum(d.pop("curriculum", UNSET))


        def _parse_method(data: object) -> Method | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                method_type_0 = Method.from_dict(data)



                return method_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Method | None | Unset, data)

        method = _parse_method(d.pop("method", UNSET))


        def _parse_hyperparameters(data: object) -> CreateFineTuningJobHyperparametersType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                hyperparameters_type_0 = CreateFineTuningJobHyperparametersType0.from_dict(data)



                return hyperparameters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateFineTuningJobHyperparametersType0 | None | Unset, data)

        hyperparameters = _parse_hyperparameters(d.pop("hyperparameters", UNSET))


        def _parse_suffix(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        suffix = _parse_suffix(d.pop("suffix", UNSET))


        def _parse_seed(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        seed = _parse_seed(d.pop("seed", UNSET))


        def _parse_metadata(data: object) -> CreateFineTuningJobMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateFineTuningJobMetadataType0.from_dict(data)



                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateFineTuningJobMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))


        def _parse_integrations(data: object) -> list[MlflowIntegration | TensorboardIntegration | TrackioIntegration | WandbIntegration] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                integrations_type_0 = []
                _integrations_type_0 = data
                for integrations_type_0_item_data in (_integrations_type_0):
                    def _parse_integrations_type_0_item(data: object) -> MlflowIntegration | TensorboardIntegration | TrackioIntegration | WandbIntegration:
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            integrations_type_0_item_type_0 = WandbIntegration.from_dict(data)



                            return integrations_type_0_item_type_0
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            integrations_type_0_item_type_1 = TensorboardIntegration.from_dict(data)



                            return integrations_type_0_item_type_1
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            integrations_type_0_item_type_2 = MlflowIntegration.from_dict(data)



                            return integrations_type_0_item_type_2
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        if not isinstance(data, dict):
                            raise TypeError()
                        integrations_type_0_item_type_3 = TrackioIntegration.from_dict(data)



                        return integrations_type_0_item_type_3

                    integrations_type_0_item = _parse_integrations_type_0_item(integrations_type_0_item_data)

                    integrations_type_0.append(integrations_type_0_item)

                return integrations_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[MlflowIntegration | TensorboardIntegration | TrackioIntegration | WandbIntegration] | None | Unset, data)

        integrations = _parse_integrations(d.pop("integrations", UNSET))


        def _parse_evals(data: object) -> list[AttachedEvalBody] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                evals_type_0 = []
                _evals_type_0 = data
                for evals_type_0_item_data in (_evals_type_0):
                    evals_type_0_item = AttachedEvalBody.from_dict(evals_type_0_item_data)



                    evals_type_0.append(evals_type_0_item)

                return evals_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[AttachedEvalBody] | None | Unset, data)

        evals = _parse_evals(d.pop("evals", UNSET))


        def _parse_priority(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        priority = _parse_priority(d.pop("priority", UNSET))


        create_fine_tuning_job = cls(
            model=model,
            max_training_time_s=max_training_time_s,
            max_rollouts=max_rollouts,
            training_file=training_file,
            validation_file=validation_file,
            curriculum=curriculum,
            method=method,
            hyperparameters=hyperparameters,
            suffix=suffix,
            seed=seed,
            metadata=metadata,
            integrations=integrations,
            evals=evals,
            priority=priority,
        )


        create_fine_tuning_job.additional_properties = d
        return create_fine_tuning_job

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
