// The speed of the page in Chromium, by the lines of issue 18: first load, a session of 100,000 events, 2,000 pieces a
// second, and memory over a stream. BENCH_STREAM_SECONDS sets how long that stream is; 600 if absent.

import { openBrowser, openDevice, pair, startSession } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";

const STREAM_SECONDS = Number(process.env.BENCH_STREAM_SECONDS ?? 600);
const cleanups = [];
const bench = { after: (work) => cleanups.push(work) };
const rows = [];
/** A figure and the most that it may be; `told` is what a person wants to know besides. */
const report = (what, value, limit, unit, told = "") => {
  const row = { what, value: Number(value.toFixed(2)), limit, unit, told, holds: value <= limit };
  rows.push(row);
  console.log(`${what}: ${row.value} ${unit} (limit ${limit} ${unit})${told && ` · ${told}`}${row.holds ? "" : " · TOO MUCH"}`);
};
/** Megabytes that a stream may leave behind with each minute and still count as flat: less than a garbage collector's luck. */
const FLAT = 0.5;

/** Milliseconds of the longest task of the main thread since this was called. */
async function watchLongTasks(page) {
  await page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
    }).observe({ entryTypes: ["longtask"] });
  });
  return () => page.evaluate(() => window.longest);
}

/** Seconds that the main thread has worked. */
async function mainThread(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find((metric) => metric.name === "TaskDuration").value;
}

/** Megabytes that come with each minute, by the line that fits best. The first quarter is the page filling what it keeps. */
function slope(samples) {
  const settled = samples.slice(Math.floor(samples.length / 4));
  const mean = (of) => settled.reduce((sum, sample) => sum + of(sample), 0) / settled.length;
  const [minutes, megabytes] = [mean((sample) => sample.minutes), mean((sample) => sample.megabytes)];
  const spread = mean((sample) => (sample.minutes - minutes) ** 2);
  return spread === 0 ? 0 : mean((sample) => (sample.minutes - minutes) * (sample.megabytes - megabytes)) / spread;
}

async function firstLoad(browser, daemon) {
  // The service worker would answer in place of the network.
  const page = await openDevice(bench, browser, "phone", { serviceWorkers: "block" });
  await pair(page, daemon);
  const context = page.context();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  let script = 0;
  const scripts = new Set();
  session.on("Network.responseReceived", ({ requestId, type }) => type === "Script" && scripts.add(requestId));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => scripts.has(requestId) && (script += encodedDataLength));
  const start = performance.now();
  await page.goto(daemon.http);
  await page.getByRole("link", { name: "New session" }).waitFor();
  await page.waitForFunction(() => document.querySelector("[data-testid=inbox] .empty, [data-testid=inbox] [data-row]"));
  report("first load, 4x slower CPU, until the inbox can be used", performance.now() - start, 1_000, "ms");
  report("script of the first load, over the wire", script / 1024, 180, "KB");
  await context.close();
}

async function longSession(browser, daemon) {
  const page = await openDevice(bench, browser, "desk");
  await pair(page, daemon);
  await startSession(page, "flood 100000 40");
  await page.getByText(/Done in \d/).waitFor({ timeout: 300_000 });
  const address = page.url();
  await page.goto(daemon.http);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  const longest = await watchLongTasks(page);
  const start = performance.now();
  await page.evaluate((to) => document.querySelector(`a[href="${to}"]`).click(), new URL(address).pathname);
  await page.locator(".end").waitFor();
  report("a session of 100,000 events opens", performance.now() - start, 1_500, "ms");
  await page.mouse.move(700, 400);
  for (let step = 0; step < 60; step++) {
    await page.mouse.wheel(0, -600);
    await page.waitForTimeout(30);
  }
  report("longest task of the main thread while it opens and scrolls", await longest(), 100, "ms");
  await page.context().close();
}

async function stream(browser, daemon) {
  const page = await openDevice(bench, browser, "desk");
  await pair(page, daemon);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "timeTicks" });
  const rate = 2_000;
  await startSession(page, `drip ${rate * (STREAM_SECONDS + 30)} ${rate}`);
  await page.waitForTimeout(5_000);
  const [busy, since] = [await mainThread(session), performance.now()];
  await page.waitForTimeout(10_000);
  const share = ((await mainThread(session)) - busy) / ((performance.now() - since) / 1000);
  report(`main thread at ${rate} pieces a second`, share * 100, 50, "%");
  const heap = async () => {
    await session.send("HeapProfiler.collectGarbage");
    return (await session.send("Runtime.getHeapUsage")).usedSize / 1024 / 1024;
  };
  const samples = [];
  const begun = performance.now();
  for (;;) {
    samples.push({ minutes: (performance.now() - begun) / 60_000, megabytes: await heap() });
    if (samples.at(-1).minutes * 60 >= STREAM_SECONDS - 15) break;
    await page.waitForTimeout(10_000);
  }
  const [first, last] = [samples[0].megabytes, samples.at(-1).megabytes];
  report(`memory over ${STREAM_SECONDS} s of stream`, slope(samples), FLAT, "MB a minute", `${first.toFixed(1)} MB, then ${last.toFixed(1)} MB`);
  await page.context().close();
}

const daemon = await Daemon.start();
try {
  const browser = await openBrowser(bench);
  await firstLoad(browser, daemon);
  await longSession(browser, daemon);
  await stream(browser, daemon);
  console.table(rows);
  if (rows.some((row) => !row.holds)) process.exitCode = 1;
} finally {
  for (const work of cleanups.reverse()) await Promise.resolve(work()).catch((error) => console.error(error.message));
  await daemon.remove();
}
