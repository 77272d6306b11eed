from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.curriculum_test_method import check_curriculum_test_method
from ..models.curriculum_test_method import CurriculumTestMethod
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.fault import Fault
  from ..models.line_pair import LinePair
  from ..models.split_test import SplitTest





T = TypeVar("T", bound="CurriculumTest")



@_attrs_define
class CurriculumTest:
    """ Result of reading the files of a curriculum; nothing is trained.

        Attributes:
            object_ (Literal['curriculum.test']): Type of the object; each type has one constant value. Default:
                'curriculum.test'.
            curriculum_id (str): Id of the curriculum.
            version (int): Number of the version, from 1.
            method (CurriculumTestMethod): The kind of job that the rows were read for.
            passed (bool): True when no fault is an error.
            training (SplitTest): Contents of one file of a curriculum.
            validation (None | SplitTest): Counts of the validation file; `null` without one.
            overlapping_rows (int): Validation rows whose prompt is in the training file too.
            overlapping_lines (list[LinePair]): Line in the training file, line in the validation file.
            faults (list[Fault]): Issues of rows, at most 100, then issues of a file as a whole.
     """

    curriculum_id: str
    version: int
    method: CurriculumTestMethod
    passed: bool
    training: SplitTest
    validation: None | SplitTest
    overlapping_rows: int
    overlapping_lines: list[LinePair]
    faults: list[Fault]
    object_: Literal['curriculum.test'] = 'curriculum.test'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.fault import Fault # noqa: PLC0415
        from ..models.line_pair import LinePair # noqa: PLC0415
        from ..models.split_test import SplitTest # noqa: PLC0415
        object_ = self.object_

        curriculum_id = self.curriculum_id

        version = self.version

        method: str = self.method

        passed = self.passed

        training = self.training.to_dict()

        validation: dict[str, Any] | None
        if isinstance(self.validation, SplitTest):
            validation = self.validation.to_dict()
        else:
            validation = self.validation

        overlapping_rows = self.overlapping_rows

        overlapping_lines = []
        for overlapping_lines_item_data in self.overlapping_lines:
            overlapping_lines_item = overlapping_lines_item_data.to_dict()
            overlapping_lines.append(overlapping_lines_item)



        faults = []
        for faults_item_data in self.faults:
            faults_item = faults_item_data.to_dict()
            faults.append(faults_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "curriculum_id": curriculum_id,
            "version": version,
            "method": method,
            "passed": passed,
            "training": training,
            "validation": validation,
            "overlapping_rows": overlapping_rows,
            "overlapping_lines": overlapping_lines,
            "faults": faults,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.fault import Fault # noqa: PLC0415
        from ..models.line_pair import LinePair # noqa: PLC0415
        from ..models.split_test import SplitTest # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['curriculum.test'] , d.pop("object"))
        if object_ != 'curriculum.test':
            raise ValueError(f"object must match const 'curriculum.test', got '{object_}'")

        curriculum_id = d.pop("curriculum_id")

        version = d.pop("version")

        method = check_curriculum_test_method(d.pop("method"))




        passed = d.pop("passed")

        training = SplitTest.from_dict(d.pop("training"))




        def _parse_validation(data: object) -> None | SplitTest:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                validation_type_0 = SplitTest.from_dict(data)



                return validation_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SplitTest, data)

        validation = _parse_validation(d.pop("validation"))


        overlapping_rows = d.pop("overlapping_rows")

        overlapping_lines = []
        _overlapping_lines = d.pop("overlapping_lines")
        for overlapping_lines_item_data in (_overlapping_lines):
            overlapping_lines_item = LinePair.from_dict(overlapping_lines_item_data)



            overlapping_lines.append(overlapping_lines_item)


        faults = []
        _faults = d.pop("faults")
        for faults_item_data in (_faults):
            faults_item = Fault.from_dict(faults_item_data)



            faults.append(faults_item)


        curriculum_test = cls(
            object_=object_,
            curriculum_id=curriculum_id,
            version=version,
            method=method,
            passed=passed,
            training=training,
            validation=validation,
            overlapping_rows=overlapping_rows,
            overlapping_lines=overlapping_lines,
            faults=faults,
        )


        curriculum_test.additional_properties = d
        return curriculum_test

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
