"""A streamed model that drafts for itself in fewer bits: plain decoding's tokens, one cache, bytes once."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch

from engine.bench.slower_disk import slow_down
from engine.checkpoints import Span, Weight, open_checkpoint
from engine.compiled.matrix import Matrix, StreamedMatrix
from engine.decoding.ahead import GrowingAhead
from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, Prefilled, decode
from engine.decoding.verification import TargetVerifier
from engine.drafting import DrafterParts, TreeLimits, make_drafter
from engine.drafting.none import NoDrafter
from engine.errors import BadOption
from engine.formats import unpacked
from engine.formats.encode import encoded
from engine.model import substitute_files
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.self_draft import check_self_draft, load_self_draft
from engine.model.shared_rows import sharing
from engine.model.substitute_files import SubstituteFiles, kept_formats, kept_shares, substitute
from engine.planner import checkpoint_outline
from engine.sampling import Sampler
from engine.streaming import WeightLimits
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.decoding.test_ahead import ScriptedVerifier
from tests.engine.model.compiled_models import CONTEXT, random_text, tiny
from tests.engine.model.test_compiled_parts import WAYS
from tests.engine.model.test_compiled_parts import write as write_fp8
from tests.engine.quantization.test_folders import write
from tests.engine.quantization.test_nibbles import write as write_nibbles

LITTLE = 300 << 10  # bytes: two slots and few resident matrices
SAMPLERS = [Sampler(), Sampler(seed=3, temperature=0.7)]
PASS_S = 0.02  # seconds in which a pass reads the streamed weights, where the disk is slow


class Stopped(Exception):
    pass


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setattr(substitute_files.platformdirs, "user_cache_path", lambda *names, **options: folder)
    return folder / "substitutes"


def saved(folder, kind="qwen2", **sizes):
    module = tiny(kind, **sizes).to(torch.bfloat16)
    module.save_pretrained(folder)
    return open_checkpoint(folder)


@contextmanager
def pair(folder, kind="qwen2", cache="F16", is_slow=False, form="Q4_0", file=None, limit=LITTLE, **sizes):
    """A streamed target and its draft, as sequences. is_slow: whether the target waits for its disk. form:
    the format of the substitutes, as planned. file: the model; None: one of `kind` and `sizes`. limit: bytes
    of resident matrices and slots."""
    file = file or saved(folder, kind, **sizes)
    target = load_compiled(file, no_progress, CONTEXT, limits=WeightLimits(limit), cache=cache)
    try:
        if is_slow:
            slow_down(target.streamer, target.streamer.pass_nbytes / PASS_S / 1e9)
        draft = load_self_draft(target, file, CONTEXT, form, no_progress, cache)
        yield sharing(target, draft, CONTEXT)
    finally:
        target.close()


def answer(target, drafter, sampler, prompt, limits, verifier=None, progress=no_progress, most=24):
    """Return the tokens, and the iterations. verifier: one whose passes may have a draft beside them."""
    tokens, iterations = [], []
    rule = GrowingAhead(FixedLimits(limits)) if verifier else FixedLimits(limits)
    verifier = verifier or TargetVerifier(target, sampler)
    for event in decode(verifier, drafter, sampler, prompt, rule, (), most, progress):
        if isinstance(event, Prefilled):
            tokens.append(event.token)
        elif isinstance(event, Iterated):
            tokens += event.tokens
            iterations.append(event)
    return tokens, iterations


def drafter_of(name, target, draft):
    return make_drafter(name, DrafterParts(target.model.vocabulary, draft))


# A head of its own; the embedding as head, windows; inputs of layers, shared rows.
@pytest.mark.parametrize("kind", ["qwen2", "gemma2", "gemma4_text"])
@pytest.mark.parametrize("cache", ["F16", "Q8_0"])
def test_the_tokens_are_those_of_plain_decoding_and_most_guesses_are_right(kind, cache, tmp_path):
    limits = TreeLimits(12, 4, 8)
    with pair(tmp_path, kind, cache) as (target, draft):
        drafter = drafter_of("specexec", target, draft)
        for sampler in SAMPLERS:
            for seed in (0, 1):  # a second conversation, and back to the first
                prompt = random_text(20, seed)
                found, iterations = answer(target, drafter, sampler, prompt, limits)
                target.rewind(0)
                assert found == answer(target, NoDrafter(), sampler, prompt, NoDrafter.defaults)[0]
                assert len(found) > 1.5 * len(iterations)
        target.rewind(0)


@pytest.mark.parametrize("form", ["Q4_0", "Q2_K"])
def test_a_gguf_file_of_eight_bits_drafts_for_itself(form, tmp_path):
    file = open_checkpoint(
        convert(tiny("qwen2", hidden_size=256), tmp_path / "model.gguf", storage="Q8_0", size=0.003)
    )
    assert file.weights["model.layers.0.mlp.up_proj.weight"].format == "Q8_0"
    check_self_draft(file)
    with pair(tmp_path, file=file, form=form) as (target, draft):
        streamed = [
            mine.layout
            for name, group in target.model.weights.matrices.items()
            for mine, theirs in zip(draft.model.weights.matrices[name], group, strict=True)
            if isinstance(theirs, StreamedMatrix)
        ]
        assert form in streamed
        drafter, prompt = drafter_of("specexec", target, draft), random_text(20)
        found, iterations = answer(target, drafter, Sampler(), prompt, TreeLimits(12, 4, 8))
        assert len(found) > 1.5 * len(iterations)
        target.rewind(0)
        assert found == answer(target, NoDrafter(), Sampler(), prompt, NoDrafter.defaults)[0]
        target.rewind(0)


@pytest.mark.parametrize(("kind", "cache"), [("qwen2", "F16"), ("gemma2", "Q8_0"), ("gemma4_text", "F16")])
@pytest.mark.parametrize("late", [False, True])
def test_trees_that_grow_beside_the_pass_survive_and_change_no_bit_of_the_targets_rows(
    kind, cache, late, tmp_path
):
    """The target writes its rows before the draft computes beside it, or after that."""
    with pair(tmp_path, kind, cache) as (target, draft):
        drafter = drafter_of("specexec", target, draft)
        for seed, sampler in enumerate(SAMPLERS):
            prompt = random_text(20, seed)
            verifier = ScriptedVerifier(target, sampler, [100] * 100, late)
            found, iterations = answer(target, drafter, sampler, prompt, TreeLimits(4, 2, 2), verifier)
            assert sum(each.survivors > 0 for each in iterations) > 0.5 * len(iterations)
            rows = rows_of(target)
            target.rewind(0)
            assert found == answer(target, NoDrafter(), sampler, prompt, NoDrafter.defaults)[0]
            assert all(map(np.array_equal, rows, rows_of(target)))
            target.rewind(0)


def rows_of(sequence):
    return [sequence.cache.rows(layer).copy() for layer in range(len(sequence.cache.layers))]


@pytest.mark.parametrize("kind", ["qwen2", "gemma4_text"])
def test_a_draft_that_computes_while_the_target_waits_for_its_disk_changes_no_token(kind, tmp_path):
    with pair(tmp_path, kind, is_slow=True) as (target, draft):
        drafter, prompt = drafter_of("specexec", target, draft), random_text(20)
        for sampler in SAMPLERS:
            verifier = TargetVerifier(target, sampler, ahead=True)
            found, iterations = answer(target, drafter, sampler, prompt, TreeLimits(8, 4, 6), verifier)
            assert any(each.ahead for each in iterations)
            target.rewind(0)
            assert found == answer(target, NoDrafter(), sampler, prompt, NoDrafter.defaults)[0]
            target.rewind(0)


@pytest.mark.parametrize("name", ["specexec+pld", "specinfer", "sps"])
def test_other_drafters_with_a_draft_model_run_with_it(name, tmp_path):
    with pair(tmp_path) as (target, draft):
        drafter, prompt = drafter_of(name, target, draft), random_text(20)
        plain = answer(target, NoDrafter(), Sampler(), prompt, NoDrafter.defaults)[0]
        for _ in range(2):
            assert answer(target, drafter, Sampler(), prompt, drafter.defaults)[0] == plain


def test_the_draft_reads_no_prompt_and_follows_the_target_through_turns(tmp_path):
    with pair(tmp_path) as (target, draft):
        drafter, text, computed = drafter_of("specexec", target, draft), random_text(30), []
        forward = draft.model.forward

        def counted(rows, *more, **named):
            computed.append(len(rows))
            return forward(rows, *more, **named)

        draft.model.forward = counted
        first, iterations = answer(target, drafter, Sampler(), text, TreeLimits(8, 4, 6))
        assert computed[0] == 1, "the root alone"
        assert sum(computed) <= len(iterations) * (1 + 8)
        again = [*text[:25], 9, *first[:10]]  # an earlier turn was changed
        found, _ = answer(target, drafter, Sampler(), again, TreeLimits(8, 4, 6))
        target.rewind(0)
        assert found == answer(target, NoDrafter(), Sampler(), again, NoDrafter.defaults)[0]


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("layers", [1, 3, 8, 20])
def test_stopping_anywhere_leaves_both_usable(layers, ahead, tmp_path):
    with pair(tmp_path, is_slow=ahead) as (target, draft):
        drafter, prompt, left = drafter_of("specexec", target, draft), random_text(20), layers
        verifier = TargetVerifier(target, Sampler(), ahead=True) if ahead else None

        def stop(done, total):
            nonlocal left
            left -= 1
            if left < 0:
                raise Stopped

        with pytest.raises(Stopped):
            answer(target, drafter, Sampler(), prompt, TreeLimits(8, 4, 6), verifier, stop)
        found, _ = answer(target, drafter, Sampler(), prompt, TreeLimits(8, 4, 6), verifier)
        target.rewind(0)
        assert found == answer(target, NoDrafter(), Sampler(), prompt, NoDrafter.defaults)[0]


def test_the_end_of_the_context_ends_the_answer(tmp_path):
    with pair(tmp_path) as (target, draft):
        drafter, prompt = drafter_of("specexec", target, draft), random_text(CONTEXT - 12)
        found, _ = answer(target, drafter, Sampler(), prompt, TreeLimits(8, 4, 6), most=99)
        assert len(prompt) + len(found) == CONTEXT
        target.rewind(0)
        assert found == answer(target, NoDrafter(), Sampler(), prompt, NoDrafter.defaults, most=99)[0]


def test_bytes_are_counted_once(tmp_path):
    with pair(tmp_path) as (target, draft):
        lent, own = target.model.weights.matrices, draft.model.weights.matrices
        substituted = numbers = 0
        for name, group in lent.items():
            for mine, theirs in zip(own[name], group, strict=True):
                if isinstance(theirs, StreamedMatrix):
                    substituted += mine.nbytes
                    numbers += mine.shape[0] * mine.shape[1]
                else:
                    assert mine is theirs
        assert draft.model.nbytes == substituted > 0
        assert draft.cache.nbytes == 0
        assert draft.cache.store is target.cache.store
        # 4.5 bits each, and tiles have room for whole vectors of rows
        assert 4.5 / 8 * numbers <= substituted < 5.5 / 8 * numbers


@pytest.mark.parametrize("form", ["Q2_K", "Q3_K"])
def test_matrices_have_the_planned_format_or_one_that_suits_their_columns(form, tmp_path):
    with pair(tmp_path, form=form, hidden_size=256) as (target, draft):
        own, lent = draft.model.weights.matrices, target.model.weights.matrices
        formats = {
            (mine.shape[1], mine.layout)
            for name, group in lent.items()
            for mine, theirs in zip(own[name], group, strict=True)
            if isinstance(theirs, StreamedMatrix)
        }
        assert formats == {(256, form), (96, "Q4_0")}
        drafter, prompt, limits = drafter_of("specexec", target, draft), random_text(20), TreeLimits(12, 4, 8)
        found, iterations = answer(target, drafter, Sampler(), prompt, limits)
        assert len(found) > 1.5 * len(iterations)
        target.rewind(0)
        assert found == answer(target, NoDrafter(), Sampler(), prompt, NoDrafter.defaults)[0]


@pytest.mark.parametrize("way", ["blocks", "rows", "modelopt", "W4_ZEROS", "NVFP4_SCALED"])
def test_a_target_whose_scales_are_stored_apart_drafts_for_itself(way, tmp_path):
    if way in WAYS:
        write_fp8(tmp_path, "llama", way)
    else:
        sizes = dict(hidden_size=256, intermediate_size=256, num_attention_heads=4, head_dim=64)
        write_nibbles(tmp_path, way, tiny("llama", **sizes))
    file = open_checkpoint(tmp_path)
    check_self_draft(file)
    form, limit = ("Q4_0", LITTLE) if way in WAYS else ("Q2_K", 400 << 10)  # no matrix is cut
    with pair(tmp_path, form=form, file=file, limit=limit) as (target, draft):
        drafter, prompt, limits = drafter_of("specexec", target, draft), random_text(20), TreeLimits(12, 4, 8)
        found, iterations = answer(target, drafter, Sampler(), prompt, limits)
        assert len(found) > 1.5 * len(iterations)
        target.rewind(0)
        assert found == answer(target, NoDrafter(), Sampler(), prompt, NoDrafter.defaults)[0]


@pytest.mark.parametrize("way", ["blocks", "rows", "modelopt"])
def test_substitutes_of_fp8_are_made_of_the_numbers_that_are_stored(way, tmp_path, monkeypatch):
    module = write_fp8(tmp_path, "llama", way)
    weights = open_checkpoint(tmp_path).weights
    monkeypatch.setattr(substitute_files, "_PIECE_NBYTES", 20_000)  # several pieces of each
    packed = [name for name, weight in weights.items() if weight.format.startswith("FP8")]
    assert packed
    for name in packed:
        numbers = module.state_dict()[name].float().numpy().reshape(-1)
        assert np.array_equal(substitute(weights[name], "Q4_0"), encoded("Q4_0", numbers))


@pytest.mark.parametrize("form", ["Q2_K", "Q4_0"])
def test_plans_count_the_bytes_that_substitutes_take(form, tmp_path):
    """Tiles have room for whole vectors of rows, and begin at whole lines of the cache."""
    file = saved(tmp_path, hidden_size=256)
    planned = next(each for each in checkpoint_outline(file, "").substitutes if each.name == form)
    with pair(tmp_path, form=form, file=file) as (target, draft):
        lent, own = target.model.weights.matrices, draft.model.weights.matrices
        taken = streamed = 0
        for name, group in lent.items():
            layout = next((each.layout for each in own[name] if each not in group), None)
            for matrix in group:
                copied = Matrix(layout or form, matrix.shape)
                taken += copied.tiles * copied.tile_nbytes
                streamed += isinstance(matrix, StreamedMatrix) * copied.tiles * copied.tile_nbytes
        assert draft.model.nbytes == streamed
    assert sum(planned.layers) + planned.head == pytest.approx(taken, rel=0.05)


# -- files ---------------------------------------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch):
    """The names of the matrices that were encoded."""
    made = []

    def count(weight, form):
        made.append(weight.spans[0].offset)
        return substitute(weight, form)

    monkeypatch.setattr(substitute_files, "substitute", count)
    return made


def test_substitutes_are_kept_and_remade_where_they_are_damaged(tmp_path, cache_folder, counted):
    with pair(tmp_path) as (_, draft):
        first = {
            name: [bytes(each.data) for each in group]
            for name, group in draft.model.weights.matrices.items()
            if hasattr(group[0], "data")
        }
    files = sorted(cache_folder.glob("*/*"))
    assert len(counted) == len(files) > 4
    damaged, cut, empty, gone = files[:4]
    data = bytearray(damaged.read_bytes())
    data[-1] ^= 1
    damaged.write_bytes(data)
    cut.write_bytes(cut.read_bytes()[:-5])
    empty.write_bytes(b"")
    gone.unlink()
    counted.clear()
    file = open_checkpoint(tmp_path)
    target = load_compiled(file, no_progress, CONTEXT, limits=WeightLimits(LITTLE))
    again = load_self_draft(target, file, CONTEXT, "Q4_0", no_progress).weights.matrices
    assert len(counted) == 4
    assert all([bytes(each.data) for each in again[name]] == parts for name, parts in first.items())
    target.close()


def test_another_model_has_other_substitutes_and_takes_the_room(tmp_path, cache_folder, counted):
    with pair(tmp_path / "one"):
        before = set(cache_folder.iterdir())
    with pair(tmp_path / "two", "llama"):
        after = set(cache_folder.iterdir())
    assert len(before) == len(after) == 1
    assert before != after


def test_a_matrix_is_kept_in_one_format(tmp_path, cache_folder, counted):
    file = saved(tmp_path, hidden_size=256)
    name, weight = next((name, each) for name, each in file.weights.items() if each.shape[1:] == (256,))
    files = SubstituteFiles(file.weights)
    for form in ("Q3_K", "Q2_K", "Q2_K"):
        files.of(name, weight, form)
    assert [path.name for path in cache_folder.glob("*/*")] == [f"{name}.Q2_K"]
    assert len(counted) == 2


def test_the_formats_on_the_disk_are_those_with_which_fewest_are_made_anew(tmp_path, cache_folder):
    file = saved(tmp_path, hidden_size=256)
    assert kept_formats(file) == frozenset()
    with pair(tmp_path, form="Q3_K", file=file):
        pass
    assert kept_formats(file) == {"Q3_K"}
    share = kept_shares(file)["Q3_K"]
    assert share > 0.2
    for path in cache_folder.glob("*/*.Q3_K"):
        path.unlink()
    assert kept_formats(file) == {"Q2_K", "Q3_K", "Q4_0"}, "what is left has one format in all of them"
    assert 0 < kept_shares(file)["Q3_K"] < share <= 1


def test_a_look_at_another_model_deletes_nothing(tmp_path, cache_folder):
    with pair(tmp_path / "one"):
        pass
    before = set(cache_folder.glob("*/*"))
    assert before
    assert kept_formats(saved(tmp_path / "two", "llama")) == frozenset()
    assert set(cache_folder.glob("*/*")) == before


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path, cache_folder, counted):
    cache_folder.parent.mkdir()
    cache_folder.write_text("in the way")
    with pair(tmp_path / "model") as (target, draft):
        assert answer(target, drafter_of("specexec", target, draft), Sampler(), [5, 6], TreeLimits(4, 4, 4))[
            0
        ]


def test_pieces_of_a_matrix_are_rounded_alike(tmp_path, monkeypatch):
    numbers = np.random.default_rng(0).standard_normal((512, 64), np.float32)
    numbers.tofile(tmp_path / "weights")
    weight = Weight.of(Span(tmp_path / "weights", 0, numbers.nbytes, numbers.shape, "F32"))
    whole = substitute(weight, "Q4_0")
    monkeypatch.setattr(substitute_files, "_PIECE_NBYTES", 1)
    assert np.array_equal(substitute(weight, "Q4_0"), whole)
    assert np.isfinite(unpacked("Q4_0", whole, weight.numel)).all()


# -- refused -------------------------------------------------------------------------------------------------


def test_a_target_in_memory_or_through_torch_is_refused(tmp_path):
    file = saved(tmp_path)
    with pytest.raises(BadOption, match="in memory"):
        load_self_draft(load_compiled(file, no_progress, CONTEXT), file, CONTEXT, "Q4_0", no_progress)
    with pytest.raises(BadOption, match="compiled passes"):
        load_self_draft(object(), file, CONTEXT, "Q4_0", no_progress)


def test_a_target_of_few_bits_is_refused(tmp_path):
    file = saved(tmp_path)
    check_self_draft(file)
    name, weight = next((name, each) for name, each in file.weights.items() if len(each.shape) == 2)
    rows, columns = weight.shape
    span = Span(weight.spans[0].file, 0, rows * columns // 32 * 18, (rows, columns), "Q4_0")
    file.weights[name] = Weight.of(span)
    with pytest.raises(BadOption, match="few bits"):
        check_self_draft(file)


@pytest.mark.parametrize(
    ("stored", "reason"),
    [("GPTQ", "compiled passes"), ("gemma3n_text", "compiled passes"), ("mixtral", "mixture of experts")],
)
def test_a_target_that_cannot_draft_is_refused_before_it_is_read(stored, reason, tmp_path):
    if stored == "GPTQ":
        write(tmp_path, tiny("qwen2"), "gptq", bits=8, size=32, act_order=False)
    else:
        tiny(stored).save_pretrained(tmp_path)
    with pytest.raises(BadOption, match=reason):
        check_self_draft(open_checkpoint(tmp_path))


def test_files_are_named_by_what_the_model_is_read_from(tmp_path, cache_folder):
    file = saved(tmp_path)
    before = SubstituteFiles(file.weights)._folder
    path = next(iter(file.weights.values())).spans[0].file
    path.touch()
    assert SubstituteFiles(file.weights)._folder != before
