"""Heads in a folder, loaded through the engine service next to a target that is resident or streamed."""

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from engine.errors import BadOption, SpecExecError
from engine.protocol import Chat, Forget, Load, Message, Options
from engine.serving.prompts import prompt_tokens
from engine.serving.service import EngineService
from tests.engine.conftest import model_file
from tests.engine.heads import made
from tests.engine.models import VOCABULARY, reference

METHODS = {
    "eagle": "eagle",
    "eagle3": "eagle",
    "medusa_2": "medusa",
    "p-eagle": "p-eagle",
    "dflash": "dflash",
}
# Of the target's matrices, which take twice as much; a plan reckons with two pieces of 64 rows in motion.
NBYTES = {False: None, True: 150_000 / 2**30}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A target whose head is not tied, so that it can be streamed too."""
    return write_target(tmp_path_factory.mktemp("target"), tie_word_embeddings=False)


def write_target(folder, **changes):
    """Write a tiny target whose tokens are letters."""
    module = reference("llama", num_hidden_layers=4, **changes)
    module.save_pretrained(folder)
    letters = {chr(64 + n): n for n in range(module.config.vocab_size)}
    backend = Tokenizer(models.BPE(letters, []))
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    backend.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    return folder


def load(engine, folder, heads, **settings):
    request = Load(
        id=1, target=str(folder), draft=str(heads), dtype="float32", device="cpu", context=96, **settings
    )
    return engine.load(request, lambda event: None, lambda: False)


def answer(engine, drafter, text="HELLO", conversation="", **options):
    options = Options(drafter=drafter, seed=4, max_new_tokens=10, **options)
    request = Chat(id=2, messages=[Message("user", text)], options=options, conversation=conversation)
    return engine.answer(request, lambda event: None, lambda: False)


@pytest.mark.parametrize("streamed", [False, True], ids=["resident", "streamed"])
@pytest.mark.parametrize("kind", METHODS)
def test_with_heads_the_answer_equals_that_of_plain_decoding(tmp_path, folder, kind, streamed):
    engine, method = EngineService(), METHODS[kind]
    heads = made.save(tmp_path, kind, made.random_weights(kind))
    loaded = load(engine, folder, heads, drafter=method, ram_limit=NBYTES[streamed])
    try:
        assert loaded.drafter == "recycling+pld", "a pass of so small a target takes no time"
        assert {method, "merged"} <= set(loaded.drafters)
        assert (loaded.draft.path, loaded.draft.nbytes > 0) == (str(heads), True)
        for setting in (dict(), dict(temperature=0.8, top_p=0.9)):
            plain = answer(engine, "none", **setting)
            assert (plain.bytes_streamed > 0) == streamed
            for name in (method, "auto", "merged"):
                found = answer(engine, name, budget=24, **setting)
                assert found.token_ids == plain.token_ids
                assert found.drafter == (loaded.drafter if name == "auto" else name)
    finally:
        engine.unload()


@pytest.mark.parametrize(("limit", "drafter"), [(None, "recycling+pld"), (0.05, "merged")])
def test_heads_that_cost_much_beside_a_pass_are_left_out_by_auto(limit, drafter):
    """In RAM, a pass of SmolLM2 takes hardly longer than a round of its heads; from the SSD it does."""
    model_file("smollm2")
    engine = EngineService()
    loaded = engine.load(
        Load(id=1, device="cpu", context=256, ram_limit=limit), lambda event: None, lambda: False
    )
    assert loaded.draft is not None
    assert loaded.drafter == drafter
    assert "merged" in loaded.drafters
    engine.unload()


@pytest.mark.parametrize("kind", METHODS)
def test_heads_accept_the_same_guesses_with_a_streamed_and_a_resident_target(tmp_path, folder, kind):
    """With different states or a different shared head, other guesses would be accepted."""
    heads = made.save(tmp_path, kind, made.random_weights(kind))
    found = []
    for streamed in (False, True):
        engine = EngineService()
        load(engine, folder, heads, ram_limit=NBYTES[streamed])
        answers = [answer(engine, METHODS[kind], text, budget=60) for text in ("HELLO", "HELLOAGAIN")]
        found.append([(each.token_ids, each.target_passes) for each in answers])
        engine.unload()
    assert found[0] == found[1]
    assert any(passes < len(tokens) - 1 for tokens, passes in found[0]), "no guess was ever accepted"


@pytest.mark.parametrize("changes", [dict(hidden_size=64), dict(vocab_size=VOCABULARY + 9)], ids=str)
@pytest.mark.parametrize("kind", ["eagle", "eagle3", "medusa"])
def test_heads_for_another_target_are_refused(tmp_path, kind, changes):
    other = write_target(tmp_path / "other", **changes)
    engine = EngineService()
    with pytest.raises(SpecExecError) as refused:
        load(engine, other, made.save(tmp_path / "heads", kind, made.random_weights(kind)))
    assert refused.value.kind in ("bad_checkpoint", "vocabulary_mismatch")
    assert refused.value.message.endswith(".")
    assert refused.value.hint
    assert engine.session is None


def test_a_drafter_that_does_not_match_the_heads_is_refused(tmp_path, folder):
    heads = made.save(tmp_path, "medusa", made.random_weights("medusa"))
    for name in ("eagle", "specexec"):
        with pytest.raises(BadOption) as refused:
            load(EngineService(), folder, heads, drafter=name)
        assert "medusa" in refused.value.hint


@pytest.mark.parametrize("kind", ["eagle", "dflash"])
def test_rows_of_a_deleted_chat_are_dropped_whichever_drafter_holds_them(tmp_path, folder, kind):
    """What another chat's answer drops later would be kept under that chat's name."""
    engine, method = EngineService(), METHODS[kind]
    load(engine, folder, made.save(tmp_path, kind, made.random_weights(kind)))
    deleted = "ABCDE" * 16
    answer(engine, method, deleted, "deleted", budget=8)
    drafter = engine.session.drafter(method)
    tokens = prompt_tokens(engine.session.pair.tokenizer, [Message("user", deleted)])
    assert drafter.covers(tokens) > 64
    answer(engine, "merged", "FGHIJ" * 16, "another", budget=8)
    engine.forget(Forget(id=3, conversation="deleted"))
    answer(engine, method, "KLMNO" * 16, "a third", budget=8)
    assert drafter.covers(tokens) < 8
    engine.unload()
