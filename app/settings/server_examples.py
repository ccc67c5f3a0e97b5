"""Short programs that use the local server. Imports no Qt."""

import json
import shlex

PYTHON = """\
import openai  # pip install openai

client = openai.OpenAI(base_url="{address}", api_key="{key}")
answer = client.chat.completions.create(
    model=client.models.list().data[0].id,
    messages=[{{"role": "user", "content": "Why is the sky blue?"}}],
)
print(answer.choices[0].message.content)
"""
QUESTION = {"role": "user", "content": "Why is the sky blue?"}


def python_example(address: str, key: str) -> str:
    """Return a program for OpenAI's library. address: that of the interfaces, which ends in /v1. key: "":
    none."""
    return PYTHON.format(address=address, key=key or "none")


def curl_example(address: str, key: str, model: str) -> str:
    """Return a command. address, key: as above. model: the name of the loaded model."""
    body = shlex.quote(json.dumps({"model": model, "messages": [QUESTION]}, ensure_ascii=False))
    parts = [f"curl {address}/chat/completions", '-H "Content-Type: application/json"', f"-d {body}"]
    if key:
        parts.insert(1, f'-H "Authorization: Bearer {key}"')
    return " \\\n  ".join(parts) + "\n"
