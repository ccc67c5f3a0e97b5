"""Chat templates: the same texts as transformers', and no way out of the sandbox."""

import json
from pathlib import Path

import pytest
from jinja2.exceptions import SecurityError, TemplateError
from transformers.utils.chat_template_utils import render_jinja_template

from engine.checkpoints import open_checkpoint
from engine.tokenizer.template_sandbox import apply

MODEL = Path(__file__).parents[3] / "resources" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"é": "<&>"}}}]
MESSAGES = [
    {"role": "system", "content": " Be brief.\n"},
    {"role": "user", "content": "2 < 3 & 'ä'?"},
    {
        "role": "assistant",
        "content": "",
        "reasoning": "Well.",
        "tool_calls": [{"function": {"name": "look", "arguments": {"at": [1, None, True]}}}],
    },
    {"role": "tool", "content": "seen"},
]
TEMPLATES = [
    "{% for m in messages %}\n  {{ m.role }}: {{ m.content | trim }}\n{% endfor %}\n{{ bos_token }}",
    "{{ tools | tojson(indent=2) }}{{ messages[1] | tojson }}{{ tools | tojson(separators=(',', ':')) }}",
    "{{ messages[2].reasoning_content }}{{ messages[2]['thinking'] }}{{ documents is none }}",
    "{% set ns = namespace(n=0, self=1) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}"
    "{{ ns.n }}",
    "{% for m in messages %}{% if loop.index > 2 %}{% break %}{% endif %}{{ m.role }}{% endfor %}",
    "{% for m in messages %}{% generation %}{% set x = m.role %}{{ x }}{{ loop.index }}{% endgeneration %}"
    "{{ x is defined }}{% endfor %}",
    "{{ dict(a=1, b=2).items() | list }}{{ dict.fromkeys(['a'], 1) }}{{ strftime_now('%Y') }}",
    "{% macro say(x) %}<{{ x }}>{% endmacro %}{{ say(messages[0].content) }}"
    "{% if add_generation_prompt %}!{% endif %}",
    "{{ messages[2].tool_calls[0].function.arguments | tojson(sort_keys=true) }}{{ missing }}",
]


@pytest.mark.parametrize("template", [*TEMPLATES, "of the embedded model"])
def test_a_template_gives_the_text_it_gives_in_transformers(template: str) -> None:
    if template == "of the embedded model":
        template = str(open_checkpoint(MODEL).tokenizer.chat_template)
    variables = {"add_generation_prompt": True, "bos_token": "<s>"}
    for tools in ([], TOOLS):
        copy = json.loads(json.dumps(MESSAGES))
        [expected], _ = render_jinja_template(
            [copy], tools=tools or None, chat_template=template, **variables
        )
        assert apply(template, MESSAGES, tools, variables) == expected


def test_a_template_refuses_by_an_error_of_its_own() -> None:
    with pytest.raises(TemplateError, match="roles must alternate") as refused:
        apply("{{ raise_exception('roles must alternate') }}", MESSAGES, [], {})
    assert type(refused.value) is TemplateError


@pytest.mark.parametrize(
    "template",
    [
        "{{ dict.__class__ }}{{ dict.__call__.__globals__ }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ messages.append(1) }}",
        "{{ ''.__class__.__mro__ }}{{ cycler.__init__.__globals__ }}",
        "{% set n = namespace(__class__=1) %}",
        "{% set n = namespace() %}{% set n.__class__ = 1 %}",
        "{{ '%s' | attr('format_map') }}{{ strftime_now.__globals__ }}{{ tojson.__globals__ }}",
    ],
)
def test_a_template_does_not_reach_python(template: str) -> None:
    with pytest.raises((SecurityError, TemplateError)):
        apply(template, MESSAGES, [], {})
