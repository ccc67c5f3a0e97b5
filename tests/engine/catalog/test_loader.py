"""Reading the catalogue, and reporting errors in it."""

from pathlib import Path

import pytest

from engine import catalog
from engine.catalog.loader import read_catalog
from engine.errors import BadOption

MODEL = """
[a]
name = "A"
about = "A model."
family = "f"
architecture = "llama"
license = "mit"
parameters = 4096
shape = { layers = 1, hidden = 256, intermediate = 256, heads = 2, kv_heads = 1, head_dim = 128 }
vocabulary = 100
context = 64
"""
GGUF = (
    '[[a.variants]]\nformat="gguf"\nmix="Q8_0"\nrepository="x/y"\nfiles=["a.gguf"]\nnbytes=7\nseen="there"\n'
)
AWQ = '[[a.variants]]\nformat="awq"\nrepository="x/y"\nseen="there"\ngated=true\nlicense="other"\n'
HEADS = '[[a.heads_elsewhere]]\nmethod="eagle3"\nengines=["vllm"]\nrepository="x/heads"\nseen="there"\n'
DRAFT = MODEL.replace("[a]", "[b]")


def test_missing_fields_follow_from_the_model() -> None:
    found = catalog.parse({"f.toml": MODEL + GGUF + AWQ})
    gguf, awq = found.models["a"].variants
    assert found.variants == {"a-q8_0": gguf, "a-awq": awq}
    assert (gguf.license, gguf.nbytes, gguf.nbytes_from, gguf.file) == ("mit", 7, "listing", "a.gguf")
    assert (awq.license, awq.gated, awq.bits, awq.group_size, awq.file) == ("other", True, 4, 128, "")
    # Q, K, V, O and the MLP: rows of 256 columns in two groups; tables and norms in 16 bits.
    rows, groups = 256 + 128 + 128 + 256 + 3 * 256, 2
    assert awq.nbytes_from == "computed"
    assert awq.nbytes == rows * 128 + rows * groups * 20 // 8 + 2 * (2 * 100 * 256 + 3 * 256)
    assert "model*.safetensors" in awq.files


def test_heads_for_other_engines_are_kept_in_their_order() -> None:
    more = HEADS.replace("x/heads", "x/more") + f'commit="{"0a" * 20}"\n'
    heads = catalog.parse({"f.toml": MODEL + HEADS + more}).models["a"].heads_elsewhere
    assert [(each.repository, each.commit) for each in heads] == [("x/heads", ""), ("x/more", "0a" * 20)]


def test_a_model_may_have_an_assistant() -> None:
    known = '[a.companion]\nrepository="x/assistant"\nseen="there"\n'
    assert catalog.parse({"f.toml": MODEL}).models["a"].companion is None
    found = catalog.parse({"f.toml": MODEL + known + GGUF}).models["a"].companion
    assert (found.repository, found.seen) == ("x/assistant", "there")


def test_pairs_keep_their_order_across_files() -> None:
    pair = '[[pairs]]\ntarget="a"\ndraft="b"\n'
    measured = 'expectations=[{tokens_per_pass=2.5,budget=8,temperature=0.0,source="paper"}]\n'
    known = '[[pairs]]\ntarget="a"\ndraft="c"\n' + measured
    third = MODEL.replace("[a]", "[c]")
    found = catalog.parse({"1.toml": MODEL + pair, "2.toml": DRAFT + third + known})
    assert [pair.draft for pair in found.drafts_for("a")] == ["b", "c"]
    assert found.drafts_for("a")[1].expectations[0].tokens_per_pass == 2.5
    assert found.drafts_for("b") == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[a", "f.toml"),
        ("[a]\nname = 'A'", "a: .*missing"),
        ("a = 1", "f.toml"),
        (MODEL + "colour = 'red'\n", "a: .*colour"),
        (MODEL + GGUF.replace("a.gguf", "../a.gguf"), "a-q8_0: files must be names of files"),
        (MODEL + GGUF.replace("x/y", "y"), "a-q8_0: 'y' is not a repository"),
        (MODEL + "thinking='now and then'\n", "a: unknown thinking 'now and then'"),
        (MODEL + "pattern='aax'\n", "a: 'aax' is no pattern"),
        (MODEL + "pattern='s'\n", "a: .*do not belong together"),
        (MODEL + "[a.states]\nkind='magnet'\n", "a: unknown kind of states 'magnet'"),
        (MODEL + "[a.companion]\nrepository='y'\nseen='there'\n", "a: y: 'y' is not a repository"),
        (MODEL + "[a.companion]\nrepository='x/y'\n", "a: .*seen"),
        (MODEL + GGUF.replace("x/y", "../y/z"), "is not a repository"),
        (MODEL + AWQ + 'commit="main"\n', "'main' is not a commit"),
        (MODEL + HEADS.replace("eagle3", "hope"), "unknown method or engine"),
        (MODEL + HEADS.replace("vllm", "ollama"), "unknown method or engine"),
        (MODEL + HEADS.replace("x/heads", "heads"), "'heads' is not a repository"),
        (MODEL + GGUF.replace("Q8_0", "Q9"), "unknown mix 'Q9'"),
        (MODEL + GGUF.replace('mix="Q8_0"', ""), "GGUF files need a mix"),
        (MODEL + AWQ.replace("awq", "exl2"), "unknown format 'exl2'"),
        (MODEL + GGUF + GGUF, "a-q8_0 appears twice"),
        (MODEL + '[[pairs]]\ntarget="a"\ndraft="z"\n', "unknown model 'z'"),
        (MODEL + '[[pairs]]\ntarget="a"\n', "draft"),
        (MODEL + DRAFT.replace('"f"', '"g"') + '[[pairs]]\ntarget="a"\ndraft="b"\n', "different families"),
        (
            MODEL
            + DRAFT
            + '[[pairs]]\ntarget="a"\ndraft="b"\n'
            + 'expectations=[{tokens_per_pass=9.0,budget=8,temperature=0.0,source="hope"}]\n',
            "unknown source",
        ),
    ],
)
def test_an_invalid_catalogue_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(BadOption, match=reason) as caught:
        catalog.parse({"f.toml": text})
    assert caught.value.hint


def test_a_model_in_two_files_is_refused() -> None:
    with pytest.raises(BadOption, match=r"2\.toml: a appears twice"):
        catalog.parse({"1.toml": MODEL, "2.toml": MODEL})


def test_a_missing_catalogue_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="missing"):
        read_catalog(tmp_path)
