import json
from dataclasses import replace

import pytest

from app.wizard.selection.drafts import check, compared, propose, vocabulary
from engine import catalog
from engine.catalog import Variant
from engine.checkpoints.vocabulary import Vocabulary
from engine.hub import Hub, Repository, Stop, Stopped
from tests.engine.hub.conftest import content
from tests.engine.hub.lying_hub import LyingHub, Offered, drops, stalls

GIB = 1 << 30
TARGET = "somebody/Qwen2.5-99B-Instruct"


def tokenizer(*tokens: str, added: tuple[str, ...] = ()) -> bytes:
    vocab = {token: index for index, token in enumerate(tokens)}
    extra = [{"id": len(tokens) + index, "content": token} for index, token in enumerate(added)]
    return json.dumps({"model": {"type": "BPE", "vocab": vocab}, "added_tokens": extra}).encode()


def target(server: LyingHub, **files: bytes) -> Repository:
    server.repositories[TARGET] = Offered({"model.safetensors": content(99), "config.json": b"{}", **files})
    return Hub(server.endpoint).repository(TARGET)


def draft(server: LyingHub, said: bytes) -> Variant:
    """Return Qwen2.5 0.5B in its smallest format; every folder variant on the Hub has this tokenizer."""
    models = catalog.catalog().models
    for variant in models["qwen2.5-0.5b"].variants:
        server.repositories[variant.repository] = Offered({"tokenizer.json": said, "config.json": b"{}"})
    return min(models["qwen2.5-0.5b"].variants, key=lambda variant: variant.nbytes)


def asked_files(server: LyingHub) -> list[str]:
    return [asked.path.rpartition("/")[2] for asked in server.asked if "/resolve/" in asked.path]


def test_drafts_of_the_family_in_the_name_are_proposed_largest_first() -> None:
    repository = Repository(TARGET, "0" * 40, "", False, "", ())
    found = propose(catalog.catalog(), repository, 60 * GIB)
    assert {catalog.catalog().models[variant.model].family for variant in found} == {"qwen2.5"}
    assert [variant.nbytes for variant in found] == sorted((v.nbytes for v in found), reverse=True)
    assert len({variant.model for variant in found}) == len(found)


def test_no_draft_is_proposed_that_is_too_large_or_of_an_unknown_family() -> None:
    known = catalog.catalog()
    repository = Repository(TARGET, "0" * 40, "", False, "", ())
    assert all(variant.nbytes < GIB for variant in propose(known, repository, 2 * GIB))
    assert propose(known, repository, 1000) == []
    assert propose(known, replace(repository, id="somebody/Zebra-7B"), 60 * GIB) == []


def test_equal_tokenizers_fit_without_a_download(server: LyingHub) -> None:
    said = tokenizer("a", "b")
    verdict = check(
        Hub(server.endpoint),
        catalog.catalog(),
        target(server, **{"tokenizer.json": said}),
        draft(server, said),
        Stop(),
    )
    assert verdict.says == "fits"
    assert asked_files(server) == []


def test_different_files_with_equal_token_ids_fit_and_only_tokenizers_are_fetched(server: LyingHub) -> None:
    ours, theirs = tokenizer("a", "b", "c"), tokenizer("a", "b", added=("c",))
    verdict = check(
        Hub(server.endpoint),
        catalog.catalog(),
        target(server, **{"tokenizer.json": ours}),
        draft(server, theirs),
        Stop(),
    )
    assert verdict.says == "fits"
    assert asked_files(server) == ["tokenizer.json"] * 2


def test_a_draft_with_different_token_ids_does_not_fit_and_the_reason_is_given(server: LyingHub) -> None:
    ours, theirs = tokenizer("a", "b", "c"), tokenizer("a", "c", "b")
    verdict = check(
        Hub(server.endpoint),
        catalog.catalog(),
        target(server, **{"tokenizer.json": ours}),
        draft(server, theirs),
        Stop(),
    )
    assert verdict.says == "differs"
    assert "2 of 3 tokens" in verdict.message
    assert "token 1 is 'b' in the target and 'c' in the draft" in verdict.message
    assert verdict.hint


def test_without_a_tokenizer_the_result_is_unknown(server: LyingHub) -> None:
    verdict = check(
        Hub(server.endpoint), catalog.catalog(), target(server), draft(server, tokenizer("a")), Stop()
    )
    assert verdict.says == "unknown"
    assert "tokenizer.json" in verdict.message


def test_a_check_ends_when_it_is_stopped(server: LyingHub) -> None:
    source, stop = Hub(server.endpoint), Stop()
    repository = target(server, **{"tokenizer.json": tokenizer("a")})
    wanted = draft(server, tokenizer("b"))
    server.faults["tokenizer.json"].append(stalls(0))
    stop.ask()
    with pytest.raises(Stopped):
        check(source, catalog.catalog(), repository, wanted, stop)


def test_a_check_survives_a_broken_connection(server: LyingHub) -> None:
    server.faults["tokenizer.json"].append(drops(2))
    ours, theirs = tokenizer("a", "b"), tokenizer("a", "x")
    verdict = check(
        Hub(server.endpoint),
        catalog.catalog(),
        target(server, **{"tokenizer.json": ours}),
        draft(server, theirs),
        Stop(),
    )
    assert verdict.says == "differs"


@pytest.mark.parametrize("names", [("<unused5>", "<|reserved_special_token_5|>"), ("[PAD7]", None)])
def test_unused_token_ids_are_ignored(names: tuple[str, str | None]) -> None:
    one, other = names
    ours = Vocabulary({0: "a", 1: one})
    assert compared("d", ours, Vocabulary({0: "a"} | ({1: other} if other else {}))).says == "fits"
    assert compared("d", ours, Vocabulary({0: "a", 1: "word"})).says == "differs"


def test_unigram_vocabularies_are_lists() -> None:
    said = {"model": {"type": "Unigram", "vocab": [["a", -1.0], ["b", -2]]}, "added_tokens": []}
    assert vocabulary(json.dumps(said).encode()) == Vocabulary({0: "a", 1: "b"})


def test_special_tokens_are_those_that_say_so() -> None:
    added = [{"id": 2, "content": "[THINK]", "special": True}, {"id": 3, "content": "<think>"}]
    said = {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}}, "added_tokens": added}
    assert vocabulary(json.dumps(said).encode()).special == {2}
