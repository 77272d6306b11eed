"""The reason of each numeric default of a job's method, for the page of options.

A reason names its source or a measurement; a value that is a judgement is said to be one.
"""

from typing import Final

from app.jobs.losses import LOSSES

_LATEST: Final = "a judgement; one odd step is noise, and three are cheap to wait for"
_SWITCHED_OFF: Final = "a reward is what the user meant, and nothing is taken from it unasked"

REASONS: Final[dict[str, dict[str, str]]] = {
    "AsyncOptions": {
        "max_staleness": "one step of overlap hides training behind sampling; each more makes the "
        "sampled policy older",
        "max_requeues": "a judgement; a prompt that was slow three times is slow by itself",
    },
    "ChosenRewardRule": {
        "below": "below 0 the preferred answer is less probable than at the start",
        "steps": _LATEST,
    },
    "EntropyRiseRule": {
        "ratio": "a judgement; exploration doubles entropy, and text that falls apart passes three",
        "min_rise": "three times almost nothing is still almost nothing",
        "steps": _LATEST,
    },
    "EntropyRule": {
        "share": "a judgement; relative, since models begin between 0.05 and 2 nats",
        "steps": "a judgement; entropy moves slowly, and five steps are no accident",
    },
    "FocusOrdering": {
        "low": "below it most groups of 8 have at most one right rollout",
        "high": "the mirror of `low`: most groups have at most one wrong rollout",
        "measured_share": "every row is measured again within few steps",
    },
    "GapRule": {
        "threshold": "a judgement for rewards from 0 to 1: a fifth of the scale",
        "evaluations": "one validation may be unlucky",
    },
    "GraderErrorsRule": {
        "share": "a judgement; below it the signal of the others is far larger",
        "steps": _LATEST,
    },
    "KeepCheckpoints": {
        "best": "a choice between candidates, at the disk of three adapters",
        "last": "the newest one is what a resumed or later job starts from",
    },
    "LimitStopsRule": {
        "share": "a judgement; more rollouts are cut than end by themselves",
        "steps": _LATEST,
    },
    "MismatchOptions": {"max_log_ratio": "as in verl: beyond it the exponential overflows"},
    "NothingToLearnOptions": {
        "error_share": "one answer in twenty can still teach a format",
        "equal_rewards": "at most 4.6 % of rollouts differ, with 95 % confidence",
        "equal_share": "one lucky answer of 64 leaves 63 groups of 64 without a gradient",
        "untrained_groups": "fewer than one group in twenty teaches, with 95 % confidence",
    },
    "MaskedTokensRule": {
        "share": "a judgement; engine noise masks a few percent, a wrong band most",
        "steps": _LATEST,
    },
    "NeverEarnedRule": {"steps": "a judgement; 8 prompts of 8 rollouts are 320 without a success"},
    "NothingTrainedRule": {"steps": _LATEST},
    "ObjectiveOptions": {
        "call_budget_penalty": "ten calls over the budget, the most that count, cost half of a "
        "reward of 1; without `call_budget` it is off",
        "repeated_call_penalty": _SWITCHED_OFF,
        "kl_coefficient": "DAPO (arXiv 2503.14476) trains without it: a checked reward is not "
        "hacked like a learned one",
    },
    "OverlongOptions": {"penalty": "soft overlong punishment of DAPO (arXiv 2503.14476)"},
    "ParseErrorsRule": {
        "per_rollout": "a judgement; every second rollout loses a turn",
        "steps": _LATEST,
    },
    "PlateauRule": {
        "evaluations": "a judgement; usual patience of early ends",
        "min_improvement": "a judgement for rewards from 0 to 1: less is not worth a step",
    },
    "ProductMask": {
        "low": "a rollout that became less probable has a small weight by itself",
        "high": "a judgement; such a rollout would count three times",
    },
    "StreamingOptions": {
        "minibatches": "a judgement; three quarters of a step are trained before it ends",
    },
    "TokenGrowthRule": {
        "ratio": "a judgement; growth that a task needs is slower",
        "steps": "a judgement; lengths of single steps vary with their prompts",
    },
    "ToolCallCollapseRule": {
        "share": "a judgement; nine of ten calls are gone",
        "steps": _LATEST,
    },
    "ZeroVarianceRule": {"steps": "a judgement; steps of hard or easy rows come in short runs"},
    **{loss.__name__: loss.default_reasons for loss in LOSSES.values()},
}
"""Reasons by model and field."""
