"""Every architecture from files to logits: weights as plain numbers, packed in memory, and streamed."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.checkpoints import open_checkpoint
from engine.errors import BadOption, StreamBroken
from engine.heads import built_in_heads
from engine.machine.disk_reads import SECTOR
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.streaming import WeightLimits, chunks
from engine.streaming.disk import DiskFile, memory
from engine.torch_model import builder
from engine.torch_model.loader import load_model
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.checkpoints.test_gguf_architectures import CHANGES, tiny
from tests.engine.models import CONFIGS, CONTEXT, EXPERTS, reference

# Longer than all sliding windows of the configurations, shorter than the longest context.
TEXT = [1, 5, 9, 30, 2, 44, 17, 8, 60, 3, 3, 21, 33, 52, 11, 40, 6, 28, 19, 55]
# Enough for the ring and a part of these models' 100 to 200 KB.
LIMIT = 160_000


@pytest.fixture(autouse=True)
def gap_of_one_sector(monkeypatch):
    """Join only spans within a sector of each other: in such small files all of them are close together."""
    monkeypatch.setattr(chunks, "GAP_NBYTES", SECTOR)


def load(path: Path, **kwargs):
    cpu = "cpu"
    return load_model(open_checkpoint(path), torch.float32, cpu, no_progress, context=CONTEXT, **kwargs)


def expected(module, text=TEXT):
    with torch.inference_mode():
        return module(torch.tensor([text])).logits[0, -1]


PLAIN = [kind for kind in CONFIGS if kind != "gpt_oss"]  # whose folders are in MXFP4: see `test_gpt_oss`
MODELS = [*(("safetensors", kind) for kind in PLAIN), *(("gguf", kind) for kind in CHANGES)]


@pytest.fixture
def stored(tmp_path, request):
    """(a tiny model, its file or folder)"""
    format_, kind = request.param
    if format_ == "gguf":
        module = tiny(kind)
        return module, convert(module, tmp_path / "model.gguf")
    module = reference(kind)
    module.save_pretrained(tmp_path / "model")
    return module, tmp_path / "model"


@pytest.mark.parametrize("stored", MODELS, indirect=True, ids=lambda model: "-".join(model))
@pytest.mark.parametrize(
    "how", [{}, {"packed": True}, {"limits": WeightLimits(LIMIT)}], ids=["numbers", "packed", "streamed"]
)
def test_a_loaded_model_gives_the_logits_of_transformers(stored, how):
    module, path = stored
    model = load(path, **how)
    sequence = Sequence(model, CONTEXT)
    for text in (TEXT, [*TEXT[:5], *TEXT[:6]], TEXT):
        sequence.align(text[:-1])
        logits = sequence.extend(text[len(sequence.ids) :])
        torch.testing.assert_close(logits, expected(module, text), rtol=1e-4, atol=1e-4)
    assert model.packed == bool(how)
    model.close()


def test_the_text_part_of_mistral_3_is_loaded_from_its_wrapper(tmp_path):
    module = reference("ministral3")
    weights = {f"language_model.{name}": weight for name, weight in module.state_dict().items()}
    weights["vision_tower.patch_conv.weight"] = torch.ones(4)
    save_file({name: weight.contiguous() for name, weight in weights.items()}, tmp_path / "model.safetensors")
    text = {**module.config.to_dict(), "model_type": "ministral3"}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "mistral3", "text_config": text}))
    model = load(tmp_path, packed=True)
    logits = Sequence(model, CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(module), rtol=1e-4, atol=1e-4)


def test_the_text_part_of_qwen_3_5_is_loaded_without_its_vision_tower_and_draft(tmp_path):
    module = reference("qwen3_5_text")
    weights = {
        name.replace("model.", "model.language_model."): weight
        for name, weight in module.state_dict().items()
    }
    weights |= {"model.visual.patch_embed.proj.weight": torch.ones(4), "mtp.fc.weight": torch.ones(4, 8)}
    save_file({name: weight.contiguous() for name, weight in weights.items()}, tmp_path / "model.safetensors")
    text = module.config.to_dict() | dict(
        full_attention_interval=2,
        mtp_num_hidden_layers=1,
        mamba_ssm_dtype="float32",
        output_gate_type="swish",
    )
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen3_5", "text_config": text}))
    assert open_checkpoint(tmp_path).vision
    model = load(tmp_path, packed=True)
    logits = Sequence(model, CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(module), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("kind", "letters"), [("nemotron_h", "M-*M"), ("nemotron_h_experts", "ME*E")])
def test_a_nemotron_h_is_loaded_from_the_layers_letters_without_its_draft(kind, letters, tmp_path):
    module = reference(kind)
    module.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    del config["layers_block_type"]
    config |= {"hybrid_override_pattern": letters, "num_hidden_layers": 4, "rms_norm_eps": 1e-5}
    config |= {"norm_eps": 1e-5, "num_nextn_predict_layers": 1, "mtp_hybrid_override_pattern": "*E"}
    config |= {"time_step_limit": [0.0, float("inf")], "auto_map": {"AutoConfig": "code.Config"}}
    path.write_text(json.dumps(config))
    assert "Infinity]" in path.read_text()
    weights = tmp_path / "model.safetensors"
    draft = {"mtp.layers.0.eh_proj.weight": torch.ones(32, 64), "mtp.layers.1.norm.weight": torch.ones(32)}
    save_file(load_file(weights) | draft, weights)
    assert built_in_heads(open_checkpoint(tmp_path)) is None
    logits = Sequence(load(tmp_path), CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(module), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["gemma3n", "gemma4"])
def test_the_text_part_of_a_gemma_is_loaded_without_towers_and_unused_keys(kind, tmp_path):
    module = reference(f"{kind}_text")
    weights = {
        name.replace("model.", "model.language_model."): weight
        for name, weight in module.state_dict().items()
        if name != "lm_head.weight"
    }
    weights |= dict.fromkeys(
        ("model.vision_tower.a.weight", "model.audio_tower.b", "model.embed_vision.c", "model.embed_audio.d"),
        torch.ones(4),
    )
    last = "model.language_model.layers.5.self_attn."  # its keys and values are those of an earlier layer
    weights |= {f"{last}{name}.weight": torch.ones(8, 8) for name in ("k_proj", "v_proj", "k_norm")}
    save_file({name: weight.clone() for name, weight in weights.items()}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": kind, "text_config": module.config.to_dict()})
    )
    assert open_checkpoint(tmp_path).vision
    model = load(tmp_path, packed=True)
    logits = Sequence(model, CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(module), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("wrapped", [False, True], ids=["text alone", "with what embeds pictures and sound"])
def test_the_text_part_of_a_unified_gemma_is_loaded(wrapped, tmp_path):
    module = reference("gemma4_large", model_type="gemma4_unified_text")
    weights = {name: each.clone() for name, each in module.state_dict().items() if name != "lm_head.weight"}
    config = module.config.to_dict()
    config.pop("hidden_size_per_layer_input", None)  # Google's says 0; transformers' class has no such field
    if wrapped:
        config = {"model_type": "gemma4_unified", "text_config": config}
        weights = {name.replace("model.", "model.language_model."): each for name, each in weights.items()}
        for name in ("vision_embedder.pos_embedding", "embed_vision.a.weight", "embed_audio.a.weight"):
            weights[f"model.{name}"] = torch.ones(4)
    save_file(weights, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(config))
    checkpoint = open_checkpoint(tmp_path)
    assert (checkpoint.architecture, checkpoint.vision) == ("gemma4_text", wrapped)
    logits = Sequence(load(tmp_path, packed=True), CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(module), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["qwen3_5_moe_text", "qwen3_next"])
@pytest.mark.parametrize("limits", [None, WeightLimits(120_000)])
def test_mixtures_whose_layers_have_states_are_loaded_without_their_draft(kind, limits, tmp_path):
    module = reference("qwen3_5_text", model_type=kind, **EXPERTS)
    draft = {"mtp.fc.weight": torch.ones(4, 8), "mtp.layers.0.mlp.experts.0.up_proj.weight": torch.ones(4, 4)}
    save_file(module.state_dict() | draft, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(module.config.to_dict()))
    assert built_in_heads(open_checkpoint(tmp_path)) is None
    model = load(tmp_path, packed=True, limits=limits)
    logits = Sequence(model, CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(module), rtol=1e-4, atol=1e-4)
    assert (limits is None) == (model.experts is None)
    model.close()


@pytest.mark.parametrize("how", [{}, {"packed": True}, {"limits": WeightLimits(LIMIT)}])
@pytest.mark.parametrize("kind", ["granitemoehybrid", "granitemoehybrid_experts"])
def test_gate_and_up_that_a_gguf_file_has_apart_are_loaded(kind, how, tmp_path):
    module = reference(kind)
    model = load(convert(module, tmp_path / "model.gguf"), **how)
    logits = Sequence(model, CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(module), rtol=1e-4, atol=1e-4)
    model.close()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("kind", "name"), [("qwen3_5_text", "qwen35"), ("qwen3_next", "qwen3next")])
def test_value_heads_of_a_gguf_file_find_their_key_heads_and_a_block_for_drafts_is_left_out(
    kind, name, packed, tmp_path
):
    changes = {"mlp_only_layers": []} if kind == "qwen3_next" else {}
    module = reference(kind, num_hidden_layers=4, layer_types=None, **changes)
    assert module.config.linear_num_value_heads > module.config.linear_num_key_heads
    path = convert(
        module,
        tmp_path / "model.gguf",
        metadata={f"{name}.block_count": 5, f"{name}.nextn_predict_layers": 1},
        tensors={"blk.4.nextn.eh_proj.weight": np.ones((32, 64), np.float32)},
    )
    logits = Sequence(load(path, packed=packed), CONTEXT).extend(TEXT)
    torch.testing.assert_close(logits, expected(module), rtol=1e-4, atol=1e-4)


class AtOnce:
    """A link to the CPU as its device, which completes everything immediately and pins at most `pinned`
    bytes."""

    def __init__(self, pinned: int) -> None:
        self.pinned = pinned

    def slots(self, count, nbytes):
        with torch.inference_mode(False):  # any thread may write to them
            return [torch.zeros(nbytes, dtype=torch.uint8) for _ in range(count)]

    def slab(self, nbytes):
        self.pinned -= nbytes
        if self.pinned < 0:
            raise RuntimeError("cannot pin so much")
        return memory(nbytes)

    def copy(self, slot, source, after):
        slot[: len(source)].copy_(torch.from_numpy(source))

    def used(self):
        pass

    def compute_after(self, event):
        pass

    def wait(self, event):
        pass


@pytest.mark.parametrize("pinned", [1 << 30, 80_000], ids=["pinned", "mostly not pinned"])
@pytest.mark.parametrize(
    "limits", [WeightLimits(60_000), WeightLimits(60_000, 60_000), WeightLimits(90_000, 70_000)], ids=str
)
def test_a_device_with_its_own_memory_is_streamed_to_from_ram_and_disk(path, monkeypatch, limits, pinned):
    monkeypatch.setattr(builder, "link_to", lambda device: AtOnce(pinned))
    model = load(path, limits=limits)
    sequence = Sequence(model, CONTEXT)
    for text in (TEXT, [*TEXT[:5], *TEXT[:6]], TEXT):
        sequence.align(text[:-1])
        logits = sequence.extend(text[len(sequence.ids) :])
        torch.testing.assert_close(logits, expected(reference("qwen3"), text), rtol=1e-4, atol=1e-4)
    model.close()


@pytest.fixture
def path(tmp_path):
    reference("qwen3").save_pretrained(tmp_path)
    return tmp_path


@pytest.mark.parametrize("limit", [60_000, 90_000, 1 << 30])
def test_memory_stays_within_the_limit(path, limit):
    model = load(path, limits=WeightLimits(limit))
    Sequence(model, CONTEXT).extend(TEXT)
    norms = sum(weight.nbytes for weight in model.module.parameters())
    room = model._packed[0].workspace.nbytes
    assert model.nbytes - norms - room <= limit
    assert (model.moved > 0) == (limit < 1 << 30)
    model.close()


def test_a_limit_too_small_says_how_much_is_needed(path):
    with pytest.raises(BadOption, match="GiB"):
        load(path, limits=WeightLimits(1000))


@pytest.mark.parametrize("limit", [60_000, 1 << 30], ids=["streamed", "all of it fits"])
def test_fifty_models_leave_no_threads_and_files_open(path, limit):
    threads, files = threading.active_count(), open_files()
    for _ in range(50):
        model = load(path, limits=WeightLimits(limit))
        Sequence(model, CONTEXT).extend(TEXT)
        model.close()
    assert (threading.active_count(), open_files()) == (threads, files)


def test_a_failed_load_leaves_nothing_open(path):
    threads, files = threading.active_count(), open_files()

    def progress(done, total):
        raise RuntimeError

    for limit in (1000, 60_000):
        with pytest.raises((RuntimeError, BadOption)):
            load_model(
                open_checkpoint(path),
                torch.float32,
                torch.device("cpu"),
                progress,
                context=CONTEXT,
                limits=WeightLimits(limit),
            )
    assert (threading.active_count(), open_files()) == (threads, files)


def test_a_read_error_in_the_middle_of_a_pass_ends_it_and_the_next_pass_is_right(path, monkeypatch):
    model = load(path, limits=WeightLimits(60_000))
    sequence = Sequence(model, CONTEXT)
    sequence.extend(TEXT[:4])
    whole, reads = DiskFile.read, []

    def read(self, buffer, offset, needed):
        reads.append(offset)
        if len(reads) == 7:
            raise StreamBroken("model can no longer be read: Input/output error.", "Check the disk.")
        whole(self, buffer, offset, needed)

    monkeypatch.setattr(DiskFile, "read", read)
    with pytest.raises(StreamBroken):
        passes(sequence, 3)
    sequence.rewind(4)
    logits = sequence.extend(TEXT[4:])
    torch.testing.assert_close(logits, expected(reference("qwen3")), rtol=1e-4, atol=1e-4)
    model.close()


def test_a_pass_can_be_stopped_before_each_chunk_and_leaves_the_sequence_usable(path):
    class Stopped(Exception):
        pass

    model = load(path, limits=WeightLimits(60_000))
    sequence = Sequence(model, CONTEXT)
    sequence.extend(TEXT[:4])
    calls = []
    sequence.extend(TEXT[4:], lambda done, total: calls.append(done))
    assert len(calls) > 2 * model.layers, "also inside a layer"
    for moment in range(len(calls)):
        sequence.rewind(4)
        left = iter(range(moment))

        def stop(done, total, left=left):
            if next(left, None) is None:
                raise Stopped

        with pytest.raises(Stopped):
            sequence.extend(TEXT[4:], stop)
        assert (sequence.cache.length, sequence.cache.tail) == (4, 0)
    logits = sequence.extend(TEXT[4:])
    torch.testing.assert_close(logits, expected(reference("qwen3")), rtol=1e-4, atol=1e-4)
    model.close()


def passes(sequence, count):
    for _ in range(count):
        sequence.rewind(4)
        sequence.extend(TEXT[4:])


def open_files() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0
