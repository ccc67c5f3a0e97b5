"""Two clients of a server that take turns: what was read of either conversation is not read anew."""

from itertools import pairwise

from engine.bench.options import PARAGRAPH
from tests.engine.server.conftest import RunningServer, running
from tests.engine.server.official import anthropic, openai

BLOCK = 64  # tokens; the prompt cache keeps whole blocks
QUESTIONS = ("Summarise it.", "Which numbers are in it?", "What remains to be done?", "Who was asked?")
TOKENS = 12

Turns = list[tuple[int, int, str]]  # of each turn: tokens of the prompt, tokens not read anew, the answer


def chat(server: RunningServer) -> tuple[Turns, Turns]:
    """Hold two conversations in turns, one over OpenAI's interface and one over Anthropic's."""
    gpt = openai.OpenAI(base_url=f"{server.address}/v1", api_key="none", max_retries=0)
    claude = anthropic.Anthropic(base_url=server.address, api_key="none", max_retries=0)
    first: Turns = []
    second: Turns = []
    ours: list = []
    theirs: list = []
    with gpt, claude:
        for number, question in enumerate(QUESTIONS):
            text = f"First report. {PARAGRAPH}\n\n{question}" if number == 0 else question
            ours.append({"role": "user", "content": text})
            reply = gpt.chat.completions.create(
                model=server.model, messages=ours, temperature=0, max_tokens=TOKENS
            )
            answer = reply.choices[0].message.content or ""
            usage = reply.usage
            first.append((usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens, answer))
            ours.append({"role": "assistant", "content": answer})
            text = f"Second report. {PARAGRAPH}\n\n{question}" if number == 0 else question
            theirs.append({"role": "user", "content": text})
            said = claude.messages.create(
                model=server.model, messages=theirs, max_tokens=TOKENS, extra_body={"temperature": 0}
            )
            answer = said.content[0].text
            cached = said.usage.cache_read_input_tokens or 0
            second.append((said.usage.input_tokens + cached, cached, answer))
            theirs.append({"role": "assistant", "content": answer})
    return first, second


def test_two_clients_taking_turns_read_no_prompt_anew(tmp_path):
    with running(tmp_path / "with") as server:
        kept = chat(server)
    with running(tmp_path / "without", "--prompt-cache", "0") as server:
        anew = chat(server)
    for conversation, same in zip(kept, anew, strict=True):
        assert [answer for *_, answer in conversation] == [answer for *_, answer in same]
        for (before, _, answer), (_, cached, _) in pairwise(conversation):
            assert answer
            assert before - BLOCK <= cached, "the whole conversation so far"
        assert all(cached < BLOCK for _, cached, _ in same), "without the cache, only what all prompts share"
