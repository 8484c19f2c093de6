// Pairing in a real browser: by the QR code, by six digits, with approval; and the end of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import jsQR from "jsqr";

import { openBrowser, openDevice, pair, picture, startSession } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";
import { assertLooksRight } from "./looking.mjs";

/** What a camera reads from a picture of the page. */
async function scan(browser, locator) {
  const picture = (await locator.screenshot()).toString("base64");
  const page = await browser.newPage();
  const { data, width, height } = await page.evaluate(async (png) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data, width, height } = context.getImageData(0, 0, image.width, image.height);
    return { data: Array.from(data), width, height };
  }, picture);
  await page.close();
  return jsQR(Uint8ClampedArray.from(data), width, height).data;
}

test("the QR code of the desk opens the page on a phone, which is then in, and the token is nowhere in its history", async (test) => {
  const daemon = await Daemon.start();
  test.after(() => daemon.remove());
  const browser = await openBrowser(test);
  const [desk, phone] = [await openDevice(test, browser, "desk"), await openDevice(test, browser, "phone")];
  const { page } = await daemon.offer();
  await desk.goto(page);
  const code = desk.getByRole("img", { name: /QR code/ });
  await code.waitFor();
  assert.equal(new URL(desk.url()).hash, "", "the secret of the link is gone from the address");
  const link = await scan(browser, code);
  assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/pair#cdev_p_/);
  await phone.goto(link);
  await phone.getByRole("heading", { name: "No agent has worked here yet" }).waitFor();
  assert.equal(phone.url(), `${daemon.http}/`);
  await picture(phone, "first-use-phone-light");
  await assertLooksRight(phone, "first use on a phone");
  await phone.goBack().catch(() => {});
  assert.ok(!phone.url().includes("cdev_p_"), phone.url());
});

test("somebody at the desk approves one device and rejects another", async (test) => {
  const daemon = await Daemon.start("[security]\nrequire_pairing_approval = true\n");
  test.after(() => daemon.remove());
  const browser = await openBrowser(test);
  const desk = await openDevice(test, browser, "desk");
  const { page } = await daemon.offer();
  await desk.goto(page);
  await desk.getByText("No device is waiting.").waitFor();
  for (const [name, answer] of [["Pixel of <b>Ada</b>", "Approve"], ["a stranger", "Reject"]]) {
    const phone = await openDevice(test, browser, "phone");
    await phone.goto(`${daemon.http}/pair`);
    await phone.getByLabel("Six digits").fill((await daemon.offer()).code);
    await phone.getByLabel("Name of this device").fill(name);
    await phone.getByRole("button", { name: "Pair this device" }).click();
    const row = desk.getByRole("listitem").filter({ hasText: name });
    await row.getByRole("button", { name: answer }).click();
    if (answer === "Approve") await phone.getByRole("heading", { name: "Inbox" }).waitFor();
    else await phone.getByRole("alert").waitFor();
  }
});

test("six digits that are wrong are refused with what to do", async (test) => {
  const daemon = await Daemon.start();
  test.after(() => daemon.remove());
  const phone = await openDevice(test, await openBrowser(test), "phone");
  await phone.goto(`${daemon.http}/`);
  await phone.getByLabel("Six digits").fill("000 000");
  await phone.getByRole("button", { name: "Pair this device" }).click();
  await phone.getByRole("alert").filter({ hasText: /code/i }).waitFor();
});

test("a revoked device shows that it is revoked at once, and keeps nothing", async (test) => {
  const daemon = await Daemon.start();
  test.after(() => daemon.remove());
  const browser = await openBrowser(test);
  const [desk, phone] = [await openDevice(test, browser, "desk"), await openDevice(test, browser, "phone")];
  await pair(desk, daemon, "admin");
  await pair(phone, daemon);
  await phone.evaluate(() => localStorage.setItem("roost.draft.s", "a secret plan"));
  await desk.goto(`${daemon.http}/devices`);
  const row = desk.getByRole("listitem").filter({ hasNotText: "this browser" });
  await row.getByRole("button", { name: "Revoke" }).click();
  assert.equal(await phone.getByRole("heading", { name: "Inbox" }).isVisible(), true, "one tap revokes nothing");
  await row.getByRole("button", { name: "Tap again to revoke" }).click();
  await phone.getByRole("heading", { name: "This device is no longer paired" }).waitFor();
  await picture(phone, "revoked-phone-light");
  await assertLooksRight(phone, "revoked on a phone");
  assert.doesNotMatch(await phone.locator("main").innerText(), /HTTP|https?:/);
  assert.deepEqual(await phone.evaluate(() => [Object.keys(localStorage), Object.keys(sessionStorage)].flat().filter((key) => /tokens|draft|place/.test(key))), []);
  await phone.getByRole("link", { name: "pair this device again" }).click();
  await phone.getByLabel("Six digits").fill((await daemon.offer()).code);
  await phone.getByRole("button", { name: "Pair this device" }).click();
  await phone.getByRole("heading", { name: "Inbox" }).waitFor();
  await startSession(desk, "edit again.txt");
  await phone.locator("[data-pending]").first().waitFor();
});

test("tokens are refreshed in the background before they expire, and the connection stays", async (test) => {
  const daemon = await Daemon.start();
  test.after(() => daemon.remove());
  const phone = await openDevice(test, await openBrowser(test), "phone");
  await phone.clock.install();
  await pair(phone, daemon);
  const token = () => phone.evaluate(() => JSON.parse(localStorage.getItem("roost.tokens")).access_token);
  const before = await token();
  const refreshed = phone.waitForResponse((answer) => answer.url().endsWith("/api/auth/refresh") && answer.ok());
  await phone.clock.fastForward("13:00");
  await refreshed;
  await phone.waitForFunction((old) => JSON.parse(localStorage.getItem("roost.tokens")).access_token !== old, before);
  assert.equal(await phone.locator("[data-phase=revoked]").count(), 0);
});

test("a device that may not manage devices says so, and a browser can be signed out", async (test) => {
  const daemon = await Daemon.start();
  test.after(() => daemon.remove());
  const phone = await openDevice(test, await openBrowser(test), "phone");
  await pair(phone, daemon, "observe");
  await phone.goto(`${daemon.http}/devices`);
  await phone.getByRole("heading", { name: "This device may not manage devices" }).waitFor();
  await phone.goto(`${daemon.http}/more`);
  await phone.getByRole("button", { name: "Sign this browser out" }).click();
  await phone.getByRole("button", { name: "Tap again to sign out" }).click();
  await phone.getByLabel("Six digits").waitFor();
  assert.equal((await daemon.roost("devices", "--json")).trim(), "", "no device is left");
});

test("all devices are revoked from the desk after a second question", async (test) => {
  const daemon = await Daemon.start();
  test.after(() => daemon.remove());
  const browser = await openBrowser(test);
  const [desk, phone, tablet] = [await openDevice(test, browser, "desk"), await openDevice(test, browser, "phone"), await openDevice(test, browser, "phone")];
  for (const device of [phone, tablet]) await pair(device, daemon);
  await desk.goto((await daemon.offer()).page);
  const code = await desk.getByTestId("code").innerText();
  await desk.getByRole("button", { name: "Revoke all devices…" }).click();
  await desk.getByRole("button", { name: "Keep them" }).click();
  assert.equal((await daemon.roost("devices", "--json")).trim().split("\n").length, 2, "a look revokes nothing");
  await desk.getByRole("button", { name: "Revoke all devices…" }).click();
  await desk.getByRole("button", { name: "Revoke all", exact: true }).click();
  for (const device of [phone, tablet]) await device.getByRole("heading", { name: "This device is no longer paired" }).waitFor();
  assert.equal((await daemon.roost("devices", "--json")).trim(), "", "no device is left");
  await desk.waitForFunction((before) => document.querySelector("[data-testid=code]")?.textContent !== before, code);
});

test("a page that comes over plain http says what that lacks, and how to get it, and works", async (test) => {
  const daemon = await Daemon.start('[security]\nallowed_hosts = ["roost.lan"]\n');
  test.after(() => daemon.remove());
  const phone = await openDevice(test, await openBrowser(test, ["--host-resolver-rules=MAP roost.lan 127.0.0.1"]), "phone");
  const address = `http://roost.lan:${new URL(daemon.http).port}`;
  await phone.goto(`${address}/pair`);
  assert.equal(await phone.evaluate(() => window.isSecureContext), false);
  await phone.getByText("This connection is not encrypted").waitFor();
  await phone.getByText("roost serve --tls self-signed").waitFor();
  await phone.getByLabel("Six digits").fill((await daemon.offer()).code);
  await phone.getByRole("button", { name: "Pair this device" }).click();
  await phone.getByRole("heading", { name: "No agent has worked here yet" }).waitFor();
  await phone.goto(`${address}/more`);
  await phone.getByText("it may show no notifications and cannot be installed as an app").waitFor();
  await phone.getByText("--tls CERT,KEY").waitFor();
  assert.equal(await phone.getByRole("button", { name: "Allow notifications" }).count(), 0);
  await startSession(phone, "hello");
  await phone.getByText(/Done in \d/).waitFor();
  // A browser says itself that it ignores a header there.
  phone.problems = phone.problems.filter((problem) => !problem.includes("Cross-Origin-Opener-Policy"));
});
