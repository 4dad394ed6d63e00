// SPDX-License-Identifier: Apache-2.0
//
// The client with the program, over all transports.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { connect, spawn, UnauthorisedError } from "../node.js";
import { has, program, serve } from "./support/server.js";

async function inFolder(body) {
  const folder = mkdtempSync(join(tmpdir(), "statewire-"));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Checks results, errors, updates and large texts beyond ASCII over a transport. */
async function works(client) {
  try {
    const list = client.store("list", { kind: "todo", config: { memory: { count: 3_000 } } });
    const states = list.states();
    assert.deepEqual((await states.next()).value, { type: "loading" });
    await list.send({ type: "stateRequested" });
    const title = "Zürich \u2028 😀 ".repeat(200);
    await Promise.all([1, 2, 3].map((id) => list.send({ type: "todoRenamed", id: `${id}`, title })));
    const { todos } = (await states.next()).value;
    assert.equal(todos.length, 3_000);
    assert.deepEqual(todos.slice(0, 3).map((todo) => todo.title), [title, title, title]);
    await assert.rejects(list.send({ type: "todoAdded", title: " " }), { path: "/input/title" });
    assert.equal(await list.verify(), true);
    assert.match((await client.request("session/info")).session, /./);
  } finally {
    client.close();
  }
}

test("standard streams of a spawned program", () => works(spawn(program, ["serve"])));

test("a spawned program ends when its client is closed immediately", { timeout: 60_000 }, () =>
  inFolder(async (folder) => {
    const file = join(folder, "pid");
    spawn("sh", ["-c", `echo $$ > ${file}.new; mv ${file}.new ${file}; exec cat`]).close();
    const look = (body) => new Promise((resolve) => setTimeout(() => resolve(body()), 20));
    while (!(await look(() => existsSync(file))));
    const pid = Number(readFileSync(file, "utf8"));
    const isThere = () => {
      try {
        return globalThis.process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    while (await look(isThere));
  }));

test("a missing program is reported", async () => {
  const client = spawn("/no/such/program");
  const status = await new Promise((resolve) =>
    client.on("status", (status) => status.state === "reconnecting" && resolve(status)),
  );
  assert.equal(status.error.code, "ENOENT");
  client.close();
});

test("TCP", async () => {
  const server = await serve();
  await works(connect(`tcp://${server.address}`));
  await server.stop();
});

test("a Unix socket", () =>
  inFolder(async (folder) => {
    const server = await serve("--unix", join(folder, "socket"));
    await works(connect(`unix:${join(folder, "socket")}`));
    await server.stop();
  }));

test("TLS, with a token", () =>
  inFolder(async (folder) => {
    const [key, cert, tokens] = ["key.pem", "cert.pem", "tokens"].map((name) => join(folder, name));
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        .concat("-keyout", key, "-out", cert, "-subj", "/CN=localhost")
        .concat("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
      { stdio: "ignore" },
    );
    const token = "correct horse battery".replaceAll(" ", "-");
    execFileSync("sh", ["-c", `printf 'me %s\\n' ${token} >${tokens}`]);
    const server = await serve("--tls-cert", cert, "--tls-key", key, "--token-file", tokens);
    const tls = { ca: readFileSync(cert) };
    await works(connect(`tls://${server.address}`, { tls, token }));
    const unauthorised = connect(`tls://${server.address}`, { tls, token: "wrong-token-of-someone" });
    await assert.rejects(unauthorised.connected(), UnauthorisedError);
    await server.stop();
  }));

test("WebSocket", { skip: !has("--web") }, async () => {
  const server = await serve("--web", "127.0.0.1:0");
  await works(connect(`ws://${server.address}`));
  await server.stop();
});

test("an inactive client stays inactive after a lost connection", async () => {
  const server = await serve();
  const client = connect(`tcp://${server.address}`, { backoff: { base: 1, maximum: 2 } });
  const balance = client.store("balance");
  let seen;
  balance.subscribe((state) => (seen = state));
  await balance.send({ type: "refreshButtonWasTapped" }, { settle: true });
  client.setPhase("inactive");
  await client.request("ping");
  assert.equal(seen.isRedacted, true);
  const other = connect(`tcp://${server.address}`, { session: client.session, frontend: client.frontend });
  other.setPhase("inactive");
  let shown;
  other.store("balance").subscribe((state) => (shown = state));
  await other.connected();
  await other.request("ping");
  assert.deepEqual([shown.isRedacted, shown.formattedBalance], [true, "--"]);
  assert.equal(client.status.state, "closed");
  other.close();
  await server.stop();
});

test("a client resumes its session after the server was killed", () =>
  inFolder(async (folder) => {
    const options = ["--data-dir", folder];
    const first = await serve(...options);
    const client = connect(`tcp://${first.address}`, { backoff: { base: 5, maximum: 50 } });
    const list = client.store("list", { kind: "todo", config: { memory: { count: 2 } } });
    list.subscribe(() => {});
    await list.send({ type: "stateRequested" });
    const { session } = client;
    await first.stop("SIGKILL");
    // An input that is sent while the server is down is applied afterwards.
    const response = list.send({ type: "todoRenamed", id: "1", title: "Milk" });
    const second = await serve("--tcp", first.address, ...options);
    assert.equal((await response).changed, true);
    assert.equal(list.state.todos[0].title, "Milk");
    assert.equal(client.session, session);
    assert.equal(await list.verify(), true);
    client.close();
    await second.stop();
  }));
