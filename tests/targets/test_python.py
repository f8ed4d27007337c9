"""Calling the user's function: results, errors and time limits."""

import asyncio
import contextvars
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from azd_eval.domain.ports import TargetRequest
from azd_eval.domain.task import Exchange
from azd_eval.errors import TargetError
from azd_eval.providers.gate import Gate
from azd_eval.targets.callables import load_function
from azd_eval.targets.python import PythonTarget


def _target(folder: Path, source: str, timeout_s: float = 5.0) -> PythonTarget:
    (folder / "agent.py").write_text(source, encoding="utf-8")
    return PythonTarget(load_function("agent.py:respond", folder), Gate(8), timeout_s)


async def _text(target: PythonTarget, prompt: str = "hello") -> str:
    return (await target.respond(TargetRequest(prompt=prompt, instructions="be kind"))).text


async def _error(target: PythonTarget) -> str:
    with pytest.raises(TargetError) as caught:
        await _text(target)
    return caught.value.message


@pytest.mark.parametrize(
    "source",
    [
        "def respond(prompt): return prompt + '!'",
        "async def respond(prompt): return prompt + '!'",
        "def respond(prompt):\n    yield prompt\n    yield '!'",
        "async def respond(prompt):\n    yield prompt\n    yield '!'",
        "async def inner(prompt): return prompt + '!'\ndef respond(prompt): return inner(prompt)",
        "class respond:\n    async def __call__(self, prompt): return prompt + '!'",
    ],
)
async def test_every_form_of_function_answers(tmp_path, source):
    assert "hello!" == await _text(_target(tmp_path, source))


async def test_the_conversation_arrives_as_messages(tmp_path):
    target = _target(tmp_path, "def respond(prompt, history): return [*history, prompt]")
    request = TargetRequest("and now?", "", history=(Exchange("hi", "hello"),))

    reply = await target.respond(request)

    expected = (
        '[\n  {\n    "role": "user",\n    "content": "hi"\n  },\n  {\n    "role": "assistant"'
    )
    assert reply.text.startswith(expected)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("'text'", "text"),
        ("''", ""),
        ("False", "false"),
        ("0", "0"),
        ("{'output': 'text', 'cost': 1}", "text"),
        ("{'output': False}", "false"),
        ("{'output': 0}", "0"),
        ("{'output': ''}", ""),
        ("{'answer': 'è'}", '{\n  "answer": "è"\n}'),
        ("['a']", '[\n  "a"\n]'),
        ("'half a pair \\ud83d'", "half a pair ?"),
    ],
)
async def test_results_become_text(tmp_path, result, text):
    assert text == await _text(_target(tmp_path, f"def respond(prompt): return {result}"))


async def test_evidence_beside_the_output_is_kept(tmp_path):
    source = """
def respond(prompt):
    return {"output": "see [1]", "citations": ({"index": 1, "text": "half \\ud83d"},), "cost": 2}
"""
    reply = await _target(tmp_path, source).respond(TargetRequest("hello", ""))

    assert ("see [1]", {"citations": [{"index": 1, "text": "half ?"}]}) == (
        reply.text,
        reply.evidence,
    )


@pytest.mark.parametrize(
    "result",
    [
        "{'output': 'text', 'diagnostics': {'tool_calls': object()}}",
        "{'output': 'text', 'citations': [float('nan')]}",
        "None",
        "{'output': None}",
        "object()",
        "b'bytes'",
        "{(1,): 2}",
    ],
)
async def test_a_result_that_is_no_reply_is_an_error(tmp_path, result):
    target = _target(tmp_path, f"def respond(prompt): return {result}")

    assert "`agent.py:respond` returned " in await _error(target)


async def test_a_piece_that_is_no_text_is_an_error(tmp_path):
    assert "yielded a value of type int" in await _error(
        _target(tmp_path, "def respond(prompt): yield 1")
    )


@pytest.mark.parametrize("prefix", ["", "async "])
@pytest.mark.parametrize(
    ("raised", "shown"),
    [
        ("ValueError('bad')", "ValueError: bad"),
        ("RuntimeError", "RuntimeError"),
        ("TimeoutError('theirs')", "TimeoutError: theirs"),
        ("StopIteration", "StopIteration"),
        ("SystemExit(2)", "SystemExit: 2"),
        ("asyncio.CancelledError", "CancelledError"),
    ],
)
async def test_an_exception_is_told_with_the_lines_of_the_users_code(
    tmp_path, prefix, raised, shown
):
    source = (
        "import asyncio\n"
        f"def dig(): raise {raised}\n"
        f"{prefix}def respond(prompt):\n"
        "    return dig()\n"
    )
    expected = f"`agent.py:respond` raised {shown} (agent.py:2 in dig, agent.py:4 in respond)"

    message = await _error(_target(tmp_path, source))

    # Python itself turns a StopIteration that leaves a coroutine into a RuntimeError.
    assert message == expected or (prefix and "StopIteration" in message)


@pytest.mark.parametrize("prefix", ["", "async "])
async def test_an_exception_without_a_message_to_show_is_told_by_its_name(tmp_path, prefix):
    source = (
        "class Silent(Exception):\n    def __str__(self): raise ValueError\n"
        f"{prefix}def respond(prompt): raise Silent\n"
    )

    assert "raised Silent (agent.py:3 in respond)" in await _error(_target(tmp_path, source))


async def test_an_interrupt_raised_in_a_thread_ends_only_the_call(tmp_path):
    target = _target(tmp_path, "def respond(prompt): raise KeyboardInterrupt")

    assert "raised KeyboardInterrupt" in await _error(target)


@pytest.mark.parametrize("prefix", ["", "async "])
async def test_a_call_over_the_limit_is_left_to_itself_and_frees_its_slot(tmp_path, prefix):
    wait = "await asyncio.sleep(5)" if prefix else "released.wait(5)"
    source = (
        "import asyncio, threading\nreleased = threading.Event()\n"
        f"{prefix}def respond(prompt):\n    if prompt == 'hello': {wait}\n    return 'done'\n"
    )
    target = replace(_target(tmp_path, source, timeout_s=0.05), gate=Gate(1))

    assert "`agent.py:respond` gave no reply within 0.05 s" == await _error(target)
    assert "done" == await _text(target, "bye")


async def test_a_cancelled_call_stays_cancelled(tmp_path):
    target = _target(tmp_path, "import asyncio\nasync def respond(prompt): await asyncio.sleep(5)")
    call = asyncio.ensure_future(_text(target))
    await asyncio.sleep(0)
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call


async def test_sync_functions_run_beside_each_other_with_the_callers_context(tmp_path):
    source = (
        "import threading\nmeeting = threading.Barrier(3)\n"
        "def respond(prompt):\n    meeting.wait(5)\n    return threading.current_thread().name\n"
    )
    target = _target(tmp_path, source)

    names = await asyncio.gather(*(_text(target) for _ in range(3)))

    assert threading.current_thread().name not in names


async def test_context_variables_reach_the_thread(tmp_path):
    variable = contextvars.ContextVar("azd_eval_test_variable")
    variable.set("seen")
    source = (
        "import contextvars\n"
        "def respond(prompt):\n"
        "    held = {v.name: x for v, x in contextvars.copy_context().items()}\n"
        "    return held['azd_eval_test_variable']\n"
    )

    assert "seen" == await _text(_target(tmp_path, source))


def test_one_target_serves_several_event_loops(tmp_path):
    target = _target(tmp_path, "def respond(prompt): return 'ok'")

    assert ["ok", "ok"] == [asyncio.run(_text(target)) for _ in range(2)]
