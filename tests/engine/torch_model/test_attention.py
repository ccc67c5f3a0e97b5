"""Every keyword that an attention module passes is computed, or refused by its name."""

import pytest
import torch
from transformers import AttentionInterface
from transformers.models.gemma2.modeling_gemma2 import eager_attention_forward as capped_reference
from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward as sinks_reference

from engine.errors import UnsupportedModel
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.torch_model.attention import ATTENTION
from engine.torch_model.visibility import ROWS_PER_PIECE, TensorRows, Visibility
from tests.engine.models import ours, reference

TEXT = [1, *range(3, 40), 5, 5, 9]
attend = AttentionInterface()[ATTENTION]


class Asking(torch.nn.Module):
    """An attention module that passes one keyword more than the one it stands in for."""

    def __init__(self, module, **keyword):
        super().__init__()
        self.module, self.keyword = module, keyword

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs, **self.keyword)


def with_keyword(**keyword):
    """A sequence of a tiny model whose last layer's attention passes `keyword` too."""
    model = ours(reference("llama"))
    layer = model.module.model.layers[-1]
    layer.self_attn = Asking(layer.self_attn, **keyword)
    return Sequence(model, 64)


@pytest.mark.parametrize(
    "keyword",
    [
        {"position_bias": torch.zeros(4, 44, 44)},  # T5's
        {"sinks": torch.zeros(4)},  # Inkling 2's
        {"indices": torch.zeros(4, 44, dtype=torch.int64)},  # DeepSeek 3.2's, of the keys to attend to
        {"block_indices": torch.zeros(4, 2)},  # MiniMax M3's
        {"cu_seq_lens_q": torch.tensor([0, 20, 44])},  # texts in one row
        {"is_causal": False},
        {"deterministic": False},
        {"alibi": 0.0},  # not even a value that may mean nothing
    ],
    ids=lambda keyword: next(iter(keyword)),
)
def test_a_keyword_that_attention_does_not_know_is_refused_by_its_name(keyword):
    sequence = with_keyword(**keyword)
    with pytest.raises(UnsupportedModel, match=next(iter(keyword))):
        sequence.extend(TEXT)


@pytest.mark.parametrize(
    "keyword",
    [{"position_bias": None}, {"is_causal": True}, {"output_attentions": True}, {"s_aux": None}],
    ids=str,
)
def test_a_keyword_that_asks_for_nothing_changes_nothing(keyword):
    expected = Sequence(ours(reference("llama")), 64).extend(TEXT)
    assert torch.equal(with_keyword(**keyword).extend(TEXT), expected)


def test_dropout_is_refused():
    query, key, value, visibility, _ = made(5)
    with pytest.raises(UnsupportedModel, match="dropout"):
        attend(torch.nn.Identity(), query, key, value, visibility, scaling=1.0, dropout=0.1)


def made(rows):
    """Queries of 6 heads, keys and values of 2, of plain text; also the mask as transformers adds it."""
    generator = torch.Generator().manual_seed(rows)
    query = torch.randn(1, 6, rows, 8, generator=generator)
    key, value = torch.randn(2, 1, 2, rows, 8, generator=generator)
    seen = TensorRows.of(Rows.text([3] * rows, 0))
    positions = torch.arange(rows)
    mask = torch.zeros(rows, rows).masked_fill(positions[None] > positions[:, None], float("-inf"))
    return query, key, value, Visibility(seen, rows - 1, 0, positions[:0]), mask[None, None]


def standing_for(**values):
    """A module as transformers' eager attention reads it."""
    module = torch.nn.Module()
    for name, value in {"num_key_value_groups": 3, **values}.items():
        setattr(module, name, value)
    return module.eval()


@pytest.mark.parametrize("rows", [1, 7, ROWS_PER_PIECE + 9])
def test_sinks_take_their_share_as_in_transformers(rows):
    query, key, value, visibility, mask = made(rows)
    sinks = torch.linspace(-1, 3, 6)
    expected, _ = sinks_reference(standing_for(sinks=sinks), query, key, value, mask, scaling=0.3)
    found, _ = attend(torch.nn.Identity(), query, key, value, visibility, scaling=0.3, s_aux=sinks)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    without, _ = attend(torch.nn.Identity(), query, key, value, visibility, scaling=0.3)
    assert not torch.allclose(found, without, atol=0.01)


@pytest.mark.parametrize("rows", [1, 7, ROWS_PER_PIECE + 9])
def test_scores_are_capped_as_in_transformers(rows):
    query, key, value, visibility, mask = made(rows)
    expected, _ = capped_reference(standing_for(), query, key, value, mask, scaling=0.9, softcap=1.5)
    found, _ = attend(torch.nn.Identity(), query, key, value, visibility, scaling=0.9, softcap=1.5)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_sinks_and_a_cap_and_a_window_are_computed_together():
    query, key, value, visibility, mask = made(20)
    positions = torch.arange(20)
    mask = mask.masked_fill(positions[None] <= positions[:, None] - 4, float("-inf"))
    sinks = torch.linspace(-2, 2, 6)
    repeated = key.repeat_interleave(3, dim=1), value.repeat_interleave(3, dim=1)
    scores = 1.5 * torch.tanh(query @ repeated[0].transpose(2, 3) * 0.9 / 1.5) + mask
    shares = torch.cat([scores, sinks.view(1, 6, 1, 1).expand(-1, -1, 20, -1)], -1).softmax(-1)[..., :20]
    found, _ = attend(
        torch.nn.Identity(), query, key, value, visibility, 0.9, sliding_window=4, softcap=1.5, s_aux=sinks
    )
    torch.testing.assert_close(found, (shares @ repeated[1]).transpose(1, 2), rtol=1e-5, atol=1e-6)


def test_layers_of_which_some_have_fewer_key_heads_agree_while_the_window_holds_the_text():
    """Until then, all layers see the same tokens, but masks are repeated for as many heads as share a key."""
    module, text = reference("gemma4_large"), TEXT[:6]
    found = Sequence(ours(module), 64).extend(text)
    with torch.inference_mode():
        expected = module(torch.tensor([text])).logits[0, -1]
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)
