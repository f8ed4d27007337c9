"""What fuzzing begins with: a good input for each target, and words that lead to its depths."""

from azd_eval.storage.trial_records import write_trial
from tests.cli.shell import EXAMPLES, ROOT
from tests.factories import make_trial, make_verdict

EXAMPLE_FILES = tuple(path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.jsonl")))
CONFIG = (ROOT / "eval.yaml.example").read_text(encoding="utf-8")
FULL_ROW = (
    '{"name": "a", "query": "p", "ground_truth": "g", "category": "c", "context": "x", "metadata": '
    '{"id": [1.5e3, null, true]}, "criteria": [{"name": "n", "instruction": "i", "weight": 2, '
    '"must": true, "check": {"regex": "\\\\bA\\u00e9+$"}}]}\n'
    '{"turns": [{"prompt": "1", "criteria": []}, {"prompt": "2", "groundTruth": "3"}]}\n'
)
TABLE = (
    "name;Prompt;criterion;criterion_2;Ground Truth;metadata\r\n"
    't1;"Say ""hi""\r\nin two lines";"a: b\nc";"[{""name"": ""x"", ""instruction"": ""y""}]";g;'
    '"{""a"": 1}"\r\n'
)
DOCUMENTS = (
    (
        '{"schemaVersion": "1.2.0", "metadata": {"name": "n"}, "default_evaluators": {"Relevance": '
        '{}}, "items": [{"prompt": "p", "expected_response": "e", "evaluators": {"Similarity": '
        '{"threshold": 4}}, "evaluators_mode": "extend"}, {"name": "c", "turns": [{"prompt": "q"}, '
        '{"prompt": "r", "response": "s"}]}]}'
    ),
    (
        '{"schemaVersion": "1.6.0", "default_evaluators": {"Relevance": {"threshold": 3}}, "items":'
        '[{"prompt": "p", "expected_response": "", "context": "c", "testId": "T", "response": "", '
        '"category": "k", "citations": [{"index": 1}], "evaluators": {"ExactMatch": {}, "x": {}}, '
        '"extensions": {"azd_eval": {"criteria": [{"name": "n", "instruction": "i"}], "fields": {}}'
        '}}, {"evaluators": {}, "turns": [{"prompt": "1", "evaluators_mode": "replace"}]}]}'
    ),
    '[{"prompt": "p", "expected_response": "e"}]',
    '{"prompts": ["p"], "expected_responses": ["e"]}',
)
AZD_LIST = '[{"dimension_id": "a", "description": "A?", "weight": 9, "always_applicable": true}]'
JSON_RUBRIC = f'{{"type": "rubric", "name": "r", "scoring": "graded", "dimensions": {AZD_LIST}}}'
VERDICTS = (
    '<think>{"score": 0}</think>\n```json\n{"reason": "uses {x}", "score": 1}\n```',
    '{"verdicts": [{"number": 1, "score": "yes"}, {"number": 2, "score": null, "reason": ""}]}',
    FULL_ROW,
    JSON_RUBRIC,
)
PROJECT = (
    (
        "name: demo\nservices:\n  assistant:\n    host: azure.ai.agent\n    project: ./agents/a\n"
        "    kind: hosted\n    name: a\n  other: {host: azure.ai.agent, $ref: ./agent.yaml}\n"
    ),
    "model: m\ninstruction_file: instructions.md\ntemperature: 0.5\ntools_file: tools.json\n",
)
TRIAL = make_trial(verdicts=(make_verdict(), make_verdict("unusable", raw="?")), category="c")
OF_TASK = {"task": "t", "task_key": "k", "repeat": 0, "turn": 0}
SPENT = {"latency_ms": 1.5, "input_tokens": 1, "output_tokens": 2, "finish_reason": "stop"}
JUDGED = {"evaluator": "e", "criterion": "c", "verdict": "met", "reason": "r", "grade": None}
RUN = (
    {**write_trial(TRIAL), "judging": "j"},
    {"event": "session", "judging": "j"},
    {"event": "reply", **OF_TASK, **SPENT, "reply": "hello"},
    {"event": "verdict", **OF_TASK, **JUDGED},
)
ANSWERS = (
    (
        'Mon, 30 Nov 2026 12:00:07 GMT\n{"choices": [{"message": {"content": "hi", "tool_calls": '
        '[{"function": {"arguments": "{}"}}]}, "finish_reason": "stop"}], "usage": '
        '{"prompt_tokens": 10, "completion_tokens": 5}}'
    ),
    (
        '1m30s\n{"error": {"message": "Unsupported: max_tokens. Try again in 2s", "param": '
        '"max_tokens", "code": "unsupported_parameter", "innererror": {"code": "x"}}}'
    ),
    "20\n<html><h1>502 Bad Gateway</h1></html>",
    f'1\n{{"choices": [{{"message": {{}}}}], "usage": {{"prompt_tokens": {"9" * 400}}}}}',
)
ROW_WORDS = "name prompt query criteria criterion groundTruth turns metadata instruction weight"
CHECK_WORDS = "check must contains contains_any not_contains regex equals max_words is_json"
JSON_WORDS = '{" ": [" "] }] null true NaN -1e999 \\ud83d \\u0000 {"a": "}'
DOCUMENT_WORDS = (
    "schemaVersion metadata items turns prompt response expected_response evaluators "
    "default_evaluators evaluators_mode extend replace threshold Relevance Similarity scores "
    "status results prompts expected_responses category context 1.0.0 1.2.0 $schema Citations "
    "citation_format extensions azd_eval fields diagnostics tags notes testId"
)
RUBRIC_WORDS = "type rubric version scoring graded pass_threshold dimensions id description"
YAML_WORDS = (
    "no on ~ 1:30 1.10 0x1f &a *a <<: !!python/object | >- --- ... %YAML # 'a' - ? : {a: b}"
)
PROJECT_WORDS = (
    "services host project azure.ai.agent name kind hosted $ref model temperature tools_file "
    "instruction_file instructions_file metadata.yaml"
)
RUN_WORDS = (
    "task task_key index repeat turn category status passed errored score fatal turns reply error "
    "latency_ms tokens cached scores evaluator native verdicts criterion verdict met unusable "
    "reason weight grade raw judging event session finish_reason input_tokens fingerprint subject"
)
SERVER_WORDS = (
    "choices message content type text refusal tool_calls function_call function arguments usage "
    "prompt_tokens completion_tokens finish_reason length content_filter error code param "
    "innererror detail response_format temperature system unsupported GMT +0000 ms try_again_in"
)
CONFIG_WORDS = (
    "agent kind model instructions parameters dataset_file dataset local_uri evaluators models "
    "base_url api_key_env price options eval_model max_errors fail_under max_candidates ${A} 70%"
)
