// What agents, repositories and devices say is hostile input: nothing of it runs, nothing hangs, nothing is fetched.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { openBrowser, openDevice, pair } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";

const agent = new URL("./hostile-agent.mjs", import.meta.url).pathname;
const CONFIG = `[runtimes.harm]\ndisplay_name = "Harm <b>bold</b>"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(agent)}]\n`;

test("nothing that an agent says runs, fetches or hangs, and what it hides is shown", async (test) => {
  const daemon = await Daemon.start(CONFIG);
  test.after(() => daemon.remove());
  const page = await openDevice(test, await openBrowser(test), "desk");
  const foreign = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(daemon.http) && !request.url().startsWith("blob:")) foreign.push(request.url());
  });
  await pair(page, daemon);
  await page.goto(`${daemon.http}/new`);
  await page.getByRole("radio", { name: /harm/i }).check();
  await page.getByRole("textbox", { name: "Prompt" }).fill('<script>window.hacked = true</script> "go"');
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText(/Done in \d/).waitFor({ timeout: 30_000 });
  await page.getByText("⟨U+202E⟩").first().waitFor();
  const card = page.getByRole("button", { name: /txt\.exe/ });
  await card.click();
  await page.getByText("<b>ok</b>").first().waitFor();
  await page.getByRole("button", { name: /Read all of the result/ }).click();
  await page.getByRole("button", { name: /Show all \d+ lines/ }).click();
  const whole = page.getByRole("region", { name: "All of the output" });
  await whole.getByText("<b>ok</b>").first().waitFor();
  assert.ok((await whole.locator(".line").count()) < 200, "of ten thousand lines only those on the screen are drawn");
  await whole.focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.activeElement.scrollTop > 100_000);
  await whole.getByText("<b>ok</b>").last().waitFor();
  // The page still draws.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(foreign, []);
  // Where a link leads is said where its text says otherwise.
  for (const place of ["evil.example", "mallory@evil.example"]) await page.locator(".markdown .place").getByText(`(${place})`).first().waitFor();
  assert.equal(await page.locator(".markdown a", { hasText: "https://honest.example/page" }).locator(".place").count(), 0);
  const links = await page.locator(".markdown a").evaluateAll((all) => all.map((link) => [link.protocol, link.rel, link.target]));
  for (const [protocol, rel, target] of links) {
    assert.match(protocol, /^(https?|mailto):$/);
    assert.match(rel, /noopener/);
    assert.equal(target, "_blank");
  }
  assert.equal(await page.locator(".markdown :is(img, script, iframe, style, svg)").count(), 0);
});

test("files with markup and hidden characters in their names are names", async (test) => {
  const daemon = await Daemon.start();
  test.after(() => daemon.remove());
  await writeFile(join(daemon.work, "<img src=x onerror=window.hacked=1>.txt"), "<script>window.hacked=1</script>\u202e\n".repeat(3));
  await writeFile(join(daemon.work, "long.txt"), "z".repeat(400_000));
  const page = await openDevice(test, await openBrowser(test), "desk");
  await pair(page, daemon);
  await page.goto(`${daemon.http}/w`);
  await page.getByRole("link", { name: /project/ }).click();
  await page.getByRole("button", { name: /<img src=x/ }).first().click();
  await page.getByText("⟨U+202E⟩").first().waitFor();
  await page.getByRole("link", { name: "Files" }).click();
  await page.getByRole("link", { name: "long.txt" }).click();
  await page.getByRole("heading", { name: /long\.txt 390/ }).waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test("a page of others cannot frame it, and it has no inline code", async (test) => {
  const daemon = await Daemon.start();
  test.after(() => daemon.remove());
  const page = await openDevice(test, await openBrowser(test), "desk");
  await page.goto(`${daemon.http}/pair`);
  const refused = page.evaluate(() => new Promise((resolve) => document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective))));
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.hacked = true";
    document.head.append(script);
  });
  assert.match(await refused, /script-src/);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  page.problems.length = 0;
});
