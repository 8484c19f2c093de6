"""The ten points of the app, as the facts about it list them."""

import asyncio
import urllib.request
from pathlib import Path

from app import App, check, needs, shown

AGENT = "demo"
# The keys that the app knows in a permission's options.
KEYS = {"allow_once", "allow_session", "deny"}


async def pairing(host):
    """QR code, exchange, Bearer, ping, initialize with `client_info`, `clientId`."""
    device = await host.pair()
    health = await asyncio.to_thread(urllib.request.urlopen, device.code["http"] + "/health", None, 5)
    check(health.status == 200, "/health did not answer 200")
    app = await App.open(device)
    hello = await app.hello()
    needs(hello, server_info=dict, protocolVersion=str)
    registry = needs(hello["capabilities"], runtimeRegistry=dict, supportedAgents=list)["runtimeRegistry"]
    check(any(runtime["id"] == AGENT for runtime in registry["runtimes"]), "the demo agent is not in the registry")
    check(registry["routing"]["defaultAgentType"] == registry["defaultRuntime"], "two defaults")
    await app.close()


async def heartbeat(host):
    """31 s of silence still bring a heartbeat: of a workspace in which nothing happens nothing else is told."""
    app = await host.app()
    folder = Path(host.repo).parent / "quiet"
    quiet = await app.call("workspace/add", name="Quiet", path=str(folder), create_if_missing=True)
    await app.call("workspace/subscribe", workspace_id=quiet["id"])
    app.seen = len(app.events)
    beat = await app.event("heartbeat")
    needs(beat, server_time=str, sequence=int, claude_status=str, uptime_seconds=int)
    await app.call("workspace/remove", workspace_id=quiet["id"])
    await app.close()


async def workspaces(host):
    """Arrays, booleans and dates; a folder that is made and is no git repository."""
    app = await host.app()
    for workspace in needs(await app.call("workspace/list", include_git=True), workspaces=list)["workspaces"]:
        decoded(workspace)
    folder = Path(host.repo).parent / "added"
    added = await app.call("workspace/add", name="Added", path=str(folder), create_if_missing=True)
    decoded(added)
    check(added["git_state"] == "no_git", f"git_state is {added['git_state']}")
    check(folder.is_dir(), "the folder was not made")
    subscribed = await app.call("workspace/subscribe", workspace_id=added["id"])
    needs(subscribed, success=bool, workspace_id=str, subscribed=list)
    needs(await app.call("workspace/subscriptions"), workspaces=list, is_filtering=bool, count=int)
    needs(await app.call("workspace/unsubscribe", workspace_id=added["id"]), subscribed=list)
    needs(await app.call("workspace/subscribeAll"), success=bool, is_filtering=bool)
    needs(await app.call("workspace/status", workspace_id=added["id"]), sessions=list, has_active_session=bool)
    await app.call("workspace/remove", workspace_id=added["id"])
    await app.event("workspace_removed", id=added["id"])
    await app.close()


def decoded(workspace):
    """A workspace as the app decodes it."""
    needs(workspace, id=str, name=str, path=str, auto_start=bool, created_at=str, sessions=list, git_state=str)
    needs(workspace, active_session_count=int, has_active_session=bool, active_session_id=str, is_git_repo=bool)
    if "git" in workspace:
        needs(workspace["git"], initialized=bool, has_remotes=bool)
    for session in workspace["sessions"]:
        needs(session, id=str, session_id=str, workspace_id=str, status=str)


async def default_workspace(app):
    """The workspace that the daemon was started in."""
    return (await app.call("workspace/list"))["workspaces"][0]["id"]


async def send(app, prompt, workspace=None, agent=AGENT):
    """A new session with this prompt, watched; its id."""
    workspace = workspace or await default_workspace(app)
    sent = await app.call(
        "session/send", workspace_id=workspace, prompt=prompt, mode="new", permission_mode="interactive",
        agent_type=agent,
    )
    session = needs(sent, status=str, session_id=str, agent_type=str)["session_id"]
    check(sent["agent_type"] == agent, f"{sent['agent_type']} answers for {agent}")
    await app.call("workspace/session/watch", workspace_id=workspace, session_id=session, agent_type=agent)
    return session


async def turn_end(app, session):
    """A turn is over in all three ways that the app knows."""
    await app.event("pty_state", state="idle", session_id=session)
    done = await app.event("stream_read_complete", session_id=session)
    check(done["file_offset"] == done["file_size"] > 0, f"not all was read: {shown(done)}")
    ends = [said for said in app.all("claude_message") if said["session_id"] == session and said.get("stop_reason")]
    check(ends, "no claude_message has a stop_reason")


async def history(host):
    """history, messages (desc), watch, focus; every reply under 1 MiB."""
    # One answer is bigger than a frame; the client's own limit would break the connection.
    await history_of(host, AGENT, "bigline 3000000")
    for agent in host.agents:
        await history_of(host, agent, "SCRIPT:text")
    return f"with {', '.join([AGENT, *host.agents])}"


async def history_of(host, agent, prompt):
    app = await host.app()
    workspace = await default_workspace(app)
    session = await send(app, prompt, workspace, agent)
    await turn_end(app, session)
    page = await app.call("workspace/session/history", workspace_id=workspace, limit=50, agent_type=agent)
    items = needs(page, sessions=list, total=int)["sessions"]
    item = next((item for item in items if item["session_id"] == session), None)
    check(item, f"the session of {agent} is not in the history")
    needs(item, workspace_id=str, summary=str, message_count=int, last_updated=str, status=str)
    about = {"workspace_id": workspace, "session_id": session, "agent_type": agent}
    page = await app.call("workspace/session/messages", limit=50, offset=0, order="desc", **about)
    needs(page, session_id=str, messages=list, total=int, limit=int, offset=int, has_more=bool)
    for message in page["messages"]:
        needs(message, type=str, message=dict, uuid=str, timestamp=str)
    check([message["type"] for message in page["messages"]] == ["assistant", "user"], f"{agent}: {shown(page)}")
    watched = await app.call("workspace/session/watch", **about)
    check(watched["status"] == "watching" and watched["watching"] is True, shown(watched))
    focus = await app.call("client/session/focus", workspace_id=workspace, session_id=session)
    needs(focus, other_viewers=list, viewer_count=int, success=bool)
    unwatched = await app.call("workspace/session/unwatch", **about)
    check(unwatched["watching"] is False, shown(unwatched))
    needs(await app.call("session/state", session_id=session), session_id=str, workspace_id=str, status=str)
    await app.close()


async def messages(host):
    """session/start to resume, session/send to begin; messages with whose they are; the turn's end."""
    app = await host.app()
    workspace = await default_workspace(app)
    session = await send(app, "slow 1", workspace)
    said = await app.event("claude_message", session_id=session)
    needs(said, agent_type=str, workspace_id=str, uuid=str, type=str, role=str, content=list, timestamp=str)
    await turn_end(app, session)
    started = await app.call(
        "session/start", workspace_id=workspace, resume_session_id=session, agent_type=AGENT,
        permission_mode="interactive",
    )
    needs(started, session_id=str, id=str, workspace_id=str, status=str)
    check(started["session_id"] == session, "another session was resumed")
    check(started["status"] in ("attached", "running", "starting"), f"the app does not know {started['status']}")
    sent = await app.call("session/send", session_id=session, prompt="hello", permission_mode="interactive")
    check(sent["status"] == "sent", shown(sent))
    await turn_end(app, session)
    uuids = [message["uuid"] for message in app.all("claude_message")]
    check(len(uuids) == len(set(uuids)), "a message came twice")
    await app.close()


async def permission(host):
    """pty_permission, permission/respond, resolved for both, late answer -32603."""
    first, second = await host.app(), await host.app()
    session = await send(first, "edit permission.txt")
    asked = await first.event("pty_permission", session_id=session)
    needs(asked, type=str, options=list, tool_use_id=str, description=str, agent_type=str, workspace_id=str)
    keys = {option["key"] for option in asked["options"]}
    check(keys == KEYS, f"the options are {keys}")
    check(all(option["label"] for option in asked["options"]), "an option has no label")
    call = asked["tool_use_id"]
    await second.event("pty_permission", tool_use_id=call)
    answered = await first.call("permission/respond", tool_use_id=call, decision="allow", scope="once")
    check(answered["success"] is True, shown(answered))
    for app in (first, second):
        resolved = await app.event("pty_permission_resolved", tool_use_id=call)
        check(resolved["decision"] == "allow", shown(resolved))
        check(resolved["resolved_by"] == first.id, f"resolved by {resolved['resolved_by']}, not by {first.id}")
    await second.refused(-32603, "permission/respond", tool_use_id=call, decision="deny", scope="once")
    await turn_end(first, session)
    check((Path(host.repo) / "permission.txt").is_file(), "the file was not written")
    await first.close()
    await second.close()


async def question(host):
    """AskUserQuestion as a claude_message; answered by session/respond."""
    app = await host.app()
    session = await send(app, "ask")
    await app.event("claude_waiting", session_id=session)
    blocks = [block for said in app.all("claude_message") for block in said["content"]]
    call = next((block for block in blocks if block.get("tool_name") == "AskUserQuestion"), None)
    check(call, "no claude_message has a tool_use block AskUserQuestion")
    asked = needs(call["tool_input"], questions=list)["questions"][0]
    needs(asked, header=str, question=str, multiSelect=bool, options=list)
    for option in asked["options"]:
        needs(option, label=str)
    choice = asked["options"][0]["label"]
    answered = await app.call("session/respond", session_id=session, type="question", response=choice, agent_type=AGENT)
    check(answered["status"] == "responded", shown(answered))
    await app.event("pty_permission_resolved", tool_use_id=call["tool_id"])
    await turn_end(app, session)
    await app.refused(-32603, "session/respond", session_id=session, type="question", response=choice)
    await app.close()


async def stopping(host):
    """session/stop with its events; keys in `input`."""
    app = await host.app()
    session = await send(app, "slow 60")
    for key in ("up", "down", "enter"):
        typed = await app.call("session/input", session_id=session, input=key, agent_type=AGENT)
        check(typed["status"] == "sent", shown(typed))
    await app.call("session/input", session_id=session, input="escape", agent_type=AGENT)
    await app.event("pty_state", state="idle", session_id=session)
    await app.call("session/send", session_id=session, prompt="slow 60")
    await app.event("pty_state", state="thinking", session_id=session)
    stopped = await app.call("session/stop", session_id=session, agent_type=AGENT)
    check(stopped["success"] is True, shown(stopped))
    await app.event("pty_state", state="idle", session_id=session)
    await app.event("session_stopped", session_id=session)
    idle = [state for state in app.all("pty_state") if state["state"] == "idle" and state["session_id"] == session]
    check(len(idle) == 2, f"a stop was told {len(idle) - 1} times")
    await app.close()


async def reconnecting(host):
    """The socket is cut: what waits comes again, no message twice."""
    app = await host.app()
    workspace = await default_workspace(app)
    session = await send(app, "edit reconnecting.txt", workspace)
    asked = await app.event("pty_permission", session_id=session)
    await app.cut()
    again = await app.device.connect()
    await again.call("workspace/session/watch", workspace_id=workspace, session_id=session, agent_type=AGENT)
    repeated = await again.event("pty_permission", session_id=session)
    check(repeated["tool_use_id"] == asked["tool_use_id"], "another permission came")
    await again.call("permission/respond", tool_use_id=asked["tool_use_id"], decision="deny")
    await turn_end(again, session)
    uuids = [said["uuid"] for said in app.all("claude_message") + again.all("claude_message")]
    check(len(uuids) == len(set(uuids)), "a message came twice")
    page = await again.call("session/messages", session_id=session, limit=500)
    known = {message["uuid"] for message in page["messages"]}
    strange = [said for said in again.all("claude_message") if said["content"] and said["uuid"] not in known]
    check(not strange, f"a message has another uuid in the history: {shown(strange)}")
    await again.close()


async def first_hour(host):
    """What somebody does first with each agent: start, watch, allow in the panel, deny by keys, look again elsewhere."""
    await first_hour_of(host, AGENT, "edit hour.txt")
    for agent in host.agents:
        await first_hour_of(host, agent, "SCRIPT:shell")
    return f"with {', '.join([AGENT, *host.agents])}"


async def first_hour_of(host, agent, prompt):
    app = await host.app()
    workspace = await default_workspace(app)
    session = await send(app, prompt, workspace, agent)
    asked = await app.event("pty_permission", session_id=session)
    await app.call("permission/respond", tool_use_id=asked["tool_use_id"], decision="allow", scope="once")
    await app.event("pty_permission_resolved", tool_use_id=asked["tool_use_id"], decision="allow")
    await turn_end(app, session)
    await app.call("session/send", session_id=session, prompt=prompt, permission_mode="interactive", agent_type=agent)
    asked = await app.event("pty_permission", session_id=session)
    keys = [option["key"] for option in asked["options"]]
    for place in range(1, len(keys)):
        await app.call("session/input", session_id=session, input="down", agent_type=agent)
        moved = await app.event("pty_permission", session_id=session)
        selected = [option["key"] for option in moved["options"] if option["selected"]]
        check(selected == [keys[place]], f"{selected} is selected, not {keys[place]}")
    await app.call("session/input", session_id=session, input="enter", agent_type=agent)
    await app.event("pty_permission_resolved", tool_use_id=asked["tool_use_id"], decision="deny")
    await turn_end(app, session)
    both = [name for name, params in app.events if name == "claude_permission" and params["session_id"] == session]
    check(not both, "an approval was told in two forms")
    await app.call("session/state", session_id=session)
    await app.call("session/active", workspace_id=workspace)
    await app.call("workspace/get", workspace_id=workspace)
    await app.call("workspace/status", workspace_id=workspace)
    await app.close()
    again = await app.device.connect()
    await again.call("workspace/session/activate", workspace_id=workspace, session_id=session)
    started = await again.call("session/start", workspace_id=workspace, session_id=session, agent_type=agent)
    check(started["session_id"] == session, "another session was attached to")
    await again.call("session/messages", session_id=session, limit=50, order="desc", agent_type=agent)
    await again.close()


async def pictures(host):
    """A picture for a prompt over HTTP: sent, listed, counted and removed; and the daemon's state."""
    device = await host.pair()
    sent = await device.http("POST", "/api/images", picture=b"GIF89a and the rest of a small picture")
    listed = await device.http("GET", "/api/images")
    check([image["id"] for image in listed["images"]] == [sent["id"]], shown(listed))
    stats = await device.http("GET", "/api/images/stats")
    check(stats["image_count"] == 1 and stats["can_accept_upload"], shown(stats))
    removed = await device.http("DELETE", "/api/images", f"?id={sent['id']}")
    check(removed["id"] == sent["id"], shown(removed))
    cleared = await device.http("DELETE", "/api/images/all")
    check(cleared["deleted"] == 0, shown(cleared))
    await device.http("GET", "/api/status")
