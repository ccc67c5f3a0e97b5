"""Each kernel is sabotaged in turn: its ladder takes exactly one step, says so, and the result is right."""

import errno

import numpy as np
import pytest
import torch

from engine import ways
from engine.checkpoints import Groups
from engine.model.rows import Rows
from engine.proof import card as tested_card
from engine.proof import checks, kernels, ladder, layer_checks, link_checks, worker
from engine.proof.speeds import speed_of
from engine.proof.trial import Trial, TriedWay
from engine.quantization import halves, operations
from engine.quantization.random_matrix import random_packed
from engine.sampling import gumbel_noise
from engine.torch_model import attention
from engine.torch_model.states import DeltaRows
from tests.engine.models import ours, reference
from tests.engine.proof.fake_card import FakeCard, InProcess, sabotage, with_triton
from tests.engine.remarks import said

KERNELS = [
    "memory",
    "dense float32",
    "halves",
    "unpack FP8_BLOCK float32",
    "unpack GPTQ-4-128-1 float32",
    "unpack GPTQ-4-128-1-index float32",
    "unpack NVFP4_SCALED float32",
    "unpack Q4_K float32",
    "product FP8_BLOCK float32",
    "product GPTQ-4-128-1 float32",
    "product NVFP4_SCALED float32",
    "product Q4_K float32",
    "attention 8 float32",
    "scores 8 float32",
    "states",
    "copies",
    "streams",
    "noise",
    "graphs",
]
# each kind of kernel, its fastest way, and the one that replaces it
STEPS = [
    ("halves", "card", "float32"),
    ("unpack", "triton", "torch"),
    ("product", "triton", "unpack"),
    ("attention", "fused", "math"),
    ("scores", "card", "float32"),
    ("states", "solver", "rows"),
    ("copies", "pinned", "staging"),
    ("streams", "two", "one"),
    ("noise", "card", "processor"),
    ("graphs", "replay", "launches"),
]


@pytest.fixture
def triton(monkeypatch):
    with_triton(monkeypatch)


def crash():
    raise RuntimeError("an illegal instruction")


def proven(card: FakeCard, names=KERNELS):
    tester = InProcess(card)
    return ladder.prove(names, [], tester), tester


def results() -> list[torch.Tensor]:
    """Return what a product in each format, passes and the noise give, by the ways that are taken. Among the
    models are one with capped scores and one with states."""
    products = [
        random_packed(name, (192, 512), "cpu", torch.float32).product(torch.ones(rows, 512))
        for name in ("Q4_K", "GPTQ", "FP8_BLOCK", "NVFP4_SCALED")
        for rows in (3, 100)
    ]
    products.append(torch.empty(3, 192))
    halves.multiplier(torch.ones(3, 512))(torch.ones(512, 192, dtype=torch.float16), products[-1])
    models = [ours(reference(kind, head_dim=8)) for kind in ("llama", "gemma2", "qwen3_5_text")]
    logits = [model.forward(Rows.text(range(3, 40), 0), model.new_cache(64)).logits for model in models]
    noise = gumbel_noise(5, 17, torch.arange(99))
    return [*products, *logits, noise]


def test_every_kind_that_has_a_safer_way_is_sabotaged_here():
    assert {kind for kind, ladder in ways.LADDERS.items() if len(ladder.ways) > 1} == {
        kind for kind, _, _ in STEPS
    }


def test_a_sound_card_takes_the_fastest_way_everywhere(triton):
    tried, _ = proven(FakeCard())
    assert [(each.kernel, each.outcome) for each in tried] == [(name, "right") for name in KERNELS]
    assert ladder.choices(KERNELS, tried) == {}
    assert ladder.safer_ways(KERNELS, tried) == []


@pytest.mark.parametrize("damage", [None, crash], ids=["wrong", "crashing"])
@pytest.mark.parametrize(("kind", "fast", "safe"), STEPS)
def test_a_sabotaged_kernel_takes_one_step_and_results_are_right(
    kind, fast, safe, damage, triton, monkeypatch
):
    expected = results()
    card = sabotage(monkeypatch, kind, fast, damage)
    tried, _ = proven(card)
    concerned = [name for name in KERNELS if ways.kind_of(name) == kind]
    assert ladder.choices(KERNELS, tried) == dict.fromkeys(concerned, safe)
    assert [(each.kernel, each.way) for each in tried if each.outcome != "right"] == [
        (name, fast) for name in concerned
    ]
    for name, remark in zip(concerned, ladder.safer_ways(KERNELS, tried), strict=True):
        sentence = said([remark])
        words = "gives wrong numbers" if damage is None else "does not work"
        assert sentence.startswith(ways.LADDERS[kind].task)
        assert all(part in sentence for part in name.split()[1:])
        assert f"{fast}) {words} on this graphics card, so " in sentence
    with ways.taking(ladder.choices(KERNELS, tried)):
        for shown, wanted in zip(results(), expected, strict=True):
            torch.testing.assert_close(shown, wanted, rtol=1e-4, atol=1e-4)
        again = [
            InProcess(card).test(Trial(name, safe, ladder.choices(KERNELS, tried))) for name in concerned
        ]
    assert [each.outcome for each in again] == ["right"] * len(concerned)


@pytest.mark.parametrize(
    ("kind", "fast"),
    [
        ("halves", "card"),
        ("unpack", "triton"),
        ("attention", "fused"),
        ("scores", "card"),
        ("states", "solver"),
        ("noise", "card"),
    ],
)
def test_without_the_step_results_would_be_wrong(kind, fast, triton, monkeypatch):
    expected = results()
    sabotage(monkeypatch, kind, fast, None)
    same = [torch.allclose(a, b, atol=1e-3) for a, b in zip(results(), expected, strict=True)]
    assert not all(same)


def test_two_damaged_ways_of_unpacking_leave_it_to_the_processor(triton, monkeypatch):
    expected = results()
    sabotage(monkeypatch, "unpack", "triton", None)
    sabotage(monkeypatch, "unpack", "torch", crash)
    names = [name for name in KERNELS if name.startswith("unpack")]
    tried, _ = proven(FakeCard(), names)
    assert [each.outcome for each in tried] == ["wrong", "failed", "right"] * len(names)
    chosen = ladder.choices(KERNELS, tried)
    assert {*chosen.values()} == {"processor"}
    with ways.taking(chosen | {name: "unpack" for name in KERNELS if name.startswith("product")}):
        for shown, wanted in zip(results(), expected, strict=True):
            torch.testing.assert_close(shown, wanted, rtol=1e-4, atol=1e-4)


def test_a_product_of_a_matrix_that_is_not_split_is_checked_too(triton, monkeypatch):
    """Its sums go through another compiled kernel than those of parts."""
    pytest.importorskip("triton", reason="needs Triton")
    from engine.quantization.triton.split import part_columns

    sound = operations.triton.multiply_blocks

    def multiply(name, data, x, rows):
        product = sound(name, data, x, rows)
        is_split = part_columns(rows, x.shape[1]) < x.shape[1]
        return product if product is None or is_split else product * 1.01

    monkeypatch.setattr(operations.triton, "multiply_blocks", multiply)
    tried, _ = proven(FakeCard(), ["product Q4_K float32", "product GPTQ-4-128-1 float32"])
    assert [each.outcome for each in tried] == ["wrong", "right", "right"]


@pytest.mark.parametrize("ignored", ["softcap", "s_aux"])
def test_a_card_that_ignores_caps_or_sinks_is_seen(ignored, monkeypatch):
    place = {"softcap": 5, "s_aux": 6}[ignored]
    sound = attention._written_out

    def ignoring(*arguments):
        left = list(arguments)
        left[place] = None
        return sound(*left)

    monkeypatch.setattr(attention, "_written_out", ignoring)
    tried, _ = proven(FakeCard(), ["scores 8 float32"])
    assert [each.outcome for each in tried] == ["wrong", "wrong"]


@pytest.mark.parametrize("part", ["convolution", "states of Mamba", "state behind a text"])
def test_each_part_of_a_layer_with_a_state_is_seen(part, monkeypatch):
    if part == "convolution":
        convolved = layer_checks.convolved
        monkeypatch.setattr(layer_checks, "convolved", lambda *args: convolved(*args) * 1.01)
    elif part == "state behind a text":
        advance = DeltaRows.advance
        monkeypatch.setattr(DeltaRows, "advance", lambda rows, matrix: advance(rows, matrix.mul_(1.01)))
    else:
        delta_rule = layer_checks.delta_rule

        def damaged(inputs, *rest):
            output, rows = delta_rule(inputs, *rest)
            return output * (1 if inputs.strengths is not None else 1.01), rows

        monkeypatch.setattr(layer_checks, "delta_rule", damaged)
    tried, _ = proven(FakeCard(), ["states"])
    assert [each.outcome for each in tried] == ["wrong", "wrong"]
    assert ladder.refused(["states"], tried) is not None


GROUPED = ["GPTQ-4-128-1", "GPTQ-4-32-1", "GPTQ-4-row-1", "GPTQ-4-64-1-index", "AWQ-4-128-0", "AWQ-4-row-0"]
SHORT = "GPTQ-3-128-0"  # whose words hold 32 rows or columns


def last_group_is_whole(parts, groups, shape):
    """What a kernel makes of the parts that takes the last, short group for the one before."""
    rows, columns = shape
    scales = parts[2].view(-1, rows).clone()
    if columns % groups.size and len(parts) == 3:
        scales[-1] = scales[-2]
    return [*parts[:2], scales.view(-1), *parts[3:]]


# What a kernel does not know of GPTQ and AWQ: the parts as it reads them, and where that shows.
IGNORED = {
    "the sign of scales": (lambda parts, groups, shape: [*parts[:2], parts[2].abs(), *parts[3:]], GROUPED),
    "scales of zero": (
        lambda parts, groups, shape: [*parts[:2], parts[2].where(parts[2] != 0, 0.5), *parts[3:]],
        GROUPED,
    ),
    "the index": (lambda parts, groups, shape: parts[:3], ["GPTQ-4-64-1-index"]),
    "the end of the last group": (
        last_group_is_whole,
        ["GPTQ-4-128-1", "GPTQ-4-32-1", "AWQ-4-128-0", SHORT],
    ),
    "groups of 32": (
        lambda parts, groups, shape: [*parts[:2], parts[2] * (1 + (groups.size == 32)), *parts[3:]],
        ["GPTQ-4-32-1"],
    ),
    "odd numbers of rows": (
        lambda parts, groups, shape: [*parts[:2], parts[2] * (1 + (shape[0] % 16 != 0)), *parts[3:]],
        GROUPED,
    ),
}


@pytest.mark.parametrize("kind", ["unpack", "product"])
@pytest.mark.parametrize("ignored", IGNORED)
def test_what_a_kernel_ignores_shows_in_the_variants_that_have_it(ignored, kind, triton, monkeypatch):
    damage, concerned = IGNORED[ignored]
    if kind == "unpack":
        unpack = operations.triton.unpack_grouped

        def damaged(name, parts, shape, first, count, groups, out):
            unpack(name, damage(parts, groups, shape), shape, first, count, groups, out)

        monkeypatch.setattr(operations.triton, "unpack_grouped", damaged)
    else:
        multiply = operations.triton.multiply_grouped

        def damaged(name, parts, groups, x, rows):
            return multiply(name, damage(parts, groups, (rows, x.shape[1])), groups, x, rows)

        monkeypatch.setattr(operations.triton, "multiply_grouped", damaged)
    names = [f"{kind} {variant} float32" for variant in (*GROUPED, SHORT)]
    tried, _ = proven(FakeCard(), names)
    wrong = {each.kernel.split()[1] for each in tried if each.outcome != "right"}
    assert wrong - {SHORT} == {*concerned} - {SHORT}
    assert SHORT in wrong or SHORT not in concerned


@pytest.mark.parametrize("variant", ["W4-4-32-0", "W4_ZEROS_BF16-4-128-0", "W4_F32-4-row-0"])
def test_w4_with_scales_of_one_sign_only_or_whole_words_of_rows_is_seen(variant, triton, monkeypatch):
    sound = operations.triton.unpack_apart
    names = [f"unpack {variant} float32"]
    for damage in (
        lambda parts, shape: [parts[0], parts[1].abs(), *parts[2:]],
        lambda parts, shape: [parts[0], parts[1] * (1 + shape[0] % 8), *parts[2:]],
    ):

        def damaged(name, parts, shape, first, out, damage=damage):
            sound(name, damage(parts, shape), shape, first, out)

        monkeypatch.setattr(operations.triton, "unpack_apart", damaged)
        tried, _ = proven(FakeCard(), names)
        assert [each.outcome for each in tried] == ["wrong", "right"]
    monkeypatch.setattr(operations.triton, "unpack_apart", sound)
    tried, _ = proven(FakeCard(), names)
    assert [each.outcome for each in tried] == ["right"]


@pytest.mark.parametrize(
    ("name", "groups", "variant"),
    [
        ("GPTQ", Groups(4, 128, 1), "GPTQ-4-128-1"),
        ("GPTQ", Groups(4, 128, 1, indexed=True), "GPTQ-4-128-1-index"),
        ("GPTQ", Groups(4, 512, 1), "GPTQ-4-row-1"),
        ("AWQ", Groups(4, 64, 0), "AWQ-4-64-0"),
        ("W4_ZEROS", Groups(4, 32, 0), "W4_ZEROS-4-32-0"),
    ],
)
def test_a_way_is_taken_by_the_variant_that_it_was_chosen_for(name, groups, variant, triton, monkeypatch):
    packed = random_packed(name, (64, 512), "cpu", torch.float32, groups=groups)
    x = torch.ones(1, 512)
    whole = packed.format, packed.parts, packed.shape, x, packed.groups, torch.float32
    with ways.taking({f"product {variant} float32": "unpack", f"unpack {variant} float32": "processor"}):
        assert operations.product(*whole) is None
        assert not packed.recordable
    others = {each for each in (*GROUPED, "W4_ZEROS-4-64-0", "GPTQ-4-128-1-index") if each != variant}
    taken = {f"product {each} float32": "unpack" for each in others}
    with ways.taking(taken | {f"unpack {each} float32": "processor" for each in others}):
        assert operations.product(*whole) is not None
        assert packed.recordable


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rounding_is_not_taken_for_a_fault(dtype, triton):
    sums = "dense", "halves", "unpack", "product"
    names = [name for name in kernels.every(dtype) if name.split()[0] in sums]
    largest = [f"product {form} {dtype}" for form in ("Q6_K", "IQ4_XS")]  # near the limit of float16
    layers = [f"attention 128 {dtype}", f"scores 128 {dtype}"]
    tried, _ = proven(FakeCard(), [*names[::4], *largest, *layers])
    assert {each.outcome for each in tried} == {"right"}


def test_a_fault_that_no_kernel_causes_says_nothing_about_one(monkeypatch):
    def lost():
        raise RuntimeError("CUDA error: unknown error")

    tried, _ = proven(sabotage(monkeypatch, "graphs", "replay", lost), ["graphs", "streams"])
    assert [(each.kernel, each.way, each.outcome) for each in tried] == [("graphs", "replay", "unreachable")]
    assert ladder.chosen("graphs", tried) == "replay"


@pytest.mark.parametrize(
    "error",
    [RuntimeError("CUDA error: out of memory"), OSError(errno.ENOSPC, "No space left on device")],
    ids=str,
)
def test_missing_memory_or_disk_space_says_nothing_about_a_kernel(monkeypatch, error):
    def full():
        raise error

    card = sabotage(monkeypatch, "graphs", "replay", full)
    tried, tester = proven(card, ["graphs"])
    assert tried == []
    assert len(tester.tested) == 1
    assert ladder.chosen("graphs", tried) == "replay"


def test_where_a_card_measures_each_speed_has_its_limit(triton, monkeypatch):
    monkeypatch.setattr(checks, "_MEASURED", 512)
    monkeypatch.setattr(checks, "_COPIED", 1 << 20)
    monkeypatch.setattr(link_checks, "_MEASURED", 1 << 16)
    monkeypatch.setattr(link_checks, "_LOAD", 64)
    monkeypatch.setattr(tested_card, "_LAUNCHES", 2)
    card = FakeCard()
    card.measures = True
    tried, _ = proven(card)
    units = {each.kernel: each.unit for each in tried if each.rate}
    assert units == {
        "memory": "B/s",
        "dense float32": "FLOP/s",
        "halves": "FLOP/s",
        **{name: "weights/s" for name in KERNELS if name.startswith("unpack")},
        **{name: "B/s" for name in KERNELS if name.startswith("product")},
        "copies": "B/s",
        "streams": "B/s",
    }
    assert all(each.possible for each in tried if ways.kind_of(each.kernel) in ("unpack", "product"))
    assert {each.remark for each in tried} == {"", "PCIe 4 x16"}
    speed, link = speed_of(tried)
    assert speed is not None
    assert (
        speed.unpack.keys()
        == speed.launch_s.keys()
        == {*speed.fused}
        == {"Q4_K", "GPTQ", "FP8_BLOCK", "NVFP4_SCALED"}
    )
    assert link is not None
    assert not link.one_stream


@pytest.mark.parametrize(("kernel", "way", "loads"), [("streams", "two", True), ("streams", "one", False)])
def test_where_copies_take_turns_with_computation_they_are_timed_alone(kernel, way, loads, monkeypatch):
    launched = []
    monkeypatch.setattr(link_checks, "_MEASURED", 1 << 16)
    monkeypatch.setattr(link_checks, "_check", lambda card: None)
    monkeypatch.setattr(link_checks, "_load", lambda card: lambda: launched.append(card))
    card = FakeCard()
    card.measures = True
    assert worker.tried(card, Trial(kernel, way)).rate > 0
    assert bool(launched) == loads


@pytest.mark.parametrize("way", ["card", "float32"])
def test_a_card_multiplies_in_float16_only_where_that_takes_less_time(way, monkeypatch):
    """GTX 16 have no cores for matrices: there, products in float16 take longer than in float32."""
    monkeypatch.setattr(checks, "_MEASURED", 64)

    def seconds(card, work):
        work()
        return 0.1 if ways.taken("halves") == way else 1.0

    monkeypatch.setattr(checks, "seconds", seconds)
    card = FakeCard()
    card.measures = True
    tried, _ = proven(card, ["memory", "dense float32", "halves"])
    of_halves = [each for each in tried if each.kernel == "halves"]
    expected = [("card", "right")] if way == "card" else [("card", "slow"), ("float32", "right")]
    assert [(each.way, each.outcome) for each in of_halves] == expected
    assert ladder.choices(["halves"], tried) == ({} if way == "card" else {"halves": "float32"})
    assert speed_of(tried)[0].flops == of_halves[-1].rate == 2 * 64**3 / 0.1
    if way == "float32":
        assert "10.0 times" in of_halves[0].problem
        assert said(ladder.safer_ways(["halves"], tried)) == (
            "Multiplying in float16 (card) is slow on this graphics card, so matrices are multiplied in "
            "float32."
        )


@pytest.mark.parametrize(
    ("many_s", "few_s", "outcome"), [(2.0, 2.0, "slow"), (2.0, 0.5, "right"), (0.5, 2.0, "right")]
)
def test_float16_is_replaced_only_if_float32_is_faster_with_many_rows_and_with_few(
    many_s, few_s, outcome, monkeypatch
):
    monkeypatch.setattr(checks, "_MEASURED", 64)
    of_halves, rows = checks._of_halves, []

    def multiplied(x, weights):
        rows.append(len(x))
        return of_halves(x, weights)

    def seconds(card, work):
        work()
        return {64: many_s, 16: few_s}[rows[-1]] if ways.taken("halves") == "card" else 1.0

    monkeypatch.setattr(checks, "_of_halves", multiplied)
    monkeypatch.setattr(checks, "seconds", seconds)
    card = FakeCard()
    card.measures = True
    assert worker.tried(card, Trial("halves", "card")).outcome == outcome


def rated(**rates):
    """The results of kernels that are right. rates: of each, by its name with _ in place of spaces."""
    return [TriedWay(name.replace("_", " "), "card", "right", rate=rate) for name, rate in rates.items()]


def test_plans_reckon_with_the_products_that_models_use():
    memory = {"memory": 1e11}
    assert speed_of(rated(**memory, dense_float32=4e12, halves=1e12))[0].flops == 1e12
    assert speed_of(rated(**memory, dense_float32=4e12, dense_bfloat16=1e14))[0].flops == 1e14
    assert speed_of(rated(**memory, dense_float32=4e12))[0].flops == 4e12


def test_a_problem_names_neither_users_nor_folders(monkeypatch, tmp_path):
    from pathlib import Path

    from engine.proof.trial import problem_of

    monkeypatch.setattr(Path, "home", lambda: Path("/home/jane"))
    error = OSError("cannot open /home/jane/.triton/cache/a.so as jane (C:\\Users\\jane\\x.dll)\nmore")
    problem = problem_of(error)
    assert "jane" not in problem
    assert "home" not in problem
    assert problem.startswith("OSError: cannot open …/a.so as user")
    assert "\n" not in problem


def test_numpy_draws_the_same_noise_as_a_tensor():
    tokens = torch.arange(50)
    with ways.taking({"noise": "processor"}):
        shown = gumbel_noise(3, torch.tensor([[4], [9]]), tokens)
    assert isinstance(shown, torch.Tensor)
    np.testing.assert_allclose(shown, gumbel_noise(3, torch.tensor([[4], [9]]), tokens), rtol=1e-12)
