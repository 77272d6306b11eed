import csv
import hashlib
import io

from app.jobs.results import step_metrics
from app.kit.ids import Split
from app.rollouts.metrics import MetricPoint
from tests.support.runs.world import World
from workers.runs.job import write_result_file
from workers.runs.step_outcome import StepOutcome, TrainedStep

GRADER = {"type": "endpoint", "name": "records"}


def _points(split: Split, step: int, **values: float) -> list[MetricPoint]:
    return [
        MetricPoint(name.replace("__", "/"), split, step, value) for name, value in values.items()
    ]


POINTS = [
    *_points("train", 1, reward__mean=0.25, train__loss=0.5, train__tokens=40.0),
    *_points("train", 1, tool__lookup__errors=3.0, tool__lookup__calls_mean=1.5),
    *_points("train", 1, rollouts__valid=6.0, tool_calls__parse_errors_mean=0.5),
    *_points("train", 1, discarded__count=2.0, discarded__share=0.25, discarded__grader_error=2.0),
    *_points("valid", 2, reward__mean=0.75),
    *_points("train", 2, reward__mean=0.5),
]


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_known_columns_first_blank_where_nothing_was_measured() -> None:
    text = step_metrics(POINTS, GRADER)
    first, second = _rows(text)
    assert text.splitlines()[0].startswith(
        "step,train_mean_reward,full_valid_mean_reward,completion_tokens_mean,"
        "reasoning_tokens_mean,mean_unresponsive_rewards,pg_loss_sum,total_loss_sum,"
        "errors/graders/records/train_sample_parse_error_count,"
        "errors/graders/records/train_other_error_count,train_error_count_lookup,"
    )
    assert (first["step"], first["train_mean_reward"], first["full_valid_mean_reward"]) == (
        *("1", "0.25"),
        "",
    )
    assert (first["pg_loss_sum"], first["total_loss_sum"]) == ("20.0", "20.0")
    assert first["mean_unresponsive_rewards"] == "0.25"
    assert first["errors/graders/records/train_sample_parse_error_count"] == "3.0"
    assert first["errors/graders/records/train_other_error_count"] == "2.0"
    assert first["train_error_count_lookup"] == "3.0"
    assert first["train/tool/lookup/calls_mean"] == "1.5"
    assert (second["full_valid_mean_reward"], second["valid/reward/mean"]) == ("0.75", "0.75")
    assert second["pg_loss_sum"] == second["train_error_count_lookup"] == ""
    assert "entropy_loss_sum" not in first


def test_a_tool_whose_name_looks_like_a_kind_of_error_is_no_column_of_another() -> None:
    points = _points("train", 1, tool__a__errors=1.0)
    points.append(MetricPoint("tool/a/errors/http_404", "train", 1, 1.0))
    (row,) = _rows(step_metrics(points, GRADER))
    assert [name for name in row if name.startswith("train_error_count_")] == [
        "train_error_count_a"
    ]


async def test_the_same_points_make_the_same_file_and_others_another_one(world: World) -> None:
    job = await world.job()
    context = await world.context(job)
    assert await write_result_file(context.unit, context.objects, context.job.id) is None
    async with context.unit() as unit:
        await unit.metrics.upsert(job.id, [*POINTS, MetricPoint("reward/mean", "valid", 0, 0.1)])
    first, second = (
        await write_result_file(context.unit, context.objects, context.job.id),
        await write_result_file(context.unit, context.objects, context.job.id),
    )
    assert first is not None
    assert second is not None
    assert (first.id, first.object_key, first.sha256) == (
        *(second.id, second.object_key),
        second.sha256,
    )
    content = (world.settings.objects_dir / first.object_key).read_bytes()
    assert hashlib.sha256(content).hexdigest() == first.sha256
    assert [row["step"] for row in _rows(content.decode())] == ["1", "2"]
    assert (first.filename, first.purpose) == ("step_metrics.csv", "fine-tune-results")
    lost = StepOutcome(TrainedStep(3, {"discarded/share": 1.0}))
    third = await write_result_file(context.unit, context.objects, context.job.id, lost=lost)
    assert third is not None
    further = _rows((world.settings.objects_dir / third.object_key).read_text())
    assert [row["train/discarded/share"] for row in further] == ["0.25", "", "1.0"]
    kept = (world.settings.objects_dir / first.object_key).read_bytes()
    assert (third.id != first.id, kept) == (True, content), "a cancel may have listed the first"
    async with world.app.tenant(world.tenant) as unit:
        rows, _ = await unit.files.page(purpose=None, after=None, limit=9, order="asc")
    assert not {first.id, third.id} & {row.id for row in rows}, "a row comes with the end"
