"""Serves a GGUF with llama.cpp's own server until standard input closes: PYTHON serve_gguf.py MODEL [DRAFT].

Runs in an environment of its own, with `xllamacpp` and without this program. Prints the address.
"""

import sys
import time

import xllamacpp


def main() -> None:
    model, *drafts = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = 2048
    params.n_parallel = 1
    for threads in _threads_of(params, params.speculative.draft):
        threads.n_threads = (
            1  # threads of llama.cpp spin while they wait, which takes minutes on a busy machine
        )
    params.port = 0
    if drafts:
        params.speculative.draft.mparams.path = drafts[0]
        kind = xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE
        params.speculative.types = [kind]
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    while sys.stdin.readline():
        time.sleep(0.1)


def _threads_of(*places):  # type: ignore[no-untyped-def]
    return [threads for place in places for threads in (place.cpuparams, place.cpuparams_batch)]


if __name__ == "__main__":
    main()
