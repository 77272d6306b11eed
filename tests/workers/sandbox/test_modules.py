"""The packages that the pages promise work under all layers, functions that load late included."""

import json
from collections.abc import Iterator

import pytest

from app.tools.programs import ALWAYS, FunctionCall, Script
from tests.support.sandbox.running import RunningSandbox, running_sandbox

USES = {
    "numpy.random": ("numpy.random.default_rng(1).integers(0, 9, 3).tolist()", [4, 4, 6]),
    "numpy.fft": ("numpy.fft.ifft(numpy.fft.fft([1.0, 2.0])).real.round(6).tolist()", [1.0, 2.0]),
    "numpy.polynomial": ("numpy.polynomial.Polynomial([1, 2])(3)", 7.0),
    "numpy.ma": ("numpy.ma.masked_less([1, 2, 3], 2).mean()", 2.5),
    "numpy.char": ("numpy.char.upper(['a', 'b']).tolist()", ["A", "B"]),
    "numpy.strings": ("numpy.strings.str_len(['ab', 'c']).tolist()", [2, 1]),
    "numpy.testing": ("numpy.testing.assert_allclose([1.0], [1.0])", None),
    "numpy.linalg": ("round(float(numpy.linalg.det([[1.0, 2.0], [3.0, 4.0]])), 6)", -2.0),
    "numpy.rec": ("numpy.rec.fromarrays([[1], [2]], names='a,b').b.tolist()", [2]),
    "numpy.lib.stride_tricks": (
        "numpy.lib.stride_tricks.sliding_window_view([1, 2, 3], 2).tolist()",
        [[1, 2], [2, 3]],
    ),
    "numpy": (
        (
            "[numpy.einsum('i,i', [1, 2], [3, 4]), numpy.median([3, 1, 2]), "
            "numpy.loadtxt(['1 2']).tolist(), repr(numpy.array([1.5]))]"
        ),
        [11, 2.0, [1.0, 2.0], "array([1.5])"],
    ),
    "rapidfuzz": ("rapidfuzz.fuzz.ratio('ab', 'ab')", 100.0),
    "rapidfuzz.distance": ("rapidfuzz.distance.Levenshtein.distance('ab', 'ac')", 1),
    "rapidfuzz.process": ("rapidfuzz.process.extractOne('ab', ['cd', 'ab'])[2]", 1),
    "statistics": ("statistics.NormalDist(0, 1).cdf(0)", 0.5),
    "decimal": ("str(decimal.Decimal('1') / 4)", "0.25"),
    "datetime": ("datetime.datetime.strptime('2026-01-02', '%Y-%m-%d').day", 2),
    "xml.etree.ElementTree": ("xml.etree.ElementTree.fromstring('<a><b/></a>')[0].tag", "b"),
    "xml.dom.minidom": ("xml.dom.minidom.parseString('<a/>').documentElement.tagName", "a"),
    "html": ("html.unescape('&auml;')", "ä"),
    "tomllib": ("tomllib.loads('a = 1')", {"a": 1}),
    "argparse": ("argparse.ArgumentParser().parse_args([]).__dict__", {}),
    "string": ("string.Template('$a').substitute(a=1)", "1"),
    "random": ("random.Random(1).randint(1, 6)", 2),
    "difflib": ("list(difflib.unified_diff(['a'], ['a']))", []),
    "unittest": ("unittest.TestCase().assertEqual(1, 1)", None),
    "doctest": ("doctest.DocTestParser().get_examples('>>> 1')[0].source", "1\n"),
    "zlib": ("zlib.decompress(zlib.compress(b'a')).decode()", "a"),
}
CHANCE = (
    "import json, random, numpy\nprint(json.dumps([random.random(), float(numpy.random.random())]))"
)


@pytest.fixture(scope="module")
def isolated() -> Iterator[RunningSandbox]:
    """A sandbox with all layers of this machine, and the default limit of memory."""
    with running_sandbox(
        floor=tuple(sorted(ALWAYS)), settings={"memory_bytes": 256 * 1024**2}
    ) as running:
        yield running


@pytest.mark.parametrize("name", USES)
async def test_a_promised_module_works(isolated: RunningSandbox, name: str) -> None:
    expression, value = USES[name]
    source = f"import {name}\ndef f():\n    return {expression}\n"
    ending = await isolated.client.run(FunctionCall(source, "f", ()))
    assert json.loads(ending.reply) == {"value": value}
    assert name in (await isolated.client.level()).modules


async def test_programs_draw_chances_of_their_own(isolated: RunningSandbox) -> None:
    """Each is forked from one interpreter, whose generators would give the same to all."""
    drawn = set[float]()
    for _ in range(3):
        reply = json.loads((await isolated.client.run(Script(CHANCE, ""))).reply)
        drawn |= set(json.loads(reply["output"]))
    assert len(drawn) == 6
