// What is written for an agent and how it is started: files that are pasted and dropped, the mode; and what is
// read of it: folds that stay open, and nothing that moves while it is read.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { between, openBrowser, openDevice, pair, startSession } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";
import { startWithProject } from "./project.mjs";

const agent = new URL("./asking-agent.mjs", import.meta.url).pathname;
const CONFIG = `[runtimes.asking]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(agent)}]\n`;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("composing and reading", () => {
  let daemon, browser, desk, phone, call, workspace_id;
  const cleanups = [];
  const suite = { after: (work) => cleanups.push(work) };

  before(async () => {
    daemon = await Daemon.start(CONFIG);
    browser = await openBrowser(suite);
    [desk, phone] = [await openDevice(suite, browser, "desk"), await openDevice(suite, browser, "phone")];
    await pair(desk, daemon);
    await pair(phone, daemon);
    call = await daemon.device();
    [{ id: workspace_id }] = (await call("workspace/list")).workspaces;
  });
  after(async () => {
    try {
      for (const work of cleanups.reverse()) await work();
    } finally {
      await daemon.remove();
    }
  });

  const sessionOf = (page) => new URL(page.url()).pathname.split("/").at(-1);

  /** Hands files to the prompt in an event that a browser sends, as its clipboard or a file manager does. */
  const hand = (page, type, files) =>
    page.getByRole("textbox", { name: "Prompt" }).evaluate(
      (field, { type, files }) => {
        const data = new DataTransfer();
        for (const { name, mime, base64 } of files) data.items.add(new File([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))], name, { type: mime }));
        const options = { bubbles: true, cancelable: true };
        if (type === "paste") return field.dispatchEvent(new ClipboardEvent("paste", { ...options, clipboardData: data }));
        // A browser that is not stopped here would leave the page for the file.
        const isKept = !field.dispatchEvent(new DragEvent("dragover", { ...options, dataTransfer: data }));
        field.dispatchEvent(new DragEvent("drop", { ...options, dataTransfer: data }));
        return isKept;
      },
      { type, files },
    );

  test("a picture that is pasted is attached, and files that are dropped are attached or named in the prompt", async () => {
    await startSession(desk, "hello");
    await desk.getByText(/Done in \d/).waitFor();
    await hand(desk, "paste", [{ name: "screen.png", mime: "image/png", base64: PIXEL }]);
    await desk.getByRole("button", { name: "Remove screen.png" }).waitFor();
    const text = Buffer.from("milk and bread").toString("base64");
    assert.equal(await hand(desk, "drop", [{ name: "photo.png", mime: "image/png", base64: PIXEL }, { name: "list.txt", mime: "text/plain", base64: text }]), true);
    await desk.getByRole("button", { name: "Remove photo.png" }).waitFor();
    await desk.waitForFunction(() => /@\S+list\.txt $/.test(document.querySelector("textarea").value));
    const path = /@(\S+)/.exec(await desk.getByRole("textbox", { name: "Prompt" }).inputValue())[1];
    assert.equal(await readFile(join(daemon.work, path), "utf8"), "milk and bread");
    for (const name of ["screen.png", "photo.png"]) await desk.getByRole("button", { name: `Remove ${name}` }).click();
    await desk.getByRole("textbox", { name: "Prompt" }).fill("");
  });

  test("a new session has the mode that was chosen, and its header changes it", async () => {
    for (const page of [desk, phone]) {
      const file = page === desk ? "from-desk.txt" : "from-phone.txt";
      await page.goto(`${daemon.http}/new`);
      await page.getByRole("radio", { name: /demo/i }).check();
      await page.getByLabel("Permissions").selectOption("accept_edits");
      await page.getByRole("textbox", { name: "Prompt" }).fill(`edit ${file}`);
      await page.getByRole("button", { name: "Start", exact: true }).click();
      await page.waitForURL(/\/s\//);
      await page.getByText(/Done in \d/).waitFor();
      assert.equal(existsSync(join(daemon.work, file)), true, "nobody was asked");
      const session_id = sessionOf(page);
      assert.equal((await call("session/get", { session_id })).record.mode, "accept_edits");
      await page.getByRole("button", { name: "Accept edits", exact: true }).click();
      const sheet = page.getByRole("dialog", { name: "This session" });
      await sheet.getByRole("radio", { name: /^Plan/ }).check();
      await page.getByText("Mode Plan, from the next task on").waitFor();
      await sheet.getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Plan", exact: true }).waitFor();
      assert.equal((await call("session/get", { session_id })).record.mode, "plan");
    }
  });

  test("what was unfolded is still open after a reload, and what was not is closed", async () => {
    await startSession(phone, "tools");
    await phone.getByText(/Done in \d/).waitFor();
    const card = phone.getByRole("log", { name: "Transcript" }).getByRole("button", { name: /project\// });
    await card.click();
    await phone.getByRole("log", { name: "Transcript" }).getByText("README.md").first().waitFor();
    await phone.reload();
    await phone.getByRole("log", { name: "Transcript" }).getByText("README.md").first().waitFor();
    assert.equal(await card.getAttribute("aria-expanded"), "true");
    await card.click();
    await phone.reload();
    await card.waitFor();
    assert.equal(await card.getAttribute("aria-expanded"), "false");
    await startSession(phone, "think about it");
    await phone.getByText(/Done in \d/).waitFor();
    const thought = phone.getByRole("button", { name: /^Thought for/ });
    await thought.click();
    await phone.reload();
    await phone.locator(".thought").waitFor();
    assert.equal(await thought.getAttribute("aria-expanded"), "true");
  });

  test("the key A offers how long to allow, in a session and in the inbox", async () => {
    const start = async (prompt) => (await call("session/send", { workspace_id, agent_type: "demo", mode: "new", prompt })).session_id;
    const session_id = await start("edit scoped.txt");
    await desk.goto(`${daemon.http}/s/${session_id}`);
    const transcript = desk.getByRole("log", { name: "Transcript" });
    await transcript.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
    await desk.evaluate(() => document.activeElement.blur());
    await desk.keyboard.press("Shift+A");
    await transcript.getByRole("button", { name: "Allow in this workspace" }).waitFor();
    assert.equal((await call("permission/pending")).requests.length, 1, "nothing is decided by that");
    await desk.goto(`${daemon.http}/`);
    const card = desk.locator("[data-ask]").first();
    await card.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
    await desk.evaluate(() => document.activeElement.blur());
    await desk.keyboard.press("Shift+A");
    await card.getByRole("button", { name: "Allow in this session" }).waitFor();
    await call("session/stop", { session_id });
  });

  test("a session that is hidden leaves the lists of every device, and is still at its address", async () => {
    await startSession(desk, "hello");
    await desk.getByText(/Done in \d/).waitFor();
    const address = desk.url();
    await call("session/start", { session_id: sessionOf(desk), title: "Nobody else needs this" });
    await phone.goto(`${daemon.http}/`);
    const row = phone.getByRole("link", { name: /Nobody else needs this/ });
    await row.waitFor();
    await desk.getByRole("button", { name: "Settings of this session" }).click();
    await desk.getByRole("button", { name: "Hide this session" }).click();
    await desk.getByRole("button", { name: "Tap again: no list shows it any more", disabled: false }).click();
    await desk.waitForURL(`${daemon.http}/`);
    await row.waitFor({ state: "detached" });
    await desk.getByRole("link", { name: /Nobody else needs this/ }).waitFor({ state: "detached" });
    assert.equal((await call("session/list", { limit: 500 })).sessions.some((one) => address.endsWith(one.session_id)), false);
    await desk.goto(address);
    await desk.getByText(/Done in \d/).waitFor();
  });

  test("a remembered answer that is forgotten is asked about again", async () => {
    await startSession(desk, "edit remembered.txt");
    const transcript = desk.getByRole("log", { name: "Transcript" });
    await transcript.getByRole("button", { name: "Always…" }).click();
    await transcript.getByRole("button", { name: "Allow in this workspace" }).click();
    await desk.getByText("remembered for the workspace").waitFor();
    await desk.goto(`${daemon.http}/status`);
    const answers = desk.getByRole("region", { name: "Remembered answers" });
    const rule = answers.getByRole("listitem").filter({ hasText: "remembered.txt" });
    await rule.getByRole("button", { name: "Forget" }).click();
    await rule.waitFor({ state: "detached" });
    assert.deepEqual((await call("rule/list")).rules, []);
    await startSession(desk, "edit remembered.txt");
    await transcript.getByRole("button", { name: "Allow once" }).waitFor();
    await call("session/stop", { session_id: sessionOf(desk) });
  });

  test("a desk's inbox shows the first three requests whole, and what agents said last", async () => {
    await startSession(desk, "hello");
    await desk.getByText(/Done in \d/).waitFor();
    const waiting = [];
    for (let asked = 0; asked < 4; asked++) waiting.push((await call("session/send", { workspace_id, agent_type: "demo", mode: "new", prompt: `edit queue-${asked}.txt` })).session_id);
    await desk.goto(`${daemon.http}/`);
    await desk.getByText("1 more waits, and comes here as these are answered.").waitFor();
    assert.equal(await desk.locator("[data-ask]").count(), 3);
    await desk.getByRole("complementary", { name: "What agents do" }).getByText("Hello from the demo agent.").first().waitFor();
    await call("session/stop", { session_id: waiting[0] });
    await desk.locator("[data-ask]").getByText("queue-3.txt").first().waitFor();
    for (const session_id of waiting.slice(1)) await call("session/stop", { session_id });
    await desk.getByRole("heading", { name: "Nothing needs you" }).waitFor();
  });

  test("a diff stands side by side on a desk and in one column on a phone, whose lines go on below", async () => {
    await writeFile(join(daemon.work, "README.md"), `# Another project\n\nIt has ${"very ".repeat(60)}many files.\n`);
    const address = `${daemon.http}/w/${workspace_id}/changes?path=README.md`;
    await desk.goto(address);
    const mark = (page) => page.locator("mark").filter({ hasText: "Another" });
    await mark(desk).waitFor();
    /** Where the old and the new title stand. */
    const places = async (page) => {
      const diff = page.getByRole("region", { name: "Changes", exact: true });
      return [await diff.locator(".removed").first().boundingBox(), await diff.locator(".added").first().boundingBox()];
    };
    const [left, right] = await places(desk);
    assert.ok(Math.abs(left.y - right.y) < 2 && right.x > left.x + left.width, "beside each other");
    await phone.goto(address);
    await mark(phone).waitFor();
    const [above, below] = await places(phone);
    assert.ok(below.y >= above.y + above.height - 1 && Math.abs(above.x - below.x) < 24, "below each other");
    assert.equal(await phone.getByRole("checkbox", { name: "Side by side" }).isVisible(), false);
    assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= 390 && [...document.querySelectorAll(".diff.scroll")].every((one) => one.scrollWidth <= one.clientWidth)), "nothing lies beyond the right edge");
    await daemon.git("checkout", "-q", "README.md");
  });
});

test("nothing moves when pictures, diffs and colours of code arrive", async (test) => {
  const daemon = await startWithProject();
  test.after(() => daemon.remove());
  // What a service worker fetches would pass by what is held back here.
  const page = await openDevice(test, await openBrowser(test), "desk", { serviceWorkers: "block" });
  await pair(page, daemon);
  await startSession(page, "Also mention it in the README", /coder/i);
  await page.getByText(/Done in \d/).waitFor();
  await page.locator("input[type=file]").setInputFiles({ name: "chart.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") });
  await page.getByRole("textbox", { name: "Prompt" }).fill("Also mention it in the README");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText(/Done in \d/).nth(1).waitFor();
  const session = page.url();

  // All that comes later comes when the test says so.
  await between(page, (message, pass) => {
    window.held ??= [];
    const { result } = message;
    if (result && !window.isReleased && (("encoding" in result && "size" in result) || "is_binary" in result)) window.held.push(() => pass(message));
    else pass(message);
  });
  let release;
  const released = new Promise((resolve) => (release = resolve));
  let asked = 0;
  await page.context().route(/\/assets\/common-[^/]*\.js$/, async (route) => {
    asked += 1;
    await released;
    await route.fallback();
  });
  /** Begins to look for shifts, lets everything come, and returns what moved once it is there. */
  const shiftsUntil = async (arrived) => {
    await page.evaluate(() => {
      window.shifts = [];
      new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value }) => value))).observe({ type: "layout-shift" });
      window.isReleased = true;
      window.held.splice(0).forEach((pass) => pass());
    });
    release();
    await arrived();
    // What was drawn last has been looked at after two frames.
    return page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(window.shifts)))));
  };

  await page.goto(session);
  await page.getByText(/Done in \d/).nth(1).waitFor();
  await page.waitForFunction(() => window.held.length > 0);
  assert.deepEqual(await page.evaluate(() => [document.querySelectorAll("figure img").length, document.querySelectorAll("[class^=hljs-]").length]), [0, 0], "neither the picture nor the colours are there");
  assert.equal(asked > 0, true, "the highlighter is on its way");
  const inSession = await shiftsUntil(async () => {
    await page.locator("figure img").first().waitFor();
    await page.locator("[class^=hljs-]").first().waitFor();
  });
  assert.deepEqual(inSession, [], "in a session");

  const { workspace_id } = await (await daemon.device())("session/get", { session_id: new URL(session).pathname.split("/").at(-1) });
  await page.goto(`${daemon.http}/w/${workspace_id}/changes?path=src%2Freport.rs`);
  await page.getByRole("heading", { name: "src/report.rs" }).waitFor();
  await page.waitForFunction(() => window.held.length > 0);
  assert.deepEqual(await shiftsUntil(() => page.getByText("serde_json").first().waitFor()), [], "in the changes");
});
