"""What the compiler says of kernels for cards that are not here."""

import json
from dataclasses import replace

import pytest

from engine import cli
from engine.bench import kernels
from engine.formats import FORMATS

pytest.importorskip("triton", reason="needs Triton")


def test_kernels_are_compiled_for_every_card_that_is_asked_for(capsys):
    assert cli.run(["bench", "kernels", "--formats", "W4", "--cards", "sm_75,sm_120", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["kernels"]
    usual = ["sum of parts", "unpack W4", "product W4, 1 rows", "product W4, 16 rows"]
    by_card = {card: [each for each in found if each["card"] == card] for card in ("sm_75", "sm_120")}
    assert [each["kernel"] for each in by_card["sm_75"]] == usual
    assert [each["kernel"] for each in by_card["sm_120"]] == [*usual, "product W4, 64 rows"]
    assert all(each["fits"] and 0 < each["registers"] <= 255 for each in found)
    assert {each["spilled"] for each in found} == {0}
    assert any(each["shared"] for each in found)


def test_a_kernel_that_does_not_fit_or_compile_says_so(monkeypatch):
    from engine.quantization.triton import sources

    card = kernels.CARDS["sm_86"]
    monkeypatch.setitem(kernels.CARDS, "small", replace(card, shared=16))
    (_, _), (name, source) = sources.sources_of("FP8_ROW", "bf16", [16])
    assert not kernels.compiled_for(name, source, "small").fits
    broken = replace(source, constants={**source.constants, "ROWS": 24})
    found = kernels.compiled_for(name, broken, "sm_86")
    assert (found.registers, found.fits) == (None, False)
    line = list(kernels.table([found]))[1]
    assert line.startswith("product FP8_ROW, 16 rows")
    assert "no: " in line


def test_every_format_with_kernels_is_listed_once():
    from engine.quantization.triton import sources

    names = sources.names()
    assert {name for name in FORMATS if FORMATS[name].kernels != name}.isdisjoint(names)
    suffixes = ("", "_F16", "_BF16", "_F32")
    others = FORMATS.keys() - {name + suffix for name in names for suffix in suffixes}
    assert others == {"F64", "F32", "F16", "BF16", "NVFP4_FACTORED"}
