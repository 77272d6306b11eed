"""Lists the words this project gave up, each with the term that replaced it.

`docs/glossary.md` lists the terms to use. A phrase stands here when it was house slang that no
reader could search for; a name when a rename must not come back.
"""

import re

PHRASES: dict[str, str] = {
    r"patiently": "retry while unavailable",
    r"wake[- ]ups?": "notification",
    r"(?:is|as|only|just) a hint": "best-effort notification",
    r"given text": "supervised or preference data",
    r"heavy half": "training module",
    r"text half": "text module",
    r"(?:an? \w+|that is|which is|addition|extension) of ours|ours": "extension of this project",
    r"(?:has|have|had) (?:had )?(?:its|their|his|a) say": "the verb for what happens",
    r"(?:its|their) own to say": "configurable",
    r"told (?:of|by|apart)": "reported, derived or distinguished",
    r"(?:is|are|was|were|be) told(?! (?:to|otherwise))|told already": "reported, refused, known",
    r"wish(?:es|ed)?": "request, option",
    r"say(?:s|ing)? nothing": "the verb for what happens",
    r"who(?:m)?ever": "a noun",
    r"nobody (?:asks|asked|knows|looks|sampled|sends|shall|waits)": (
        "the passive, or the process that does not"
    ),
    r"(?:that|which|because (?:it|they)) (?:is|are|was|were) none(?! of)": "invalid, malformed, no",
    r"without doubles": "without duplicates",
    r"(?:asks?|asked|knows|tells?|told) nobody": "the passive, or the process that does not",
    r"seen no more": "hidden",
    r"knock(?:s|ed|ing)?": "call, connect",
    r"pull(?:ed|s)? to(?:wards?)? (?:the|its|a) base": "KL penalty",
    r"start(?:s|ed|ing)? over": "requeue, begin again",
    r"late groups?": "straggler group",
    r"t(?:ake|akes|aking|ook) turns|whose turn it is|turn is due": "fair order, alternate, next",
    r"(?:free|eval) places?|places? (?:is|are|was|were) given": "slot",
    r"places? in the queues?": "position in the queue",
    r"lanes?|arenas?": "version batch, KV pool",
    r"as far as can be told": "a condition",
    r"has to do with": "belongs to, concerns",
    r"goes? by itself": "automatic",
    r"shall": "must, will",
    r"figures?": "metric of a process, curve of a job; elsewhere number, value",
    r"what it (?:is|was) worth": "a number",
    r"tells|telling|tell (?:if|whether|how|which|that|apart|them apart)": "report, distinguish",
    r"hears?|heard": "get, receive",
    r"goes on|going on": "continues",
    r"dies|died": "crashes, ends, breaks",
    r"mends?|mended": "correct",
    r"in silence": "silently",
    r"is of no": "does not belong to",
    r"(?:and|or) (?:its|the) like": "similar ones",
    r"signs? of life": "keep-alive",
    r"stands? twice": "occurs twice",
    r"quiet run": "uninterrupted run",
    r"the rest of it": "the noun of what remains",
    r"(?:is|are|was|were|be|went|goes|gone) away|(?:api|broker|database|engine|hub|judge|queue|"
    r"redis|sandbox|server|service|storage|stream) away": "unavailable, unreachable, disconnected",
}
"""Regular expression over lower-case prose, and what to write in its place."""

NAMES: dict[str, str] = {
    "RowGroups": "RowClusters",
    "SettingsGroup": "SettingsSection",
    "DatasetQuestion": "InspectionRequest",
    "stored_question": "inspection_of_job",
    "dataset_question": "inspection_request",
    "chance_at": "error_probability",
    "Rooms": "ModeContext",
    "RolloutRoom": "RolloutSetup",
    "room_for_one": "has_capacity",
    "CallPlace": "CallPosition",
    "RequestPlaces": "RequestSlots",
    "ToolTestPlaces": "ToolTestSlots",
    "QueuePlace": "QueuePosition",
    "Places": "slots",
    "computed": "run_on_scoring_thread, or the noun of what is computed",
    "patiently": "retry_while_unavailable",
    "remembered": "replay_or_ask",
    "Telling": "StepReport",
    "ReinforcementTelling": "StepReport",
    "told": "event_message, or the noun of what is reported",
    "tell": "report, or the verb of what is done with the text",
    "judge_row": "check_row",
    "PATIENCE_STEPS": "STRAGGLER_STEPS",
    "begun_with": "adapter_settings_of_resume",
    "Terms": "AdapterSettings",
    "StartingPoint": "StartModel",
    "Outlived": "ExpiredObject",
    "Parcel": "DeliveryAttempt",
    "act_for": "set_tenant",
    "enrol": "register",
    "note_trained_effort": "the column `reasoning_effort`",
    "as_trained": "the column `reasoning_effort`",
    "by_owner": "split_by_set",
    "LEFT_OUT_SHARE": "MASKED_SHARE",
    "pulled_to_base": "apply_kl_penalty",
    "speed_up": "install_fast_lora_forward",
    "moves_idle": "uses_zero_advantage_tokens",
    "start_over": "requeue, reset",
    "admit": "check_caller, before_insert, wait_to_send; admission is the scheduler's",
    "note_kept": "mark_retained",
    "KeptAnswer": "StoredResponse",
    "KeptAnswerTable": "StoredResponseTable",
    "kept_answers": "stored_responses",
    "Door": "AccessControl, or what the door leads to",
    "note_early_end": "mark_ended_early",
    "places_of": "parameters_of",
    "KeyPlaces": "KeyHints",
    "unused_places": "unused_paths",
    "place": "path, param, index, position, location",
    "unasked": "uncalled",
    "AskingGrader": "JudgingGrader",
    "TextRow": "ExampleRow",
    "TextRows": "ExampleRows",
    "TextHyperparameters": "ResolvedSupervisedHyperparameters",
    "EngineAway": "EngineUnavailable",
    "SIGN_OF_LIFE": "KEEP_ALIVE",
    "away": "unavailable",
    "Measurements": "ProcessMetrics",
    "measurements": "metrics",
    "EngineFigures": "EngineMetrics",
    "WorkerFigures": "WorkerMetrics",
    "show_figures": "serve_metrics",
    "figure": "metric, quantity, number",
    "figures": "metrics, numbers",
}
"""Identifier that a rename ended, and its successor."""

IN_TEST_NAMES: dict[str, str] = {
    "told": "reported",
    "tells": "reports",
    "tell": "report",
    "hears": "gets",
    "heard": "received",
    "says": "states, reports",
    "said": "reported",
    "asks": "calls, requests",
    "asked": "called, requested",
    "goes_on": "continues",
    "dies": "crashes",
    "died": "crashed",
    "place": "path, position, slot",
    "places": "paths, positions, slots",
    "ours": "the noun: internal fault, service header",
    "nobody": "the noun: no call, no listener",
    "remembered": "journalled",
    "wake_up": "notification",
    "holds_up": "delays",
    "take_turns": "alternate",
    "that_is_none": "invalid, malformed",
    "figure": "value, number",
    "figures": "metrics, values",
}
"""Word in the name of a test, and what to write in its place."""

PARTICIPLE = re.compile(
    r"told|kept|given|held|made|found|sent|left|taken|written|shown|known|meant|seen|said|"
    r"built|done|begun|chosen|drawn|bound|asked|heard|undone|\w{3,}(?<!e)ed"
)

TEST_NAME = re.compile(rf"(?:^|_)({'|'.join(IN_TEST_NAMES)})(?=_|$)")

IMPERATIVE = re.compile(
    r"(Add|Append|Ask|Build|Call|Cancel|Check|Close|Compute|Convert|Count|Create|Delete|Download|"
    r"Find|Forget|Insert|Join|Load|Make|Mark|Measure|Merge|Move|Parse|Print|Queue|Raise|Read|"
    r"Remove|Render|Return|Run|Save|Send|Set|Start|Stop|Store|Take|Test|Train|Unload|Update|"
    r"Validate|Wait|Wrap|Write|Yield)"
    r" (?:a|all|an|and|each|every|it|its|no|nothing|one|that|the|them|this|what|`\S+`)\b"
)
"""Beginning of a docstring that commands, where the house describes: "Returns the…"."""

PHRASE = re.compile("|".join(rf"\b(?:{phrase})\b" for phrase in PHRASES))


def replacement(found: str) -> str:
    """Returns the term that replaces a phrase which `PHRASE` matched."""
    return next(term for phrase, term in PHRASES.items() if re.fullmatch(phrase, found))
