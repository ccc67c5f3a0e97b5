"""The layer for multi-token prediction that comes with Qwen 3.5, read from the target's own files."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5DecoderLayer

from engine.checkpoints import open_checkpoint
from engine.errors import BadOption
from engine.heads import built_in_heads
from engine.model.compiled import CompiledModel
from engine.model.interface import no_progress
from engine.model.rows import Rows
from engine.protocol import Chat, Load, Message, Options
from engine.serving.service import EngineService
from engine.torch_model.heads import load_heads
from engine.torch_model.loader import load_model
from engine.torch_model.mtp import MtpLayer, mtp_config
from tests.engine.heads.test_service import write_target
from tests.engine.model.test_compiled import tiny
from tests.engine.models import reference

TEXT = [8, 5, 12, 12, 15, 23, 44, 3, 9]


@pytest.fixture
def folder(tmp_path):
    """A tiny target of random weights with a random layer for drafts."""
    folder = write_target(tmp_path / "target")
    module = reference("qwen3_5_text", tie_word_embeddings=False)
    module.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(module.config.to_dict() | {"mtp_num_hidden_layers": 1}))
    config = mtp_config(module.config.to_dict())
    config._attn_implementation = "eager"
    torch.manual_seed(1)
    save_layer(folder, MtpLayer(config).state_dict())
    return folder


def save_layer(folder, weights):
    stored = load_file(folder / "model.safetensors")
    stored = {name: weight for name, weight in stored.items() if not name.startswith("mtp.")}
    stored |= {f"mtp.{name}": weight.detach().contiguous() for name, weight in weights.items()}
    save_file(stored, folder / "model.safetensors")


def norm(states, weight, eps=1e-6):
    return states * torch.rsqrt(states.pow(2).mean(-1, keepdim=True) + eps) * (1 + weight)


@torch.inference_mode()
def test_guesses_equal_the_layer_written_out(folder):
    file = open_checkpoint(folder)
    target = load_model(file, torch.float32, "cpu", no_progress, context=64)
    head = load_heads(built_in_heads(file), target, 64)
    hidden = target.forward(
        Rows.text(TEXT[:-1], 0), target.new_cache(64), hidden_layers=[target.layers]
    ).hidden
    found = head.forward(Rows.text(TEXT[1:], 0), head.fuse(hidden), head.new_cache())

    weights = {name: torch.from_numpy(part.read()) for name, part in built_in_heads(file).tensors.items()}
    module = reference("qwen3_5_text", tie_word_embeddings=False)
    states = module.model(torch.tensor([TEXT[:-1]])).last_hidden_state
    embedded = module.model.embed_tokens(torch.tensor([TEXT[1:]]))
    both = [norm(embedded, weights["pre_fc_norm_embedding.weight"])]
    both.append(norm(states, weights["pre_fc_norm_hidden.weight"]))
    layer = Qwen3_5DecoderLayer(module.config, 1)  # which attends
    layer.load_state_dict(
        {name.removeprefix("layers.0."): each for name, each in weights.items() if name.startswith("layers")}
    )
    rows = len(TEXT) - 1
    made = layer(
        torch.cat(both, dim=-1) @ weights["fc.weight"].T,
        position_embeddings=module.model.rotary_emb(states, torch.arange(rows)[None]),
        attention_mask=torch.full((rows, rows), float("-inf")).triu(1)[None, None],
    )
    expected = norm(made, weights["norm.weight"])[0]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    tokens, log_probs = head.best(found, 3)
    best = module.lm_head(expected).log_softmax(-1).topk(3)
    assert tokens.tolist() == best.indices.tolist()
    torch.testing.assert_close(torch.from_numpy(log_probs), best.values, rtol=1e-3, atol=1e-3)


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
    config = mtp_config(module.config.to_dict())
    config._attn_implementation = "eager"
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
    prompt = engine.session.tokens_of([Message("user", "HELLO")])
    save_layer(folder, trained(folder, [*prompt, *plain.token_ids]))
    load(engine, folder)
    passes = {}
    for drafter in ("recycling+pld", "eagle", "merged"):
        found = answer(engine, drafter)
        assert found.token_ids == plain.token_ids
        passes[drafter] = found.target_passes
    engine.unload()
    assert max(passes["eagle"], passes["merged"]) < 0.75 * passes["recycling+pld"], passes


def test_it_is_left_out_on_request_and_loads_beside_a_streamed_target_only_on_request(folder):
    engine = EngineService()
    limit = 260_000 / 2**30
    for settings, expected in (
        (dict(draft="none"), None),
        (dict(ram_limit=limit), None),
        (dict(draft="mtp", ram_limit=limit), "mtp"),
    ):
        loaded = load(engine, folder, **settings)
        assert (loaded.draft and loaded.draft.architecture) == expected
    assert answer(engine, "eagle").token_ids == answer(engine, "none").token_ids
    engine.unload()


def test_a_target_without_such_a_layer_says_so(folder):
    save_layer(folder, {})
    assert built_in_heads(open_checkpoint(folder)) is None
    with pytest.raises(BadOption, match="no layer for drafts"):
        load(EngineService(), folder, draft="mtp")


def test_it_drafts_for_a_target_of_compiled_passes(tmp_path):
    folder = write_target(tmp_path / "target")
    module = tiny("qwen3_5_text", tie_word_embeddings=False)
    module.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(module.config.to_dict() | {"mtp_num_hidden_layers": 1}))
    config = mtp_config(module.config.to_dict())
    config._attn_implementation = "eager"
    torch.manual_seed(1)
    save_layer(folder, MtpLayer(config).state_dict())
    engine = EngineService()
    engine.load(Load(id=1, target=str(folder), device="cpu", context=96), lambda event: None, lambda: False)
    assert isinstance(engine.session.pair.target.model, CompiledModel)
    assert engine.session.pair.heads.method == "eagle"
    plain = answer(engine, "none").token_ids
    assert answer(engine, "eagle").token_ids == plain
    assert answer(engine, "merged").token_ids == plain
    engine.unload()
