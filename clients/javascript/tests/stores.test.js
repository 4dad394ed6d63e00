// SPDX-License-Identifier: Apache-2.0
//
// Stores in JavaScript: differences, a TestStore and a program that is served. Tests/Stores has the conformance test.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { applyPatch } from "../src/patch.js";
import { difference } from "../stores/difference.js";
import { Machine } from "../stores/kind.js";
import { action, after, cancel, Effect, event, every, redacted, Refusal, run, TestFailure, TestStore } from "../stores.js";

const items = (count) => Array.from({ length: count }, (_, index) => ({ id: `${index}`, title: `Item ${index}` }));
const copy = (value) => JSON.parse(JSON.stringify(value));

test("one change of a long list is one operation", () => {
  const old = items(1000);
  const added = { id: "new" };
  for (const [next, operation] of [
    [[...old.slice(0, 500), added, ...old.slice(500)], { op: "add", path: "/500", value: added }],
    [[...old.slice(0, 500), ...old.slice(501)], { op: "remove", path: "/500" }],
    [[...old.slice(1), old[0]], { op: "move", from: "/0", path: "/999" }],
    [[old[999], ...old.slice(0, 999)], { op: "move", from: "/999", path: "/0" }],
    [old.map((item) => (item.id === "9" ? { ...item, title: "x" } : item)), { op: "replace", path: "/9/title", value: "x" }],
  ]) {
    assert.deepEqual(difference(old, next), [operation]);
    assert.deepEqual(difference(copy(old), next), [operation]);
  }
});

test("random changes have the right result", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % below;
  const pick = (list) => list[random(list.length)];
  function value(depth = 0) {
    const kind = depth > 3 ? 0 : random(10);
    if (kind < 4) return pick([0, 1, true, false, null, "a", "a/b~c", 1.5, [], {}]);
    if (kind < 7) return Array.from({ length: random(6) }, () => value(depth + 1));
    if (kind < 8) return [...new Set([1, 2, 3, 4, 5].map(() => random(12)))].map((id) => ({ id: `${id}`, t: random(3) }));
    return Object.fromEntries([1, 2, 3].map(() => [pick(["a", "a/b", "~", "type"]), value(depth + 1)]));
  }
  function changed(old) {
    if (Array.isArray(old)) {
      const next = [...old];
      for (let count = random(3); count > 0; count--) {
        const at = random(next.length + 1);
        if (next.length > 0 && random(2)) next.splice(at, 0, ...next.splice(random(next.length), 1));
        else if (next.length > 0 && random(2)) next.splice(random(next.length), 1);
        else next.splice(at, 0, value(3));
      }
      return next.map((element) => (random(4) ? element : changed(element)));
    }
    if (typeof old === "object" && old !== null)
      return Object.fromEntries(Object.entries(old).filter(() => random(9)).map(([key, part]) => [key, random(2) ? part : changed(part)]));
    return value(3);
  }
  for (let count = 0; count < 3000; count++) {
    const old = value();
    const next = random(3) ? changed(old) : value();
    assert.deepEqual(applyPatch(copy(old), copy(difference(old, next))), next);
    assert.deepEqual(difference(old, copy(old)), []);
  }
});

test("a part that is the same object is not read", () => {
  const part = new Proxy({}, { get: () => assert.fail(), ownKeys: () => assert.fail() });
  assert.deepEqual(difference({ part, b: 1 }, { part, b: 2 }), [{ op: "replace", path: "/b", value: 2 }]);
});

/** A store whose inputs are effects, and which logs its actions. */
function logged() {
  const calls = [];
  const kind = {
    initial: { log: [] },
    effects: [],
    update(state, { type }, { error }) {
      if (type === "do") return [undefined, kind.effects];
      if (type === "mutate") state.log.push("x");
      if (type === "date") return { log: new Date(0) };
      if (type === "refuse") throw new Refusal("no", ["type"]);
      return { log: [...state.log, type, ...(error ? [error.reason] : [])] };
    },
    runs: {
      async work(args, { attempt, send }) {
        calls.push(args);
        if (args === "fail" || (args === "retry" && attempt < 3)) throw new Error("no");
        if (args === "send") send({ type: "sent" });
        return { type: `done ${args}` };
      },
    },
  };
  const store = new TestStore(kind);
  return {
    store,
    calls,
    do: (...effects) => ((kind.effects = effects), store.send({ type: "do" })),
    async take(...types) {
      for (const type of types) await store.receive({ type });
    },
  };
}

const failed = { type: "failed" };
const fails = (promise, message) =>
  assert.rejects(promise, (error) => error instanceof TestFailure && message.test(error.message));

test("immediate actions are part of the input; waits end in the order of their deadlines", async () => {
  const { store, take, ...kind } = logged();
  await kind.do(action({ type: "a" }), after(300, { type: "c" }), every(200, { type: "tick" }, "ticks"), after(100, { type: "b" }));
  assert.deepEqual(store.state.log, ["a"]);
  await store.advance(450);
  await take("b", "tick", "c", "tick");
  await kind.do(cancel("ticks"));
  await store.advance(1000);
  assert.deepEqual(store.state.log, ["a", "b", "tick", "c", "tick"]);
  await store.finish();
});

test("the clock stops at a step until it is received, and a wait of no time ends without advance", async () => {
  const { store, take, calls, ...kind } = logged();
  await kind.do(after(0, { type: "a" }), after(100, { type: "b" }), run("work", "x", { debounce: 200, id: "d" }));
  await take("a");
  await store.advance(300);
  assert.deepEqual([store.state.log, calls], [["a"], []]);
  await take("b");
  assert.deepEqual([store.state.log, calls], [["a", "b"], ["x"]]);
  await take("done x");
  await store.finish();
});

test("actions and events must be received, and effects must end", async () => {
  const { store, ...kind } = logged();
  await kind.do(event({ type: "rang" }, ["page"]), run("work", "x"), after(100, { type: "late" }));
  await fails(store.finish(), /the event .*rang.* was not received/);
  await fails(kind.do(), /the event .*rang.* was not received/);
  await store.receiveEvent({ type: "rang" });
  await fails(store.receive({ type: "other" }), /other.*done x/);
  await fails(store.receive({ type: "other" }), /received nothing/);
  await fails(store.finish(), /have not ended/);
});

test("a state is frozen, and has a JSON form", async () => {
  const { store } = logged();
  await assert.rejects(store.send({ type: "mutate" }), TypeError);
  await assert.rejects(store.send({ type: "date" }), /a Date cannot be represented in JSON/);
  await assert.rejects(store.send({ type: "refuse" }), (error) => error instanceof Refusal && error.path[0] === "type");
  assert.deepEqual(store.state, { log: [] });
  await store.finish();
});

test("a part that is not JSON is refused with its path", async () => {
	// Symbol keys were left out, and a Map in the action of work was an empty object.
	const symbol = Symbol("x");
	const endless = {};
	endless.x = endless;
	const cases = [
		[{ a: new Map() }, /^a Map cannot be represented in JSON, at \/a$/],
		[{ a: [{ "b/c": new Date(0) }] }, /^a Date cannot be represented in JSON, at \/a\/0\/b~1c$/],
		[{ a: [1, undefined] }, /^undefined in an array cannot be represented in JSON, at \/a$/],
		[{ a: 1n }, /^a bigint cannot be represented in JSON, at \/a$/],
		[{ a() {} }, /^a function cannot be represented in JSON, at \/a$/],
		[{ a: symbol }, /^a symbol cannot be represented in JSON, at \/a$/],
		[{ a: { [symbol]: 1 } }, /^the key Symbol\(x\) cannot be represented in JSON, at \/a$/],
		[{ a: NaN }, /^NaN cannot be represented in JSON, at \/a$/],
		// The server replaces it: its state was another one than that of the program, and a later patch did not apply.
		["\ud83d", /^a lone surrogate cannot be represented in JSON$/],
		[{ a: "x\ude00x" }, /^a lone surrogate cannot be represented in JSON, at \/a$/],
		[{ a: ["\ud83d\ud83d\ude00"] }, /^a lone surrogate cannot be represented in JSON, at \/a\/0$/],
		[{ a: { "\ud83d": 1 } }, /^a key with a lone surrogate cannot be represented in JSON, at \/a$/],
		[{ [symbol]: 1 }, /^the key Symbol\(x\) cannot be represented in JSON$/],
		[endless, /^a value in more than 120 others cannot be represented in JSON, at (\/x){120,121}$/],
	];
	const update = (state, name) => (name === "state" ? kind.part : [state, kind.effects]);
	const kind = { initial: { a: 0 }, effects: [], update, runs: { work: () => kind.part } };
	for (const [part, message] of cases) {
		const error = (error) => error instanceof TypeError && message.test(error.message.replace(/(, at )?\/arguments(?!\/)|\/arguments/, ""));
		const store = new TestStore(kind);
		kind.part = part;
		for (let count = 0; count < 2; count++) await assert.rejects(store.send("state"), error);
		assert.deepEqual(store.state, { a: 0 });
		assert.throws(() => new TestStore({ ...kind, initial: part }), error);
		assert.throws(() => new TestStore({ ...kind, view: () => part }), error);
		kind.effects = run("work", part);
		await assert.rejects(store.send("effects"), error);
		kind.effects = run("work", null, { failed: { type: "failed" } });
		await store.send("effects");
		await store.receive({ type: "failed" });
		kind.effects = action(part);
		const machine = new Machine(kind, { name: "a", configuration: {} });
		machine.turn("open", {});
		assert.throws(() => machine.turn("input", { input: "effects" }, 1), TypeError);
	}
});

test("a surrogate pair is accepted", async () => {
	const store = new TestStore({ initial: {}, update: (_, text) => ({ [text]: [text] }) });
	await store.send("\ud83d\ude00");
	assert.deepEqual(store.state, { "😀": ["😀"] });
});

test("a state that contains the one before is refused at the level of others", () => {
	// The parts that were checked before were skipped, and the server restarted the program.
	const update = (state) => ({ before: state });
	const machine = new Machine({ initial: {}, update }, { name: "a", configuration: {} });
	machine.turn("open", {});
	for (let level = 1; level <= 120; level++) machine.turn("input", { input: 1 });
	assert.throws(() => machine.turn("input", { input: 1 }), /a value in more than 120 others cannot be represented in JSON/);
});

test("an effect that breaks the protocol is refused", async () => {
	// It ended the program, and a `TestStore` carried it out.
	const go = { type: "go" };
	const policies = (members) => () => run("work", null, members);
	const id = "a";
	for (const [make, message] of [
		[() => after(1.5, go), /^after: milliseconds must be an integer from 0 to 86400000000$/],
		[() => after(-5, go), /^after: milliseconds must be an integer/],
		[() => after(1e12, go), /^after: milliseconds must be an integer/],
		[() => after("5", go), /^after: milliseconds must be an integer/],
		[() => after(undefined, go), /^after: milliseconds must not be null$/],
		[() => after(5, null), /^after: action must not be null$/],
		[() => after(5, go, 5), /^after: id must be a string$/],
		[() => every(0, go, id), /^every: milliseconds must be at least 1$/],
		[() => every(5, go), /^every: id must not be null$/],
		[() => action(), /^action: action must not be null$/],
		[() => action(go, { latest: true }), /^action: latest, debounce and throttle need an id$/],
		[() => action(go, { name: 5 }), /^action: name must be a string$/],
		[() => cancel(null), /^cancel: id must not be null$/],
		[() => event(null), /^event: event must not be null$/],
		[() => event(go, "ann"), /^event: to must be an array of strings$/],
		[() => event(go, [5]), /^event: to must be an array of strings$/],
		[() => run(), /^run: name must not be null$/],
		[policies({ latest: true }), /^run: latest, debounce and throttle need an id$/],
		[policies({ debounce: 0 }), /^run: latest, debounce and throttle need an id$/],
		[policies({ throttle: 5 }), /^run: latest, debounce and throttle need an id$/],
		[policies({ id, debounce: 5, throttle: 5 }), /^run: debounce and throttle exclude each other$/],
		[policies({ id, latest: "yes" }), /^run: latest must be true or false$/],
		[policies({ serial: 5 }), /^run: serial must be a string$/],
		[policies({ timeout: NaN }), /^run: timeout must be an integer/],
		[policies({ retry: { attempts: 0, milliseconds: 5 } }), /^run: retry must be attempts from 1 to 1000 and milliseconds$/],
		[policies({ retry: { attempts: 2, milliseconds: 0.5 } }), /^run: retry must be/],
		[policies({ retry: 3 }), /^run: retry must be/],
		[policies({ restart: "maybe" }), /^run: restart must be "fail" or "again"$/],
		[policies({ debonce: 5 }), /^run: debonce is unknown$/],
		[policies({ type: "after" }), /^run: type is unknown$/],
		[() => Array(1001).fill(after(5, go)), /^an update has at most 1000 effects$/],
		[() => Array(1001).fill(event(go)), /^an update has at most 1000 events$/],
	]) {
		const store = new TestStore({ initial: 0, update: (state) => [state + 1, make()] });
		await assert.rejects(store.send("go"), (error) => error instanceof TypeError && message.test(error.message));
		assert.equal(store.state, 0);
		await store.finish();
	}
	for (const effects of [
		[after(0, 0), after(86_400_000_000, ""), every(1, false, ""), cancel("b"), event(0, []), redacted()],
		policies({ id, latest: false, debounce: 0, serial: "", timeout: 0, restart: "again" })(),
		policies({ retry: { attempts: 1000, milliseconds: 0 }, id: null, latest: undefined })(),
		[...Array(1000).fill(after(5, go)), ...Array(1000).fill(event(go))],
	])
		await new TestStore({ initial: 0, update: (state) => [state, effects] }).send("go");
});

test("stores share no value that changes", () => {
	// A view got the first state before it was frozen, and could change the one of all stores.
	const view = (state) => {
		state.items.push("secret");
		return state;
	};
	const state = { items: [] };
	const update = (state, name, { configuration }) => {
		if (name === "configuration") configuration.items = ["secret"];
		(name === "state" ? state : {}).items?.push("secret");
	};
	for (const initial of [state, () => state]) {
		assert.throws(() => new Machine({ initial, update, view }, { name: "a", configuration: {} }).turn("open", {}), TypeError);
		const [first, second] = ["a", "b"].map((name) => new Machine({ initial, update }, { name, configuration: {} }));
		const opened = first.turn("open", {});
		for (const input of ["state", "configuration"]) assert.throws(() => first.turn("input", { input }), TypeError);
		assert.equal(second.turn("open", {}), opened);
	}
	const migrate = () => state;
	for (const [kind, version] of [[{ update }, 1], [{ update, version: 2, migrate }, 1]]) {
		const machine = new Machine(kind, { name: "a", configuration: {} });
		machine.turn("restore", { version, state: { items: [] } });
		assert.throws(() => machine.turn("input", { input: "state" }), TypeError);
	}
	assert.deepEqual(state, { items: [] });
});

test("work sends actions, fails, is repeated and ends at its timeout", async () => {
  const { store, take, calls, ...kind } = logged();
  await kind.do(run("work", "send"), run("work", "fail", { failed }), run("work", "fail"));
  await take("sent", "done send", "failed");
  await kind.do(run("work", "retry", { retry: { attempts: 3, milliseconds: 100 }, failed }));
  await store.advance(299);
  assert.equal(calls.filter((name) => name === "retry").length, 2);
  await store.advance(1);
  await take("done retry");
  store.inject("work", "hang");
  await kind.do(run("work", "x", { timeout: 500, failed }));
  await store.advance(500);
  await take("failed");
  assert.deepEqual(store.state.log.slice(-2), ["failed", "timeout"]);
  await store.finish();
});

test("work without an action gives none", async () => {
	// A `TestStore` sent null, for which the server sends nothing.
	const errors = [];
	const runs = {
		null: () => null,
		undefined: () => undefined,
		fail() {
			throw new Error("no");
		},
		send(_, { send }) {
			for (const action of [null, undefined]) {
				try {
					send(action);
				} catch (error) {
					errors.push(error.message);
				}
			}
		},
	};
	const update = (log, name) => (name in runs ? [undefined, run(name, null, { failed: null })] : [...log, name]);
	const store = new TestStore({ initial: "", update, runs });
	for (const name of Object.keys(runs)) await store.send(name);
	await store.finish();
	assert.equal(store.state, "");
	assert.deepEqual(errors, Array(2).fill("send: action must not be null"));
	const program = `
		import { serve } from "${new URL("../stores.js", import.meta.url)}";
		serve({ runs: { null: () => null, send: (_, { send }) => send(null) } });`;
	const input = ["null", "send"]
		.map((name, id) => ({ id, method: "machine/run", params: { store: 1, run: id, name, arguments: null, attempt: 1 } }))
		.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
		.join("");
	const done = spawnSync(process.execPath, ["--input-type=module", "-e", program], { input, encoding: "utf8" });
	const responses = done.stdout.trim().split("\n").map((line) => JSON.parse(line));
	const outcome = (run) => responses.find(({ id }) => id === run);
	assert.deepEqual([outcome(0).result, outcome(1).error.code], [{}, -32603]);
});

test("the timeout of work in a queue begins with the work", async () => {
	const { store, take, ...kind } = logged();
	store.inject("work", "hang", 2);
	await kind.do(...["a", "b"].map((name) => run("work", name, { serial: "queue", timeout: 500, failed })));
	await store.advance(500);
	await take("failed");
	await store.advance(499);
	await kind.do(run("work", "c", { serial: "queue" }));
	await store.advance(1);
	await take("failed", "done c");
	await store.finish();
});

test("the latest effect cancels the others with its id", async () => {
	const latest = { id: "x", latest: true };
	const { store, take, ...kind } = logged();
	store.inject("work", "hang");
	await kind.do(run("work", "a", { id: "x" }));
	await kind.do(
		after(100, { type: "b" }, "x"), every(10, { type: "c" }, "x"),
		run("work", "d", { id: "x", debounce: 50 }), action({ type: "e" }, latest));
	await store.advance(100);
	await take("done d");
	await kind.do(after(100, { type: "f" }, "x"), run("work", "g", latest));
	await take("done g");
	await store.finish();
	assert.deepEqual(store.state.log, ["e", "done d", "done g"]);
});

test("debounce, throttle, latest and serial", async () => {
  const { store, take, calls, ...kind } = logged();
  for (const name of ["a", "b"]) {
    await kind.do(run("work", name, { id: "d", debounce: 100 }));
    await store.advance(99);
  }
  await store.advance(1);
  await take("done b");
  await kind.do(run("work", "c", { id: "t", throttle: 100 }));
  await take("done c");
  for (const name of ["d", "e"]) await kind.do(run("work", name, { id: "t", throttle: 100 }));
  await store.advance(100);
  await take("done e");
  store.inject("work", "hang");
  await kind.do(run("work", "f", { id: "l", latest: true }));
  await kind.do(run("work", "g", { id: "l", latest: true }));
  await take("done g");
  store.inject("work", "hang");
  await kind.do(run("work", "h", { id: "s", serial: "queue" }), run("work", "i", { serial: "queue" }));
  await store.advance(100);
  assert.ok(!calls.includes("i"));
  await kind.do(cancel("s"));
  await take("done i");
  await store.finish();
});

test("a test can look at the view of a viewer", () => {
	const view = (state, viewer) => ({ count: state.count, you: viewer.frontend, role: viewer.role });
	const store = new TestStore({ initial: { count: 1 }, update: (state) => state, view, viewsBy: "frontend" });
	assert.deepEqual(store.view, { count: 1, you: null, role: null });
	assert.deepEqual(store.viewFor({ frontend: "page", role: "observer" }), { count: 1, you: "page", role: null });
	const plain = new TestStore({ initial: { count: 1 }, update: (state) => state });
	assert.deepEqual(plain.viewFor({ frontend: "page" }), { count: 1 });
});

test("a view of undefined is the state, and one of null is null", () => {
	const view = (state, { role }) => (role === "observer" ? { hidden: true } : role === "driver" ? null : undefined);
	const kind = { initial: { secret: 1 }, update: (state) => state, view, viewsBy: "role" };
	const machine = new Machine(kind, { name: "a", configuration: {} });
	assert.deepEqual(JSON.parse(machine.turn("open", {})), { state: { secret: 1 } });
	const update = JSON.parse(machine.turn("viewers", { viewers: [{ role: "observer" }, { role: "driver" }] }));
	assert.deepEqual(update, { view: { secret: 1 }, views: { observer: { view: { hidden: true } }, driver: { view: null } } });
	assert.equal(machine.viewFor({ role: "driver" }), null);
});

test("a view of undefined replaces that of an earlier process", () => {
	// The server kept the earlier view, and clients saw no change after it.
	const view = (state) => (state.open ? undefined : { hidden: true });
	const kind = { initial: { open: true }, update: (_, open) => ({ open }), view };
	const machine = new Machine(kind, { name: "a", configuration: {} });
	const restored = machine.turn("restore", { version: 1, state: { open: true } });
	assert.deepEqual(JSON.parse(restored), { view: { open: true } });
	const [{ viewPatch }, again] = [false, true].map((input) => JSON.parse(machine.turn("input", { input })));
	assert.deepEqual(applyPatch({ open: true }, viewPatch), { hidden: true });
	assert.deepEqual(applyPatch({ hidden: true }, again.viewPatch), { open: true });
	const plain = new Machine({ ...kind, view: undefined }, { name: "a", configuration: {} });
	assert.equal(plain.turn("restore", { version: 1, state: { open: true } }), "{}");
});

test("a restart ends work and keeps waits; an older state is migrated", async () => {
  const { store, take, ...kind } = logged();
  store.inject("work", "hang", 2);
  await kind.do(run("work", "x", { failed }), run("work", "y", { restart: "again" }), after(100, { type: "a" }));
  await store.restart(100);
  assert.deepEqual(store.state.log, ["failed", "interrupted"]);
  await take("done y");
  await store.advance(0);
  await take("a");
  await store.finish();
  const migrate = (version, log) => ({ log });
  const update = () => undefined;
  assert.deepEqual(new TestStore({ version: 2, migrate, update }, { restoring: ["a"], version: 1 }).state, { log: ["a"] });
  assert.throws(() => new TestStore({ version: 2, update }, { restoring: ["a"], version: 1 }), /version 1 cannot be used/);
});

test("a served program keeps its state after a failure, and prints to standard error", () => {
  const stores = new URL("../stores.js", import.meta.url);
  const program = `
    import { serve } from "${stores}";
    serve({ initial: { count: 0, rest: [] }, update(state, event) {
      console.log("printed");
      if (event === "fail") throw new Error("broken");
      return { ...state, count: event === "nan" ? NaN : state.count + 1 };
    } });`;
  const sent = (input) => ["input", { store: 1, input, viewer: {}, now: 0 }];
  const requests = [["open", { store: 1, name: "a", configuration: {}, viewer: {}, now: 0 }],
    sent("one"), sent("fail"), sent("nan"), sent("two"), ["later", {}]];
  const input = requests
    .map(([method, params], id) => `${JSON.stringify({ jsonrpc: "2.0", id, method: `machine/${method}`, params })}\n`)
    .join("");
  const done = spawnSync(process.execPath, ["--input-type=module", "-e", program], { input, encoding: "utf8" });
  const responses = done.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(responses.map(({ error }) => error?.code), [undefined, undefined, -32603, -32603, undefined, -32601]);
  assert.deepEqual(responses[4].result, { patch: [{ op: "replace", path: "/count", value: 2 }] });
  assert.match(done.stderr, /printed[^]*broken/);
});

test("a program continues after an error that has no text", async () => {
	// It ended.
	const program = `
		import { Refusal, serve } from "${new URL("../stores.js", import.meta.url)}";
		const fail = () => { throw new Error("getter"); };
		const errors = {
			plain: Object.create(null),
			symbol: Object.assign(new Error(), { message: Symbol("symbol") }),
			message: Object.defineProperty(new Error(), "message", { get: fail }),
			code: Object.defineProperty(new Error(), "code", { get: fail }),
			stack: Object.defineProperty(new Error(), "stack", { get: fail }),
			proxy: new Proxy({}, { getPrototypeOf: fail }),
			path: new Refusal("no", [1n]),
			undefined: undefined,
			null: null,
		};
		const runs = Object.fromEntries(Object.keys(errors).map((name) => [name, () => { throw errors[name]; }]));
		serve({ initial: 0, update: (_, name) => runs[name](), runs });`;
	const names = ["plain", "symbol", "message", "code", "stack", "proxy", "path", "undefined", "null"];
	const params = { store: 1, name: "a", configuration: {}, now: 0 };
	const input = [
		["open", params],
		...names.map((input) => ["input", { ...params, input }]),
		...names.map((name, run) => ["run", { store: 1, run, name, arguments: null, attempt: 1 }]),
	]
		.map(([method, params], id) => `${JSON.stringify({ jsonrpc: "2.0", id, method: `machine/${method}`, params })}\n`)
		.join("");
	const done = spawnSync(process.execPath, ["--input-type=module", "-e", program], { input, encoding: "utf8" });
	const codes = done.stdout.trim().split("\n").map((line) => JSON.parse(line).error?.code);
	assert.deepEqual([done.status, codes], [0, [undefined, ...Array(2 * names.length).fill(-32603)]]);
	const runs = { work: () => Promise.reject() };
	const update = (_, name, { error }) => (name === "work" ? [undefined, run(name, null, { failed })] : error.message);
	const store = new TestStore({ initial: "", update, runs });
	await store.send("work");
	await store.receive(failed);
	assert.equal(store.state, "undefined");
});

test("output of child processes goes to standard error", { skip: process.platform !== "linux" }, () => {
	// It broke the protocol, and the server ended the program.
	const program = `
		import { execSync } from "node:child_process";
		import { writeSync } from "node:fs";
		import { serve } from "${new URL("../stores.js", import.meta.url)}";
		serve({ initial: 0, update(state) {
			execSync("echo child", { stdio: ["ignore", "inherit", "inherit"] });
			writeSync(1, "descriptor\\n");
			console.log("printed");
			return state + 1;
		} });`;
	const params = { store: 1, name: "a", configuration: {}, input: "", now: 0 };
	const input = ["open", "input"]
		.map((method, id) => `${JSON.stringify({ jsonrpc: "2.0", id, method: `machine/${method}`, params })}\n`)
		.join("");
	// Its streams are pipes, as those that a server makes; Node would make sockets.
	const pipes = '{ "$0" --input-type=module -e "$1" | sed "s/^/output /"; } 2>&1 | cat';
	const done = spawnSync("sh", ["-c", pipes, process.execPath, program], { input, encoding: "utf8" });
	const lines = done.stdout.trim().split("\n");
	const responses = lines.flatMap((line) => /^output (.*)/.exec(line)?.[1] ?? []);
	assert.deepEqual(responses.map((text) => JSON.parse(text).result), [{ state: 0 }, { state: 1 }]);
	assert.deepEqual(lines.filter((line) => !line.startsWith("output ")), ["child", "descriptor", "printed"]);
});

test("the last line of a program is its error", async () => {
	// It was the version of Node, which the log of the server had as the reason.
	const program = `
		import { serve } from "${new URL("../stores.js", import.meta.url)}";
		serve({ initial: 0, update: () => {} });
		setTimeout(() => { throw new Error("broken"); });`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
	let log = "";
	child.stderr.on("data", (chunk) => (log += chunk));
	assert.deepEqual(await once(child, "close"), [1, null]);
	assert.match(log, /broken[^]*\n {4}at [^]*\nError: broken\n$/);
});

test("an interrupt ends a program", async () => {
	// An author who starts a program in a terminal could not end it.
	const program = `
		import { serve } from "${new URL("../stores.js", import.meta.url)}";
		serve({ initial: 0, update: () => {} });`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", program], { timeout: 30_000, killSignal: "SIGKILL" });
	child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"machine/describe","params":{"protocol":1}}\n');
	await once(child.stdout, "data");
	child.kill("SIGINT");
	assert.deepEqual(await once(child, "exit"), [null, "SIGINT"]);
});

test("immediate actions are applied before the next input", () => {
	// The server sent them after the inputs that had been sent already.
	const update = (balance, received, { isAction }) => {
		if (isAction) {
			const left = balance - received.amount;
			return [left, [event({ left }), after(1, "late")]];
		}
		if (received > balance) throw new Refusal("too much");
		return [balance, [event({ asked: received }), action({ amount: received }, { name: "withdraw" })]];
	};
	const opened = () => {
		const machine = new Machine({ initial: 10, update }, { name: "a", configuration: {} });
		machine.turn("open", {}, 1);
		return machine;
	};
	const machine = opened();
	assert.deepEqual(JSON.parse(machine.turn("input", { input: 10 }, 1)), {
		state: 0,
		events: [{ event: { asked: 10 } }, { event: { left: 0 } }],
		effects: [{ type: "after", milliseconds: 1, action: "late" }],
	});
	assert.throws(() => machine.turn("input", { input: 10 }, 1), Refusal);
	// A test injects faults into actions, so the server carries them out.
	const effects = [{ type: "action", action: { amount: 10 }, name: "withdraw" }];
	assert.deepEqual(JSON.parse(opened().turn("input", { input: 10 })), { events: [{ event: { asked: 10 } }], effects });
});

test("an action that can be cancelled is an effect", () => {
	// So are the actions after it: the later one was applied first.
	const effects = [action("first"), after(1, "tick"), action("second", { id: "a" }), action("third")];
	const update = ({ log }, name) => [{ log: [...log, name] }, name === "input" ? effects : []];
	const machine = new Machine({ initial: { log: [] }, update }, { name: "a", configuration: {} });
	machine.turn("open", {}, 1000);
	const left = JSON.parse(machine.turn("input", { input: "input" }, 1000)).effects;
	assert.deepEqual(machine.state, { log: ["input", "first"] });
	assert.deepEqual(left, copy(effects.slice(1).map(({ type, members }) => ({ type, ...members }))));
});

test("applied actions have the order of a server", async () => {
	// The library applies actions in a turn; `TestStore` gets the same effects, as a server does.
	const same = action("x");
	const id = "a";
	// The effects of the input and of actions, the actions that are applied, and those that come later.
	for (const [effects, more, applied, later] of [
		[[same, same], {}, ["x", "x"], []],
		[[action("x"), action("y")], { x: [action("z")] }, ["x", "y", "z"], []],
		[[action("x", { id }), action("y")], {}, ["x", "y"], []],
		[[action("x"), action("y", { id }), action("z")], { x: [action("w")] }, ["x", "y", "z", "w"], []],
		[[action("x"), after(10, "late", id)], { x: [cancel(id)] }, ["x"], []],
		[[after(10, "late", id), action("x")], { x: [cancel(id)] }, ["x"], []],
		[[action("x"), cancel(id)], { x: [after(10, "late", id)] }, ["x"], ["late"]],
		[[action("x"), after(10, "b")], { x: [after(10, "c")] }, ["x"], ["b", "c"]],
	]) {
		const kind = (effects, initial) => ({
			initial,
			update: ({ log }, name) => (name === "input" ? [{ log }, effects] : [{ log: [...log, name] }, more[name] ?? []]),
		});
		const machine = new Machine(kind(effects, { log: [] }), { name: "a", configuration: {} });
		machine.turn("open", {});
		const update = JSON.parse(machine.turn("input", { input: "input" }, 1000));
		const left = (update.effects ?? []).map(({ type, ...members }) => new Effect(type, members));
		for (const store of [new TestStore(kind(effects, { log: [] })), new TestStore(kind(left, machine.state))]) {
			await store.send("input");
			assert.deepEqual(store.state, { log: applied });
			await store.advance(10);
			for (const name of later) await store.receive(name);
			await store.finish();
		}
	}
});

test("a state between immediate actions is frozen", () => {
	// A served program could change it in place, while a `TestStore` refused that.
	const update = (state, received) => {
		if (received === "input") return [{ list: [] }, action("mutate")];
		state.list.push("x");
	};
	const machine = new Machine({ initial: null, update }, { name: "a", configuration: {} });
	machine.turn("open", {}, 1);
	assert.throws(() => machine.turn("input", { input: "input" }, 1), TypeError);
	assert.equal(machine.state, null);
});

test("a failed step changes nothing", async () => {
	// The update of the input stayed, and the next step carried out its effects.
	const calls = [];
	const work = run("work", null, { id: "t", throttle: 100 });
	const kind = {
		initial: 0,
		update(state, received) {
			if (received === "begin") return [state + 1, [after(5, "late", "l"), after(5, "bad")]];
			if (received === "fail")
				return [state + 10, [cancel("l"), after(1, "none"), event("rang"), work, action("bad"), action("left")]];
			if (received === "bad") throw new Refusal("no");
			if (received === "work") return [undefined, work];
			return state + 100;
		},
		runs: { work: () => void calls.push("work") },
	};
	const store = new TestStore(kind);
	await store.send("begin");
	await assert.rejects(store.send("fail"), Refusal);
	assert.deepEqual([store.state, store.viewFor({}), calls], [1, 1, []]);
	await store.send("work");
	assert.deepEqual([store.state, calls], [1, ["work"]]);
	await store.advance(5);
	await store.receive("late");
	await assert.rejects(store.receive("bad"), Refusal);
	assert.equal(store.state, 101);
	await store.finish();
});

test("a store continues after a failed action of its restart", async () => {
	const update = (state, received) => {
		if (received === "bad") throw new Refusal("no");
		return [state + 1, received === "work" ? run("work", null, { failed: "bad" }) : []];
	};
	const store = new TestStore({ initial: 0, update });
	store.inject("work", "hang");
	await store.send("work");
	await assert.rejects(store.restart(), Refusal);
	await store.send("other");
	assert.equal(store.state, 2);
	await store.finish();
});

test("an endless chain of actions does not stop the program", () => {
	const machine = new Machine({ initial: 0, update: (state) => [state + 1, action("again")] }, { name: "a" });
	machine.turn("open", {}, 0);
	const { state, effects } = JSON.parse(machine.turn("input", { input: "begin" }, 1000));
	assert.equal(state, 1001);
	assert.deepEqual(effects, [{ type: "action", action: "again" }]);
});

test("a store without a state is refused", () => {
	const update = () => undefined;
	const restored = { restoring: { count: 3 }, version: 1 };
	for (const view of [undefined, () => 1]) {
		for (const initial of [undefined, update, () => [undefined, redacted()]])
			assert.throws(() => new TestStore({ initial, update, view }), /^TypeError: `initial` or `migrate` has returned no state$/);
		const migrate = (version, state) => void ({ number: state.count });
		assert.throws(() => new TestStore({ update, view, version: 2, migrate }, restored), /has returned no state$/);
	}
	assert.equal(new TestStore({ initial: null, update }).state, null);
	assert.equal(new TestStore({ update, version: 2, migrate: () => null }, restored).state, null);
});

test("a restored list is a state", () => {
	// Its second element was taken for the effects.
	const machine = new Machine({ initial: [[], []], update: () => {} }, { name: "a", configuration: {} });
	machine.turn("restore", { version: 1, state: [1, 2] });
	assert.deepEqual(machine.state, [1, 2]);
});

test("a served program applies immediate actions, unless it is tested", () => {
	const program = `
		import { action, serve } from "${new URL("../stores.js", import.meta.url)}";
		serve({ initial: 0, update: (state, received) => received === "add" ? state + 1 : [state, action("add")] });`;
	const last = (params) => {
		const store = { store: 1, name: "a", configuration: {}, input: "input" };
		const input = [["describe", { protocol: 1, ...params }], ["open", store], ["input", store]]
			.map(([method, params], id) => `${JSON.stringify({ jsonrpc: "2.0", id, method: `machine/${method}`, params })}\n`)
			.join("");
		const done = spawnSync(process.execPath, ["--input-type=module", "-e", program], { input, encoding: "utf8" });
		return JSON.parse(done.stdout.trim().split("\n").at(-1)).result;
	};
	assert.deepEqual(last({}), { state: 1 });
	assert.deepEqual(last({ tests: true }), { effects: [{ type: "action", action: "add" }] });
});

test("responses are not kept while later requests take long", () => {
	// The server ended a program that was only slow, because the first responses came with the last.
	const directory = mkdtempSync(join(tmpdir(), "statewire-"));
	const path = join(directory, "output");
	// Its state is the number of responses in its output.
	const program = `
		import { readFileSync } from "node:fs";
		import { serve } from "${new URL("../stores.js", import.meta.url)}";
		const update = () => {
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 8);
			return { responses: readFileSync(${JSON.stringify(path)}, "utf8").split("\\n").length - 1 };
		};
		serve({ initial: { responses: 0 }, update });`;
	const params = { store: 1, name: "a", configuration: {}, input: "", now: 0 };
	const input = ["open", ...Array(12).fill("input")]
		.map((method, id) => `${JSON.stringify({ jsonrpc: "2.0", id, method: `machine/${method}`, params })}\n`)
		.join("");
	const stdio = ["pipe", openSync(path, "w"), "inherit"];
	spawnSync(process.execPath, ["--input-type=module", "-e", program], { input, stdio });
	closeSync(stdio[1]);
	const responses = readFileSync(path, "utf8").trim().split("\n").map((line) => JSON.parse(line));
	rmSync(directory, { recursive: true });
	assert.equal(responses.length, 13);
	// The program has found responses in its output.
	assert.ok(responses.some(({ result }) => result.patch));
});

test("cancelled work sends nothing", () => {
	// Its actions counted as unknown messages, of which the server accepts a limited number.
	const program = `
		import { serve } from "${new URL("../stores.js", import.meta.url)}";
		const work = (_, { send, signal }) => new Promise((resolve) => {
			send("first");
			signal.addEventListener("abort", () => resolve(send("second")));
		});
		serve({ initial: 0, update: () => {}, runs: { work } });`;
	const params = { store: 1, run: 5, name: "work", arguments: null, attempt: 1 };
	const input = [{ id: 1, method: "machine/run", params }, { method: "machine/cancel", params: { run: 5 } }]
		.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
		.join("");
	const done = spawnSync(process.execPath, ["--input-type=module", "-e", program], { input, encoding: "utf8" });
	const messages = done.stdout.trim().split("\n").map((line) => JSON.parse(line));
	assert.deepEqual(messages.filter(({ method }) => method).map(({ params }) => params.action), ["first"]);
});

test("a viewer can have any key", () => {
	const view = (state, viewer) => ({ you: viewer.identity });
	const kind = { initial: 0, update: () => {}, view, viewsBy: "identity" };
	const machine = new Machine(kind, { name: "a", configuration: {} });
	machine.turn("open", {});
	const update = machine.turn("viewers", { viewers: [{ identity: "__proto__" }] });
	assert.equal(update, '{"views":{"__proto__":{"view":{"you":"__proto__"}}}}');
	assert.equal(machine.turn("viewers", { viewers: [] }), '{"views":{"__proto__":null}}');
});

test("work and ids can have any name", async () => {
	const names = ["__proto__", "constructor"];
	const kind = {
		initial: { log: [] },
		update(state, { type }) {
			if (type !== "do") return { log: [...state.log, type] };
			const works = names.map((id) => run(id, null, { id, throttle: 100 }));
			return [undefined, [...works, action({ type: "acted" }, { name: "toString" })]];
		},
		runs: { ["__proto__"]: () => ({ type: "proto" }), constructor: () => ({ type: "constructor" }) },
	};
	const store = new TestStore(kind);
	for (const name of names) store.inject(name, "fail");
	await store.send({ type: "do" });
	await store.send({ type: "do" });
	await store.advance(100);
	for (const type of ["proto", "constructor"]) await store.receive({ type });
	await store.finish();
	assert.deepEqual(store.state.log, ["acted", "acted", "proto", "constructor"]);
});

test("the viewers are known also after the update for them has failed", () => {
	const kind = {
		initial: 0,
		update: (state) => state,
		view: (state, { identity }) => ({ you: identity }),
		viewsBy: "identity",
		viewers() {
			throw new Error("broken");
		},
	};
	const machine = new Machine(kind, { name: "a", configuration: {} });
	machine.turn("open", {});
	assert.throws(() => machine.turn("viewers", { viewers: [{ identity: "anna" }] }), /broken/);
	assert.equal(machine.turn("input", { input: "x" }), '{"views":{"anna":{"view":{"you":"anna"}}}}');
});

test("the parts of a frozen state are frozen and have a JSON form", async () => {
	const kind = {
		initial: () => Object.freeze({ items: [] }),
		update(state, input) {
			if (input === "mutate") state.items.push("x");
			if (input === "date") return Object.freeze({ items: [new Date(0)] });
		},
	};
	const store = new TestStore(kind);
	await assert.rejects(store.send("mutate"), TypeError);
	for (let count = 0; count < 2; count++)
		await assert.rejects(store.send("date"), /a Date cannot be represented in JSON/);
	assert.deepEqual(store.state, { items: [] });
});

test("cancel ends the time of throttle", async () => {
	const { store, take, ...kind } = logged();
	await kind.do(run("work", "a", { id: "t", throttle: 100 }));
	await take("done a");
	await kind.do(cancel("t"), run("work", "b", { id: "t", throttle: 100 }));
	await take("done b");
	await store.finish();
});

test("the times of debounce and throttle are apart", async () => {
	// A throttled run took the place of the debounced one with its id.
	const { store, take, ...kind } = logged();
	const debounced = (name) => run("work", name, { id: "x", debounce: 50 });
	const throttled = (name) => run("work", name, { id: "x", throttle: 100 });
	await kind.do(debounced("a"), throttled("b"), throttled("c"), debounced("d"), throttled("e"));
	await take("done b");
	await store.advance(50);
	await take("done d");
	await store.advance(50);
	await take("done e");
	await kind.do(debounced("f"), throttled("g"), cancel("x"), throttled("h"));
	await take("done h");
	await store.finish();
});

test("a restart keeps the queue of work", async () => {
	const { store, take, ...kind } = logged();
	store.inject("work", "hang");
	await kind.do(...["a", "b"].map((name) => run("work", name, { serial: "queue", failed })));
	await store.restart();
	assert.deepEqual(store.state.log, ["failed", "interrupted"]);
	await take("done b");
	store.inject("work", "hang");
	await kind.do(...["c", "d"].map((name) => run("work", name, { serial: "queue", restart: "again" })));
	await store.restart();
	await take("done c", "done d");
	await store.finish();
});

test("a restart counts as a failed attempt", async () => {
	const { store, ...kind } = logged();
	store.inject("work", "hang", 2);
	await kind.do(run("work", "x", { retry: { attempts: 2, milliseconds: 100 }, failed }));
	await store.restart();
	await store.advance(99);
	assert.deepEqual(store.state.log, []);
	await store.advance(1);
	await store.restart(10);
	assert.deepEqual(store.state.log, ["failed", "interrupted"]);
	await store.finish();
});

test("a restart does not touch work that waits for its next attempt", async () => {
	const { store, take, calls, ...kind } = logged();
	store.inject("work", "fail");
	await kind.do(run("work", "x", { retry: { attempts: 2, milliseconds: 100 }, failed }));
	await store.restart(99);
	assert.deepEqual([store.state.log, calls], [[], []]);
	await store.advance(1);
	await take("done x");
	await store.finish();
});

test("a restart begins work again without the policies of its start", async () => {
	const { store, take, calls, ...kind } = logged();
	store.inject("work", "hang", 2);
	await kind.do(
		run("work", "x", { id: "a", latest: true, restart: "again" }), after(50, { type: "later" }, "a"),
		run("work", "y", { id: "b", throttle: 100, restart: "again" }));
	await store.advance(10);
	await store.restart();
	await take("done x", "done y");
	await kind.do(run("work", "z", { id: "b", throttle: 100 }));
	await store.advance(89);
	await take("later");
	assert.ok(!calls.includes("z"));
	await store.advance(1);
	await take("done z");
	await store.finish();
});

test("a restart keeps the timeout of work that begins again", async () => {
	const { store, take, ...kind } = logged();
	store.inject("work", "hang", 2);
	await kind.do(run("work", "x", { timeout: 100, restart: "again", failed }));
	await store.restart(50);
	await store.advance(50);
	await take("failed");
	assert.deepEqual(store.state.log, ["failed", "timeout"]);
	await store.finish();
});

test("the program gets the viewers after a restart", async () => {
	const calls = [];
	const store = new TestStore({
		initial: { log: [] },
		update: ({ log }, { type }, { error }) =>
			type === "do" ? [undefined, run("work", null, { failed })] : { log: [...log, error?.reason ?? type] },
		viewers({ log }, viewers) {
			calls.push(viewers.map(({ identity }) => identity));
			return [{ log: [...log, "viewers"] }, action({ type: "greeted" })];
		},
	});
	await store.restart();
	assert.deepEqual(calls, []);
	await store.present([{ identity: "anna" }]);
	store.inject("work", "hang");
	await store.send({ type: "do" });
	await store.restart();
	assert.deepEqual(calls, [["anna"], ["anna"]]);
	assert.deepEqual(store.state.log, ["viewers", "greeted", "viewers", "interrupted", "greeted"]);
	await store.finish();
});

test("an action can hang", async () => {
	const { store, ...kind } = logged();
	store.inject("operation", "hang", 2);
	await kind.do(action({ type: "a" }, { name: "operation", id: "x", failed }));
	await kind.do(action({ type: "b" }, { name: "operation", failed }), cancel("x"));
	assert.deepEqual(store.state.log, []);
	await store.restart();
	await store.advance(2 ** 40);
	await fails(store.finish(), /^effects have not ended: [^x]*"b"[^x]*$/);
});

test("work with a timeout of 0 is not called", async () => {
	const { store, take, calls, ...kind } = logged();
	await kind.do(run("work", "x", { timeout: 0, failed }));
	await take("failed");
	assert.deepEqual([store.state.log, calls], [["failed", "timeout"], []]);
	await store.finish();
});

test("injected faults are not counted as attempts", async () => {
	const attempts = [];
	const store = new TestStore({
		initial: { log: [] },
		update: ({ log }, { type }, { error }) =>
			type === "do"
				? [undefined, run("work", null, { retry: { attempts: 4, milliseconds: 100 }, failed })]
				: { log: [...log, error.reason] },
		runs: {
			work(_, { attempt }) {
				attempts.push(attempt);
				throw new Error("no");
			},
		},
	});
	store.inject("work", "fail", 2);
	await store.send({ type: "do" });
	await store.advance(700);
	await store.receive(failed);
	assert.deepEqual([store.state.log, attempts], [["error"], [1, 2]]);
	await store.finish();
});

test("the wait between attempts is at most a day", async () => {
	const { store, take, calls, ...kind } = logged();
	const day = 86_400_000;
	store.inject("work", "fail", 2);
	await kind.do(run("work", "x", { retry: { attempts: 3, milliseconds: day - 1 } }));
	await store.advance(2 * day - 2);
	assert.deepEqual(calls, []);
	await store.advance(1);
	await take("done x");
	await store.finish();
});
