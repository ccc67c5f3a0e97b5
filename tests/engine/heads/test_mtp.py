"""The layer for multi-token prediction that comes with Qwen 3.5 and GLM-4.5, from the target's files."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig

from engine import planner
from engine.checkpoints import open_checkpoint
from engine.errors import BadOption
from engine.heads import built_in_heads
from engine.heads.compiled_mtp import CompiledMtpHead
from engine.model.compiled import CompiledModel
from engine.model.interface import no_progress
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.planner import selection
from engine.protocol import Chat, Load, Message, Options
from engine.quantization import packed_in
from engine.serving import session
from engine.serving.pair import LoadedPair
from engine.serving.prompts import prompt_tokens
from engine.serving.service import EngineService
from engine.serving.session import Session
from engine.torch_model.heads import load_heads
from engine.torch_model.loader import load_model
from engine.torch_model.mtp import MtpLayer
from tests.engine.checkpoints.gguf_converter import GGUF_NAMES, convert
from tests.engine.heads.test_service import write_target
from tests.engine.model.compiled_models import tiny
from tests.engine.models import reference
from tests.engine.quantization import test_folders, test_fp8
from tests.engine.test_every_drafter import Letters

QWEN, MOE, NEXT, GLM = "qwen3_5_text", "qwen3_5_moe_text", "qwen3_next", "glm4_moe"
TEXT = [8, 5, 12, 12, 15, 23, 44, 3, 9]
# GLM's names of what is not in the decoder layer: Qwen's.
JOINS = {
    "enorm": "pre_fc_norm_embedding",
    "hnorm": "pre_fc_norm_hidden",
    "eh_proj": "fc",
    "shared_head.norm": "norm",
}


def layer_config(config):
    """A model's configuration with one layer, which attends, and is a mixture if the last one is."""
    own = {"first_k_dense_replace": 0} if config.model_type == "glm4_moe" else {}
    settings = {key: value for key, value in config.to_dict().items() if key != "model_type"}
    settings |= {"num_hidden_layers": 1, "layer_types": ["full_attention"], **own}
    made = AutoConfig.for_model(config.model_type, **settings)
    made._attn_implementation = "eager"
    return made


# -- what the layer computes ---------------------------------------------------------------------------------


class Drafted:
    """A tiny model with one layer more, which becomes its layer for drafts, and what joins that to it.

    make: makes transformers' model of a kind; sizes: others than those that it has for this kind."""

    def __init__(self, kind, make=reference, **sizes):
        self.plus = 0 if kind == GLM else 1  # in norms, beside their weights
        own = {"num_hidden_layers": 3}
        if self.plus:
            types = ["linear_attention"] * 3 + ["full_attention"] * 2
            own = {"num_hidden_layers": 5, "layer_types": types}
            own |= {"linear_num_value_heads": 2, "linear_value_head_dim": 8}
        if kind == NEXT:
            own["mlp_only_layers"] = []
        own |= {"tie_word_embeddings": False, **sizes}
        self.module = make(kind, **own)
        self.config = self.module.config
        self.layers = self.config.num_hidden_layers - 1
        width = self.config.hidden_size
        self.joins = {name: torch.randn(width) * 0.1 + 1 - self.plus for name in JOINS}
        self.joins["eh_proj"] = torch.randn(width, 2 * width) * 0.2

    def rename(self, folder):
        """Give the last layer in a folder the names of the layer for drafts."""
        tensors = load_file(folder / "model.safetensors")
        buffers = self.module.state_dict().items()
        tensors |= {name: part for name, part in buffers if name.endswith("e_score_correction_bias")}
        joins = {f"model.layers.{self.layers}.{name}.weight": part for name, part in self.joins.items()}
        copies = {
            "embed_tokens.weight": "model.embed_tokens.weight",
            "shared_head.head.weight": "lm_head.weight",
        }
        for name, of in copies.items():
            joins[f"model.layers.{self.layers}.{name}"] = tensors[of].clone()
        if self.plus:
            joins = {f"mtp.{JOINS[name]}.weight": part for name, part in self.joins.items()}
            last = f"model.layers.{self.layers}."
            tensors = {name.replace(last, "mtp.layers.0."): part for name, part in tensors.items()}
        save_file(tensors | joins, folder / "model.safetensors")
        config = json.loads((folder / "config.json").read_text()) | {"num_hidden_layers": self.layers}
        if self.plus:
            config["layer_types"] = config["layer_types"][: self.layers]
        (folder / "config.json").write_text(json.dumps(config))
        return folder

    def gguf(self, file, storage="F32", more=None, stacked=True):
        """Write the model as llama.cpp's converter does. storage, more, stacked: `convert`'s storage, tensors
        and stacked."""
        prefix = f"blk.{self.layers}.nextn."
        names = {"shared_head.norm": "shared_head_norm"}
        tensors = {
            f"{prefix}{names.get(name, name)}.weight": (part + self.plus * (part.ndim == 1)).numpy()
            for name, part in self.joins.items()
        }
        metadata = {f"{GGUF_NAMES[self.config.model_type]}.nextn_predict_layers": 1}
        tensors |= more or {}
        return convert(self.module, file, stacked, metadata=metadata, tensors=tensors, storage=storage)

    @torch.inference_mode()
    def guessed(self):
        """The states that the layer guesses, written out, and the target's logits of them."""
        body = self.module.model
        layers, body.layers = body.layers, body.layers[: self.layers]
        self.config.num_hidden_layers = self.layers
        states = body(torch.tensor([TEXT[:-1]])).last_hidden_state
        embedded = body.embed_tokens(torch.tensor([TEXT[1:]]))
        both = self.norm("enorm", embedded), self.norm("hnorm", states)
        rows = len(TEXT) - 1
        made = layers[-1](
            torch.cat(both, dim=-1) @ self.joins["eh_proj"].T,
            position_embeddings=body.rotary_emb(states, torch.arange(rows)[None]),
            attention_mask=torch.full((rows, rows), float("-inf")).triu(1)[None, None],
        )
        guessed = self.norm("shared_head.norm", made)[0]
        return guessed, self.module.lm_head(guessed)

    def norm(self, name, states):
        scale = torch.rsqrt(states.pow(2).mean(-1, keepdim=True) + self.config.rms_norm_eps)
        return states * scale * (self.plus + self.joins[name])


def plain(drafted, folder):
    drafted.module.save_pretrained(folder)
    return drafted.rename(folder)


def fp8(drafted, folder):
    """Pack matrices, those of experts too, as the checkpoints of mixtures in FP8 have them."""
    test_fp8.write(folder, drafted.module, "block")
    tensors = load_file(folder / "model.safetensors")
    for name, parameter in drafted.module.named_parameters():
        path, _, kinds = name.rpartition(".")
        if not path.endswith(".experts"):
            continue
        del tensors[name]
        parts = kinds.removesuffix("_proj").split("_")
        for expert, stack in enumerate(parameter.data):
            for part, matrix in zip(parts, stack.chunk(len(parts)), strict=True):
                scales, spread = test_fp8.scaled(matrix, "block", torch.bfloat16)
                numbers = (matrix / spread).clamp(-448, 448).to(torch.float8_e4m3fn)
                owner = f"{path}.{expert}.{part}_proj.weight"
                tensors |= {owner: numbers, f"{owner}_scale_inv": scales}
                matrix.copy_(numbers.float() * spread)
    save_file(tensors, folder / "model.safetensors")
    return drafted.rename(folder)


def gptq(drafted, folder):
    test_folders.write(folder, drafted.module, "gptq")
    return drafted.rename(folder)


def awq_but_for_the_layer(drafted, folder):
    """Pack all but the layer for drafts, as `modules_to_not_convert` says."""
    last = {
        f"model.layers.{drafted.layers}.{name}": part.clone()
        for name, part in drafted.module.model.layers[-1].named_parameters()
    }
    test_folders.write(folder, drafted.module, "awq")
    tensors = load_file(folder / "model.safetensors")
    tensors = {name: part for name, part in tensors.items() if f"layers.{drafted.layers}." not in name}
    save_file(tensors | last, folder / "model.safetensors")
    with torch.no_grad():
        for name, parameter in drafted.module.named_parameters():
            if name in last:
                parameter.copy_(last[name])
    return drafted.rename(folder)


def gguf(drafted, folder):
    return drafted.gguf(folder / "model.gguf")


def merged_gguf(drafted, folder):
    """Write gates and the matrices beside them as one tensor."""
    return drafted.gguf(folder / "model.gguf", stacked="gate_up")


@pytest.mark.parametrize(
    ("kind", "write"),
    [
        *((kind, write) for kind in (QWEN, MOE, NEXT, GLM) for write in (plain, gguf)),
        *((kind, merged_gguf) for kind in (MOE, NEXT)),
        *((kind, fp8) for kind in (QWEN, MOE, GLM)),
        *((QWEN, gptq), (GLM, gptq), (MOE, awq_but_for_the_layer)),
    ],
)
def test_guesses_equal_the_layer_written_out(kind, write, tmp_path):
    drafted = Drafted(kind)
    file = open_checkpoint(write(drafted, tmp_path))
    target = load_model(file, torch.float32, "cpu", no_progress, context=64)
    heads = built_in_heads(file)
    head = load_heads(heads, target, 64)
    hidden = target.forward(
        Rows.text(TEXT[:-1], 0), target.new_cache(64), hidden_layers=[target.layers]
    ).hidden
    found = head.forward(Rows.text(TEXT[1:], 0), head.fuse(hidden), head.new_cache())
    expected, logits = drafted.guessed()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    tokens, log_probs = head.best(found, 3)
    best = logits.log_softmax(-1).topk(3)
    assert tokens.tolist() == best.indices.tolist()
    torch.testing.assert_close(torch.from_numpy(log_probs), best.values, rtol=1e-3, atol=1e-3)
    stored = sum(weight.nbytes for weight in heads.layer.weights.values())
    assert head.nbytes > stored
    assert head.parameters == sum(weight.numel for weight in heads.layer.weights.values())


@pytest.mark.parametrize("write", [plain, gguf])
def test_a_layer_beside_a_target_that_multiplies_in_float16_does_so_too(write, tmp_path):
    drafted = Drafted(QWEN)
    file = open_checkpoint(write(drafted, tmp_path))
    target = load_model(file, torch.float16, "cpu", no_progress, context=64)
    head = load_heads(built_in_heads(file), target, 64)
    rows, last = Rows.text(TEXT[:-1], 0), target.layers
    hidden = target.forward(rows, target.new_cache(64), hidden_layers=[last]).hidden
    cache = head.new_cache()
    found = head.forward(Rows.text(TEXT[1:], 0), head.fuse(hidden), cache)
    torch.testing.assert_close(found, drafted.guessed()[0], rtol=0.02, atol=0.02)
    assert {cache.dtype, *(matrix.workspace.dtype for matrix in packed_in(head.module))} == {torch.float16}


@pytest.mark.parametrize(("kind", "write"), [(MOE, fp8), (MOE, gguf), (GLM, gguf)])
def test_trees_grown_with_it_give_the_text_of_plain_decoding(kind, write, tmp_path):
    file = open_checkpoint(write(Drafted(kind), tmp_path))
    target = load_model(file, torch.float32, "cpu", no_progress, context=64, packed=True)
    heads = load_heads(built_in_heads(file), target, 64)
    session = Session(LoadedPair(Sequence(target, 64), None, Letters(), heads))
    texts = {}
    for drafter in ("none", "eagle", "merged"):
        options = Options(drafter=drafter, seed=3, temperature=1.0, max_new_tokens=24, budget=8)
        chat = Chat(id=0, messages=[Message("user", "Hello")], options=options)
        texts[drafter] = session.answer(chat, lambda event: None, lambda: False).token_ids
    assert texts["eagle"] == texts["merged"] == texts["none"]


def test_a_layer_that_is_stored_in_an_unsupported_way_is_left_out(tmp_path):
    folder = plain(Drafted(QWEN), tmp_path)
    tensors = load_file(folder / "model.safetensors")
    name = "mtp.layers.0.mlp.up_proj.weight"
    tensors[name] = tensors[name].to(torch.float8_e4m3fn)[None].clone()  # in three dimensions, with a scale
    tensors[f"{name}_scale_inv"] = torch.ones(1)
    save_file(tensors, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    settings = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": settings}))
    last = "model.layers.0.mlp.up_proj.weight"
    tensors[last] = tensors[last].to(torch.float8_e4m3fn)
    tensors[f"{last}_scale_inv"] = torch.ones(1, 1)
    save_file(tensors, folder / "model.safetensors")
    assert built_in_heads(open_checkpoint(folder)) is None


# -- the layer beside its target -----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    return write_drafting(tmp_path / "target")


def write_drafting(folder, **sizes):
    """Write a tiny target of random weights with a random layer for drafts."""
    write_target(folder)
    module = reference("qwen3_5_text", tie_word_embeddings=False, **sizes)
    module.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(module.config.to_dict() | {"mtp_num_hidden_layers": 1}))
    config = layer_config(module.config)
    torch.manual_seed(1)
    save_layer(folder, MtpLayer(config).state_dict())
    return folder


def save_layer(folder, weights):
    stored = load_file(folder / "model.safetensors")
    stored = {name: weight for name, weight in stored.items() if not name.startswith("mtp.")}
    stored |= {f"mtp.{name}": weight.detach().contiguous() for name, weight in weights.items()}
    save_file(stored, folder / "model.safetensors")


def load(engine, folder, **settings):
    request = Load(id=1, target=str(folder), dtype="float32", device="cpu", context=96, **settings)
    return engine.load(request, lambda event: None, lambda: False)


def answer(engine, drafter):
    options = Options(
        drafter=drafter, seed=4, temperature=1.0, max_new_tokens=30, logit_bias={2: -30.0}, budget=8
    )
    request = Chat(id=2, messages=[Message("user", "HELLO")], options=options)
    return engine.answer(request, lambda event: None, lambda: False)


def trained(folder, tokens):
    """Return a layer that has learnt this text of the target's."""
    module = reference("qwen3_5_text", tie_word_embeddings=False).requires_grad_(False)
    config = layer_config(module.config)
    torch.manual_seed(2)
    layer = MtpLayer(config)
    ids = torch.tensor([tokens])
    states, embedded = module.model(ids).last_hidden_state[:, :-2], module.model.embed_tokens(ids[:, 1:-1])
    rows = states.shape[1]
    attention = dict(
        position_embeddings=module.model.rotary_emb(states, torch.arange(rows)[None]),
        attention_mask=torch.full((rows, rows), float("-inf")).triu(1)[None, None],
    )
    optimizer = torch.optim.Adam(layer.parameters(), lr=2e-2)
    for _ in range(40):
        logits = module.lm_head(layer(embedded, states, **attention))
        loss = torch.nn.functional.cross_entropy(logits[0], ids[0, 2:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return layer.state_dict()


def test_it_loads_with_its_target_and_saves_passes_where_it_has_learnt_the_text(folder):
    engine = EngineService()
    loaded = load(engine, folder)
    assert (loaded.draft.architecture, loaded.draft.layers) == ("mtp", 1)
    assert {"eagle", "merged"} <= set(loaded.drafters)
    plain = answer(engine, "none")
    assert answer(engine, "eagle").token_ids == plain.token_ids
    prompt = prompt_tokens(engine.session.pair.tokenizer, [Message("user", "HELLO")])
    save_layer(folder, trained(folder, [*prompt, *plain.token_ids]))
    load(engine, folder)
    passes = {}
    for drafter in ("recycling+pld", "eagle", "merged"):
        found = answer(engine, drafter)
        assert found.token_ids == plain.token_ids
        passes[drafter] = found.target_passes
    engine.unload()
    print(f"{len(plain.token_ids)} tokens, passes: {passes}")
    assert max(passes["eagle"], passes["merged"]) < 0.75 * passes["recycling+pld"], passes


@pytest.mark.parametrize(("pays", "by_itself"), [(0.0, "mtp"), (1e9, None)])
def test_beside_a_streamed_target_it_loads_on_request_and_by_itself_where_it_pays(
    pays, by_itself, tmp_path, monkeypatch
):
    """pays: how many times as fast the target has to be with it."""
    layers = ["linear_attention", "full_attention"] * 4
    folder = write_drafting(tmp_path / "target", layer_types=layers, num_hidden_layers=len(layers))
    monkeypatch.setattr(selection, "OWN_LAYER_PAYS", pays)
    monkeypatch.setattr(planner, "history", lambda: ())  # where the answers of other tests are
    engine = EngineService()
    limit, roomy = 320_000 / 2**30, 0.5
    for settings, expected in (
        (dict(draft="none"), None),
        (dict(ram_limit=roomy), "mtp"),
        (dict(ram_limit=limit), by_itself),
        (dict(draft="mtp", ram_limit=limit), "mtp"),
    ):
        loaded = load(engine, folder, **settings)
        assert (loaded.draft and loaded.draft.architecture) == expected
        assert engine.fitted.plan.streams == (settings.get("ram_limit") == limit)
    assert answer(engine, "eagle").token_ids == answer(engine, "none").token_ids
    engine.unload()


@pytest.mark.parametrize(("pass_s", "learnt"), [(0.0, ["mtp"]), (1e9, [])])
def test_an_answer_that_it_drafted_corrects_later_plans_with_it(pass_s, learnt, folder, monkeypatch):
    """pass_s: how many seconds a pass has to take for the layer to draft by itself."""
    monkeypatch.setattr(session, "HEADS_PASS_S", pass_s)
    kept = []
    monkeypatch.setattr(planner, "history", lambda: ())
    monkeypatch.setattr(planner, "remember", kept.append)
    engine = EngineService()
    load(engine, folder)
    assert engine.fitted.plan.heads == "own layer"
    answer(engine, "auto")
    assert [each.draft for each in kept] == learnt
    engine.unload()


def test_a_target_without_such_a_layer_says_so(folder):
    save_layer(folder, {})
    assert built_in_heads(open_checkpoint(folder)) is None
    with pytest.raises(BadOption, match="no layer for drafts"):
        load(EngineService(), folder, draft="mtp")


@pytest.mark.parametrize("kind", [QWEN, MOE])
def test_it_drafts_for_a_target_of_compiled_passes(kind, tmp_path):
    folder = write_target(tmp_path / "target")
    module = tiny(kind, tie_word_embeddings=False)
    module.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(module.config.to_dict() | {"mtp_num_hidden_layers": 1}))
    torch.manual_seed(1)
    save_layer(folder, MtpLayer(layer_config(module.config)).state_dict())
    engine = EngineService()
    request = Load(id=1, target=str(folder), device="cpu", context=96)
    loaded = engine.load(request, lambda event: None, lambda: False)
    assert isinstance(engine.session.pair.target.model, CompiledModel)
    assert isinstance(engine.session.pair.heads, CompiledMtpHead)
    assert (loaded.draft.name, loaded.draft.packed) == ("MTP layer", kind == MOE)
    in_memory = {part.what: part.nbytes for part in loaded.memory.parts}
    assert in_memory["heads"] == loaded.draft.nbytes > 0
    plain = answer(engine, "none").token_ids
    assert answer(engine, "eagle").token_ids == plain
    assert answer(engine, "merged").token_ids == plain
    engine.unload()


def test_a_model_runs_without_a_layer_for_drafts_whose_factors_are_damaged(tmp_path):
    drafted = Drafted(GLM, hidden_size=64)
    name = f"blk.{drafted.layers}.attn_q.scale"
    files = [
        drafted.gguf(tmp_path / f"{count}.gguf", "NVFP4", {name: np.ones(count, np.float32)})
        for count in (1, 2)
    ]
    whole, damaged = map(open_checkpoint, files)
    assert whole.draft
    assert not damaged.draft
    assert damaged.weights.keys() == whole.weights.keys()
