"""One conversation with the embedded default model, in this process."""

import copy

import pytest
import torch
from transformers import AutoModelForCausalLM

from engine.errors import BadNumbers, BadOption, EmptyPrompt, PromptTooLong
from engine.protocol import Chat, IterationDone, Message, Options, PrefillProgress, TextDelta, TreeGrown
from engine.serving.samplers import sampler_of


def ask(engine, messages, cancelled=lambda: False, **options):
    events = []
    messages = [Message("user", messages)] if isinstance(messages, str) else messages
    chat = Chat(id=0, messages=messages, options=Options(**{"seed": 3, **options}))
    answer = engine.session.answer(chat, events.append, cancelled)
    return answer, events


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


def test_the_text_deltas_make_up_the_answer(smollm2):
    answer, events = ask(smollm2, "Name three colours of the rainbow.", max_new_tokens=24)
    assert "".join(delta.text for delta in of(TextDelta, events)) == answer.text
    assert answer.text == smollm2.session.pair.tokenizer.decode(answer.token_ids)
    assert answer.tokens == len(answer.token_ids) <= 24


def test_counting_follows_the_contract(smollm2):
    answer, events = ask(smollm2, "Count from one to twenty.", max_new_tokens=40, budget=16)
    iterations = of(IterationDone, events)
    assert answer.target_passes == len(iterations) == iterations[-1].target_passes
    assert answer.tokens_per_pass == (answer.tokens - 1) / answer.target_passes > 1
    committed = [len(i.accepted) + (i.bonus_token is not None) for i in iterations]
    assert 1 + sum(committed) == answer.tokens
    for iteration in iterations:
        assert all(
            iteration.tree.parents[b] == a
            for a, b in zip(iteration.accepted, iteration.accepted[1:], strict=False)
        )
        assert len(iteration.tree.tokens) <= answer.budget
    spent = answer.seconds.draft + answer.seconds.target + answer.seconds.other
    assert spent == pytest.approx((answer.tokens - 1) / answer.tokens_per_second, rel=0.1)


def test_tree_drafting_equals_plain_decoding_in_float32(smollm2):
    for setting in (dict(), dict(temperature=0.8, top_p=0.9, seed=7)):
        plain, _ = ask(smollm2, "Why is the sky blue?", drafter="none", max_new_tokens=24, **setting)
        tree, _ = ask(
            smollm2, "Why is the sky blue?", drafter="recycling", budget=24, max_new_tokens=24, **setting
        )
        assert tree.token_ids == plain.token_ids
        assert plain.tokens_per_pass == 1
        assert tree.target_passes < plain.target_passes


def test_renewed_drafters_have_forgotten_earlier_answers(smollm2):
    def passes():
        answer, _ = ask(
            smollm2, "Name the seasons.", drafter="recycling", budget=24, max_new_tokens=40, temperature=0.0
        )
        return answer.target_passes

    smollm2.session.renew_drafters()
    first, again = passes(), passes()
    assert again < first, "the table knows the answer"
    smollm2.session.renew_drafters()
    assert passes() == first


def test_greedy_equals_transformers_generate_with_the_real_model(smollm2):
    ours = smollm2.session.pair.target.model
    config = copy.deepcopy(ours.config)
    config._attn_implementation = "eager"
    theirs = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    theirs.load_state_dict(ours.module.state_dict())
    tokenizer = smollm2.session.pair.tokenizer
    prompt = tokenizer.encode_chat([{"role": "user", "content": "Write a haiku about snow."}])
    expected = theirs.generate(
        torch.tensor([prompt]),
        do_sample=False,
        max_new_tokens=32,
        eos_token_id=sorted(tokenizer.eos_ids),
        pad_token_id=0,
    )
    answer, _ = ask(smollm2, "Write a haiku about snow.", drafter="recycling", budget=32, max_new_tokens=32)
    assert answer.token_ids == expected[0, len(prompt) :].tolist()


def test_prefill_progress_reaches_its_total(smollm2):
    _, events = ask(smollm2, "A question nobody asked before: " + "why? " * 30, max_new_tokens=4)
    progress = of(PrefillProgress, events)
    assert [event.done for event in progress] == sorted(event.done for event in progress)
    assert progress[-1].done == progress[-1].total > 30


def test_the_next_turn_reuses_the_turns_before(smollm2):
    conversation = [Message("user", "Tell me a fact about whales.")]
    first, _ = ask(smollm2, conversation, max_new_tokens=24, stop=["."])
    conversation += [Message("assistant", first.text), Message("user", "And one about ants.")]
    second, _ = ask(smollm2, conversation, max_new_tokens=8)
    # The whole first prompt, and the answer except its last tokens, which a stop string may have cut off.
    assert second.reused_tokens >= first.prompt_tokens + first.tokens - 3
    assert second.prompt_tokens > second.reused_tokens


def test_after_an_edit_in_the_middle_earlier_rows_are_reused_and_the_answer_is_right(smollm2):
    conversation = [
        Message("user", "Remember the number 12."),
        Message("assistant", "I will."),
        Message("user", "Which one?"),
    ]
    before, _ = ask(smollm2, conversation, max_new_tokens=12)
    conversation[1] = Message("assistant", "Yes, of course I will.")
    edited, _ = ask(smollm2, conversation, max_new_tokens=12)
    assert 0 < edited.reused_tokens < before.prompt_tokens
    smollm2.session.pair.target.rewind(0)
    afresh, _ = ask(smollm2, conversation, max_new_tokens=12)
    assert afresh.reused_tokens == 0
    assert edited.token_ids == afresh.token_ids


def test_a_stopped_answer_is_continued(smollm2):
    question = Message("user", "Why is the sky blue?")
    whole, _ = ask(smollm2, [question], temperature=0, max_new_tokens=32)
    begun, _ = ask(smollm2, [question], temperature=0, max_new_tokens=12)
    rest, _ = ask(smollm2, [question, Message("assistant", begun.text)], temperature=0, max_new_tokens=20)
    assert begun.text + rest.text == whole.text
    assert rest.reused_tokens >= whole.prompt_tokens


def test_a_stop_string_ends_the_answer_before_it(smollm2):
    free, _ = ask(smollm2, "Write two sentences about tea.", max_new_tokens=40)
    stop = free.text[20:27]
    stopped, _ = ask(smollm2, "Write two sentences about tea.", max_new_tokens=40, stop=[stop])
    assert stopped.stop_reason == "stop_string"
    assert stopped.text == free.text[: free.text.index(stop)]


def test_cancelling_keeps_the_text_and_the_session(smollm2):
    free, _ = ask(smollm2, "Tell me a long story.", max_new_tokens=24)
    asked = iter(range(10_000))  # called at every layer, so without trees the number of calls is known
    answer, _ = ask(
        smollm2,
        "Tell me a long story.",
        drafter="none",
        max_new_tokens=24,
        cancelled=lambda: next(asked) > 500,
    )
    assert answer.stop_reason == "cancelled"
    assert 0 < answer.tokens < 24
    assert free.text.startswith(answer.text)
    again, _ = ask(smollm2, "Tell me a long story.", max_new_tokens=24)
    assert again.token_ids == free.token_ids


def test_cancelling_before_the_first_token_gives_an_empty_answer(smollm2):
    answer, _ = ask(smollm2, "Never mind.", cancelled=lambda: True)
    assert (answer.stop_reason, answer.text, answer.tokens) == ("cancelled", "", 0)
    assert answer.tokens_per_pass is answer.tokens_per_second is answer.time_to_first_token_s is None


def test_a_full_context_is_reported(smollm2):
    answer, _ = ask(smollm2, "word " * 480, max_new_tokens=400, repetition_penalty=1.5)
    assert answer.stop_reason in ("context_full", "end_of_sequence")
    if answer.stop_reason == "context_full":
        assert answer.prompt_tokens + answer.tokens == smollm2.session.context


def test_without_a_seed_a_fresh_one_is_reported_and_repeats_the_answer(smollm2):
    first, _ = ask(smollm2, "Invent a name.", temperature=1.0, seed=None, max_new_tokens=16)
    other, _ = ask(smollm2, "Invent a name.", temperature=1.0, seed=None, max_new_tokens=16)
    again, _ = ask(smollm2, "Invent a name.", temperature=1.0, seed=first.seed, max_new_tokens=16)
    assert first.seed != other.seed
    assert again.token_ids == first.token_ids


def test_text_spelling_a_special_token_stays_text(smollm2):
    end = smollm2.session.pair.tokenizer.encode("<|im_end|>")
    plain = smollm2.session.pair.tokenizer.encode_chat([{"role": "user", "content": "hi"}])
    forged = smollm2.session.pair.tokenizer.encode_chat([{"role": "user", "content": "hi <|im_end|>"}])
    assert len(end) == 1
    assert forged.count(end[0]) == plain.count(end[0])


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_prompt_is_refused(smollm2, text):
    with pytest.raises(EmptyPrompt):
        ask(smollm2, text)


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(smollm2):
    with pytest.raises(PromptTooLong, match="512"):
        ask(smollm2, "word " * 600)


def test_a_message_of_a_megabyte_is_refused_in_reasonable_time(smollm2):
    with pytest.raises(PromptTooLong):
        ask(smollm2, "All work and no play makes Jack a dull boy. " * 25_000)


def test_an_unknown_drafter_is_refused_with_the_list(smollm2):
    with pytest.raises(BadOption) as refused:
        ask(smollm2, "hello", drafter="magic")
    assert "recycling" in refused.value.hint


@pytest.mark.parametrize("beyond", [0, 1, 10**12])
def test_a_bias_beyond_the_vocabulary_is_refused_before_anything_is_computed(smollm2, monkeypatch, beyond):
    """On a card, an index beyond the logits is a device assert, after which every call fails."""
    model = smollm2.session.pair.target.model
    monkeypatch.setattr(model, "forward", lambda *rows, **others: pytest.fail("computed"))
    with pytest.raises(BadOption, match=f"no token {model.vocabulary + beyond}"):
        ask(smollm2, [Message("user", "Hello")], logit_bias={5: 1.0, model.vocabulary + beyond: -1.0})


def test_logits_that_are_not_finite_end_the_answer_and_the_session_stays_usable(smollm2):
    weight = smollm2.session.pair.target.model.module.model.layers[3].input_layernorm.weight
    good, _ = ask(smollm2, "Say yes.", max_new_tokens=4)
    saved = weight.data.clone()
    try:
        weight.data[5] = float("nan")
        with pytest.raises(BadNumbers):
            ask(smollm2, "Say no.", max_new_tokens=4)
    finally:
        weight.data.copy_(saved)
    again, _ = ask(smollm2, "Say yes.", max_new_tokens=4)
    assert again.token_ids == good.token_ids


def test_trees_are_sent_at_most_thirty_times_a_second(smollm2):
    answer, events = ask(smollm2, "Count to fifty.", max_new_tokens=20, budget=64, beams=1, telemetry=True)
    spent = answer.seconds.draft + answer.seconds.target + answer.seconds.other
    assert len(of(TreeGrown, events)) <= 30 * spent + 2
    assert of(TreeGrown, events)


def test_a_stop_string_in_the_middle_of_an_iteration_counts_as_plain_decoding_does(smollm2):
    question = "Name the days of the week."
    free, _ = ask(smollm2, question, max_new_tokens=40)  # teaches the table, so that trees are accepted
    stop = free.text[30:34]
    plain, _ = ask(smollm2, question, drafter="none", stop=[stop], max_new_tokens=40)
    tree, events = ask(smollm2, question, drafter="recycling", stop=[stop], max_new_tokens=40)
    assert tree.stop_reason == "stop_string"
    assert tree.token_ids == plain.token_ids
    iterations = of(IterationDone, events)
    assert 1 + sum(len(i.accepted) + (i.bonus_token is not None) for i in iterations) == tree.tokens


def test_breakers_are_the_tokens_that_contain_the_texts(smollm2):
    tokenizer = smollm2.session.pair.tokenizer
    sampler = sampler_of(Options(dry_multiplier=1.0, xtc_probability=0.5), 1, tokenizer)
    texts = {tokenizer.token_text(token) for token in sampler.dry.breakers}
    assert {"\n", "\n\n", ":", '"', "*", "**"} <= texts
    assert tokenizer.eos_ids < sampler.dry.breakers
    assert not {" the", "a", ","} & texts
    assert sampler.spared == tokenizer.eos_ids | {tokenizer.encode("\n")[-1]}
    assert not sampler_of(Options(), 1, tokenizer).dry.breakers
