"""Mixtures of experts under a limit give the same numbers as resident ones. Only chosen experts are moved,
of these only those that are not in the cache: that of the CPU, or of a device with memory of its own."""

import json
import threading

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine import routing
from engine.checkpoints import open_checkpoint
from engine.errors import BadCheckpoint
from engine.machine.disk_reads import SECTOR
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.planner.tiers import SLOTS
from engine.protocol import Chat, IterationDone, Load, Message, Options
from engine.quantization import Experts
from engine.routing import RoutingFile
from engine.serving.service import EngineService
from engine.streaming import WeightLimits, chunks
from engine.streaming.expert_counts import ExpertCounts
from engine.torch_model import builder
from engine.torch_model.loader import load_model
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.heads.test_service import write_target
from tests.engine.models import CONTEXT, reference
from tests.engine.quantization.grouped_reference import Matrix
from tests.engine.quantization.test_folders import SETTINGS
from tests.engine.torch_model.test_builder import AtOnce
from tests.real.streamed_mixture import without_cache

TEXT = [1, 5, 9, 30, 2, 44, 17, 8, 60, 3, 3, 21, 33, 52, 11, 40, 6, 28, 19, 55]
# Models of about 1.7 MB in float32 and 0.4 MB in 4 bits: only experts' matrices are larger than a slot.
LIMIT = {"safetensors": 300_000, "stacked": 400_000, "single": 400_000, "gptq": 130_000}


def write(folder, kind):
    """The file or folder of a tiny Mixtral with 8 experts, 2 for each row."""
    module = reference(
        "mixtral", num_local_experts=8, hidden_size=64, intermediate_size=128, num_hidden_layers=2
    )
    if kind in ("stacked", "single"):
        return convert(module, folder / "model.gguf", stacked=kind == "stacked")
    module.save_pretrained(folder)
    if kind == "gptq":
        quantize(folder)
    return folder


EXPERTS = ("w1.weight", "w2.weight", "w3.weight")


def quantize(folder):
    """Replace the layers' matrices by random numbers in GPTQ's format."""
    tensors = load_file(folder / "model.safetensors")
    for name in [name for name in tensors if name.endswith(("_proj.weight", *EXPERTS))]:
        matrix = Matrix(4, 16, *tensors.pop(name).shape, act_order=True, seed=len(tensors))
        matrix.scales *= 0.02
        tensors |= {name.replace("weight", part): tensor for part, tensor in matrix.gptq(1).items()}
    save_file(tensors, folder / "model.safetensors")
    config = folder / "config.json"
    settings = {"quantization_config": SETTINGS["gptq"]}
    config.write_text(json.dumps(json.loads(config.read_text()) | settings))


@pytest.fixture(autouse=True)
def gap_of_one_sector(monkeypatch):
    """Join only spans within a sector of each other: in such small files all of them are close together."""
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)


@pytest.fixture(autouse=True)
def no_earlier_answers(monkeypatch, tmp_path):
    """Each test begins without the counts that the one before has kept."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture(scope="module", params=LIMIT)
def stored(tmp_path_factory, request):
    """A file or folder, with a limit."""
    return write(tmp_path_factory.mktemp(request.param), request.param), LIMIT[request.param]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(tmp_path_factory.mktemp("safetensors"), "safetensors")


def load(path, **kwargs):
    cpu = "cpu"
    return load_model(open_checkpoint(path), torch.float32, cpu, no_progress, context=CONTEXT, **kwargs)


class Routed:
    """Record the experts that each mixture of a model uses, as (layer, expert)."""

    def __init__(self, model):
        self.experts = set()
        mixtures = [module for module in model.module.modules() if isinstance(module, Experts)]
        for layer, module in enumerate(mixtures):
            module.register_forward_pre_hook(
                lambda _, args, layer=layer: self.experts.update(
                    (layer, expert) for expert in args[1].flatten().tolist()
                )
            )


def test_streamed_experts_give_the_same_bits_as_resident_ones(stored):
    path, limit = stored
    resident, streamed = load(path, packed=True), load(path, limits=WeightLimits(limit))
    one, other = Sequence(resident, CONTEXT), Sequence(streamed, CONTEXT)
    for rows in (TEXT, [7], [50], [3, 9, 12], [1], TEXT, [4]):
        assert torch.equal(one.extend(rows), other.extend(rows))
    streamed.close()


def settled(model):
    """What the cache of experts has done, once its readers rest."""
    cache = model.streamer._cache
    with cache._changed:
        assert cache._changed.wait_for(lambda: not cache._missing, timeout=60)
    return model.streamer.experts


def test_each_chosen_expert_is_counted_once_and_only_misses_and_predictions_are_read(stored):
    path, limit = stored
    model = load(path, limits=WeightLimits(limit))
    sequence, routed = Sequence(model, CONTEXT), Routed(model)
    size = {chunk.nbytes for chunk in model.streamer._experts}
    for rows in (TEXT, [7], [50], [3, 9, 12], [30], TEXT[:9]):
        before = settled(model)
        routed.experts.clear()
        sequence.extend(rows)
        counts = settled(model) - before
        assert counts.used == len(routed.experts)
        assert counts.right <= settled(model).predicted
        # More rows may choose more experts than there are slots, of which one is read twice.
        if len(rows) == 1:
            assert counts.read <= (counts.misses + counts.predicted) * max(size)
    model.close()


def test_experts_that_stay_in_the_cache_are_read_once(path):
    model = load(path, limits=WeightLimits(1_300_000))
    sequence = Sequence(model, CONTEXT)
    size = max(chunk.nbytes for chunk in model.streamer._experts)
    sequence.extend([5])
    used = settled(model)
    for _ in range(5):
        sequence.rewind(0)
        sequence.extend([5])  # 4 experts, and more slots
    assert (used.hits, used.misses) == (0, 4)
    assert settled(model) - used == ExpertCounts(hits=20)
    assert used.read <= 4 * size
    model.close()


@pytest.mark.parametrize("limit", [300_000, 600_000, 1_200_000])
def test_the_size_of_the_cache_changes_no_bit(path, limit):
    resident, model = load(path, packed=True), load(path, limits=WeightLimits(limit))
    one, other = Sequence(resident, CONTEXT), Sequence(model, CONTEXT)
    for rows in (TEXT, [7], [50], [3, 9, 12], [1], TEXT, [4]):
        assert torch.equal(one.extend(rows), other.extend(rows))
    assert model.streamer.nbytes <= limit
    model.close()


def test_a_stop_at_any_moment_does_not_corrupt_the_next_pass(path):
    class Stopped(Exception):
        pass

    threads = threading.active_count()
    resident, model = load(path, packed=True), load(path, limits=WeightLimits(300_000))
    expected = [Sequence(resident, CONTEXT).extend([*TEXT[:4], *rows]) for rows in (TEXT[4:], TEXT[4:5])]
    sequence = Sequence(model, CONTEXT)
    sequence.extend(TEXT[:4])
    calls = []
    sequence.extend(TEXT[4:], lambda done, total: calls.append(done))
    for moment in range(0, len(calls), 4):
        for rows, logits in zip((TEXT[4:], TEXT[4:5]), expected, strict=True):
            left = iter(range(moment))

            def stop(done, total, left=left):
                if next(left, None) is None:
                    raise Stopped

            sequence.rewind(4)
            with pytest.raises(Stopped):
                sequence.extend(TEXT[4:], stop)
            torch.testing.assert_close(sequence.extend(rows), logits, rtol=1e-4, atol=1e-4)
    model.close()
    assert threading.active_count() == threads


@pytest.mark.parametrize("pinned", [1 << 30, 800_000], ids=["pinned", "partly pinned"])
@pytest.mark.parametrize(
    "limits",
    [WeightLimits(300_000), WeightLimits(1_100_000), WeightLimits(300_000, 600_000)],
    ids=["ram", "more of it on the device", "ram and disk"],
)
def test_a_device_with_memory_of_its_own_gets_the_chosen_experts_that_it_lacks(
    path, monkeypatch, limits, pinned
):
    resident = load(path, packed=True)
    monkeypatch.setattr(builder, "link_to", lambda device: AtOnce(pinned))
    model = load(path, limits=limits)
    assert model.streamer.nbytes <= limits.device_nbytes
    one, other, routed = Sequence(resident, CONTEXT), Sequence(model, CONTEXT), Routed(model)
    for rows in (TEXT, [7]):
        assert torch.equal(one.extend(rows), other.extend(rows))
    always = sum(chunk.nbytes for chunk in model.streamer._chunks)
    (size,) = {chunk.nbytes for chunk in model.streamer._experts}
    for token in (50, 3, 9, 12):
        expected = one.extend([token])
        before, moved = model.experts, model.moved
        routed.experts.clear()
        other.extend([token])
        done, chosen = model.experts - before, len(routed.experts)
        assert done.hits + done.late + done.misses == chosen
        assert model.moved - moved == always + size * done.misses < 0.5 * model.streamer.pass_nbytes
        assert done.from_disk <= (size * chosen if limits.host_nbytes else 0)
        other.rewind(len(other.ids) - 1)
        assert torch.equal(other.extend([token]), expected)
    model.close()


class PinnedOnly(AtOnce):
    """A link that says which copies are from memory that is not pinned."""

    def __init__(self, pinned):
        super().__init__(pinned)
        self.slabs, self.plain = [], 0

    def slab(self, nbytes):
        self.slabs.append(super().slab(nbytes))
        return self.slabs[-1]

    def copy(self, slot, source, after):
        self.plain += not any(np.may_share_memory(source, slab) for slab in self.slabs)
        super().copy(slot, source, after)


@pytest.mark.parametrize("limits", [WeightLimits(300_000), WeightLimits(300_000, 600_000)], ids=str)
def test_experts_that_cannot_be_pinned_pass_through_pinned_memory(path, monkeypatch, limits):
    link = PinnedOnly(700_000)
    monkeypatch.setattr(builder, "link_to", lambda device: link)
    model = load(path, limits=limits)
    Sequence(model, CONTEXT).extend(TEXT)
    model.streamer.sweep()
    assert link.pinned < 0
    assert link.plain == 0
    model.close()


def test_a_sweep_fetches_every_expert(path):
    model = load(path, limits=WeightLimits(300_000))
    Sequence(model, CONTEXT).extend(TEXT[:1])
    for _ in range(2):
        before = model.moved
        model.streamer.sweep()
        assert model.moved - before >= model.streamer.pass_nbytes
    model.close()


def test_an_answer_tells_what_the_cache_did_and_its_tokens_do_not_depend_on_it(tmp_path):
    write_target(tmp_path)
    reference("mixtral", num_local_experts=8, hidden_size=64, intermediate_size=128).save_pretrained(tmp_path)
    found, iterations = [], []
    for limit in (None, 500_000, 1_000_000):
        engine = EngineService()
        ram_limit = None if limit is None else limit / 2**30
        request = Load(
            id=1, target=str(tmp_path), dtype="float32", device="cpu", context=64, ram_limit=ram_limit
        )
        engine.load(request, lambda event: None, lambda: False)
        options = Options(drafter="recycling+pld", seed=4, max_new_tokens=12, temperature=0.9)
        chat = Chat(id=2, messages=[Message("user", "HELLO HELLO")], options=options)
        iterations.append([])
        found.append(engine.answer(chat, iterations[-1].append, lambda: False))
        engine.unload()
    resident, *cached = found
    assert resident.experts is None
    for answer, events in zip(cached, iterations[1:], strict=True):
        assert answer.token_ids == resident.token_ids
        each = [event.experts for event in events if isinstance(event, IterationDone)]
        assert 0 < sum(one.hits + one.misses for one in each) < answer.experts.hits + answer.experts.misses
        assert 0 < answer.experts.bytes_read <= answer.bytes_streamed
        parts = {(part.what, part.tier): part.nbytes for part in answer.memory.parts}
        assert 0 < parts["target_experts", "ram"] < parts["target_experts", "ssd"]
        assert ("target", "ssd") not in parts, "the dense parts are in memory"


def test_what_passes_taught_is_kept_without_a_look_at_the_models_files(path, monkeypatch):
    model = load(path, limits=WeightLimits(1_300_000))
    Sequence(model, CONTEXT).extend([5])
    with monkeypatch.context() as patched:
        patched.setattr(routing, "_files", lambda _: pytest.fail("their disk may be silent"))
        model.remember()
        model.close()
    assert RoutingFile(path).read() is not None


def test_a_cache_is_filled_with_the_experts_that_earlier_answers_used(path):
    limits = WeightLimits(1_300_000)
    model = load(path, limits=limits)
    model.remember()  # nothing has been learned, so nothing is kept
    assert RoutingFile(path).read() is None
    routed = Routed(model)
    Sequence(model, CONTEXT).extend([5])
    model.close()
    model = load(path, limits=limits)
    cache = model.streamer._cache
    with cache._changed:
        assert cache._changed.wait_for(lambda: not cache._common and not cache._missing, timeout=60)
    Sequence(model, CONTEXT).extend([5])
    counts = settled(model)
    assert (counts.hits, counts.misses) == (len(routed.experts), 0)
    model.close()


def test_a_router_that_chooses_an_expert_that_is_not_there_is_named(path):
    model = load(path, limits=WeightLimits(300_000))
    mixture = next(module for module in model.module.modules() if isinstance(module, Experts))
    with pytest.raises(BadCheckpoint, match="chose expert 8, and there are 8"):
        mixture(torch.zeros(1, 64), torch.tensor([[8, 1]]), torch.ones(1, 2))
    one, other = Sequence(load(path, packed=True), CONTEXT), Sequence(model, CONTEXT)
    assert torch.equal(one.extend(TEXT), other.extend(TEXT))
    model.close()


@pytest.mark.parametrize(
    "limits", [WeightLimits(300_000), WeightLimits(300_000, 700_000)], ids=["RAM", "card"]
)
def test_an_expert_with_nans_spoils_only_the_passes_that_use_it(tmp_path, monkeypatch, limits):
    clean = load(write(tmp_path, "safetensors"), packed=True)
    tensors = load_file(tmp_path / "model.safetensors")
    (name,) = (each for each in tensors if "layers.0." in each and each.endswith("experts.3.w2.weight"))
    tensors[name][5] = torch.nan
    save_file(tensors, tmp_path / "model.safetensors")
    if limits.host_nbytes:
        monkeypatch.setattr(builder, "link_to", lambda device: AtOnce(1 << 30))
    model = load(tmp_path, limits=limits)
    one, other, routed = Sequence(clean, CONTEXT), Sequence(model, CONTEXT), Routed(model)
    spoiled = []
    for token in range(24):
        one.rewind(0)
        other.rewind(0)
        routed.experts.clear()
        expected, found = one.extend([token]), other.extend([token])
        spoiled.append((0, 3) in routed.experts)
        assert bool(found.isnan().any()) == spoiled[-1]  # for decoding, these are BadNumbers
        if not spoiled[-1]:
            assert torch.equal(expected, found)
    assert any(spoiled)
    assert not all(spoiled)
    model.close()


def test_without_a_cache_few_experts_stay_and_none_is_read_before_it_is_chosen(path):
    """As `tests.real.streamed_mixture --no-cache` measures it."""
    with without_cache():
        model = load(path, limits=WeightLimits(1_300_000))
        sequence = Sequence(model, CONTEXT)
        for token in TEXT:
            sequence.extend([token])
        counts = settled(model)
    assert model.streamer._cached == SLOTS < len(model.streamer._experts)
    assert counts.predicted == 0
    assert counts.misses > SLOTS
    model.close()
