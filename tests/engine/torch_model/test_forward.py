import numpy as np
import pytest
import torch

from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.torch_model.visibility import ROWS_PER_PIECE
from tests.engine.models import CONFIGS, ours, reference

TEXT = [1, *range(3, 40), 5, 5, 9]


def expected_logits(module, tokens):
    with torch.inference_mode():
        return module(torch.tensor([tokens])).logits[0]


@pytest.mark.parametrize("kind", CONFIGS)
def test_plain_rows_equal_transformers_forward(kind):
    module = reference(kind)
    sequence = Sequence(ours(module), capacity=64)
    rows = Rows.text(TEXT, 0)
    logits = sequence.model.forward(rows, sequence.cache).logits
    torch.testing.assert_close(logits, expected_logits(module, TEXT), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", CONFIGS)
def test_each_tree_node_sees_its_path_as_plain_text_would(kind):
    module = reference(kind)
    sequence = Sequence(ours(module), capacity=64)
    sequence.extend(TEXT)
    #        0        1
    #      2   3      4
    #     5           6     the parents are listed below; run in two passes, so that the second has a tail
    tokens, parents = [7, 8, 9, 10, 11, 12, 13], [-1, -1, 0, 0, 1, 2, 4]
    visible = np.eye(7, dtype=np.bool_)
    paths = []
    for node, parent in enumerate(parents):
        if parent >= 0:
            visible[node] |= visible[parent]
        paths.append([*(paths[parent] if parent >= 0 else TEXT), tokens[node]])
    positions = [len(path) - 1 for path in paths]
    first = sequence.consider(tokens[:5], positions[:5], visible[:5, :5]).logits
    second = sequence.consider(tokens[5:], positions[5:], visible[5:]).logits
    for logits, path in zip(torch.cat([first, second]), paths, strict=True):
        torch.testing.assert_close(logits, expected_logits(module, path)[-1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", CONFIGS)
def test_kept_rows_equal_rows_computed_as_plain_text(kind):
    module = reference(kind)
    model = ours(module)
    gathered, fresh = Sequence(model, 64), Sequence(model, 64)
    gathered.extend(TEXT)
    visible = np.eye(4, dtype=np.bool_)
    visible[2, 0] = visible[3, 0] = visible[3, 2] = True
    gathered.consider([7, 8, 9, 10], [len(TEXT) + depth for depth in (0, 0, 1, 2)], visible)
    gathered.keep([0, 2, 3], [7, 9, 10])
    fresh.extend([*TEXT, 7, 9, 10])
    assert gathered.ids == fresh.ids
    for layer in range(model.layers):
        torch.testing.assert_close(gathered.cache.rows(layer), fresh.cache.rows(layer), rtol=1e-4, atol=1e-5)
    logits = gathered.extend([11, 12])
    expected = expected_logits(module, [*TEXT, 7, 9, 10, 11, 12])[-1]
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["mistral", "gemma2", "gemma3_text", "phi3_long"])
def test_a_prompt_longer_than_one_piece_equals_transformers_forward(kind):
    module = reference(kind, max_position_embeddings=1024)
    text = torch.randint(
        3, 60, (ROWS_PER_PIECE * 2 + 17,), generator=torch.Generator().manual_seed(3)
    ).tolist()
    logits = Sequence(ours(module), capacity=1024).extend(text)
    torch.testing.assert_close(logits, expected_logits(module, text)[-1], rtol=1e-4, atol=1e-4)


def test_hidden_states_of_the_requested_layers_are_returned():
    module = reference("llama")
    sequence = Sequence(ours(module), capacity=64)
    rows = Rows.text(TEXT, 0)
    output = sequence.model.forward(rows, sequence.cache, hidden_layers=[0, 1], logits_for=slice(-2, None))
    with torch.inference_mode():
        states = module(torch.tensor([TEXT]), output_hidden_states=True).hidden_states
    assert output.hidden.keys() == {0, 1}
    for layer in (0, 1):
        torch.testing.assert_close(output.hidden[layer], states[layer + 1][0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["llama", "gemma2"])
def test_the_number_of_layers_stands_for_the_input_of_the_head(kind):
    module = reference(kind)
    model = ours(module)
    rows = Rows.text(TEXT, 0)
    output = model.forward(
        rows, model.new_cache(64), hidden_layers=[model.layers], logits_for=slice(-2, None)
    )
    with torch.inference_mode():
        # transformers' last hidden state is that after the final norm.
        states = module(torch.tensor([TEXT]), output_hidden_states=True).hidden_states
    assert output.hidden.keys() == {model.layers}
    torch.testing.assert_close(output.hidden[model.layers], states[-1][0], rtol=1e-4, atol=1e-4)


def test_an_interrupted_pass_leaves_the_sequence_unchanged():
    class Ended(Exception):
        pass

    def progress(done, total):
        if done == 2:
            raise Ended

    model = ours(reference("llama"))
    sequence, undisturbed = Sequence(model, 64), Sequence(model, 64)
    sequence.extend(TEXT)
    with pytest.raises(Ended):
        sequence.extend([7, 8, 9], progress)
    assert sequence.ids == TEXT
    undisturbed.extend(TEXT)
    assert torch.equal(sequence.extend([4, 5]), undisturbed.extend([4, 5]))


def test_common_prefix_is_kept_after_an_edit_in_the_middle():
    model = ours(reference("qwen2"))
    sequence = Sequence(model, 64)
    sequence.extend(TEXT)
    edited = [*TEXT[:10], 50, *TEXT[11:]]
    assert sequence.align(edited) == 10
    torch.testing.assert_close(
        sequence.extend(edited[10:]), Sequence(model, 64).extend(edited), rtol=1e-4, atol=1e-4
    )
