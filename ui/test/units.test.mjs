// The parts of the page that are only functions, loaded as Vite builds them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createServer } from "vite";
import TOOL_CALLS from "./tool-calls.json" with { type: "json" };

describe("functions of the page", () => {
  let vite;
  const load = (path) => vite.ssrLoadModule(path);

  before(async () => {
    vite = await createServer({ root: new URL("..", import.meta.url).pathname, server: { middlewareMode: true, watch: null, ws: false }, appType: "custom", logLevel: "error" });
  });
  after(() => vite.close());

  const TEXT = "# A title\n\nSome *text* here.\n\n- one\n\n- two\n  more\n\n```js\nlet a = 1;\n\nlet b = 2;\n```\n\n1. first\n2. second\n\nThe end.";

  test("markdown that comes in pieces ends as the text, however it was cut", async () => {
    const { MarkdownStream } = await load("/src/text/markdown-stream.ts");
    for (let size = 1; size < 40; size++) {
      const stream = new MarkdownStream();
      for (let at = 0; at < TEXT.length; at += size) {
        stream.append(TEXT.slice(at, at + size));
        stream.settle();
        assert.equal(stream.source, TEXT.slice(0, Math.min(TEXT.length, at + size)), `pieces of ${size}`);
      }
    }
  });

  test("what was settled is not drawn again when the text is complete, and code stays in one block", async () => {
    const { MarkdownStream } = await load("/src/text/markdown-stream.ts");
    const stream = new MarkdownStream();
    for (const character of TEXT) {
      stream.append(character);
      stream.settle();
    }
    const settled = stream.blocks;
    stream.finish(TEXT);
    assert.deepEqual(stream.blocks.slice(0, settled.length), settled);
    const code = stream.blocks.filter((block) => block.source.includes("let"));
    assert.equal(code.length, 1);
    assert.ok(stream.blocks.some((block) => block.source.includes("one") && block.source.includes("two")), "a list is one block");
  });

  test("text without an end is split, so that each piece costs no more than the last", async () => {
    const { MarkdownStream } = await load("/src/text/markdown-stream.ts");
    const stream = new MarkdownStream();
    for (let piece = 0; piece < 2_000; piece++) {
      stream.append("words without a line break ");
      stream.settle();
    }
    assert.ok(stream.tail.length <= 8_100, String(stream.tail.length));
    assert.equal(stream.source.length, 2_000 * 27);
  });

  test("an answer of four megabytes is split into pieces that can be drawn", async () => {
    const { MarkdownStream } = await load("/src/text/markdown-stream.ts");
    const stream = new MarkdownStream();
    stream.finish("word ".repeat(800_000));
    assert.ok(stream.blocks.length > 400);
    assert.equal(stream.source.length, 4_000_000);
  });

  test("hidden and turning characters are shown by their number", async () => {
    const { revealHidden, oneLine } = await load("/src/text/hidden.ts");
    assert.equal(revealHidden("rm \u202egpj.exe"), "rm ⟨U+202E⟩gpj.exe");
    assert.equal(revealHidden("a\tb\nc é 日本"), "a\tb\nc é 日本");
    assert.equal(oneLine("a\n\u0007b"), "a ⟨U+0007⟩b");
  });

  test("in prose pictures and scripts are written as they are, and nothing else hides there", async () => {
    const { revealInProse, revealHidden, oneLineOfProse } = await load("/src/text/hidden.ts");
    const [family, persian, hindi] = ["👩\u200d👩\u200d👧", "می\u200cخواهم", "क्\u200dष"];
    const table = [
      [`a ${family} b`, `a ${family} b`],
      ["❤\ufe0f\u200d🔥 🧑🏽\u200d💻", "❤\ufe0f\u200d🔥 🧑🏽\u200d💻"],
      [persian, persian],
      [hindi, hindi],
      ["pay\u200cpal", "pay⟨U+200C⟩pal"],
      ["e\u0301\u200dx", "e\u0301⟨U+200D⟩x"],
      ["rm\u200d -rf", "rm⟨U+200D⟩ -rf"],
      ["👩\u200d\u200d👧 👩\u200d", "👩⟨U+200D⟩⟨U+200D⟩👧 👩⟨U+200D⟩"],
      ["\u202eabc\u200b", "⟨U+202E⟩abc⟨U+200B⟩"],
    ];
    for (const [text, shown] of table) assert.equal(revealInProse(text), shown);
    assert.equal(oneLineOfProse(` ${family}\n${persian} `), `${family} ${persian}`);
    assert.equal(revealHidden(`${family}${persian}`).match(/U\+200[CD]/g).length, 3, "a command, a path and a diff show each of them");
  });

  test("terminal output is what a terminal would leave", async () => {
    const { outputLines, ansiSpans } = await load("/src/text/ansi.ts");
    assert.deepEqual(outputLines("10%\r50%\r100%\nok\u001b[2K\u001b]0;title\u0007"), ["100%", "ok"]);
    assert.deepEqual(ansiSpans("\u001b[31mred\u001b[0m plain"), [{ text: "red", classes: "ansi-red" }, { text: " plain", classes: "" }]);
  });

  test("a completion replaces what was typed of it, and an address is none", async () => {
    const { completionAt } = await load("/src/session/completion.ts");
    assert.deepEqual(completionAt("look at @src/ma", 15), { mark: "@", query: "src/ma", start: 8, end: 15 });
    assert.deepEqual(completionAt("/rev", 4), { mark: "/", query: "rev", start: 0, end: 4 });
    assert.equal(completionAt("ada@example", 11), undefined);
    assert.equal(completionAt("a /rev", 6), undefined);
  });

  test("a call is named by what it does, whatever its agent calls it", async () => {
    const { callFacts, isDangerous } = await load("/src/session/call.ts");
    assert.equal(callFacts("Bash", { command: "rm -rf /", description: "list files" }, "execute").subject, "rm -rf /");
    assert.deepEqual(callFacts("Edit", { file_path: "/a", old_string: "x", new_string: "y" }, "edit").changes, [{ path: "/a", kind: "update", before: "x", after: "y" }]);
    assert.equal(callFacts("Write", { file_path: "/a", content: "y" }, "edit").changes[0].kind, "write");
    assert.equal(callFacts("shell", { command: ["sh", "-c", "echo 'x y'"] }, "execute").subject, String.raw`sh -c 'echo '\''x y'\'''`);
    assert.equal(callFacts("mcp__github__search", { query: "x" }, undefined).service, "github");
    assert.equal(isDangerous({ rule: "permission_mode:dangerous", kind: "execute" }), true);
    assert.equal(isDangerous({ rule: "permission_mode:ask", kind: "execute", class: "write" }), false);
    assert.equal(isDangerous({ rule: "claude_settings:ask Bash(rm:*)", kind: "execute", class: "dangerous" }), true);
  });

  test("a command and the changes to files are found in the words of every agent, as the daemon finds them", async () => {
    const { callFacts } = await load("/src/session/call.ts");
    for (const { about, name, input, command, folder, changes } of TOOL_CALLS) {
      const facts = callFacts(name, input, undefined);
      assert.equal(facts.category === "command" ? facts.subject : undefined, command, about);
      assert.equal(facts.folder, folder, about);
      const comparable = (change, { kind }) => ("diff" in change ? { path: change.path, diff: change.diff } : { path: change.path, before: change.before, after: change.after, ...(kind && { kind: change.kind }) });
      assert.deepEqual(facts.changes.map((change, index) => comparable(change, changes[index] ?? {})), changes.map((change) => comparable(change, change)), about);
      assert.deepEqual(facts.changes.map((change) => change.movedTo), changes.map((change) => change.movedTo), about);
    }
  });

  test("several changes are named by their files, and what is not shown as a change is shown as it came", async () => {
    const { callFacts, callWords } = await load("/src/session/call.ts");
    const { rowsOfChange, countRows } = await load("/src/text/diff.ts");
    const patches = { changes: [{ path: "/w/a", kind: { type: "add" }, diff: "x\n" }, { path: "/w/b", kind: { type: "update" }, diff: "@@ -1 +1,2 @@\n-a\n+b\n+c\n" }, { path: "/w/c", kind: { type: "delete" }, diff: "y\n" }] };
    const facts = callFacts("fileChange", patches, "edit");
    assert.deepEqual([facts.subject, callWords(facts, "fileChange", "edit"), facts.shown], ["/w/a and 2 more", "Change 3 files", ["changes"]]);
    assert.deepEqual(countRows(facts.changes.flatMap(rowsOfChange)), { added: 3, removed: 2 });
    const shown = (input) => callFacts("tool", input, undefined).shown;
    assert.deepEqual(shown({ file_path: "a", edits: [{ old_string: "a", new_string: "b", replace_all: true }] }), ["file_path"]);
    assert.deepEqual(shown({ content: [{ type: "diff", path: "a", oldText: "a", newText: "b" }], locations: ["a", "/etc"] }), ["content"]);
    assert.deepEqual(shown({ changes: [{ path: "a", kind: { type: "add" }, diff: "x", mode: "setuid" }] }), []);
    const words = (name, input, kind) => callWords(callFacts(name, input, kind), name, kind);
    assert.equal(words("NotebookEdit", { notebook_path: "a", new_source: "x" }, "edit"), "Change a file");
    assert.equal(words("fileChange", { changes: [patches.changes[0]] }, "edit"), "Create a file");
    assert.equal(words("fileChange", { changes: [{ path: "a", kind: { type: "update", move_path: "b" }, diff: "" }] }, "edit"), "Change and move a file");
    // A service's tool is no reader because it takes a path.
    assert.equal(words("mcp__fs__remove", { path: "a" }, undefined), "Use the service “fs”");
    assert.equal(callFacts("mcp__fs__remove", { path: "a" }, undefined).subject, 'remove {"path":"a"}');
    // What no reader of diffs would show is shown.
    assert.deepEqual(rowsOfChange({ before: "", after: "", diff: "not a diff\n+b\n" }).map(({ kind, text }) => [kind, text]), [["same", "not a diff"], ["added", "b"]]);
  });

  test("what a call would do is said in words that people know", async () => {
    const { callFacts, callWords, ruleText } = await load("/src/session/call.ts");
    const words = (name, input, kind) => callWords(callFacts(name, input, kind), name, kind);
    assert.equal(words("execute", { command: "ls" }, "execute"), "Run a command");
    assert.equal(words("edit", { path: "a", old_string: "x", new_string: "y" }, "edit"), "Change a file");
    assert.equal(words("Write", { path: "a", content: "y" }, "edit"), "Write a whole file");
    assert.equal(words("rm", { path: "a" }, "delete"), "Delete a file");
    assert.equal(words("Grep", { pattern: "x" }, "search"), "Search");
    assert.equal(words("mcp__notes__take", { text: "x" }, undefined), "Use the service “notes”");
    assert.equal(words("think", {}, undefined), "Use the tool “think”");
    assert.equal(ruleText("permission_mode:dangerous"), "dangerous calls ask in every mode");
  });

  test("a text that begins with what was typed fits better than one in which its letters lie apart", async () => {
    const { rankOf } = await load("/src/text/rank.ts");
    assert.deepEqual(["report.rs", "src/report.rs", "prefix", "rare"].map((text) => rankOf(text, "re")), [0, 1, 2, 2]);
    assert.equal(rankOf("Write the changelog", "re"), undefined);
    assert.equal(rankOf("Write the changelog", "wcl"), 3);
    assert.equal(rankOf("anything", ""), 0);
  });

  test("every argument of a call is shown, whichever names the agent gave them", async () => {
    const { callFacts } = await load("/src/session/call.ts");
    const left = (input) => Object.keys(input).filter((key) => !callFacts("tool", input, undefined).shown.includes(key));
    assert.deepEqual(left({ command: "ls", cmd: "rm -rf /" }), ["cmd"]);
    assert.deepEqual(left({ file_path: "/a", path: "/b", old_string: "", new_string: "x", content: "y" }), ["path", "content"]);
    assert.deepEqual(left({ command: "ls", cwd: "/", timeout: 5 }), ["timeout"]);
    assert.deepEqual(left({ pattern: "x", path: "src", limit: 3 }), ["limit"]);
    assert.deepEqual(left({ anything: 1 }), ["anything"]);
  });

  test("a remembered answer is said to cover what the daemon says that it covers", async () => {
    const { patternText, holdsAnywhere } = await load("/src/session/call.ts");
    assert.equal(patternText({ touches: { command: ["git", "push", "*"] } }), "git push …, in every folder of this workspace");
    assert.equal(patternText({ touches: { commands: [["a", "b c"], ["d", "*"]] } }), "a 'b c' and d …, in every folder of this workspace");
    assert.equal(patternText({ tool: "Edit", touches: { file: "src/**" } }), "Edit on src/**");
    assert.equal(holdsAnywhere({ touches: { file: "src/**" } }), false);
    assert.equal(holdsAnywhere({ touches: { host: "example.org" } }), true);
  });

  test("an address that somebody wrote wrongly leads somewhere", async () => {
    globalThis.location ??= { pathname: "/", hash: "", search: "" };
    globalThis.addEventListener ??= () => {};
    globalThis.document ??= { addEventListener: () => {} };
    const { parse } = await load("/src/live/router.svelte.ts");
    assert.deepEqual(parse("/s/100%", "", ""), { name: "session", id: "100%", seq: undefined });
    assert.deepEqual(parse("/s/a%20b", "#7", ""), { name: "session", id: "a b", seq: 7 });
  });

  test("a device is named after itself, whatever its browser pretends to be", async () => {
    const { deviceName } = await load("/src/pair/device-name.ts");
    const table = [
      ["Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Mobile Safari/537.36", "Chrome on Android"],
      ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36 Edg/130.0", "Edge on Windows"],
      ["Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1", "Safari on iPhone"],
      ["Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Firefox on Linux"],
    ];
    for (const [agent, name] of table) assert.equal(deviceName(agent), name);
  });

  test("the end of long code is still code", async () => {
    const { lastPart } = await load("/src/text/markdown-stream.ts");
    const line = `${"x".repeat(60)}\n`;
    const code = `words\n\`\`\`js\n${line.repeat(600)}`;
    assert.match(lastPart(code, 20_000), /^```js\nx{60}\n/);
    assert.match(lastPart(`${code}\`\`\`\n${"y ".repeat(12_000)}`, 20_000), /^(y| )/);
    assert.equal(lastPart("short", 20_000), "short");
  });

  test("a diff has numbers, signs and marks where lines replace each other", async () => {
    const { changeRows, unifiedRows, sideBySide } = await load("/src/text/diff.ts");
    const rows = changeRows("one\ntwo words\nthree\n", "one\ntwo other words\nthree\n");
    assert.deepEqual(rows.map((row) => row.kind), ["hunk", "same", "removed", "added", "same"]);
    assert.deepEqual(rows[3].marks.map(([start, end]) => rows[3].text.slice(start, end).trim()), ["other"]);
    assert.equal(sideBySide(rows).filter((pair) => pair.left && pair.right).length, 3);
    assert.deepEqual(changeRows("", "one\n"), [{ kind: "added", text: "one", new: 1 }]);
    assert.equal(unifiedRows("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n").length, 3);
  });

  test("runs and audit are one timeline, and a call that the gateway recorded is told once", async () => {
    const { merge, fits, buckets } = await load("/src/activity/timeline.ts");
    const at = (second) => new Date(second * 1000).toISOString();
    const run = (seq, kind, data = {}, level = "info") => ({ seq, at: at(seq), kind, level, message: kind, data: { runId: "s", agent: "demo", ...data } });
    const audit = (seq, kind, level, data) => ({ seq, at: at(seq), kind, level, message: kind, serviceId: "svc_1", data });
    const entries = merge(
      [run(1, "agent.run_started"), run(2, "agent.tool_called", { toolCallId: "tc" }), run(9, "agent.run_failed", {}, "error"), run(10, "agent.something_new")],
      [audit(3, "mcp.tool_called", "info", { tool: "notes__take", success: true, toolCallId: "tc", sessionId: "s", durationUs: 1500 }), audit(5, "service.crashed", "error", {})],
    );
    assert.deepEqual(entries.map((entry) => entry.what), ["something new", "failed", "failed", "gateway call", "prompted"]);
    const all = { sources: new Set(), isTroubleOnly: false, words: "", about: "" };
    const left = (filter) => entries.filter((entry) => fits(entry, { ...all, ...filter })).length;
    assert.deepEqual([left({}), left({ sources: new Set(["services"]) }), left({ isTroubleOnly: true }), left({ words: "notes take" }), left({ about: "svc_1" }), left({ about: "s" })], [5, 1, 2, 1, 2, 4]);
    assert.deepEqual(buckets(entries, 10_000, 2, 5_000), [{ at: 0, good: 2, bad: 0 }, { at: 5, good: 0, bad: 2 }]);
  });

  test("a call, that it waits and its answer are one entry, which says who decided what, and which way", async () => {
    const { merge } = await load("/src/activity/timeline.ts");
    const at = (second) => new Date(second * 1000).toISOString();
    const run = (seq, kind, message, data) => ({ seq, at: at(seq), kind, level: "info", message, data: { runId: "s", agent: "demo", ...data } });
    const asks = (seq, toolCallId, subject) => [
      run(seq, "agent.tool_called", "Bash", { toolCallId, subject, tool: "Bash" }),
      run(seq + 1, "agent.waiting", `approval of ${subject}`, { toolCallId, subject }),
    ];
    const told = merge(
      [
        ...asks(1, "a", "cargo test"),
        run(3, "agent.hitl_input", "allowed by Ada's laptop", { toolCallId: "a", decision: "allow", end: "answered", answeredBy: "Ada's laptop" }),
        ...asks(4, "b", "git push"),
        run(6, "agent.hitl_input", "denied by Ada's laptop: use a branch", { toolCallId: "b", decision: "deny", end: "answered", answeredBy: "Ada's laptop" }),
        ...asks(7, "c", "make"),
        run(9, "agent.hitl_input", "denied, because nobody answered in time", { toolCallId: "c", decision: "deny", end: "expired" }),
        run(10, "agent.waiting", "answer to: Which harbour?", { questionId: "q", subject: "Which harbour?" }),
        run(11, "agent.hitl_input", "answered by Ada's phone", { questionId: "q", outcome: "answered", answeredBy: "Ada's phone" }),
        run(12, "agent.hitl_input", "a message that steers", {}),
        ...asks(13, "d", "rm -rf target"),
        run(15, "agent.tool_called", "Read", { toolCallId: "e", subject: "README.md", tool: "Read" }),
      ],
      [],
    ).map(({ what, message, seq }) => [what, message, seq]).reverse();
    assert.deepEqual(told, [
      ["allowed", "Ada's laptop allowed “cargo test”", 1],
      ["denied", "Ada's laptop denied “git push”: use a branch", 4],
      ["not answered", "“make” denied, because nobody answered in time", 7],
      ["answered", "Ada's phone answered “Which harbour?”", 10],
      ["steered", "a message that steers", 12],
      ["waits", "rm -rf target", 13],
      ["call", "README.md", 15],
    ]);
  });

  test("a definition of a tool is the same text whatever the order of its members", async () => {
    const { definitionText, argumentsOf } = await load("/src/services/tool-definition.ts");
    const one = { inputSchema: { type: "object", properties: { b: { type: "string" }, a: {} }, required: ["b"] }, description: "first\nsecond", name: "t" };
    const other = { name: "t", description: "first\nsecond", inputSchema: { required: ["b"], properties: { a: {}, b: { type: "string" } }, type: "object" } };
    assert.equal(definitionText(one), definitionText(other));
    assert.match(definitionText(one), /^name: t\ndescription:\n {2}first\n {2}second\ninputSchema: \{/);
    assert.equal(definitionText(undefined), "");
    assert.deepEqual(argumentsOf(one), [{ name: "b", type: "string", isRequired: true }, { name: "a", type: "any", isRequired: false }]);
  });

  test("services are listed by health, and one of a state that this page does not know is shown, too", async () => {
    const { groupsOf, lookOf } = await load("/src/services/service-look.ts");
    const service = (namespace, lifecycle, health = "HEALTHY", heldBack = 0) => ({ serviceId: namespace, namespace, lifecycle, health, interface: { heldBack } });
    const all = [service("a", "STOPPED"), service("b", "RUNNING"), service("c", "QUARANTINED"), service("d", "RUNNING", "TIMEOUT"), service("e", "RUNNING", "HEALTHY", 1), service("f", "PAUSED")];
    const names = groupsOf(all).map(({ title, services }) => [title, services.map((one) => one.namespace).join("")]);
    assert.deepEqual(names, [["Needs you", "cde"], ["Running", "b"], ["Not running", "af"]]);
    assert.equal(lookOf(service("f", "PAUSED")).word, "paused");
  });

  test("a form becomes the manifest that the command line would make, once nothing is missing", async () => {
    const { manifestOf } = await load("/src/services/manifest.ts");
    const draft = { kind: "program", name: "notes", command: "npx", args: "-y\n some-server \n\n", endpoint: "" };
    assert.deepEqual(manifestOf(draft).spec.origin, { type: "stdio_mcp", command: "npx", args: ["-y", "some-server"] });
    assert.equal(manifestOf({ ...draft, name: " " }), undefined);
    assert.equal(manifestOf({ ...draft, kind: "address" }), undefined);
    assert.equal(manifestOf({ ...draft, kind: "address", endpoint: "https://x.example/mcp" }).metadata.sourceFile, "https://x.example/mcp");
  });

  test("a picture in a tool's result is found wherever a program puts it, and its bytes are no text", async () => {
    const { picturesIn } = await load("/src/session/pictures.ts");
    const { resultText } = await load("/src/session/call.ts");
    const png = { mediaType: "image/png", data: "iVBORw0KGgo=" };
    const mcp = { content: [{ type: "text", text: "a chart" }, { type: "image", data: png.data, mimeType: "image/png" }] };
    const acp = [{ type: "content", content: mcp.content[1] }];
    const claude = [{ type: "image", source: { type: "base64", media_type: "image/png", data: png.data } }];
    for (const result of [mcp, acp, claude, JSON.stringify(mcp)]) {
      assert.deepEqual(picturesIn(result), [png]);
      assert.doesNotMatch(resultText(result), /iVBOR/);
    }
    assert.equal(resultText(mcp), "a chart");
    // One that was cut has no picture yet, and one with script in it is never drawn.
    assert.deepEqual(picturesIn(JSON.stringify(mcp).slice(0, 60)), []);
    assert.deepEqual(picturesIn([{ type: "image", data: "PHN2Zz4=", mimeType: "image/svg+xml" }]), []);
    assert.equal(resultText('{"rows": 3}'), '{"rows": 3}');
  });

  test("a failure is a sentence for every kind, also one that this page does not know", async () => {
    const { failureOf, plainReason } = await load("/src/session/failure.ts");
    assert.equal(failureOf("AUTH_ERROR").link, "status");
    assert.equal(failureOf("SOMETHING_NEW").what, "The task failed.");
    assert.equal(plainReason("the agent answered with error -32603: Internal error: too many words"), "Too many words");
    assert.equal(plainReason("Codex answered with error 429: slow down"), "Slow down");
    assert.equal(plainReason("it crashed"), "It crashed");
  });

  test("a change that is too big to be compared is all that goes and all that comes", async () => {
    const { changeRows, countRows } = await load("/src/text/diff.ts");
    const lines = (word, count) => Array.from({ length: count }, (_, line) => `${word} ${line}\n`).join("");
    for (const count of [3_000, 60_000]) {
      const rows = changeRows(lines("old", count), lines("new", count));
      assert.deepEqual(countRows(rows), { added: count, removed: count });
      assert.deepEqual([rows[0].text, rows[1].old, rows.at(-1).new], [`@@ -1,${count} +1,${count} @@`, 1, count]);
    }
    assert.deepEqual(changeRows("", "a\nb\n").map((row) => [row.kind, row.text, row.new]), [["added", "a", 1], ["added", "b", 2]]);
    assert.deepEqual(changeRows("a\nb\n", "a\nc\n").map((row) => row.kind), ["hunk", "same", "removed", "added"]);
  });

  test("what was used until a moment is what was reported until then", async () => {
    const { usageUntil } = await load("/src/session/usage.ts");
    const points = [1_000, 2_000, 3_000].map((time) => ({ time, tokens: 10, input: 7, cached: 2, cost: 0.5, context: { used: time, size: 9_000 } }));
    const then = usageUntil({ input: 21, output: 9, cached: 6, cost: 1.5, points }, new Date(2_000).toISOString());
    assert.deepEqual([then.input, then.output, then.cached, then.cost, then.context.used, then.points.length], [14, 6, 4, 1, 2_000, 2]);
  });

  test("what was used is what the record says where not every report is here, at any moment too", async () => {
    const { usageUntil, usageOf, withTotals } = await load("/src/session/usage.ts");
    const report = (seq, payload) => event(seq, "usage.reported", payload);
    const here = usageOf([report(8, { input_tokens: 10, output_tokens: 2, cost_usd: 0.5 }), report(9, { input_tokens: 20, output_tokens: 3 })]);
    assert.deepEqual([here.input, here.output, here.cost, here.points.length], [30, 5, 0.5, 2]);
    const whole = withTotals(here, { input_tokens: 130, output_tokens: 45, cost_usd: 2 });
    assert.deepEqual([whole.input, whole.output, whole.cost], [130, 45, 2]);
    const then = usageUntil(whole, new Date(8_000).toISOString());
    assert.deepEqual([then.input, then.output, then.cost], [110, 42, 2], "what is not here was used before");
    assert.deepEqual([withTotals(here, { input_tokens: 12 }).input, withTotals(here, undefined).cost], [30, 0.5], "a record that is older counts no less");
  });

  test("an exported session has all that was said, thought, planned and decided, and names what is missing", async () => {
    const { sessionText } = await load("/src/session/session-text.ts");
    const big = (artifact_id) => ({ type: "artifact_ref", artifact_id, content_type: "text/plain" });
    const call = { ...identity, tool_call_id: "big" };
    const events = [
      event(4, "task.started", { messages: [{ role: "user", content: [{ type: "text", text: "go" }, big("prompt")] }] }),
      event(5, "model.output.delta", { kind: "reasoning_delta", block_id: "a", delta: "hm" }),
      event(6, "plan.updated", { entries: [{ content: "look", status: "completed" }, { content: "leap", status: "pending" }] }),
      event(7, "tool.call.requested", { ...call, name: "Read", input: { path: "a" }, kind: "read" }),
      event(8, "tool.output.completed", { ...call, stdout: "x".repeat(70_000) }),
      event(9, "tool.call.completed", { ...call, name: "Read", result_preview: "beginning", result_ref: { artifact_id: "result" } }),
      event(10, "tool.call.requested", { ...identity, name: "Bash", input: { command: "rm -rf x" } }),
      event(11, "approval.resolved", { ...identity, decision: "deny", scope: "once", answered_by: { user_id: "Ada's phone", from: "device" } }),
      event(12, "tool.call.denied", { ...identity, name: "Bash", reason: "use a branch" }),
      event(13, "model.output.completed", { content: [big("gone")] }),
      event(14, "task.failed", { reason: "it crashed", error: { code: "RUNTIME_EXITED", message: "it crashed", retryable: true } }),
    ];
    const read = async (artifact) => (artifact === "gone" ? Promise.reject(new Error("removed")) : `all of the ${artifact}`);
    const text = await sessionText("A title", events, read);
    for (const part of ["# A title", "> go\n> all of the prompt", "> hm", "- [x] look\n- [ ] leap", "x".repeat(70_000), "all of the result", "rm -rf x", "Denied by Ada's phone: use a branch", "could not be read: gone", "failed: it crashed", "removed by retention"]) assert.ok(text.includes(part), part.slice(0, 40));
    assert.ok(text.indexOf("leap") < text.indexOf("Read: a"), "a plan stands where it was made");
  });

  test("a connection is tried again as the protocol says: later each time, and once a minute after ten tries", async () => {
    globalThis.localStorage ??= { getItem: () => null, setItem: () => {}, removeItem: () => {} };
    const { LADDER } = await load("/src/live/connection.svelte.ts");
    // Seed 004: 1, 2, 4, 8 and 16 seconds, then 30 up to the tenth try, then 60.
    assert.deepEqual(LADDER, [1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 60]);
  });

  test("times are on a clock of 24 hours, and nothing takes no time", async () => {
    const { clockTime, exactTime, seconds } = await load("/src/text/time.ts");
    assert.equal(clockTime(new Date(2026, 0, 5, 14, 3)), "14:03");
    assert.equal(exactTime(new Date(2026, 0, 5, 0, 3, 9)), "00:03:09");
    assert.equal(seconds(0.01), "0.1 s");
  });

  /** An event of a task, as the log has it. */
  const event = (seq, type, payload) => ({ schema_version: 1, seq, time: new Date(seq * 1000).toISOString(), trace: { session_id: "s", task_id: "t" }, runtime: { name: "demo" }, type, payload });
  const identity = { tool_call_id: "tc", attempt: 1, input_hash: "sha256:0" };
  const EVENTS = [
    event(1, "session.created", {}),
    event(2, "task.started", { messages: [{ role: "user", content: [{ type: "text", text: "go" }] }] }),
    event(3, "model.output.delta", { kind: "reasoning_delta", block_id: "a", delta: "hm" }),
    event(4, "model.output.delta", { kind: "text_delta", block_id: "b", delta: "Hello " }),
    event(5, "model.output.delta", { kind: "text_delta", block_id: "b", delta: "there" }),
    event(6, "model.output.completed", { content: [{ type: "text", text: "Hello there" }] }),
    event(7, "tool.call.requested", { ...identity, name: "Bash", input: { command: "ls" }, kind: "execute" }),
    event(8, "tool.call.started", identity),
    event(9, "tool.output.delta", { ...identity, stream: "stdout", delta: "a\n" }),
    event(10, "tool.output.completed", { ...identity, stdout: "a\nb\n" }),
    event(11, "tool.call.completed", { ...identity, name: "Bash", result_preview: "a\nb\n" }),
    event(12, "model.output.completed", { content: [{ type: "text", text: "Done." }] }),
    event(13, "task.completed", { reason: "end_turn" }),
  ];
  const shape = (transcript) =>
    transcript.items.map((item) => {
      if (item.kind === "text") return ["text", item.markdown.source, item.isStreaming];
      if (item.kind === "thinking") return ["thinking", item.text];
      if (item.kind === "tool") return ["tool", item.name, item.state, item.output, item.seq];
      return item.kind === "end" ? ["end", item.startedAt] : [item.kind];
    });

  test("a transcript is the same whether it is read at once or from its end in pages of any size", async () => {
    const { Transcript } = await load("/src/session/transcript.ts");
    const whole = new Transcript();
    EVENTS.forEach((one) => whole.apply(one));
    whole.flush();
    assert.deepEqual(shape(whole), [
      ["prompt"], ["thinking", "hm"], ["text", "Hello there", false], ["tool", "Bash", "done", "a\nb\n", 7], ["text", "Done.", false], ["end", EVENTS[1].time],
    ]);
    for (let cut = 1; cut < EVENTS.length; cut++) {
      const [older, newer] = [new Transcript(), new Transcript()];
      EVENTS.slice(0, cut).forEach((one) => older.apply(one));
      EVENTS.slice(cut).forEach((one) => newer.apply(one));
      older.flush();
      newer.flush();
      newer.prepend(older);
      assert.deepEqual(shape(newer), shape(whole), `cut after event ${cut}`);
    }
  });

  test("a task that ends leaves no tool running", async () => {
    const { Transcript } = await load("/src/session/transcript.ts");
    const transcript = new Transcript();
    [...EVENTS.slice(0, 9), event(10, "task.failed", { reason: "it crashed", error: { code: "RUNTIME_EXITED", message: "x", retryable: true } })].forEach((one) => transcript.apply(one));
    assert.deepEqual(transcript.items.filter((item) => item.kind === "tool").map((item) => item.state), ["interrupted"]);
  });
});
