"""One connection of the Python SDK with an ACP agent, and what it saw.

    python client.py PLAN

The plan and the report are those of `client.mjs`, in version 1 and over stdio.
"""

import asyncio
import json
import os
import sys

import acp
from acp import schema


class Client(acp.Client):
    """Answers permission requests and cancels turns as the plan says."""

    def __init__(self, plan):
        self.plan = plan
        self.turn = None
        self.agent = None
        self.cancelled = False
        self.report = {"version": None, "agent": None, "session": None, "turns": [], "permissions": []}

    def on_connect(self, conn):
        self.agent = conn

    async def cancel(self):
        if not self.cancelled:
            self.cancelled = True
            await self.agent.cancel(session_id=self.report["session"])

    async def request_permission(self, options, session_id, tool_call, **kwargs):
        kinds = [option.kind for option in options]
        self.report["permissions"].append({"title": tool_call.title, "options": kinds})
        if self.plan["answer"] == "cancel":
            await self.cancel()
            outcome = schema.DeniedOutcome(outcome="cancelled")
        else:
            chosen = next(option for option in options if option.kind == self.plan["answer"])
            outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def session_update(self, session_id, update, **kwargs):
        if self.turn and update.session_update == self.plan.get("cancel_on"):
            await self.cancel()


async def run(plan):
    client = Client(plan)
    report = client.report
    command = plan["command"]
    # By default the SDK passes on only a few variables.
    async with acp.spawn_agent_process(client, *command, env=dict(os.environ)) as (agent, process):
        info = schema.Implementation(name="roost-conformance", version="1")
        initialized = await agent.initialize(protocol_version=1, client_info=info)
        report["version"] = initialized.protocol_version
        report["agent"] = initialized.agent_info.name if initialized.agent_info else None
        if plan.get("load"):
            report["session"] = plan["load"]
            await agent.load_session(cwd=plan["cwd"], session_id=plan["load"], mcp_servers=[])
        else:
            report["session"] = (await agent.new_session(cwd=plan["cwd"], mcp_servers=[])).session_id
        for text in plan["prompts"]:
            client.turn = turn = {"stop": None}
            report["turns"].append(turn)
            try:
                answer = await agent.prompt(session_id=report["session"], prompt=[acp.text_block(text)])
                turn["stop"] = answer.stop_reason
            except acp.RequestError as error:
                turn["error"] = {"code": error.code, "message": str(error), "data": error.data}
    report["exit"] = process.returncode
    return report


plan = {"prompts": [], "answer": "allow_once", **json.loads(sys.argv[1])}
print(json.dumps(asyncio.run(run(plan))))
