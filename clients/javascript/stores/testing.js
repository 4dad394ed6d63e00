// SPDX-License-Identifier: Apache-2.0
//
// A store for tests: it carries out effects as the server does, with a clock that the test moves.

import { isDeepStrictEqual } from "node:util";
import { Machine } from "./kind.js";
import { perform } from "./serving.js";

/** The store has done something that the test does not expect. */
export class TestFailure extends Error {
	name = "TestFailure";
}

const SERVER = { identity: null, frontend: null, role: null };
const copy = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

export class TestStore {
	/** The state and the view after the last step that was sent or received. */
	state;
	view;
	#kind;
	#now;
	#configuration;
	#machine;
	// Waits and work. `deadline` is undefined for work that does not end by itself; `attempt` is 0 before work begins.
	#tasks = [];
	#actions = [];
	#events = [];
	#steps = [];
	#faults = {};
	#throttled = {};

	constructor(kind, { configuration = {}, viewer = SERVER, restoring, version = kind.version ?? 1, now = 0 } = {}) {
		this.#kind = kind;
		this.#now = now;
		this.#configuration = configuration;
		this.#machine = new Machine(kind, "test", configuration);
		this.#begin(
			restoring === undefined
				? this.#machine.open({ ...SERVER, ...viewer }, now)
				: this.#machine.restore(version, copy(restoring), now),
		);
		this.#show(this.#folded());
	}

	/** Sends an input. Throws the `Refusal` if the store refuses it. */
	async send(input, viewer = SERVER) {
		await this.#begun("before the next input");
		this.#begin(this.#machine.input(copy(input), { ...SERVER, ...viewer }, this.#now));
		this.#show(this.#folded());
		await this.#work();
	}

	/** The viewers who have subscribed are now these. */
	async present(viewers) {
		await this.#begun("before the viewers change");
		this.#begin(this.#machine.viewers(viewers.map((viewer) => ({ ...SERVER, ...viewer })), this.#now));
		this.#show(this.#folded());
		await this.#work();
	}

	/** Takes the next action that has come later. */
	async receive(action) {
		await this.#work();
		this.#receive("action", action);
	}

	/** Takes the next event. */
	async receiveEvent(event) {
		await this.#work();
		this.#receive("event", event);
	}

	/** Moves the clock. Waits end in the order of their deadlines. */
	async advance(milliseconds) {
		await this.#work();
		const end = this.#now + milliseconds;
		for (;;) {
			const due = this.#tasks.map((task) => [this.#next(task), task]).filter(([time]) => time <= end);
			if (due.length === 0) break;
			const [time, task] = due.reduce((first, other) => (other[0] < first[0] ? other : first));
			this.#now = time;
			this.#end(task);
			await this.#work();
		}
		this.#now = end;
	}

	/** Makes the next calls of work fail (`"fail"`) or not end (`"hang"`). */
	inject(name, fault, times = 1) {
		(this.#faults[name] ??= []).push(...Array(times).fill(fault));
	}

	/** Ends the program, and restores the store from its state after some milliseconds. */
	async restart(after = 0) {
		await this.#begun("before a restart");
		this.#now += after;
		const state = copy(this.#machine.state);
		this.#machine = new Machine(this.#kind, "test", this.#configuration);
		this.#begin(this.#machine.restore(this.#kind.version ?? 1, state, this.#now));
		for (const task of this.#tasks.filter(({ attempt }) => attempt)) {
			this.#remove(task);
			if (task.effect.restart === "again") this.#start(task.effect);
			else if ("failed" in task.effect)
				this.#actions.push([task.effect.failed, { reason: "interrupted", message: "the program was restarted" }]);
		}
		this.#show(this.#folded());
		await this.#work();
	}

	/** Checks that everything was received and that no effect is left, except `every`. */
	async finish() {
		await this.#begun("at the end of the test");
		const left = this.#tasks.map(({ effect }) => effect).filter(({ type }) => type !== "every");
		if (left.length > 0) throw new TestFailure(`effects have not ended: ${JSON.stringify(left)}`);
	}

	async #begun(when) {
		await this.#work();
		if (this.#steps.length === 0) return;
		const { kind, value } = this.#steps[0];
		throw new TestFailure(`the ${kind} ${JSON.stringify(value)} was not received ${when}`);
	}

	#receive(kind, expected) {
		const wanted = copy(expected);
		const step = this.#steps.shift();
		const text = `the ${kind} ${JSON.stringify(wanted)} is expected`;
		if (!step) throw new TestFailure(`${text}, and nothing has come`);
		[this.state, this.view] = step.shown;
		if (step.kind !== kind || !isDeepStrictEqual(step.value, wanted))
			throw new TestFailure(`${text}, and the ${step.kind} ${JSON.stringify(step.value)} has come`);
	}

	#begin(text) {
		const { events = [], effects = [] } = JSON.parse(text);
		this.#events.push(...events.map(({ event }) => event));
		for (const effect of effects) this.#perform(effect);
	}

	/** Folds the immediate actions; returns the events of the step. */
	#folded() {
		for (let next = this.#actions.shift(); next; next = this.#actions.shift())
			this.#begin(this.#machine.action(next[0], next[1], this.#now));
		return this.#events.splice(0);
	}

	#show(events) {
		const shown = [this.#machine.state, this.#machine.view];
		[this.state, this.view] = shown;
		this.#steps.push(...events.map((value) => ({ kind: "event", value, shown })));
	}

	/** Folds an action that has come later; the test must receive it. */
	#later(value, error) {
		this.#actions.push([value, error]);
		const events = this.#folded();
		const shown = [this.#machine.state, this.#machine.view];
		this.#steps.push({ kind: "action", value, shown });
		this.#steps.push(...events.map((value) => ({ kind: "event", value, shown })));
	}

	#perform(effect) {
		const { type, id, milliseconds } = effect;
		const mine = this.#tasks.filter((task) => id !== undefined && task.effect.id === id);
		if (type === "cancel") this.#remove(...mine);
		else if (type === "action") {
			const isFailing = this.#faults[effect.name]?.shift();
			if (!isFailing) this.#actions.push([effect.action]);
			else if ("failed" in effect) this.#actions.push([effect.failed, { reason: "fault", message: "injected" }]);
		} else if (type === "after" || (type === "every" && !mine.some((task) => task.effect.type === "every")))
			this.#tasks.push({ effect, deadline: this.#now + milliseconds, attempt: 0 });
		else if (type === "run") {
			const { debounce, throttle } = effect;
			if (debounce !== undefined || throttle !== undefined)
				this.#remove(...mine.filter((task) => task.effect.type === "run" && !task.attempt));
			if (debounce !== undefined) this.#tasks.push({ effect, deadline: this.#now + debounce, attempt: 0 });
			else if (throttle !== undefined && this.#throttled[id] > this.#now)
				this.#tasks.push({ effect, deadline: this.#throttled[id], attempt: 0 });
			else this.#start(effect);
		}
	}

	/** Begins work now, or after the earlier work of its queue. */
	#start(effect) {
		const { id, throttle, latest, timeout } = effect;
		if (throttle !== undefined) this.#throttled[id] = this.#now + throttle;
		if (latest) this.#remove(...this.#tasks.filter((task) => task.attempt && task.effect.id === id));
		this.#tasks.push({ effect, deadline: this.#now, attempt: 1, timeout: timeout && this.#now + timeout });
	}

	/** Calls all work that can begin. */
	async #work() {
		for (;;) {
			const task = this.#tasks.find((task) => this.#isReady(task));
			if (!task) return;
			await this.#attempt(task);
		}
	}

	#isReady(task) {
		if (!task.attempt || !(task.deadline <= this.#now)) return false;
		const queue = task.effect.serial;
		return queue === undefined || this.#tasks.find((other) => other.attempt && other.effect.serial === queue) === task;
	}

	async #attempt(task) {
		const { name, retry = { attempts: 1 } } = task.effect;
		const fault = this.#faults[name]?.shift();
		if (fault === "hang") return void (task.deadline = undefined);
		const send = (action) => this.#later(copy(action));
		const context = { name, attempt: task.attempt, signal: new AbortController().signal, send };
		try {
			if (fault) throw new Error("injected");
			const action = await perform(this.#kind, name, task.effect.arguments ?? null, context);
			this.#remove(task);
			if (action !== undefined) this.#later(copy(action));
		} catch (error) {
			if (error instanceof TestFailure) throw error;
			if (task.attempt < retry.attempts) {
				task.deadline = this.#now + retry.milliseconds * 2 ** (task.attempt - 1);
				task.attempt++;
			} else this.#fail(task, fault ? "fault" : "error", error.message);
		}
	}

	/** Returns the time at which the clock ends a wait, the wait for an attempt, or work. */
	#next({ attempt, deadline = Infinity, timeout = Infinity }) {
		// Work that waits for its queue has a deadline that has passed.
		return Math.min(attempt === 0 || deadline > this.#now ? deadline : Infinity, timeout);
	}

	#end(task) {
		const { effect, attempt, timeout } = task;
		if (attempt > 0) {
			if (timeout <= this.#now) this.#fail(task, "timeout", "the time has passed");
		} else if (effect.type === "every") {
			task.deadline = this.#now + effect.milliseconds;
			this.#later(effect.action);
		} else {
			this.#remove(task);
			if (effect.type === "run") this.#start(effect);
			else this.#later(effect.action);
		}
	}

	#fail(task, reason, message) {
		this.#remove(task);
		if ("failed" in task.effect) this.#later(task.effect.failed, { reason, message });
	}

	#remove(...tasks) {
		this.#tasks = this.#tasks.filter((task) => !tasks.includes(task));
	}
}
