"""Lets llama.cpp draft with the layer that a GGUF has for that: PYTHON judge_drafts.py COUNT FILE...

Runs in an environment of its own, with `xllamacpp` and without this program. Reads the prompt, a list of
token ids in JSON, from standard input. Prints for each file one line of JSON: in answers of how many greedy
tokens, up to COUNT, the last pass accepted a token that was drafted. Each pass drafts one; keys and values
are float32.
"""

import json
import sys

import xllamacpp
from judge_gguf import params_for


def main() -> None:
    prompt = json.load(sys.stdin)
    count, *files = sys.argv[1:]
    for file in files:
        print(json.dumps(accepted(server_for(file), prompt, int(count))), flush=True)


def server_for(file):  # type: ignore[no-untyped-def]
    params = params_for(file)
    drafts = params.speculative.draft
    params.cache_prompt = False
    params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_MTP]
    drafts.n_max, drafts.p_min = 1, 0.0
    drafts.cache_type_k = drafts.cache_type_v = params.cache_type_k
    for threads in (drafts.cpuparams, drafts.cpuparams_batch):
        threads.n_threads = 1
    return xllamacpp.Server(params)


def accepted(server, prompt, count):  # type: ignore[no-untyped-def]
    found, before = [], 0
    for tokens in range(2, count + 1):
        answer = server.handle_completions(
            {"prompt": prompt, "n_predict": tokens, "temperature": 0, "ignore_eos": True}
        )
        now = answer["timings"].get("draft_n_accepted", 0)
        found += [tokens] * (now - before)
        before = now
    return found


if __name__ == "__main__":
    main()
