// The workspace: an agent edits, the change appears by itself, and is staged and committed from the page.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { openBrowser, openDevice, pair, startSession } from "./browser.mjs";
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
  await page.getByRole("button", { name: "Push" }).click();
  await page.getByText("Pushed").waitFor();
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

test("without a connection a repository is not said to be missing", async (test) => {
  const { daemon, page } = await world(test);
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
  await daemon.stop();
  await page.locator("[data-phase=offline]").waitFor();
  assert.equal(await page.getByText("Make this folder a repository").count(), 0);
  await page.getByRole("heading", { name: "Nothing has changed" }).waitFor();
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
