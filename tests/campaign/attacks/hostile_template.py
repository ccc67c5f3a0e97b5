"""Chat templates that loop, allocate and reach for the machine: text, or a named error; nothing is run.

After each template, the next conversation is rendered as if nothing had happened.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from engine.errors import SpecExecError
from engine.tokenizer.chat import render, templates
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict, judged_error
from tests.campaign.mutation import NUMBERS, TEXTS, damaged

FIXED = 25
LIMIT_S = 30.0
LONGEST_S = 8.0  # for one template and the start of a new process, on a busy machine
MESSAGES = [{"role": "system", "content": "S"}, {"role": "user", "content": "hi"}]
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
SOUND = (
    "{{ bos_token }}{% for m in messages %}<|{{ m['role'] }}|>\n{{ m.content | trim }}{{ eos_token }}\n"
    "{% if loop.last and add_generation_prompt %}<|assistant|>\n{% endif %}{% endfor %}",
    "{% set ns = namespace(s='') %}{% for m in messages %}{% if m.role == 'system' %}"
    "{% set ns.s = m.content %}{% else %}[INST] {{ ns.s ~ m.content }} [/INST]{% endif %}{% endfor %}",
    "{% macro one(m) %}{{ m.role }}: {{ m.content }}{% endmacro %}"
    "{{ messages | map(attribute='content') | list }}{% for m in messages %}{{ one(m) }}{% endfor %}"
    "{% if not messages %}{{ raise_exception('No.') }}{% endif %}",
)
ROOTS = (
    *("messages", "bos_token", "''", "().__class__", "cycler", "joiner", "namespace", "lipsum", "range"),
    *(
        "self",
        "self._TemplateReference__context",
        "loop",
        "raise_exception",
        "strftime_now",
        "tojson",
        "dict",
    ),
)
STEPS = (
    *(".__class__", ".__mro__[1]", ".__subclasses__()", ".__init__.__globals__", "['__builtins__']"),
    *("['os'].system('touch {flag}')", ".__import__('os').system('touch {flag}')", "|attr('__class__')"),
    *(".format(x)", ".format_map(messages)", "|map('attr', '__globals__')|list", "['__import__']('os')"),
    *(".gi_frame.f_globals", ".__func__", ".mro()", "()", "[0]", "|list", "|tojson", "|join", "* 10**9"),
)
GREEDY = (
    "{% for i in range(99999) %}{% for j in range(99999) %}{{ i }}{% endfor %}{% endfor %}",
    "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "{{ 'a' * 10 ** 9 }}", "{{ 7 ** (7 ** 9) }}", "{{ [0] * 10 ** 9 }}",
    "{{ range(10 ** 8) | list | length }}",
    "{{ '%0999999999d' % 1 }}", "{{ '{:>999999999}'.format(1) }}", "{{ 'a'.ljust(10 ** 9) | length }}",
    "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}", "{{ lipsum(10 ** 6) }}",
    "{{ ('a' * 50000) | replace('', 'b' * 50000) | length }}", "{{ ('(' * 40000) ~ ')' }}",
    "{{ " + "[" * 3000 + "]" * 3000 + " }}", "{{ 'a' | center(10 ** 9) }}", "{{ 'a' | indent(10 ** 9) }}",
    "{{ ('aaaaaaaa' * 10000) | urlize | wordwrap(1) | length }}", "{{ (1 << 10 ** 10) | string | length }}",
)  # fmt: skip


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    flag = folder / "ran"
    expected = render(SOUND[0], MESSAGES, True, TOKENS)

    def once(random: Random) -> Outcome:
        started = time.monotonic()
        outcome = SURVIVED
        try:
            render(template(random, flag), MESSAGES, random.random() < 0.5, TOKENS)
        except SpecExecError as error:
            outcome = judged_error(error)
        if flag.exists():
            return Outcome(Verdict.RAW, "the template ran a program")
        if render(SOUND[0], MESSAGES, True, TOKENS) != expected:
            return Outcome(Verdict.LOST, "the next conversation was rendered differently")
        if (took := time.monotonic() - started) > LONGEST_S:
            return Outcome(Verdict.RAW, f"took {took:.1f} s")
        return outcome

    yield once
    templates.close()


def template(random: Random, flag: Path) -> str:
    match random.choices(("damaged", "reach", "greedy", "number"), (60, 25, 3, 12))[0]:
        case "damaged":
            return damaged(random.choice(SOUND).encode(), random).decode(errors="replace")
        case "reach":
            steps = "".join(random.choices(STEPS, k=random.randint(1, 5))).replace("{flag}", str(flag))
            return "{{ " + random.choice(ROOTS) + steps + " }}"
        case "greedy":
            return random.choice(GREEDY)
        case _:
            value = repr(random.choice((*NUMBERS[:11], *TEXTS)))
            name = random.choice(
                ("range", "lipsum", "strftime_now", "namespace", "tojson", "raise_exception")
            )
            return f"{{% for i in {name}({value}) %}}{{{{ i }}}}{{% endfor %}}{random.choice(SOUND)}"
