// The package as others get it: packed, unpacked into a project of their own, with the examples of the README.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Daemon, withDaemon } from "./daemon.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const hasWebSocket = globalThis.WebSocket !== undefined;
const run = promisify(execFile);
/** The example that does not end by itself. */
const FOLLOWING = "example-2.js";
let project;

const readme = await readFile(join(root, "README.md"), "utf8");
const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);

before(async () => {
  project = await mkdtemp(join(tmpdir(), "roost-client-project-"));
  await write("package.json", JSON.stringify({ type: "module" }));
  const unpacked = join(project, "node_modules/roost-client");
  await mkdir(unpacked, { recursive: true });
  const packed = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", project], { cwd: root });
  const [{ filename }] = JSON.parse(packed.stdout);
  await run("tar", ["-xzf", join(project, filename), "--strip-components=1", "-C", unpacked]);
  await link("@types");
});

after(() => rm(project, { recursive: true, force: true }));

function write(file, text) {
  return writeFile(join(project, file), text);
}

/** Gives the project a package, or a folder of packages, that is installed here. */
function link(name) {
  return symlink(join(root, "node_modules", name), join(project, "node_modules", name));
}

function node(...args) {
  return run(process.execPath, args, { cwd: project, timeout: 60_000 });
}

/** What a program prints. One that runs until Ctrl-C is sent it after its first line. */
async function output(program) {
  const running = node(program);
  if (program === FOLLOWING) running.child.stdout.once("data", () => running.child.kill("SIGINT"));
  return (await running).stdout;
}

test("the examples compile in a project that has no types of a browser", async () => {
  const compilerOptions = { target: "ES2022", lib: ["ES2022"], module: "NodeNext", strict: true, types: ["node"] };
  await write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  await Promise.all(examples.map((code, number) => write(`example-${number}.ts`, code)));
  const tsc = join(root, "node_modules/.bin/tsc");
  await run(tsc, { cwd: project }).catch(({ stdout }) => assert.fail(stdout));
});

test("where neither Node.js nor a package has a WebSocket, the error says what to install", async () => {
  await write("bare.mjs", `import { Client } from "roost-client"; await new Client({ url: "ws://127.0.0.1:1/ws" }).connect();`);
  const failed = node(...(hasWebSocket ? ["--no-experimental-websocket"] : []), "bare.mjs");
  await assert.rejects(failed, ({ stderr }) => stderr.includes("npm install ws"));
});

test("the examples do what they say", withDaemon, async (test) => {
  if (!hasWebSocket) await link("ws");
  const daemon = await Daemon.start(test);
  const { code } = await daemon.offer();
  const said = [];
  for (const number of examples.keys()) {
    const compiled = await readFile(join(project, `example-${number}.js`), "utf8");
    await write(`example-${number}.js`, compiled.replaceAll("127.0.0.1:8766", daemon.address).replace("164 194", code));
    said.push(await output(`example-${number}.js`));
  }
  const expected = [
    /^user: hello\nassistant: .+\n$/,
    /^allow: write_file\n$/,
    /^(session \S+ finished a task\n){1,2}$/,
    /^TokenRefused\n$/,
  ];
  assert.equal(said.length, expected.length);
  said.forEach((text, number) => assert.match(text, expected[number]));
});

test("what a browser loads imports nothing but the package's own files", async () => {
  const seen = new Set();
  const look = async (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const code = await readFile(file, "utf8");
    for (const [, name] of code.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
      assert.ok(name.startsWith("./"), `${file} imports ${name}`);
      await look(join(dirname(file), name));
    }
  };
  await look(join(root, "dist/client.js"));
  assert.ok(seen.size > 3);
});
