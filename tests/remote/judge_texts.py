"""Lets llama.cpp read texts with the vocabulary of each of several GGUFs: PYTHON judge_texts.py FILE...

Runs in an environment of its own, with `xllamacpp` and without this program. Reads the texts, a list in JSON,
from standard input. Prints for each file one line of JSON: the tokens of each text, or the reason why the
file cannot be loaded.
"""

import json
import sys
from urllib.request import Request, urlopen

import xllamacpp
from judge_gguf import params_for


def main() -> None:
    texts = json.load(sys.stdin)
    for file in sys.argv[1:]:
        params = params_for(file)
        params.port = 0
        try:
            server = xllamacpp.Server(params)
            found = {"tokens": [tokens_of(server.listening_address, text) for text in texts]}
        except RuntimeError as error:
            found = {"error": str(error)}
        print(json.dumps(found), flush=True)


def tokens_of(address, text):  # type: ignore[no-untyped-def]
    asked = json.dumps({"content": text, "add_special": True}).encode()
    request = Request(f"{address}/tokenize", asked, {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)["tokens"]


if __name__ == "__main__":
    main()
