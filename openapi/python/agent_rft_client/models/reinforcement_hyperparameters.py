from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.reinforcement_hyperparameters_reasoning_effort_type_0 import check_reinforcement_hyperparameters_reasoning_effort_type_0
from ..models.reinforcement_hyperparameters_reasoning_effort_type_0 import ReinforcementHyperparametersReasoningEffortType0
from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast






T = TypeVar("T", bound="ReinforcementHyperparameters")



@_attrs_define
class ReinforcementHyperparameters:
    """ Hyperparameters of a reinforcement job; every field has a value or `auto`.

        Attributes:
            batch_size (int | Literal['auto'] | None | Unset): Examples (prompts) per optimizer step. Default: 'auto'.
            learning_rate_multiplier (float | Literal['auto'] | None | Unset): Factor on the base model's own learning rate.
                Default: 'auto'.
            n_epochs (int | Literal['auto'] | None | Unset): Times that the training file is used. Default: 'auto'.
            compute_multiplier (float | Literal['auto'] | None | Unset): Factor on the rollouts of each example; 1 is 8
                rollouts. Default: 'auto'.
            eval_interval (int | Literal['auto'] | None | Unset): Steps between validations. Default: 'auto'.
            eval_samples (int | Literal['auto'] | None | Unset): Rollouts of each held-out row in a validation. Default:
                'auto'.
            eval_temperature (float | Literal['auto'] | None | Unset): Temperature of these rollouts; an extension. Default:
                'auto'.
            eval_greedy (bool | None | Unset): Adds one rollout of each held-out row at temperature 0; an extension.
                Default: True.
            reasoning_effort (None | ReinforcementHyperparametersReasoningEffortType0 | Unset): Reasoning effort of the
                rollouts; kept by calls of the tuned model. Default: 'default'.
     """

    batch_size: int | Literal['auto'] | None | Unset = 'auto'
    learning_rate_multiplier: float | Literal['auto'] | None | Unset = 'auto'
    n_epochs: int | Literal['auto'] | None | Unset = 'auto'
    compute_multiplier: float | Literal['auto'] | None | Unset = 'auto'
    eval_interval: int | Literal['auto'] | None | Unset = 'auto'
    eval_samples: int | Literal['auto'] | None | Unset = 'auto'
    eval_temperature: float | Literal['auto'] | None | Unset = 'auto'
    eval_greedy: bool | None | Unset = True
    reasoning_effort: None | ReinforcementHyperparametersReasoningEffortType0 | Unset = 'default'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        batch_size: int | Literal['auto'] | None | Unset
        if isinstance(self.batch_size, Unset):
            batch_size = UNSET
        else:
            batch_size = self.batch_size

        learning_rate_multiplier: float | Literal['auto'] | None | Unset
        if isinstance(self.learning_rate_multiplier, Unset):
            learning_rate_multiplier = UNSET
        else:
            learning_rate_multiplier = self.learning_rate_multiplier

        n_epochs: int | Literal['auto'] | None | Unset
        if isinstance(self.n_epochs, Unset):
            n_epochs = UNSET
        else:
            n_epochs = self.n_epochs

        compute_multiplier: float | Literal['auto'] | None | Unset
        if isinstance(self.compute_multiplier, Unset):
            compute_multiplier = UNSET
        else:
            compute_multiplier = self.compute_multiplier

        eval_interval: int | Literal['auto'] | None | Unset
        if isinstance(self.eval_interval, Unset):
            eval_interval = UNSET
        else:
            eval_interval = self.eval_interval

        eval_samples: int | Literal['auto'] | None | Unset
        if isinstance(self.eval_samples, Unset):
            eval_samples = UNSET
        else:
            eval_samples = self.eval_samples

        eval_temperature: float | Literal['auto'] | None | Unset
        if isinstance(self.eval_temperature, Unset):
            eval_temperature = UNSET
        else:
            eval_temperature = self.eval_temperature

        eval_greedy: bool | None | Unset
        if isinstance(self.eval_greedy, Unset):
            eval_greedy = UNSET
        else:
            eval_greedy = self.eval_greedy

        reasoning_effort: None | str | Unset
        if isinstance(self.reasoning_effort, Unset):
            reasoning_effort = UNSET
        elif isinstance(self.reasoning_effort, str):
            reasoning_effort = self.reasoning_effort
        else:
            reasoning_effort = self.reasoning_effort


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if learning_rate_multiplier is not UNSET:
            field_dict["learning_rate_multiplier"] = learning_rate_multiplier
        if n_epochs is not UNSET:
            field_dict["n_epochs"] = n_epochs
        if compute_multiplier is not UNSET:
            field_dict["compute_multiplier"] = compute_multiplier
        if eval_interval is not UNSET:
            field_dict["eval_interval"] = eval_interval
        if eval_samples is not UNSET:
            field_dict["eval_samples"] = eval_samples
        if eval_temperature is not UNSET:
            field_dict["eval_temperature"] = eval_temperature
        if eval_greedy is not UNSET:
            field_dict["eval_greedy"] = eval_greedy
        if reasoning_effort is not UNSET:
            field_dict["reasoning_effort"] = reasoning_effort

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        def _parse_batch_size(data: object) -> int | Literal['auto'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            batch_size_type_1 = cast(Literal['auto'] , data)
            if batch_size_type_1 != 'auto':
                raise ValueError(f"batch_size_type_1 must match const 'auto', got '{batch_size_type_1}'")
            return batch_size_type_1
            return cast(int | Literal['auto'] | None | Unset, data)

        batch_size = _parse_batch_size(d.pop("batch_size", UNSET))


        def _parse_learning_rate_multiplier(data: object) -> float | Literal['auto'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            learning_rate_multiplier_type_1 = cast(Literal['auto'] , data)
            if learning_rate_multiplier_type_1 != 'auto':
                raise ValueError(f"learning_rate_multiplier_type_1 must match const 'auto', got '{learning_rate_multiplier_type_1}'")
            return learning_rate_multiplier_type_1
            return cast(float | Literal['auto'] | None | Unset, data)

        learning_rate_multiplier = _parse_learning_rate_multiplier(d.pop("learning_rate_multiplier", UNSET))


        def _parse_n_epochs(data: object) -> int | Literal['auto'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            n_epochs_type_1 = cast(Literal['auto'] , data)
            if n_epochs_type_1 != 'auto':
                raise ValueError(f"n_epochs_type_1 must match const 'auto', got '{n_epochs_type_1}'")
            return n_epochs_type_1
            return cast(int | Literal['auto'] | None | Unset, data)

        n_epochs = _parse_n_epochs(d.pop("n_epochs", UNSET))


        def _parse_compute_multiplier(data: object) -> float | Literal['auto'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            compute_multiplier_type_1 = cast(Literal['auto'] , data)
            if compute_multiplier_type_1 != 'auto':
                raise ValueError(f"compute_multiplier_type_1 must match const 'auto', got '{compute_multiplier_type_1}'")
            return compute_multiplier_type_1
            return cast(float | Literal['auto'] | None | Unset, data)

        compute_multiplier = _parse_compute_multiplier(d.pop("compute_multiplier", UNSET))


        def _parse_eval_interval(data: object) -> int | Literal['auto'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            eval_interval_type_1 = cast(Literal['auto'] , data)
            if eval_interval_type_1 != 'auto':
                raise ValueError(f"eval_interval_type_1 must match const 'auto', got '{eval_interval_type_1}'")
            return eval_interval_type_1
            return cast(int | Literal['auto'] | None | Unset, data)

        eval_interval = _parse_eval_interval(d.pop("eval_interval", UNSET))


        def _parse_eval_samples(data: object) -> int | Literal['auto'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            eval_samples_type_1 = cast(Literal['auto'] , data)
            if eval_samples_type_1 != 'auto':
                raise ValueError(f"eval_samples_type_1 must match const 'auto', got '{eval_samples_type_1}'")
            return eval_samples_type_1
            return cast(int | Literal['auto'] | None | Unset, data)

        eval_samples = _parse_eval_samples(d.pop("eval_samples", UNSET))


        def _parse_eval_temperature(data: object) -> float | Literal['auto'] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            eval_temperature_type_1 = cast(Literal['auto'] , data)
            if eval_temperature_type_1 != 'auto':
                raise ValueError(f"eval_temperature_type_1 must match const 'auto', got '{eval_temperature_type_1}'")
            return eval_temperature_type_1
            return cast(float | Literal['auto'] | None | Unset, data)

        eval_temperature = _parse_eval_temperature(d.pop("eval_temperature", UNSET))


        def _parse_eval_greedy(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        eval_greedy = _parse_eval_greedy(d.pop("eval_greedy", UNSET))


        def _parse_reasoning_effort(data: object) -> None | ReinforcementHyperparametersReasoningEffortType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                reasoning_effort_type_0 = check_reinforcement_hyperparameters_reasoning_effort_type_0(data)



                return reasoning_effort_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReinforcementHyperparametersReasoningEffortType0 | Unset, data)

        reasoning_effort = _parse_reasoning_effort(d.pop("reasoning_effort", UNSET))


        reinforcement_hyperparameters = cls(
            batch_size=batch_size,
            learning_rate_multiplier=learning_rate_multiplier,
            n_epochs=n_epochs,
            compute_multiplier=compute_multiplier,
            eval_interval=eval_interval,
            eval_samples=eval_samples,
            eval_temperature=eval_temperature,
            eval_greedy=eval_greedy,
            reasoning_effort=reasoning_effort,
        )


        reinforcement_hyperparameters.additional_properties = d
        return reinforcement_hyperparameters

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
