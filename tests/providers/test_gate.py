"""How the way to an endpoint narrows, widens, closes and opens."""

import asyncio
import random

import pytest

from azd_eval.domain.chat import ChatReply, ChatRequest, Message
from azd_eval.errors import ModelError
from azd_eval.providers.endpoint import Endpoint
from azd_eval.providers.gate import Gate, Line
from azd_eval.providers.middleware import Retrying, RetryPolicy
from azd_eval.providers.openai import OpenAIModel
from tests.fake_openai import Status
from tests.fakes import ScriptedModel
from tests.virtual_time import in_virtual_time, now

POLICY = RetryPolicy()


@pytest.fixture(autouse=True)
def same_luck():
    """Draw the same waits in every run."""
    random.seed(7)


def ask(text="hi"):
    return ChatRequest((Message("user", text),), "judge")


class Server:
    """Takes a second for a call, or refuses it at once; counts both."""

    def __init__(self, most=1000, *, refused_share=0.0, retry_after=None):
        self.most = most
        self.in_flight = self.answers = self.refusals = self.most_seen = 0
        self._luck = random.Random(7)
        self._refused_share = refused_share
        self._retry_after = retry_after

    async def complete(self, request):
        # Calls that leave together arrive in any order.
        await asyncio.sleep(self._luck.uniform(0, 0.02))
        if self.in_flight >= self.most or self._luck.random() < self._refused_share:
            self.refusals += 1
            raise ModelError("slow down", code="rate_limited", retry_after=self._retry_after)
        self.in_flight += 1
        self.most_seen = max(self.most_seen, self.in_flight)
        await asyncio.sleep(1)
        self.in_flight -= 1
        self.answers += 1
        return ChatReply("ok")


async def call(server, count, line):
    """Make many calls, as many trials at once as the gate lets calls through."""
    model = Retrying(server, line, POLICY)
    waiting = iter(range(count))

    async def work():
        for _ in waiting:
            await model.complete(ask())

    await asyncio.gather(*(work() for _ in range(20)))


@pytest.mark.parametrize("retry_after", [None, 2])
@pytest.mark.parametrize("most", [1, 4, 15])
@in_virtual_time
async def test_a_server_that_takes_few_at_once_is_soon_asked_by_few(most, retry_after):
    server = Server(most, retry_after=retry_after)

    await call(server, 300, Line(Gate(20)))

    assert 300 == server.answers
    # The first burst shows the excess; later every fourth call or so feels for more room.
    assert server.refusals <= 20 + 300 * 0.4
    assert now() <= 2 * 300 / most


@in_virtual_time
async def test_room_that_comes_back_is_used():
    server, line = Server(2), Line(Gate(20))
    await call(server, 50, line)
    server.most, server.most_seen, server.refusals = 1000, 0, 0

    await call(server, 200, line)

    assert (20, 0) == (server.most_seen, server.refusals)


@pytest.mark.parametrize("retry_after", [None, 1])
@pytest.mark.parametrize("refused_share", [0.05, 0.2])
@in_virtual_time
async def test_refusals_by_chance_do_not_narrow_the_way(refused_share, retry_after):
    server = Server(refused_share=refused_share, retry_after=retry_after)

    await call(server, 1000, Line(Gate(20)))

    assert 1000 == server.answers
    # Without refusals it would be half of that.
    assert now() <= 2 * 1000 / 20


@in_virtual_time
async def test_a_pause_ends_when_another_call_is_answered():
    class Server:
        """Refuses one call only."""

        async def complete(self, request):
            await asyncio.sleep(1)
            if request == ask("refused") and now() < 30:
                raise ModelError("not you", code="rate_limited", retry_after=30)
            await asyncio.sleep(3)
            return ChatReply("ok")

    line, ended = Line(Gate(20)), {}
    model = Retrying(Server(), line, POLICY)

    async def run(name, begin):
        await asyncio.sleep(begin)
        await model.complete(ask(name))
        ended[name] = now()

    await asyncio.gather(run("in flight", 0), run("refused", 0), run("later", 2))

    assert {"in flight": 4, "later": 8} == {name: ended[name] for name in ("in flight", "later")}
    assert 30 < ended["refused"] < 40


@in_virtual_time
async def test_calls_are_let_through_in_the_order_in_which_they_came():
    line, order = Line(Gate(1)), []

    async def go(number):
        async with line.slot():
            order.append(number)
            await asyncio.sleep(1)

    await asyncio.gather(*map(go, range(5)))

    assert [0, 1, 2, 3, 4] == order


@in_virtual_time
async def test_a_pause_that_begins_while_a_call_waits_for_the_gate_holds_it_back():
    gate = Gate(1)
    one, other = Line(gate), Line(gate)

    async def hold():
        async with other.slot():
            await asyncio.sleep(10)
            one.note_refusal(ModelError("no", code="rate_limited", retry_after=30))

    async def go():
        await asyncio.sleep(1)
        async with one.slot():
            return now()

    assert [None, 40] == await asyncio.gather(hold(), go())


@pytest.mark.parametrize("waits_for", ["pause", "pace", "place", "retry"])
@in_virtual_time
async def test_a_stop_ends_every_wait(waits_for):
    def check():
        if now() > 10:
            raise ModelError("enough", code="stopped", tries=0)

    line = Line(Gate(1), check=check)
    refusal = ModelError("no", code="rate_limited", retry_after=100)
    model = Retrying(ScriptedModel(lambda request: refusal), line, POLICY)
    holder = None
    if waits_for == "pause":
        line.note_refusal(refusal)
    elif waits_for == "pace":
        line.pace.tighten(0.1, None)
        line.pace.take(0, now())
    elif waits_for == "place":
        holder = asyncio.create_task(call(Server(), 1000, line))
        await asyncio.sleep(0.5)

    with pytest.raises(ModelError, match="enough") as caught:
        await model.complete(ask())

    assert "stopped" == caught.value.code
    assert 10 <= now() <= 12
    if holder:
        holder.cancel()
        await asyncio.gather(holder, return_exceptions=True)


@in_virtual_time
async def test_long_pauses_are_told_once_each():
    told = []
    line = Line(Gate(5), told.append)

    for begin, retry_after in [(0, 30), (1, 29), (10, 20), (31, 60), (100, 4), (200, None)]:
        await asyncio.sleep(begin - now())
        line.note_refusal(ModelError("full", code="rate_limited", retry_after=retry_after))

    assert ["full; waiting 30 s", "full; waiting 60 s"] == told


async def test_a_storm_of_refusals_over_http_costs_no_call(fake_openai):
    server = fake_openai(
        lambda request: Status(429) if request.in_flight > 4 else "ok", latency=0.005
    )
    client = OpenAIModel(Endpoint("m", "m", server.base_url))
    model = Retrying(client, Line(Gate(20)), RetryPolicy(first_wait_s=0.01, longest_wait_s=0.1))

    replies = await asyncio.gather(*(model.complete(ask(str(n))) for n in range(200)))
    await client.aclose()

    assert ["ok"] * 200 == [reply.text for reply in replies]
    assert len(server.calls) <= 200 + 20 + 200 * 0.5
