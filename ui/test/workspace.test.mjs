// The workspace: an agent edits, the change appears by itself, and is staged and committed from the page.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { between, openBrowser, openDevice, pair, startSession } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";

async function world(test, kind = "desk") {
  const daemon = await Daemon.start();
  test.after(() => daemon.remove());
  const browser = await openBrowser(test);
  const page = await openDevice(test, browser, kind);
  await pair(page, daemon);
  await page.goto(`${daemon.http}/w`);
  await page.getByRole("link", { name: /project/ }).click();
  await page.waitForURL(/\/w\//);
  return { daemon, browser, page };
}

test("what an agent edits appears as a diff, is staged and committed", async (test) => {
  const { daemon, browser, page } = await world(test);
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  const phone = await openDevice(test, browser, "phone");
  await pair(phone, daemon);
  await startSession(phone, "edit notes.txt");
  await phone.getByRole("dialog").getByRole("button", { name: "Allow once" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "notes.txt" });
  await row.waitFor();
  await page.getByRole("region", { name: "Changes" }).locator(".added").first().waitFor();
  await row.getByRole("button", { name: "Stage notes.txt", exact: true }).click();
  await page.getByRole("region", { name: "Staged" }).or(page.locator("section[aria-label=Staged]")).first().waitFor();
  await page.getByLabel("Commit message").fill("Notes of the agent");
  await page.getByRole("button", { name: "Commit 1 file" }).click();
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  assert.match(await daemon.git("log", "-1", "--format=%s"), /Notes of the agent/);
});

test("a discard asks first, and then brings the file back", async (test) => {
  const { daemon, page } = await world(test);
  await writeFile(join(daemon.work, "README.md"), "# Changed\n");
  await page.getByRole("button", { name: "Discard README.md" }).click();
  await page.getByRole("button", { name: "Keep" }).click();
  assert.match(await daemon.git("status", "--short"), /README\.md/);
  await page.getByRole("button", { name: "Discard README.md" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard", exact: true }).click();
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  assert.equal(await daemon.git("status", "--short"), "");
});

test("a branch is made, and what is on a remote is pushed with its progress told", async (test) => {
  const { daemon, page } = await world(test);
  await daemon.git("init", "-q", "--bare", join(daemon.home, "remote.git"));
  await daemon.git("remote", "add", "origin", join(daemon.home, "remote.git"));
  await page.getByRole("link", { name: "Branches" }).click();
  await page.getByLabel("Name of a new branch").fill("work");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("On the new branch work").waitFor();
  await page.evaluate(() => {
    window.told = new Set();
    new MutationObserver(() => document.querySelectorAll("[role=status]").forEach((one) => window.told.add(one.textContent.trim()))).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.getByRole("button", { name: "Push" }).click();
  await page.getByText("Pushed").waitFor();
  assert.ok((await page.evaluate(() => [...window.told])).some((line) => line.startsWith("push")), "what git does is told while it does it");
  assert.match(await daemon.git("--git-dir", join(daemon.home, "remote.git"), "branch"), /\bwork\b/);
});

test("files are browsed, shown with their pictures, and searched by content", async (test) => {
  const { daemon, page } = await world(test);
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  await writeFile(join(daemon.work, "dot.png"), Buffer.from(pixel, "base64"));
  await page.getByRole("link", { name: "Files" }).click();
  await page.getByRole("button", { name: "src" }).click();
  await page.getByRole("link", { name: "main.rs" }).click();
  await page.getByText("println!").waitFor();
  await page.reload();
  await page.getByRole("link", { name: "dot.png" }).click();
  const picture = page.getByRole("img", { name: "dot.png" });
  await picture.waitFor();
  assert.equal(await picture.evaluate((image) => image.decode().then(() => image.naturalWidth)), 1);
  await page.getByRole("link", { name: "Search" }).click();
  await page.getByRole("searchbox", { name: "Text in files" }).fill("println");
  await page.getByRole("link", { name: /println/ }).click();
  await page.waitForURL(/files\?path=src%2Fmain\.rs#L2$/);
});

test("a PDF is drawn within the page, as its policy allows, also one that is all text", async (test) => {
  const { daemon, page } = await world(test);
  for (const [name, comment] of [["letter.pdf", "%\xe2\xe3\xcf\xd3\n"], ["plain.pdf", ""]]) await writeFile(join(daemon.work, name), pdf(comment), "latin1");
  await page.evaluate(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.effectiveDirective));
  });
  await page.getByRole("link", { name: "Files" }).click();
  for (const name of ["letter.pdf", "plain.pdf"]) {
    // The browser's own viewer is a document of its own within the frame.
    const viewer = page.waitForEvent("framenavigated", (frame) => frame.url().startsWith("chrome-extension://"));
    await page.getByRole("link", { name }).click();
    await page.locator(`iframe[title="${name}"]`).waitFor();
    await viewer;
  }
  assert.deepEqual(await page.evaluate(() => window.violations), []);
});

/** A PDF with one page and a word on it. */
function pdf(comment) {
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
    "<</Length 42>>\nstream\nBT /F1 24 Tf 20 100 Td (Hello there) Tj ET\nendstream",
  ];
  let text = `%PDF-1.4\n${comment}`;
  const places = objects.map((object, index) => {
    const place = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  return `${text}xref\n0 5\n0000000000 65535 f \n${places.join("")}trailer\n<</Size 5/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
}

test("on a phone a diff has the screen for itself, and back leads to the list", async (test) => {
  const { daemon, page } = await world(test, "phone");
  await writeFile(join(daemon.work, "README.md"), "# Another project\n\nIt has one file.\n");
  await page.getByRole("button", { name: /^M README\.md/ }).click();
  await page.locator("mark").filter({ hasText: "Another" }).waitFor();
  assert.equal(await page.getByLabel("Commit message").isVisible(), false);
  await page.goBack();
  await page.getByLabel("Commit message").waitFor();
  assert.equal(existsSync(join(daemon.work, "README.md")), true);
});

test("the next change is reached also past a file that is staged in part", async (test) => {
  const { daemon, page } = await world(test);
  await writeFile(join(daemon.work, "README.md"), "# Staged\n");
  await daemon.git("add", "README.md");
  await writeFile(join(daemon.work, "README.md"), "# Staged\n\nand more\n");
  await writeFile(join(daemon.work, "last.txt"), "x\n");
  await page.getByRole("button", { name: /last\.txt/ }).first().waitFor();
  await page.getByRole("heading", { name: "README.md" }).waitFor();
  await page.keyboard.press("]");
  await page.getByRole("heading", { name: "last.txt" }).waitFor();
  await page.keyboard.press("[");
  await page.getByRole("heading", { name: "README.md" }).waitFor();
  await page.getByRole("button", { name: "Copy a link to this change" }).click();
  await page.getByText("Link copied").waitFor();
});

test("a file that somebody else makes is in the tree without a reload, and a workspace that is removed leaves the list", async (test) => {
  const { daemon, page } = await world(test);
  await page.getByRole("link", { name: "Files" }).click();
  await page.getByRole("link", { name: "README.md" }).waitFor();
  await writeFile(join(daemon.work, "brand-new.txt"), "x\n");
  await page.getByRole("link", { name: "brand-new.txt" }).waitFor();
  const call = await daemon.device("admin");
  const [{ id }] = (await call("workspace/list")).workspaces;
  await call("workspace/remove", { workspace_id: id });
  await page.getByRole("heading", { name: "There is no such workspace" }).waitFor();
});

test("a session in a working copy of its own shows that copy's branch and changes", async (test) => {
  const { daemon, page } = await world(test);
  await page.goto(`${daemon.http}/new`);
  await page.getByRole("checkbox", { name: /working copy/ }).check();
  await page.getByRole("radio", { name: /demo/i }).check();
  await page.getByRole("textbox", { name: "Prompt" }).fill("edit apart.txt");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/s\//);
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText(/Done in \d/).waitFor();
  await page.getByRole("link", { name: /project › roost\// }).waitFor();
  const column = page.getByRole("complementary", { name: "About this session" });
  await column.getByRole("link", { name: /apart\.txt/ }).waitFor();
  assert.equal(existsSync(join(daemon.work, "apart.txt")), false);
  await column.getByRole("link", { name: /apart\.txt/ }).click();
  await page.getByRole("button", { name: "Merge" }).click();
  await page.getByRole("button", { name: "Tap again: into main" }).click();
  await page.getByText("Merged").waitFor();
  assert.equal(existsSync(join(daemon.work, "apart.txt")), true);
});

test("without a connection a repository is not said to be missing, and a change that is open stays", async (test) => {
  const { daemon, page } = await world(test);
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  await writeFile(join(daemon.work, "README.md"), "# Another project\n\nIt has one file.\n");
  const change = page.locator("mark").filter({ hasText: "Another" });
  await change.waitFor();
  await page.getByLabel("Commit message").fill("What I have thought of");
  await daemon.stop();
  await page.locator("[data-phase=offline]").waitFor();
  assert.equal(await page.getByText("Make this folder a repository").count(), 0);
  await change.waitFor();
  await daemon.start();
  await page.locator("[data-phase=offline], [data-phase=resuming]").waitFor({ state: "detached", timeout: 30_000 });
  await change.waitFor();
  await page.reload();
  await change.waitFor();
  assert.equal(await page.getByLabel("Commit message").inputValue(), "What I have thought of");
});

test("a file leaves the stage, what others pushed is fetched and pulled, and a branch that is done is deleted", async (test) => {
  const { daemon, page } = await world(test);
  const remote = join(daemon.home, "remote.git");
  await daemon.git("clone", "-q", "--bare", daemon.work, remote);
  await daemon.git("remote", "add", "origin", remote);
  await daemon.git("fetch", "-q");
  await daemon.git("branch", "-u", "origin/main");
  await daemon.git("branch", "finished");
  const other = join(daemon.home, "other");
  await daemon.git("clone", "-q", remote, other);
  await daemon.git("-C", other, "commit", "-q", "--allow-empty", "-m", "From a colleague");
  await daemon.git("-C", other, "push", "-q");
  await writeFile(join(daemon.work, "README.md"), "# Staged\n");
  await daemon.git("add", "README.md");
  await page.getByRole("button", { name: "Unstage README.md", exact: true }).click();
  await page.getByRole("button", { name: "Stage README.md", exact: true }).waitFor();
  assert.match(await daemon.git("status", "--short"), /^ M README\.md/);
  await daemon.git("checkout", "-q", "README.md");
  await page.getByRole("link", { name: "Branches" }).click();
  await page.getByRole("button", { name: "Fetch" }).click();
  await page.getByText("Fetched").waitFor();
  await page.getByRole("listitem").filter({ hasText: "origin/main" }).getByText("↓1").first().waitFor();
  await page.getByRole("button", { name: "Pull" }).click();
  await page.getByText("From a colleague").waitFor();
  await page.getByRole("button", { name: "Delete finished" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete finished" }).waitFor({ state: "detached" });
  assert.doesNotMatch(await daemon.git("branch"), /finished/);
});

test("a PDF is shown as pages by the browser, from an address that nobody else has", async (test) => {
  const { daemon, page } = await world(test);
  const pdf = "%PDF-1.1\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";
  await writeFile(join(daemon.work, "paper.pdf"), Buffer.from(pdf, "latin1"));
  await page.getByRole("link", { name: "Files" }).click();
  await page.getByRole("link", { name: "paper.pdf" }).click();
  const viewer = page.locator("iframe, object, embed").first();
  await viewer.waitFor();
  const address = await viewer.evaluate((element) => element.src ?? element.data);
  assert.match(address, /^blob:/);
});

test("a working copy tells its commit and its session, and is discarded with its work after a second tap", async (test) => {
  const { daemon, page } = await world(test);
  const call = await daemon.device();
  const [{ id }] = (await call("workspace/list")).workspaces;
  const { session_id } = await call("session/start", { workspace_id: id, agent_type: "demo", mode: "new", worktree: true, title: "Try something" });
  const { worktrees } = await call("workspace/worktree/list", { workspace_id: id });
  const { path, branch } = worktrees.find((one) => one.session_id === session_id);
  await writeFile(join(path, "idea.txt"), "an idea\n");
  await page.getByRole("link", { name: "Worktrees" }).click();
  const copy = page.getByRole("listitem").filter({ hasText: branch });
  await copy.getByText("begin").waitFor();
  await copy.getByRole("link", { name: "Try something" }).waitFor();
  await copy.getByRole("button", { name: "Changes" }).click();
  const sheet = page.getByRole("dialog");
  await sheet.getByText("an idea").waitFor();
  await sheet.getByRole("button", { name: "Close" }).click();
  await call("session/stop", { session_id });
  await copy.getByRole("button", { name: "Discard" }).click();
  assert.equal(existsSync(join(path, "idea.txt")), true, "the first tap discards nothing");
  await copy.getByRole("button", { name: "Tap again: all of its work is lost", disabled: false }).click();
  await page.getByText("Discarded", { exact: true }).waitFor();
  await copy.waitFor({ state: "detached" });
  assert.equal(existsSync(path), false);
  assert.doesNotMatch(await daemon.git("branch"), new RegExp(branch));
});

test("working copies that cannot be read are no skeleton for ever: the page says why, and tries again", async (test) => {
  const { daemon, page } = await world(test);
  await between(page, (message, pass) => {
    if (message.result?.worktrees && !window.isMended) pass({ jsonrpc: "2.0", id: message.id, error: { code: -32603, message: "git cannot be run" } });
    else pass(message);
  });
  await page.goto(page.url().replace(/(\/w\/[^/?]+).*/, "$1/worktrees"));
  await page.getByRole("alert").getByText("The working copies cannot be read: git cannot be run").waitFor();
  assert.equal(await page.locator(".skeleton").count(), 0);
  // Not before: the page also reads them again by itself when the repository changes.
  await page.evaluate(() => addEventListener("click", () => (window.isMended = true), { capture: true }));
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "No working copies" }).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.equal(new URL(page.url()).origin, daemon.http);
});

test("workspaces show their last commit and sessions, and a search that finds nothing new says so", async (test) => {
  const { daemon, page } = await world(test);
  await startSession(page, "hello");
  await page.getByText(/Done in \d/).waitFor();
  await page.goto(`${daemon.http}/w`);
  const card = page.getByRole("listitem").filter({ hasText: daemon.work });
  await card.getByText(/^begin · Ada/).waitFor();
  await card.getByRole("link", { name: /done hello/ }).waitFor();
  await between(page, (message, pass) => {
    if (message.result?.repositories) message.result.repositories = window.known;
    pass(message);
  });
  await page.reload();
  await page.evaluate((path) => (window.known = [{ path, name: "project", last_modified: new Date().toISOString(), is_configured: true }]), daemon.work);
  await page.getByRole("button", { name: "Find repositories on the machine" }).click();
  await page.getByText("No other repository was found: the one there is in the list above.").waitFor();
});
