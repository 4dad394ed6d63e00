# SPDX-License-Identifier: Apache-2.0
"""Inputs of the children of the kind `meet` of odd.json, and the events of another kind."""

from odd import MEET, ODD_KIND, MeetInputs, OddKindEvent, odd_kind_events
from statewire import Client

assert MeetInputs.race.left.started() == {
    "type": "race", "value": {"type": "left", "input": {"type": "started"}}}
assert MeetInputs.race.runner.name(id=7, name="x", id2=8, before="y") == {
    "type": "race",
    "value": {"type": "runner", "id": 7, "change": {"type": "name", "name": "x", "id": 8, "before": "y"}}}
assert MeetInputs.race.row.set(_0="r", _02=3) == {
    "type": "race", "value": {"type": "row", "_0": "r", "_1": {"type": "set", "_0": 3}}}
assert MeetInputs.race(value={"type": "over"}) == MeetInputs.race.over()


async def use(client: Client) -> list[OddKindEvent]:
    """Is checked by mypy alone."""
    meet = await client.open(MEET)
    await meet.send(MeetInputs.race.left.started())
    return [event async for event in odd_kind_events(await client.open(ODD_KIND))]


print("ok")
