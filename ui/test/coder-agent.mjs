// An agent for the pictures: an ACP agent without a model that does, for each of a few prompts, what a coding agent would
// do with the project in `project.mjs`. It writes nothing and runs nothing.

import { createInterface } from "node:readline";

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const answers = new Map();
let nextId = 1;
let calls = 0;
const cancelled = new Set();

function ask(method, params) {
  const id = `r${nextId++}`;
  write({ id, method, params });
  return new Promise((resolve) => answers.set(id, resolve));
}

const update = (sessionId, fields) => write({ method: "session/update", params: { sessionId, update: fields } });
const chunk = (sessionUpdate) => (sessionId, text) => update(sessionId, { sessionUpdate, content: { type: "text", text } });
const say = chunk("agent_message_chunk");
const think = chunk("agent_thought_chunk");
const plan = (sessionId, ...entries) => update(sessionId, { sessionUpdate: "plan", entries: entries.map(([content, status]) => ({ content, status, priority: "medium" })) });
const text = (output) => [{ type: "content", content: { type: "text", text: output } }];

/** Announces a call, asks for it where it changes something, and ends it; whether it was allowed. */
async function call(sessionId, cwd, { title, kind, rawInput, output, ms = 40 }) {
  const toolCallId = `c${++calls}`;
  const input = rawInput.path ? { ...rawInput, path: `${cwd}/${rawInput.path}` } : rawInput;
  if (kind === "read" || kind === "search") update(sessionId, { sessionUpdate: "tool_call", toolCallId, title, kind, rawInput: input, status: "pending" });
  else {
    const options = [{ optionId: "yes", name: "Allow", kind: "allow_once" }, { optionId: "no", name: "Deny", kind: "reject_once" }];
    const { outcome } = await ask("session/request_permission", { sessionId, toolCall: { toolCallId, title, kind, rawInput: input, status: "pending" }, options });
    if (outcome?.optionId !== "yes") return false;
  }
  update(sessionId, { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" });
  await pause(ms);
  update(sessionId, { sessionUpdate: "tool_call_update", toolCallId, status: "completed", content: output ? text(output) : [] });
  return true;
}

const TESTS = ["report::prints_a_table", "report::prints_one_object_for_each_tide", "station::is_found_by_its_name", "station::an_unknown_name_lists_the_nearest", "tide::times_are_local"]
  .map((name) => `test ${name} ... \u001b[32mok\u001b[0m\n`)
  .join("");

const WORDS = "The station module reads the list of harbours once and keeps it sorted by name so that a lookup is a search in a sorted list and the report module asks it for the tides of a day and prints them as a table or as one object for each tide while the cache keeps what was fetched for an hour ".split(" ");

/** What it does for a prompt that begins with these words. */
const SCRIPTS = {
  "Add a --json flag": async (session, cwd) => {
    think(session, "The report is printed in src/report.rs. It needs serde and a flag in src/main.rs.");
    await pause(120);
    plan(session, ["Read how the report is printed", "in_progress"], ["Add the flag and print JSON", "pending"], ["Run the tests", "pending"]);
    for (const [path, lines] of [["src/main.rs", 31], ["src/report.rs", 48]]) await call(session, cwd, { title: `Read ${path}`, kind: "read", rawInput: { path }, output: "fn main() {}\n".repeat(lines) });
    plan(session, ["Read how the report is printed", "completed"], ["Add the flag and print JSON", "in_progress"], ["Run the tests", "pending"]);
    await call(session, cwd, {
      title: "Edit src/report.rs", kind: "edit",
      rawInput: { path: "src/report.rs", old_string: "    for tide in tides {\n        println!(\"{:<6} {:>5.2} m\", tide.time, tide.height);\n    }", new_string: "    for tide in tides {\n        if json {\n            println!(\"{}\", serde_json::to_string(tide)?);\n        } else {\n            println!(\"{:<6} {:>5.2} m\", tide.time, tide.height);\n        }\n    }" },
    });
    plan(session, ["Read how the report is printed", "completed"], ["Add the flag and print JSON", "completed"], ["Run the tests", "in_progress"]);
    await call(session, cwd, { title: "Run the tests", kind: "execute", rawInput: { command: "cargo test" }, output: `running 5 tests\n${TESTS}\ntest result: ok. 5 passed; 0 failed\n`, ms: 1_400 });
    plan(session, ["Read how the report is printed", "completed"], ["Add the flag and print JSON", "completed"], ["Run the tests", "completed"]);
    say(session, "`tide report --json` prints **one object for each tide**, with its time, height and kind. Without the flag nothing changes.\n\nAll five tests pass, two of them new.");
    return usage(session, 18_420, 2_210, 0.094);
  },
  "Also mention": async (session) => {
    say(session, "The README has a section *Output for programs* now, with this example:\n\n```json\n{\"time\": \"14:03\", \"height\": 4.12, \"kind\": \"high\"}\n```");
    await pause(150);
    return usage(session, 21_050, 640, 0.131);
  },
  "Upgrade the parser": async (session) => {
    say(session, "I read the notes of the new version first.");
    throw { code: -32603, message: "Internal error", data: { message: "the model is overloaded; try again in a minute", errorKind: "overloaded" } };
  },
  "Which harbour": async (session) => {
    const properties = {
      harbour: { type: "string", title: "Default harbour", oneOf: ["Brest", "Hamburg", "Liverpool"].map((name) => ({ const: name, title: name })) },
      why: { type: "string", title: "Anything to consider?" },
    };
    await ask("elicitation/create", { sessionId: session, mode: "form", message: "Which harbour should the command show if none is named?", requestedSchema: { type: "object", properties, required: ["harbour"] } });
    say(session, "It is the default now.");
  },
  "Clean up": async (session, cwd) => {
    say(session, "The old builds take 4.1 GB. I would remove them all, with the worktrees that nobody uses.");
    await call(session, cwd, { title: "Remove old builds", kind: "execute", rawInput: { command: "rm -rf target/ ../tide-worktrees/*" } });
  },
  "Write the changelog": async (session, cwd) => {
    say(session, "Three changes since 0.2 are worth a line.");
    await call(session, cwd, {
      title: "Write CHANGELOG.md", kind: "edit",
      rawInput: { path: "CHANGELOG.md", content: "# Changelog\n\n## 0.3\n\n- `tide report --json` prints JSON.\n- Unknown harbours list the nearest.\n- Times are local to the harbour.\n" },
    });
  },
  "Run all tests": async (session, cwd) => {
    const toolCallId = `c${++calls}`;
    const [title, kind, rawInput] = ["Run all tests", "execute", { command: "cargo test --workspace" }];
    await ask("session/request_permission", { sessionId: session, toolCall: { toolCallId, title, kind, rawInput, status: "pending" }, options: [{ optionId: "yes", name: "Allow", kind: "allow_once" }] });
    update(session, { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", content: text(`   Compiling tide v0.3.0 (${cwd})\n    Finished \`test\` profile\nrunning 5 tests\n${TESTS}`) });
    while (!cancelled.has(session)) await pause(100);
  },
  // At 20 words in a second, 600 of them.
  "Explain slowly": (session) => stream(session, 600, 1, 50),
  // At 2,000 words in a second, until somebody stops it.
  "Explain every module": (session) => stream(session, Infinity, 20, 10),
};

async function stream(session, words, together, ms) {
  for (let at = 0; at < words && !cancelled.has(session); ) {
    for (let piece = 0; piece < together; piece++, at++) say(session, `${WORDS[at % WORDS.length]} ${at % 90 === 89 ? "\n\n" : ""}`);
    await pause(ms);
  }
}

function usage(session, inputTokens, outputTokens, dollars) {
  update(session, { sessionUpdate: "usage_update", used: inputTokens + outputTokens, size: 200_000, cost: { amount: dollars, currency: "USD" } });
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

const folders = new Map();
const methods = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: { promptCapabilities: { image: true } }, agentInfo: { name: "coder", version: "2.4.1" }, authMethods: [] }),
  "session/new": ({ cwd }) => {
    const sessionId = `s${folders.size + 1}-${process.pid}`;
    folders.set(sessionId, cwd);
    return { sessionId };
  },
  "session/prompt": async ({ sessionId, prompt }) => {
    cancelled.delete(sessionId);
    const said = prompt.findLast((block) => block.type === "text")?.text ?? "";
    const script = Object.entries(SCRIPTS).find(([words]) => said.startsWith(words))?.[1];
    if (!script) say(sessionId, "I know only the prompts of the pictures.");
    const used = await script?.(sessionId, folders.get(sessionId));
    return { stopReason: cancelled.has(sessionId) ? "cancelled" : "end_turn", ...(used && { usage: used }) };
  },
  "session/cancel": ({ sessionId }) => void cancelled.add(sessionId),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    answers.get(id)?.(result ?? { outcome: undefined, error });
    answers.delete(id);
    continue;
  }
  Promise.resolve(methods[method]?.(params) ?? (methods[method] ? {} : Promise.reject({ code: -32601, message: "no such method" }))).then(
    (done) => id !== undefined && write({ id, result: done }),
    (failure) => id !== undefined && write({ id, error: failure }),
  );
}
