// Sessions on a desk and a phone at once: what one answers the other sees.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { before, after, describe, test } from "node:test";

import { openBrowser, openDevice, pair, startSession } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";

describe("a desk and a phone", () => {
  let daemon, browser, desk, phone;
  const cleanups = [];

  before(async () => {
    daemon = await Daemon.start();
    const suite = { after: (work) => cleanups.push(work) };
    browser = await openBrowser(suite);
    [desk, phone] = [await openDevice(suite, browser, "desk"), await openDevice(suite, browser, "phone")];
    await pair(desk, daemon);
    await pair(phone, daemon);
  });
  after(async () => {
    try {
      for (const work of cleanups.reverse()) await work();
    } finally {
      await daemon.remove();
    }
  });

  const prompt = async (page, text) => {
    await page.getByRole("textbox", { name: "Prompt" }).fill(text);
    await page.getByRole("button", { name: /^(Send|Queue|Resume)$/ }).click();
  };
  const asks = (page) => page.locator("[data-pending]");

  test("the phone approves a call of the tour, and the desk sees by whom", async () => {
    await startSession(desk, "tour");
    await phone.waitForFunction(() => document.title.startsWith("(1)"));
    await phone.goto(`${daemon.http}/`);
    await asks(phone).first().click();
    const sheet = phone.getByRole("dialog");
    await sheet.getByText("hello-roost.txt", { exact: true }).waitFor();
    await sheet.getByText("Hello from Roost!").waitFor();
    assert.equal(existsSync(join(daemon.work, "hello-roost.txt")), false);
    await sheet.getByRole("button", { name: "Allow once" }).click();
    await desk.getByText(/said yes in “tour”/).waitFor();
    await desk.getByText(/Allowed by .*Linux/).waitFor();
    await desk.getByText(/Done in \d/).waitFor();
    assert.equal(existsSync(join(daemon.work, "hello-roost.txt")), true);
    await asks(desk).first().waitFor({ state: "detached" });
  });

  test("a phone that looks at one session is told what waits in another, and gets there with one tap", async () => {
    await startSession(phone, "hello");
    await startSession(desk, "edit elsewhere.txt");
    const badge = phone.getByRole("link", { name: "1 answer needed in other sessions: to the next" });
    await badge.click();
    await phone.waitForURL((url) => url.href === desk.url());
    await phone.getByRole("dialog", { name: /^Needs your answer: / }).getByRole("button", { name: "Allow once" }).click();
    await desk.getByText(/Done in \d/).waitFor();
    await badge.waitFor({ state: "detached" });
  });

  test("the inbox says what a session does now, also after a reload, and whose prompt is one's own", async () => {
    await startSession(desk, "edit doing.txt");
    await desk.locator(".bubble").getByText(/^you · \d\d:\d\d$/).waitFor();
    await desk.getByRole("button", { name: "Allow once" }).waitFor();
    await phone.goto(`${daemon.http}/`);
    await phone.locator("[data-pending]").getByText("doing.txt").first().waitFor();
    await phone.goto(desk.url());
    await phone.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await phone.locator(".bubble").getByText(/^Chrome on Linux · \d\d:\d\d$/).waitFor();
    await desk.getByRole("button", { name: "Allow once" }).click();
    await desk.getByText(/Done in \d/).waitFor();
    await startSession(desk, "out 400000");
    await desk.getByRole("button", { name: "Allow once" }).click();
    await desk.getByRole("button", { name: "Tap again to allow" }).click();
    const row = phone.getByRole("link", { name: /^working out 400000/ });
    for (let looks = 0; looks < 2; looks++) {
      await phone.goto(`${daemon.http}/`);
      await row.getByText("demo.print").waitFor();
    }
    await desk.getByRole("button", { name: "Stop" }).click();
    await desk.getByRole("button", { name: "Stop the agent as well" }).click();
  });

  test("a denial has a reason that the agent is told and everybody sees", async () => {
    await startSession(desk, "edit secret.txt");
    await desk.getByRole("button", { name: "Deny…" }).click();
    await desk.getByLabel(/Why not/).fill("not in this folder");
    await desk.getByRole("button", { name: "Deny", exact: true }).click();
    await desk.getByText(/Denied by you: .*not in this folder/).waitFor();
    await phone.goto(desk.url());
    await phone.getByText(/Denied by .*not in this folder/).waitFor();
    assert.equal(existsSync(join(daemon.work, "secret.txt")), false);
  });

  test("a dangerous call needs two taps", async () => {
    await startSession(phone, "out 5");
    const sheet = phone.getByRole("dialog");
    await sheet.getByText(/Dangerous/).waitFor();
    await asks(desk).first().waitFor();
    await sheet.getByRole("button", { name: "Allow once" }).click();
    await sheet.getByRole("button", { name: "Tap again to allow" }).waitFor();
    assert.equal(await asks(desk).count(), 1, "the first tap decides nothing");
    await sheet.getByRole("button", { name: "Tap again to allow" }).click();
    await phone.getByText(/Done in \d/).waitFor();
  });

  test("a question is a form, and its answer reaches the agent", async () => {
    await startSession(desk, "ask");
    const form = desk.locator("form.question").first();
    const option = form.getByRole("radio").first();
    const chosen = await option.getAttribute("value");
    await option.check();
    await form.getByRole("button", { name: "Answer" }).click();
    await desk.getByText(/Done in \d/).waitFor();
    assert.ok((await desk.getByRole("log", { name: "Transcript" }).innerText()).includes(chosen));
  });

  test("a task is stopped after a second question, and a prompt meanwhile waits in the queue", async () => {
    await startSession(desk, "slow 60");
    await prompt(desk, "hello");
    const queue = desk.getByRole("list", { name: "Queued prompts" });
    await queue.getByText("hello").waitFor();
    await desk.keyboard.press("Escape");
    await desk.getByRole("button", { name: "Stop" }).click();
    await desk.getByRole("button", { name: "Stop the task; the agent stays ready" }).click();
    await desk.getByText(/Stopped: /).waitFor();
    await desk.locator(".markdown").filter({ hasText: "Hello from the demo agent." }).waitFor();
    await queue.waitFor({ state: "detached" });
  });

  test("two that look at one session see each other, and see when one leaves", async () => {
    await startSession(desk, "hello");
    await phone.goto(desk.url());
    for (const page of [desk, phone]) await page.getByText("2 viewers").waitFor();
    await phone.goto(`${daemon.http}/`);
    await desk.getByText("2 viewers").waitFor({ state: "detached" });
  });

  test("a file that is dropped into a prompt is in the workspace, and the prompt names it", async () => {
    await startSession(desk, "hello");
    await desk.locator("input[type=file]").setInputFiles({ name: "todo.txt", mimeType: "text/plain", buffer: Buffer.from("milk") });
    const field = desk.getByRole("textbox", { name: "Prompt" });
    await desk.waitForFunction(() => /@\S+todo\.txt $/.test(document.querySelector("textarea")?.value ?? ""));
    const path = /@(\S+)/.exec(await field.inputValue())[1];
    assert.equal(existsSync(join(daemon.work, path)), true, path);
    await field.fill("");
  });

  test("the mode, the title and a fork are changed from the page", async () => {
    await startSession(desk, "hello");
    await desk.getByText(/Done in \d/).waitFor();
    await desk.getByTitle("Change the title").click();
    await desk.getByLabel("Title").fill("A <b>bold</b> name");
    await desk.keyboard.press("Enter");
    await desk.getByTitle("Change the title").filter({ hasText: "A <b>bold</b> name" }).waitFor();
    await desk.getByRole("button", { name: "Settings of this session" }).click();
    await desk.getByRole("radio", { name: /Accept edits/ }).check();
    await desk.getByText("Mode Accept edits, from the next task on").waitFor();
    const [download] = await Promise.all([desk.waitForEvent("download"), desk.getByRole("button", { name: "Export as text" }).click()]);
    assert.match(download.suggestedFilename(), /^A-b-bold-b-name\.md$/);
    const before = desk.url();
    await desk.getByRole("button", { name: "Fork" }).click();
    await desk.waitForURL((url) => url.pathname.startsWith("/s/") && url.href !== before);
  });

  test("the scrubber shows the session as it was, and live returns", async () => {
    await startSession(desk, "plan");
    await desk.getByText(/Done in \d/).waitFor();
    const slider = desk.getByRole("slider", { name: "Moment of the session" });
    await slider.focus();
    await desk.keyboard.press("Home");
    await desk.locator(".scrubber").getByText("as it was").waitFor();
    await desk.getByText(/Done in \d/).waitFor({ state: "detached" });
    await desk.keyboard.press("Escape");
    await desk.getByRole("button", { name: "live" }).click();
    await desk.getByText(/Done in \d/).waitFor();
  });

  test("at an earlier moment the header, the right column and the address are those of then, also after a reload", async () => {
    await startSession(desk, "edit then.txt");
    await desk.getByRole("button", { name: "Allow once" }).click();
    await desk.getByText(/Done in \d/).waitFor();
    await desk.getByRole("textbox", { name: "Prompt" }).fill("plan");
    await desk.getByRole("button", { name: "Send" }).click();
    await desk.getByText(/Done in \d/).nth(1).waitFor();
    const column = desk.getByRole("complementary", { name: "About this session" });
    await column.getByText("Check the result").waitFor();
    const slider = desk.getByRole("slider", { name: "Moment of the session" });
    // Back to where the first task was over: nothing was planned, and one file was edited.
    const id = new URL(desk.url()).pathname.split("/").at(-1);
    const call = await daemon.device("observe");
    const { events } = await call("log/read", { session_id: id, after_seq: 0 });
    const { seq } = events.find((event) => event.type === "task.completed");
    await desk.goto(`${daemon.http}/s/${id}?then#${seq}`);
    await column.getByText("As it was at").waitFor();
    await column.getByText("The agent has made no plan.").waitFor();
    await column.getByRole("heading", { name: "Edited by then" }).waitFor();
    await column.getByText("then.txt").waitFor();
    await desk.locator(".facts").getByText("as it was").waitFor();
    await desk.locator(".facts").getByText("done", { exact: true }).waitFor();
    await slider.focus();
    await desk.keyboard.press("Home");
    await desk.waitForURL(/\?then#1$/);
    await column.getByText("The agent had edited no file.").waitFor();
    await desk.locator(".facts").getByText("ready").waitFor();
    await desk.reload();
    await column.getByText("The agent had edited no file.").waitFor();
    await desk.getByRole("button", { name: "live" }).click();
    await desk.waitForURL((url) => url.search === "" && url.hash === "");
    await column.getByText("Check the result").waitFor();
  });

  test("a reader who scrolled up stays where they are, also over a reload, and is told what is new", async () => {
    await startSession(desk, "drip 9000 40 apart");
    const area = desk.locator(".scroll-area");
    await desk.waitForFunction(() => document.querySelector(".scroll-area")?.scrollHeight > 3_000);
    await area.hover();
    await desk.mouse.wheel(0, -900);
    await desk.getByRole("button", { name: /new$|To the end/ }).waitFor();
    // A turn of the wheel is drawn over many frames.
    await area.evaluate((element) => new Promise((resolve) => {
      const settle = (place, frames) => {
        const [now, still] = [element.scrollTop, element.scrollTop === place ? frames + 1 : 0];
        if (still < 30) requestAnimationFrame(() => settle(now, still));
        else resolve();
      };
      settle(-1, 0);
    }));
    const before = await area.evaluate((element) => element.scrollTop);
    await desk.getByRole("button", { name: /\d+ new$/ }).waitFor();
    assert.equal(await area.evaluate((element) => element.scrollTop), before, "nothing jumped");
    const top = () => area.evaluate((element) => [...element.querySelectorAll(".row-view")].find((row) => row.getBoundingClientRect().bottom > element.getBoundingClientRect().top)?.innerText);
    const reading = await top();
    await desk.reload();
    await desk.waitForFunction((text) => document.querySelector(".scroll-area")?.innerText.includes(text), reading);
    await desk.getByRole("button", { name: /new$|To the end/ }).click();
    await desk.getByRole("button", { name: /new$|To the end/ }).waitFor({ state: "detached" });
    await desk.getByRole("button", { name: "Stop" }).click();
    await desk.getByRole("button", { name: "Stop the agent as well" }).click();
    await desk.getByText(/Stopped: /).waitFor();
  });

  test("a prompt completes files, its draft survives a reload, and one that is refused can be changed", async () => {
    await startSession(desk, "hello");
    const field = desk.getByRole("textbox", { name: "Prompt" });
    await field.pressSequentially("hello @mai");
    await desk.getByRole("option", { name: /src\/main\.rs/ }).waitFor();
    await desk.keyboard.press("Tab");
    assert.equal(await field.inputValue(), "hello @src/main.rs ");
    await desk.reload();
    await desk.waitForFunction(() => document.querySelector("textarea")?.value === "hello @src/main.rs ");
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await desk.locator("input[type=file]").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: Buffer.from(pixel, "base64") });
    await desk.getByRole("button", { name: "Send" }).click();
    await desk.getByText(/takes no images|does not take|images/i).last().waitFor();
    assert.equal(await field.inputValue(), "hello @src/main.rs ", "what was refused stays");
    await desk.getByRole("button", { name: "Remove dot.png" }).click();
    await desk.getByRole("button", { name: "Send" }).click();
    await desk.getByText("@src/main.rs").first().waitFor();
  });

  test("a failure says what happened and offers to try again", async () => {
    await startSession(desk, "fail");
    const alert = desk.getByRole("alert").first();
    await alert.waitFor();
    assert.match(await alert.innerText(), /failed because the prompt asked for it/);
    await alert.getByRole("button", { name: "Change the prompt" }).click();
    assert.equal(await desk.getByRole("textbox", { name: "Prompt" }).inputValue(), "fail");
    await desk.getByRole("textbox", { name: "Prompt" }).fill("");
  });

  test("a mode that lets much run unasked takes two steps, and one that the daemon refuses does not look chosen", async () => {
    await startSession(desk, "hello");
    await desk.getByText(/Done in \d/).waitFor();
    await desk.getByRole("button", { name: "Settings of this session" }).click();
    const sheet = desk.getByRole("dialog", { name: "This session" });
    await sheet.getByRole("radio", { name: /^Yolo/ }).check();
    await sheet.getByText(/policy\.allow_yolo/).waitFor();
    await sheet.getByRole("button", { name: "Keep Ask" }).click();
    assert.equal(await sheet.getByRole("radio", { name: /^Ask/ }).isChecked(), true);
    await sheet.getByRole("radio", { name: /^Auto/ }).check();
    await desk.evaluate(() => {
      const send = WebSocket.prototype.send;
      WebSocket.prototype.send = function (data) {
        WebSocket.prototype.send = send;
        send.call(this, String(data).replace('"auto"', '"no such mode"'));
      };
    });
    await sheet.getByRole("button", { name: "Use Auto" }).click();
    await desk.locator(".toast.failed").waitFor();
    assert.equal(await sheet.getByRole("radio", { name: /^Ask/ }).isChecked(), true);
  });

  test("what another device names or takes off the lists is so here at once", async () => {
    await startSession(desk, "hello");
    await desk.getByText(/Done in \d/).waitFor();
    const session_id = new URL(desk.url()).pathname.split("/").at(-1);
    const call = await daemon.device();
    await call("session/start", { session_id, title: "A name from elsewhere" });
    await desk.getByRole("link", { name: /A name from elsewhere/ }).waitFor();
    await call("session/delete", { session_id });
    await desk.getByRole("link", { name: /A name from elsewhere/ }).waitFor({ state: "detached" });
  });

  test("a session whose agent was stopped is resumed with its next prompt", async () => {
    await startSession(desk, "hello");
    await desk.getByText(/Done in \d/).waitFor();
    const session_id = new URL(desk.url()).pathname.split("/").at(-1);
    await (await daemon.device())("session/stop", { session_id, what: "session" });
    await desk.getByRole("textbox", { name: "Prompt" }).fill("hello");
    await desk.getByRole("button", { name: "Resume" }).click();
    await desk.getByText(/Done in \d/).nth(1).waitFor();
  });

  test("what was started leaves no draft, and what is written while a prompt is on its way stays", async () => {
    await startSession(desk, "hello");
    const address = desk.url();
    await desk.goto(`${daemon.http}/new`);
    assert.equal(await desk.getByRole("textbox", { name: "Prompt" }).inputValue(), "");
    await desk.goto(address);
    await desk.getByText(/Done in \d/).waitFor();
    const field = desk.getByRole("textbox", { name: "Prompt" });
    await desk.evaluate(() => {
      const send = WebSocket.prototype.send;
      window.later = [];
      WebSocket.prototype.send = function (data) {
        if (String(data).includes("session/send")) window.later.push(() => send.call(this, data));
        else send.call(this, data);
      };
    });
    await field.fill("hello");
    await desk.getByRole("button", { name: "Send", exact: true }).click();
    await desk.getByRole("button", { name: "Sending…" }).waitFor();
    await field.pressSequentially(" and then this");
    await desk.evaluate(() => window.later.forEach((send) => send()));
    await desk.waitForFunction(() => document.querySelector("textarea").value === " and then this");
    await field.fill("");
    await desk.reload();
  });

  test("several pictures that do not fit into one message together are refused before they are sent", async () => {
    await startSession(desk, "hello");
    const picture = (name) => ({ name, mimeType: "image/png", buffer: Buffer.alloc(6 * 1024 * 1024) });
    await desk.locator("input[type=file]").setInputFiles([picture("one.png"), picture("two.png")]);
    await desk.getByText(/two\.png is too much/).waitFor();
    await desk.getByRole("button", { name: "Remove one.png" }).click();
  });

  test("the page is named in its title, and the first link leads to the content", async () => {
    await desk.goto(`${daemon.http}/status`);
    await desk.waitForFunction(() => document.title.endsWith("Status · Roost"));
    await desk.locator(".skip").focus();
    await desk.keyboard.press("Enter");
    assert.equal(await desk.evaluate(() => document.activeElement.id), "main");
    assert.equal(new URL(desk.url()).hash, "");
  });

  test("everything can be done by keyboard", async () => {
    await startSession(desk, "hello");
    await desk.goto(`${daemon.http}/`);
    await desk.getByRole("heading", { name: "Inbox" }).waitFor();
    await desk.keyboard.press("?");
    await desk.getByRole("dialog", { name: "Keys" }).waitFor();
    await desk.keyboard.press("Escape");
    await desk.keyboard.press("c");
    await desk.waitForURL(/\/new$/);
    await desk.getByRole("textbox", { name: "Prompt" }).fill("edit keys.txt");
    await desk.keyboard.press("Enter");
    await desk.waitForURL(/\/s\//);
    await desk.getByRole("button", { name: "Allow once" }).waitFor();
    await desk.keyboard.press("g");
    await desk.keyboard.press("i");
    await desk.waitForURL(`${daemon.http}/`);
    await desk.keyboard.press("u");
    await desk.waitForURL(/\/s\//);
    await desk.getByRole("log", { name: "Transcript" }).getByRole("button", { name: "Allow once", disabled: false }).waitFor();
    await desk.keyboard.press("a");
    await desk.getByText("Allowed by you").waitFor();
    await desk.getByText(/Done in \d/).waitFor();
    assert.equal(existsSync(join(daemon.work, "keys.txt")), true);
    for (const [key, place] of [["w", "/w"], ["s", "/services"], ["a", "/activity"], ["t", "/status"], ["i", "/"]]) {
      await desk.keyboard.press("g");
      await desk.keyboard.press(key);
      await desk.waitForURL(`${daemon.http}${place}`);
    }
    const row = () => desk.evaluate(() => [...document.querySelectorAll("[data-row]")].filter((one) => one.offsetParent).indexOf(document.activeElement.closest("[data-row]")));
    for (const [key, place] of [["j", 0], ["j", 1], ["k", 0]]) {
      await desk.keyboard.press(key);
      assert.equal(await row(), place, `after ${key}`);
    }
    await desk.keyboard.press("/");
    await desk.waitForFunction(() => document.activeElement.matches("input[type=search]"));
    await desk.keyboard.press("c");
    assert.equal(await desk.evaluate(() => [location.pathname, document.activeElement.value].join(" ")), "/ c", "in a field a key is a letter");
    await desk.evaluate(() => ((document.activeElement.value = ""), document.activeElement.blur()));
    await startSession(desk, "drip 60000 2000");
    await desk.waitForFunction(() => document.querySelector(".markdown")?.textContent.length > 12_000);
    await desk.getByRole("log", { name: "Transcript" }).hover();
    await desk.mouse.wheel(0, -2_000);
    const toEnd = desk.getByRole("button", { name: /new$|To the end/ });
    await toEnd.waitFor();
    await desk.keyboard.press(".");
    await toEnd.waitFor({ state: "detached" });
    await desk.keyboard.press("s");
    await desk.getByRole("dialog").getByRole("button", { name: /Stop the task/ }).click();
    await desk.getByText(/Stopped: /).waitFor();
    await desk.keyboard.press("s");
    assert.equal(await desk.getByRole("dialog").count(), 0, "where nothing runs nothing is asked");
  });

  test("a tool call that is chosen stands in the right column, also at its own address and at an earlier moment", async () => {
    await startSession(desk, "tools");
    await desk.getByText(/Done in \d/).waitFor();
    const column = desk.getByRole("complementary", { name: "About this session" });
    await column.getByRole("heading", { name: "Plan" }).waitFor();
    await desk.getByRole("log", { name: "Transcript" }).getByRole("button", { name: /project\// }).click();
    const chosen = column.getByRole("region", { name: "Chosen tool call" });
    await chosen.getByText("README.md").first().waitFor();
    await chosen.getByRole("link", { name: "Link to this call" }).click();
    await desk.waitForURL(/#\d+$/);
    await desk.reload();
    await chosen.getByText("README.md").first().waitFor();
    await desk.getByRole("slider", { name: "Moment of the session" }).focus();
    await desk.keyboard.press("Home");
    await chosen.getByText("It was not there yet.").waitFor();
    await desk.keyboard.press("Escape");
    await desk.getByRole("button", { name: "live" }).click();
    await chosen.getByRole("button", { name: "Close the tool call" }).click();
    await chosen.waitFor({ state: "detached" });
  });

  test("a session that is searched for is found by its title and by what was said, and the palette finds sessions and files", async () => {
    await desk.goto(`${daemon.http}/`);
    await desk.getByRole("searchbox", { name: "Search sessions" }).fill("edit keys");
    await desk.getByRole("link", { name: /^done edit keys\.txt/ }).waitFor();
    await desk.getByRole("link", { name: /tour/ }).waitFor({ state: "detached" });
    const search = desk.getByRole("searchbox", { name: "Search sessions" });
    await search.fill("DEMO hello from");
    const said = desk.getByRole("region", { name: "Said in sessions" });
    await said.getByRole("link", { name: /Hello from the demo agent\./ }).first().click();
    await desk.waitForURL(/\/s\/[^#]+#\d+$/);
    await desk.getByRole("log", { name: "Transcript" }).getByText("Hello from the demo agent.").first().waitFor();
    await search.fill("no such words");
    await desk.getByRole("heading", { name: "Nothing fits “no such words”" }).waitFor();
    await search.fill("");
    await desk.keyboard.press("Control+k");
    await desk.getByRole("combobox").fill("hello from the demo");
    await desk.getByRole("option", { name: /Hello from the demo agent\./ }).first().waitFor();
    await desk.getByRole("combobox").fill("main.rs");
    await desk.getByRole("option", { name: /src\/main\.rs/ }).waitFor();
    await desk.keyboard.press("Enter");
    await desk.getByText('println!("hello")').waitFor();
    await startSession(desk, "hello");
    await desk.getByText(/Done in \d/).waitFor();
    await desk.keyboard.press("Control+k");
    await desk.getByRole("combobox").fill("settings of this");
    await desk.getByRole("option", { name: "Settings of this session: mode and model" }).click();
    await desk.getByRole("dialog", { name: "This session" }).getByRole("button", { name: "Close" }).click();
    await desk.getByRole("navigation", { name: "Places" }).getByRole("link", { name: "More" }).click();
    await desk.getByRole("button", { name: "Sign this browser out" }).waitFor();
  });
});
