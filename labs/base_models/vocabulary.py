"""The words of which the pre-training corpus makes names, descriptions and system prompts.

The more varied they are, the less the model can remember a name and the more it must copy it from
the schema.
"""

from __future__ import annotations

import random
import string
from dataclasses import dataclass
from typing import Any, Final, Literal


def split_words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


READ_VERBS: Final = split_words(
    "lookup look_up get fetch read find query retrieve search show load select check pull access"
    " inspect consult view locate obtain request resolve browse scan peek grab return ask open list"
)
READ_NOUNS: Final = split_words(
    "item part entry row field value data catalogue catalog database db store table info details"
    " property product object document stock inventory record records parts entity warehouse"
    " register archive index file facts card sheet supplier attribute detail column spec specs"
)
COUNT_NAMES: Final = split_words(
    "calculator calculate calc evaluate eval solve math arithmetic work_out do_math run_math"
    " solver evaluator compute_value number_cruncher adder reckon count_up figure_out maths"
    " abacus computer add_up total_up arith calculation compute_result operate reckoner"
)
COUNT_VERBS: Final = split_words("calculate evaluate solve run do work_out eval get reckon process")
COUNT_NOUNS: Final = split_words(
    "math expression formula sum result arithmetic equation numbers calculation maths term total"
)
RECORD_ARGUMENTS: Final = split_words(
    "record id key code item part name record_id entry ref identifier number object sku item_id"
    " part_id row target entity record_name recordId itemId subject product part_number reference"
    " uid which label element article handle entry_id key_name"
)
FIELD_ARGUMENTS: Final = split_words(
    "field attribute property column detail info feature aspect attr prop field_name fieldName"
    " quality characteristic what facet trait column_name value_name dimension parameter wanted"
    " attribute_name heading want propertyName data_field"
)
EXPRESSION_ARGUMENTS: Final = split_words(
    "expression formula input equation text problem math expr calculation term sum question"
    " operation arithmetic string task statement body exercise content numbers maths e f x"
)
READ_DESCRIPTIONS: Final = (
    "{Read} one {field} of a {record}.",
    "{Read} a {field} of a {record}.",
    "{Read} the {field} of one {record}.",
    "{Read} the {field} of a {record} in the {store}.",
    "{Read} a {field} of a {record} from the {store}.",
    "{Read} what the {store} says about a {record}.",
    "{Read} {record} data.",
    "{Read} one {field} from the {store}.",
    "{Read} {record} {field}",
    "Access to the {store}: {field} of a {record}.",
    "Returns the {field} of a {record}.",
    "This tool will {read} the {field} of the given {record}.",
)
READ_WORDS: Final = {
    "read": split_words(
        "read get fetch find retrieve query return show load give lookup search select access tell"
        " check consult view obtain"
    ),
    "field": split_words(
        "field value attribute property detail column fact entry feature aspect characteristic"
    ),
    "record": split_words(
        "record item part entry product object supplier row thing article entity"
    ),
    "store": split_words(
        "catalogue database store table inventory register archive warehouse catalog system file"
    ),
}
COUNT_DESCRIPTIONS: Final = (
    "{Count} an arithmetic {term}.",
    "{Count} an {term}.",
    "{Count} a {term} of two numbers.",
    "{Count} {term}s with numbers.",
    "{Count} the {term} and return the number.",
    "{Count} arithmetic.",
    "{Count} simple math.",
    "{Count} a {term}, such as 1 + 2.",
    "A calculator for one {term}.",
    "Adds, subtracts or multiplies two numbers.",
    "Arithmetic with +, - and *.",
    "This tool will {count} a math {term}.",
    "Does the math of a {term}.",
)
COUNT_WORDS: Final = {
    "count": split_words("evaluate calculate compute solve reckon do perform execute run process"),
    "term": split_words("expression formula calculation sum equation term operation problem"),
}
OTHER_VERBS: Final = split_words(
    "send create delete update translate book cancel schedule convert post upload download play"
    " notify remind draw print share start stop pay order ship weather summarise email call"
)
LIKE_OTHER_VERBS: Final = split_words(
    "get find check list tell fetch read show open query search look run do set add make"
)
OTHER_NOUNS: Final = split_words(
    "email message forecast weather ticket meeting flight invoice payment image file song text"
    " calendar reminder report user account order note alarm timer map page chat language currency"
)
OTHER_ARGUMENTS: Final = split_words(
    "to from subject body date time city user message language url path limit page amount currency"
    " title account format email id name query text color size mode start end reason"
)
LIKE_OTHER_ARGUMENTS: Final = split_words(
    "day price weight stock width material days rating supplier number code key field record item"
)
OTHER_DESCRIPTIONS: Final = (
    "{Verb} a {noun}.",
    "{Verb} the {noun} of a user.",
    "{Verb} one {noun} for a customer.",
    "{Verb} a {noun} now.",
    "{Verb} any {noun} by email.",
    "Can {verb} a {noun} on another system.",
)
LIKE_OTHER_DESCRIPTIONS: Final = (
    "{Verb} the {noun} of a {about}.",
    "{Verb} the {noun} of one {about}.",
    "{Verb} a {noun} to a {about}.",
    "{Verb} the {noun} for a {about}",
    "{Verb} {about} and {noun}.",
)
OTHER_OWNERS: Final = split_words(
    "city country place user customer company team person street room date day buyer friend guest"
)
SYSTEM_OPENINGS: Final = (
    "You are a {adjective} {role}.",
    "You are an assistant for a {place}.",
    "You help the {people} of a {place}.",
    "Act as a {adjective} {role} of the {place}.",
    "You work for {made}.",
    "Be {adjective}.",
    "You are {made}, a {adjective} {role}.",
)
SYSTEM_RULES: Final = (
    "Use the tools.",
    "Use the tools when you need them.",
    "Call tools to find the answer.",
    "Answer with the value only.",
    "Answer in one word or number.",
    "Do not guess.",
    "Reply with the final answer and nothing else.",
    "Keep answers short.",
    "Be {adjective} and {adjective}.",
    "Never talk about {made}.",
    "Answer questions about parts and suppliers.",
    "The {people} ask about the {place}.",
    "Think before you call a tool.",
    "If you are not sure, look it up.",
    "Today is day {number}.",
)
SYSTEM_WORDS: Final = {
    "adjective": split_words(
        "careful helpful brief polite honest precise quick friendly exact kind patient clever"
    ),
    "role": split_words(
        "assistant agent clerk helper expert bot operator librarian seller analyst"
    ),
    "place": split_words(
        "shop warehouse factory company office library store catalogue market depot"
    ),
    "people": split_words("customers users staff buyers clerks guests visitors workers"),
}
ONSETS: Final = split_words(
    "b c d f g h j k l m n p r s t v w z br ch cl dr fl gr pl pr sh sl st th tr"
)
VOWELS: Final = split_words("a e i o u ai ea ee oo ou y")
CODAS: Final = ("", "", "", *split_words("b d g k l m n p r s t x ck nd rt st"))
RARE_ONSETS: Final = split_words(
    "qu kn wh sc sk sm sn sw tw ph ch gh wr squ str spr thr v x y qu j z"
)
RARE_CODAS: Final = split_words(
    "ll ss mp nt lk lt sk sp th sh ch ng ft lm rn rk ze le ve ow ay er el ie"
)
STRANGE: Final = split_words(
    "otter walrus falcon badger lizard turtle salmon donkey panther raven beetle cricket spider"
    " maple cedar willow tulip orchid daisy clover fern moss ivy cactus bamboo lotus poppy"
    " lemon peach cherry apricot melon plum banana walnut pepper ginger garlic onion carrot"
    " hammer chisel anvil bucket ladder candle pillow blanket mirror kettle basket bottle wagon"
    " river valley canyon glacier island meadow harbor desert jungle volcano thunder breeze"
    " crimson purple amber indigo scarlet turquoise silver golden bronze copper cobalt"
    " violin trumpet drum whistle puzzle riddle marble dragon wizard castle knight pirate rocket"
    " comet planet galaxy quartz queen squirrel quiver sequel oracle vortex zenith nexus pulse"
    " foo bar baz qux thing stuff widget gadget tool helper func method action step alpha beta"
    " gamma delta omega north south winter summer autumn monday friday nine seven zero blue jazz"
)
PLAIN_LETTERS_SHARE: Final = 0.2
STRANGE_SHARE: Final = 0.35
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def made_up_word(rng: random.Random) -> str:
    """Returns a word that no list has: syllables, or in a fifth of the draws plain letters."""
    if rng.random() < PLAIN_LETTERS_SHARE:
        return "".join(rng.choices(LETTERS, k=rng.randint(1, 7)))
    count = rng.choice((1, 2, 3))
    parts = ((rng.choice(ONSETS), rng.choice(VOWELS), rng.choice(CODAS)) for _ in range(count))
    return "".join(letters for part in parts for letters in part)


def strange_word(rng: random.Random) -> str:
    """Returns a word that has nothing to do with tools, or a made-up one, of rare letters too."""
    if rng.random() < STRANGE_SHARE:
        return rng.choice(STRANGE)
    if rng.random() < 1 / 2:
        return made_up_word(rng)
    onsets, codas = ONSETS + RARE_ONSETS, CODAS + RARE_CODAS
    count = rng.choice((1, 1, 2))
    parts = ((rng.choice(onsets), rng.choice(VOWELS), rng.choice(codas)) for _ in range(count))
    return "".join(letters for part in parts for letters in part)


def letter(rng: random.Random) -> str:
    return rng.choice(string.ascii_lowercase)


QuestionKind = Literal["arithmetic", "one_hop", "two_hop", "total"]

KINDS: Final[tuple[QuestionKind, ...]] = ("arithmetic", "one_hop", "two_hop", "total")
OPERATORS: Final = ("+", "-", "*")
NUMBER_FIELDS: Final = ("price", "weight", "stock", "width")
PART_FIELDS: Final = (*NUMBER_FIELDS, "color", "material")
SUPPLIER_FIELDS: Final = ("city", "days", "rating")
COLORS: Final = ("red", "green", "blue", "black", "white", "grey")
MATERIALS: Final = ("steel", "brass", "oak", "glass", "nylon", "cork")
CITIES: Final = ("Lima", "Oslo", "Rome", "Cairo", "Delhi", "Paris", "Quito", "Tunis")
WORDS: Final = {"color": COLORS, "material": MATERIALS, "city": CITIES}

ASK: Final = ("What is the", "Tell me the")
ASK_ARITHMETIC: Final = ("What is", "Work out")
END: Final = {"What is the": "?", "Tell me the": ".", "What is": "?", "Work out": "."}

UNKNOWN_RECORD: Final = "Error: no record {record}"
BAD_EXPRESSION: Final = "Error: not an expression"


def function_schema(name: str, description: str, parameters: tuple[str, ...]) -> dict[str, Any]:
    """Returns a Chat Completions function tool whose parameters are all required strings."""
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {p: {"type": "string"} for p in parameters},
                "required": list(parameters),
                "additionalProperties": False,
            },
            "strict": True,
        },
    }


TOOLS: Final = (
    function_schema("lookup", "Read one field of a record.", ("record", "field")),
    function_schema("calculator", "Evaluate an arithmetic expression.", ("expression",)),
)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call and the tool's reply."""

    name: str
    arguments: dict[str, str]
    output: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns of tool calls that answer it; calls of one turn run in parallel."""

    kind: QuestionKind
    text: str
    turns: tuple[tuple[Call, ...], ...]
    answer: str
    subject: str

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that the answer needs, in the order of their first calls."""
        return tuple(dict.fromkeys(call.name for turn in self.turns for call in turn))


def lookup(record: str, field: str, output: str) -> Call:
    return Call("lookup", {"record": record, "field": field}, output)


def calculator(left: int, operator: str, right: int) -> Call:
    result = {"+": left + right, "-": left - right, "*": left * right}[operator]
    return Call("calculator", {"expression": f"{left} {operator} {right}"}, str(result))


def draw_part(rng: random.Random) -> str:
    return f"P{rng.randrange(1000):03d}"


def draw_supplier(rng: random.Random) -> str:
    return f"S{rng.randrange(100):02d}"


def draw_value(rng: random.Random, field: str) -> str:
    words = WORDS.get(field)
    return rng.choice(words) if words else str(rng.randrange(10, 100))


def draw_question(rng: random.Random, kind: QuestionKind) -> Question:
    return {
        "arithmetic": _arithmetic,
        "one_hop": _one_hop,
        "two_hop": _two_hop,
        "total": _total,
    }[kind](rng)


def _arithmetic(rng: random.Random) -> Question:
    opening, operator = rng.choice(ASK_ARITHMETIC), rng.choice(OPERATORS)
    left, right = rng.randrange(10, 100), rng.randrange(10, 100)
    if operator == "-":
        left, right = max(left, right), min(left, right)
    call = calculator(left, operator, right)
    text = f"{opening} {call.arguments['expression']}{END[opening]}"
    return Question("arithmetic", text, ((call,),), call.output, str(left))


def _one_hop(rng: random.Random) -> Question:
    opening = rng.choice(ASK)
    if rng.random() < 1 / 3:
        noun, record, field = "supplier", draw_supplier(rng), rng.choice(SUPPLIER_FIELDS)
    else:
        noun, record, field = "part", draw_part(rng), rng.choice(PART_FIELDS)
    answer = draw_value(rng, field)
    text = f"{opening} {field} of {noun} {record}{END[opening]}"
    return Question("one_hop", text, ((lookup(record, field, answer),),), answer, record)


def _two_hop(rng: random.Random) -> Question:
    opening, part, supplier = rng.choice(ASK), draw_part(rng), draw_supplier(rng)
    field = rng.choice(SUPPLIER_FIELDS)
    answer = draw_value(rng, field)
    text = f"{opening} {field} of the supplier of part {part}{END[opening]}"
    turns = ((lookup(part, "supplier", supplier),), (lookup(supplier, field, answer),))
    return Question("two_hop", text, turns, answer, part)


def _total(rng: random.Random) -> Question:
    opening, field = rng.choice(ASK), rng.choice(NUMBER_FIELDS)
    first, second = draw_part(rng), draw_part(rng)
    left, right = int(draw_value(rng, field)), int(draw_value(rng, field))
    total = calculator(left, "+", right)
    text = f"{opening} {field} of parts {first} and {second} together{END[opening]}"
    pair = (lookup(first, field, str(left)), lookup(second, field, str(right)))
    return Question("total", text, (pair, (total,)), total.output, first)
