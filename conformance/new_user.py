"""What a new user does first: the tour, with a second device; and a network that breaks in the middle of much."""

import asyncio
from pathlib import Path

from app import check, needs, shown
from points import AGENT, default_workspace, send, turn_end

# Pieces of the flood, and how many are seen before the network breaks.
FLOOD = 20_000
SEEN = 200


async def tour(host):
    """The tour over the socket; approved from a second client, resolved in the first."""
    first, second = await host.app(), await host.app()
    session = await send(first, "tour")
    asked = await first.event("pty_permission", session_id=session)
    pending = await second.call("permission/pending")
    waits = [request["tool_use_id"] for request in needs(pending, requests=list, count=int)["requests"]]
    check(asked["tool_use_id"] in waits, "the second client does not see what waits")
    await second.call("permission/respond", tool_use_id=asked["tool_use_id"], decision="allow")
    resolved = await first.event("pty_permission_resolved", tool_use_id=asked["tool_use_id"])
    check(resolved["resolved_by"] == second.id, f"resolved by {resolved['resolved_by']}, not by {second.id}")
    await turn_end(first, session)
    file = Path(host.repo) / "hello-roost.txt"
    check(file.is_file() and "Hello from Roost!" in file.read_text(), "the tour did not write its file")
    await first.close()
    await second.close()


async def flood(host, away):
    """The socket is cut for a while during a flood; resumed by cursor, it is what `roost log --json` prints."""
    app = await host.app()
    workspace = await default_workspace(app)
    started = await app.call("session/start", workspace_id=workspace, mode="new", agent_type=AGENT)
    session = started["session_id"]
    follow = {"format": "normalized", "sessions": [session]}
    await app.call("events/subscribe", after="beginning", **follow)
    await app.call("session/send", session_id=session, prompt=f"flood {FLOOD} 200")
    events, cursor = [], None
    while len(events) < SEEN:
        batch = needs(await app.event("batch"), events=list, cursor=str)
        events, cursor = events + batch["events"], batch["cursor"]
    check(events[-1]["type"] != "task.completed", "the flood was over before the socket was cut")
    await app.cut()
    await asyncio.sleep(away)
    again = await app.device.connect()
    await again.call("events/subscribe", after=cursor, **follow)
    before = len(events)
    while events[-1]["type"] != "task.completed":
        batch = needs(await again.event("batch"), events=list, cursor=str)
        events += batch["events"]
    logged = await asyncio.to_thread(host.log, session)
    same = next((at for at, (a, b) in enumerate(zip(events, logged)) if a != b), None)
    check(same is None, f"event {same} differs: {shown(events[same or 0])} and {shown(logged[same or 0])}")
    check(len(events) == len(logged), f"{len(events)} events came, {len(logged)} are in the log")
    await again.close()
    return f"{len(events)} events, {before} before the cut of {away} s, identical"
