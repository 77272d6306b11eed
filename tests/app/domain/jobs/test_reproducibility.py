from dataclasses import replace

from app.jobs.results import ClaimMachine, EngineMachine, reproducibility
from tests.support.cases import cases

ENGINE = EngineMachine("B", batch_invariant=True)
CLAIM = ClaimMachine("A", accelerated=False, in_order=True, samples=True, engine=ENGINE)


def test_a_job_on_one_kind_of_processor_keeps_its_bits_over_its_claims() -> None:
    once = reproducibility(None, CLAIM)
    assert once == {
        "same_to_the_bit": True,
        "reasons": [],
        "processors": ["trainer: A", "engine: B"],
    }
    assert reproducibility(once, CLAIM) == once


@cases(
    ("changed", "reason"),
    [
        (replace(CLAIM, accelerated=True), "accelerator"),
        (replace(CLAIM, in_order=False), "order in which samples come"),
        (replace(CLAIM, engine=None), "does not say"),
        (replace(CLAIM, engine=EngineMachine("B", batch_invariant=False)), "depend on the batch"),
        (replace(CLAIM, trainer="C"), "different processors"),
        (replace(CLAIM, engine=EngineMachine("A", batch_invariant=True)), "different processors"),
    ],
)
def test_a_claim_that_breaks_the_promise_breaks_it_for_good(
    changed: ClaimMachine, reason: str
) -> None:
    broken = reproducibility(reproducibility(None, CLAIM), changed)
    assert broken["same_to_the_bit"] is False
    assert [reason in one for one in broken["reasons"]] == [True]
    again = reproducibility(broken, changed)
    assert (again["same_to_the_bit"], again["reasons"]) == (False, broken["reasons"])
    assert not reproducibility(broken, CLAIM)["same_to_the_bit"]


def test_a_method_that_samples_nothing_calls_no_engine() -> None:
    assert reproducibility(None, replace(CLAIM, samples=False, engine=None)) == {
        "same_to_the_bit": True,
        "reasons": [],
        "processors": ["trainer: A"],
    }


def test_a_record_from_before_products_and_threads_were_named_keeps_its_promise() -> None:
    before = reproducibility(None, CLAIM)
    named = replace(
        CLAIM,
        trainer="A, onednn products, 2 threads",
        engine=EngineMachine("B, onednn products, 1 thread", batch_invariant=True),
    )
    after = reproducibility(before, named)
    assert after["same_to_the_bit"] is True
    assert after["processors"] == [
        "trainer: A, onednn products, 2 threads",
        "engine: B, onednn products, 1 thread",
    ]
    other = reproducibility(after, replace(named, trainer="A, torch products, 2 threads"))
    assert other["same_to_the_bit"] is False
