"""Excerpts of chat templates: what they do with thinking and, where a test needs it, with calls.

Each is the smallest part that does it as the whole does. Sources are named; where no repository is, the file
is of ggml-org/llama.cpp, models/templates.
"""

MESSAGES = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"

# Qwen3.5-4B.jinja; that of Qwen 3.6 has the same end, as public code that patches it says.
QWEN_35 = (
    MESSAGES
    + r"""{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- else %}
        {{- '<think>\n' }}
    {%- endif %}
{%- endif %}"""
)

# unsloth/Qwen3.8-27B-GGUF, as quoted by public programs that read its efforts; the end is Qwen 3.5's.
QWEN_38 = (
    r"""{%- if enable_thinking is undefined or enable_thinking is true %}
    {%- set resolved_reasoning_effort = reasoning_effort|default('xhigh') %}
    {%- if resolved_reasoning_effort == 'high' %}
        {%- set resolved_reasoning_effort = 'xhigh' %}
    {%- endif %}
    {%- if resolved_reasoning_effort not in ('xhigh', 'medium', 'low') %}
        {{- raise_exception('Unexpected reasoning effort ' ~ reasoning_effort) }}
    {%- endif %}
    {%- if resolved_reasoning_effort == 'low' %}
        {{- 'Reasoning effort is set to low.' }}
    {%- endif %}
{%- endif %}"""
    + QWEN_35
)

# GLM-4.6.jinja, without the parts for content that is a list.
GLM = r"""{%- if tools -%}
<tools>
{% for tool in tools %}
{{ tool | tojson(ensure_ascii=False) }}
{% endfor %}
</tools>
<tool_call>{function-name}
<arg_key>{arg-key-1}</arg_key>
<arg_value>{arg-value-1}</arg_value>
</tool_call>{%- endif -%}
{% for m in messages %}
{%- if m.role == 'user' -%}<|user|>
{{ m.content }}
{{- '/nothink' if (enable_thinking is defined and not enable_thinking and not m.content.endswith("/nothink")) else '' -}}
{%- elif m.role == 'assistant' -%}
<|assistant|>
{{ '\n<think></think>' }}
{% if m.tool_calls %}
{% for tc in m.tool_calls %}
{%- if tc.function %}
    {%- set tc = tc.function %}
{%- endif %}
{{ '\n<tool_call>' + tc.name }}
{% set _args = tc.arguments or {} %}
{% for k, v in _args.items() %}
<arg_key>{{ k }}</arg_key>
<arg_value>{{ v | tojson(ensure_ascii=False) if v is not string else v }}</arg_value>
{% endfor %}
</tool_call>{% endfor %}
{% endif %}
{%- elif m.role == 'tool' -%}
{%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
    {{- '<|observation|>' }}
{%- endif %}
{{- '\n<tool_response>\n' }}
{{- m.content }}
{{- '\n</tool_response>' }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    <|assistant|>{{- '\n<think></think>' if (enable_thinking is defined and not enable_thinking) else '' -}}
{%- endif -%}"""  # noqa: E501

# ByteDance-Seed-OSS.jinja
SEED = r"""{%- set think_begin_token      = '<seed:think>'             -%}
{%- set budget_begin_token     = '<seed:cot_budget_reflect>'-%}
{%- if not thinking_budget is defined %}
{%- set thinking_budget = -1 -%}
{%- endif -%}
{%- if not tools is defined or tools is none %}
{%- set tools = [] %}
{%- endif %}
{%- if thinking_budget == 0 %}
{{ "your thinking budget is 0" }}
{%- elif not thinking_budget == -1 %}
{{ "the thinking budget, which is "}}{{thinking_budget}}
{%- endif %}
{%- for message in messages %}
{%- if message.tool_calls %}
{%- for tool_call in message.tool_calls %}
{%- if tool_call.function is defined %}{% set tool_call = tool_call.function %}{% endif %}
{{ "\n<seed:tool_call>\n<function=" + tool_call.name + ">\n" }}
{%- if tool_call.arguments is defined %}
{%- for arg_name, arg_value in tool_call.arguments | items %}
{{ "<parameter=" + arg_name + ">" }}
{%- set arg_value = arg_value if arg_value is string else arg_value | string %}
{{ arg_value+"</parameter>\n" }}
{%- endfor %}
{%- endif %}
{{ "</function>\n</seed:tool_call>" }}
{%- endfor %}
{%- else %}
{{ message.role + "\n" + message.content }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{ "<seed:bos>assistant\n" }}
{%- if thinking_budget == 0 %}
{{ think_begin_token+budget_begin_token }}
{%- endif %}
{%- endif %}"""

# chat_template.jinja of openai/gpt-oss-20b and 120b, as quoted in public code
GPT_OSS = r"""{{- "<|start|>system<|message|>" }}
{%- if reasoning_effort is not defined %}
    {%- set reasoning_effort = "medium" %}
{%- endif %}
{{- "Reasoning: " + reasoning_effort + "\n\n" }}
{{- "# Valid channels: analysis, commentary, final." }}
{{- "<|end|>" }}
{%- for message in messages %}
{%- if message.thinking %}
    {{- "<|start|>assistant<|channel|>analysis<|message|>" + message.thinking + "<|end|>" }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt -%}
<|start|>assistant
{%- endif -%}"""

# Mistral Medium 3.5 and Small 4, as quoted in public code
MISTRAL_MEDIUM = r"""{%- set reasoning_effort = reasoning_effort if reasoning_effort is defined and reasoning_effort is not none else 'none' %}
{%- if reasoning_effort not in ['none', 'high'] %}
    {{- raise_exception('reasoning_effort must be either "none" or "high"') }}
{%- endif %}
{%- set model_settings = '[MODEL_SETTINGS]{"reasoning_effort": "' + reasoning_effort + '"}[/MODEL_SETTINGS]' %}
{{- model_settings }}
{%- for message in messages %}
    {{- '[INST]' + message['content'] + '[/INST]' }}
{%- endfor %}"""  # noqa: E501

# The system prompt of Mistral's reasoning models of 2025 (Magistral, Ministral 3 Reasoning), as quoted in
# public code; the template around it was not seen.
MAGISTRAL = r"""{%- set default_system_message = 'Your thinking process must follow the template below:[THINK]Your thoughts or/and draft[/THINK]Here, provide a self-contained response.' %}
{{- '[SYSTEM_PROMPT]' + default_system_message + '[/SYSTEM_PROMPT]' }}
{%- for message in messages %}
    {{- '[INST]' + message['content'] + '[/INST]' }}
{%- endfor %}"""  # noqa: E501

# gemma4.jinja
GEMMA_4 = r"""{%- macro format_argument(argument, escape_keys=True) -%}
    {%- if argument is string -%}
        {{- '<|"|>' + argument + '<|"|>' -}}
    {%- elif argument is boolean -%}
        {{- 'true' if argument else 'false' -}}
    {%- elif argument is mapping -%}
        {{- '{' -}}
        {%- set ns = namespace(found_first=false) -%}
        {%- for key, value in argument | dictsort -%}
            {%- if ns.found_first %},{% endif -%}
            {%- set ns.found_first = true -%}
            {%- if escape_keys -%}
                {{- '<|"|>' + key + '<|"|>' -}}
            {%- else -%}
                {{- key -}}
            {%- endif -%}
            :{{- format_argument(value, escape_keys=escape_keys) -}}
        {%- endfor -%}
        {{- '}' -}}
    {%- elif argument is sequence -%}
        {{- '[' -}}
        {%- for item in argument -%}
            {{- format_argument(item, escape_keys=escape_keys) -}}
            {%- if not loop.last %},{% endif -%}
        {%- endfor -%}
        {{- ']' -}}
    {%- else -%}
        {{- argument -}}
    {%- endif -%}
{%- endmacro -%}
{%- if (enable_thinking is defined and enable_thinking) or tools -%}
    {{- '<|turn>system\n' -}}
    {%- if enable_thinking is defined and enable_thinking -%}
        {{- '<|think|>' -}}
    {%- endif -%}
    {{- '<turn|>\n' -}}
{%- endif %}
{%- for message in messages -%}
    {%- if message['tool_calls'] -%}
        {%- for tool_call in message['tool_calls'] -%}
            {%- set function = tool_call['function'] -%}
            {{- '<|tool_call>call:' + function['name'] + '{' -}}
            {%- set ns_args = namespace(found_first=false) -%}
            {%- for key, value in function['arguments'] | dictsort -%}
                {%- if ns_args.found_first %},{% endif -%}
                {%- set ns_args.found_first = true -%}
                {{- key -}}:{{- format_argument(value, escape_keys=False) -}}
            {%- endfor -%}
            {{- '}<tool_call|>' -}}
        {%- endfor -%}
    {%- endif -%}
    {{- message['content'] | trim -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|turn>model\n' -}}
    {%- if not enable_thinking | default(false) -%}
        {{- '<|channel>thought\n<channel|>' -}}
    {%- endif -%}
{%- endif -%}"""

# HuggingFaceTB/SmolLM3-3B, as quoted in public code
SMOLLM3 = (
    r"""{%- if enable_thinking is not defined -%}
{%- set enable_thinking = true -%}
{%- endif -%}
{%- if enable_thinking -%}
  {%- set reasoning_mode = "/think" -%}
{%- else -%}
  {%- set reasoning_mode = "/no_think" -%}
{%- endif -%}
{{- "Reasoning Mode: " + reasoning_mode + "\n\n" -}}
"""
    + MESSAGES
)

# nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16, as quoted in public code
NEMOTRON_3 = (
    MESSAGES
    + r"""{%- set enable_thinking = enable_thinking if enable_thinking is defined else True %}
{%- if enable_thinking %}
    {{- '<|im_start|>assistant\n<think>\n' }}
{%- else %}
    {{- '<|im_start|>assistant\n<think></think>' }}
{%- endif %}"""
)

# NVIDIA-Nemotron-Nano-v2.jinja: the messages themselves say whether to think.
NEMOTRON_2 = r"""{%- set ns = namespace(enable_thinking=true) -%}
{%- for message in messages -%}
  {%- if '/think' in message['content'] -%}
    {%- set ns.enable_thinking = true -%}
  {%- elif '/no_think' in message['content'] -%}
    {%- set ns.enable_thinking = false -%}
  {%- endif -%}
{%- endfor -%}
{%- for message in messages %}
  {%- if message.tool_calls -%}
    {{- '<TOOLCALL>[' -}}
    {%- for call in message.tool_calls -%}
      {%- set fn = call.function if call.function is defined else call -%}
      {{- '{"name": "' + fn.name + '", "arguments": ' -}}
      {%- if fn.arguments is string -%}
        {{- fn.arguments -}}
      {%- else -%}
        {{- fn.arguments | tojson -}}
      {%- endif -%}
      {{- '}' + (', ' if not loop.last else '') -}}
    {%- endfor -%}
    {{- ']</TOOLCALL>' -}}
  {%- endif -%}
{%- endfor -%}
{%- if tools -%}
  {{- '\n<AVAILABLE_TOOLS>[' -}}
{%- endif -%}
{%- if ns.enable_thinking is defined and ns.enable_thinking is false -%}
  {{- '<think></think>' -}}
{%- else -%}
  {{- '<think>\n\n' -}}
{%- endif -%}"""

# deepseek-ai-DeepSeek-R1-Distill-Qwen-32B.jinja
DEEPSEEK_R1 = r"""{%- for message in messages -%}
  {%- if message['role'] == 'user' -%}
    {{'<｜User｜>' + message['content']}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{'<｜Assistant｜><think>\n'}}
{%- endif %}"""

# ibm-granite-granite-4.0.jinja
GRANITE_4 = r"""{%- for message in messages %}
    {{- '<|start_of_role|>' + message.role + '<|end_of_role|>' + message.content + '<|end_of_text|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_of_role|>assistant<|end_of_role|>' }}
{%- endif %}"""
