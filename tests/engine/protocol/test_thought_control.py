"""What chat templates let be chosen about thinking, and what they do with the choice."""

import pytest

from engine.protocol.thought_control import EFFORTS, control_of, may_think
from engine.protocol.thoughts import opened
from engine.tokenizer.template_sandbox import apply
from tests.engine import chat_templates as templates

ASKED = [{"role": "user", "content": "Why?"}]
WAYS = (None, True, False)
ALL = {name: text for name, text in vars(templates).items() if name.isupper() and name != "MESSAGES"}


def rendered(template, choice, budget=None):
    variables = control_of(template).variables(choice, budget)
    return apply(template, ASKED, (), {"add_generation_prompt": True, "bos_token": "", **variables})


@pytest.mark.parametrize(
    ("template", "choices"),
    [
        (templates.QWEN_35, WAYS),
        (templates.QWEN_38, (*WAYS, "low", "medium", "xhigh")),
        (templates.GLM, WAYS),
        (templates.SEED, WAYS),
        (templates.GPT_OSS, (None, "low", "medium", "high")),
        (templates.MISTRAL_MEDIUM, WAYS),
        (templates.MAGISTRAL, (None,)),
        (templates.GEMMA_4, WAYS),
        (templates.SMOLLM3, WAYS),
        (templates.NEMOTRON_3, WAYS),
        (templates.NEMOTRON_2, (None,)),
        (templates.DEEPSEEK_R1, (None,)),
        (templates.GRANITE_4, (None,)),
        ("{% set effort = reasoning_effort if reasoning_effort in ['low', 'high'] else 'max' %}",
         (None, "low", "high", "max")),  # GLM 5.3, as quoted in public code
        ("{% if reasoning_effort not in ['high', 'low', 'no_think'] %}{% endif %}", (*WAYS, "low", "high")),
        ("{% if reasoning_effort is defined and reasoning_effort == 'none' %}no{% endif %}", WAYS),
    ],
)  # fmt: skip
def test_what_a_template_leaves_to_choose(template, choices):
    assert control_of(template).choices == choices


@pytest.mark.parametrize(
    ("template", "on", "off"),
    [
        (templates.QWEN_35, "assistant\n<think>\n", "<think>\n\n</think>\n\n"),
        (templates.QWEN_38, "assistant\n<think>\n", "<think>\n\n</think>\n\n"),
        (templates.GLM, "Why?<|assistant|>", "Why?/nothink<|assistant|>\n<think></think>"),
        (templates.SEED, "<seed:bos>assistant\n", "<seed:think><seed:cot_budget_reflect>"),
        (templates.MISTRAL_MEDIUM, '"high"}[/MODEL_SETTINGS][INST]Why?[/INST]',
         '"none"}[/MODEL_SETTINGS][INST]Why?[/INST]'),
        (templates.GEMMA_4, "<|turn>system\n<|think|><turn|>\nWhy?<|turn>model\n",
         "Why?<|turn>model\n<|channel>thought\n<channel|>"),
        (templates.SMOLLM3, "Mode: /think\n\nuser: Why?\n", "Mode: /no_think\n\nuser: Why?\n"),
        (templates.NEMOTRON_3, "assistant\n<think>\n", "assistant\n<think></think>"),
    ],
)  # fmt: skip
def test_thinking_is_turned_on_and_off(template, on, off):
    assert rendered(template, True).rstrip().endswith(on.rstrip())
    assert rendered(template, False).rstrip().endswith(off.rstrip())
    assert not rendered(template, True).rstrip().endswith(off.rstrip())


@pytest.mark.parametrize(
    ("template", "effort", "text"),
    [
        (templates.GPT_OSS, "high", "Reasoning: high\n"),
        (templates.GPT_OSS, "max", "Reasoning: high\n"),
        (templates.GPT_OSS, False, "Reasoning: low\n"),
        (templates.GPT_OSS, "none", "Reasoning: low\n"),
        (templates.GPT_OSS, None, "Reasoning: medium\n"),
        (templates.GPT_OSS, True, "Reasoning: medium\n"),
        (templates.QWEN_38, "low", "effort is set to low."),
        (templates.QWEN_38, "minimal", "effort is set to low."),
        (templates.MISTRAL_MEDIUM, "low", '"reasoning_effort": "high"'),
        (templates.MISTRAL_MEDIUM, None, '"reasoning_effort": "none"'),
    ],
)
def test_an_effort_reaches_the_template(template, effort, text):
    assert text in rendered(template, effort)


def test_a_budget_reaches_the_template_that_takes_one():
    assert "which is 512" in rendered(templates.SEED, None, 512)
    assert "which is 512" in rendered(templates.SEED, True, 512)
    assert "budget is 0" in rendered(templates.SEED, False, 512)
    assert "budget" not in rendered(templates.SEED, True)
    assert opened(rendered(templates.SEED, False)) == "<seed:think>"
    assert control_of(templates.QWEN_35).variables(None, 512) == {}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("choice", [None, True, False, *EFFORTS])
def test_no_choice_makes_a_template_fail_and_none_is_left_as_it_is(name, choice):
    text = rendered(ALL[name], choice)
    if control_of(ALL[name]).fitted(choice) is None:
        assert text == rendered(ALL[name], None)


def test_of_the_efforts_of_another_model_the_nearest_is_taken():
    control = control_of(templates.QWEN_38)
    fitted = [control.fitted(effort) for effort in EFFORTS]
    assert fitted == [False, "low", "low", "medium", "xhigh", "xhigh", "xhigh"]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{%- if enable_thinking is defined and enable_thinking is false %}", True),
        ("{% if not thinking is defined %}{% set thinking = false %}{% endif %}", True),
        ("{{ message.thinking }} {{ 'deep thinking subroutine' }} thinking", False),
        ("{# enable_thinking #}{{ messages[0]['thinking'] }}", False),
        ("{% set ns = namespace(enable_thinking=true) %}{{ ns.enable_thinking }}", False),
        ("{# {% if enable_thinking %} {{ thinking }} #}{{ '#}' }}", False),
        ("{# old #}{% if enable_thinking %}{# new #}{% endif %}", True),
        ("{% set thinking = message.thought %}{% if thinking %}{{ thinking }}{% endif %}", False),
        ("{%- set thinking %}{{ message.thought }}{% endset %}{{ thinking }}", False),
        ("{% set thinking = thinking | default(true) %}{% if thinking %}{% endif %}", True),
        ("{% set thinking = false %}{% if thinking is not defined %}{% endif %}", True),
        ("{% if thinking %}{% endif %}{% set thinking = false %}", True),
        ("{% for part, thinking in parts %}{% for x in y %}{% endfor %}{{ thinking }}{% endfor %}", False),
        ("{% for thinking in parts %}{{ thinking }}{% endfor %}{% if thinking %}{% endif %}", True),
        ("{% for part in thinking %}{{ part }}{% endfor %}", True),
        (
            "{% macro show(message, thinking=false) %}{% if thinking is defined %}{{ thinking }}{% endif %}"
            "{% endmacro %}",
            False,
        ),
        ("{% macro show(message, last=thinking) %}{% endmacro %}", True),
    ],
)
def test_a_template_has_a_switch_if_it_reads_the_variable(template: str, expected: bool) -> None:
    assert bool(control_of(template).switches) is expected


def test_a_model_may_think_if_its_template_has_marks_or_a_choice() -> None:
    assert may_think("{{ content.split('</think>')[-1] }}")
    assert may_think(templates.SMOLLM3)
    assert not may_think(templates.GRANITE_4)


@pytest.mark.parametrize(
    "piece",
    [
        "{%",
        "{#",
        "{% for thinking in x %}",
        "{{'",
        '{% "\\',
        "%}",
        "{% effort in [",
        "{% not in (' ",
        "{% reasoning_effort" * 3,
    ],
)
def test_a_hostile_template_is_read_in_no_time(piece: str) -> None:
    assert control_of(piece * (400_000 // len(piece))).choices
