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

const copy = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

export class TestStore {
	/** The state and the view after the last step that was sent or received. */
	state;
	view;
	#kind;
	#now;
	#opening;
	#machine;
	// Waits and work. `deadline` is Infinity for work that does not end by itself; `attempt` is 0 before work begins.
	#tasks = [];
	#actions = [];
	#steps = [];
	#faults = {};
	#throttled = {};

	constructor(kind, { configuration = {}, viewer, restoring, version = kind.version ?? 1, now = 0 } = {}) {
		this.#kind = kind;
		this.#now = now;
		this.#opening = { name: "test", configuration };
		this.#machine = new Machine(kind, this.#opening);
		this.#step(restoring === undefined ? "open" : "restore", { viewer, version, state: copy(restoring) });
	}

	/** Sends an input. Throws the `Refusal` if the store refuses it. */
	async send(input, viewer) {
		await this.#received("before the next input");
		this.#step("input", { input: copy(input), viewer });
		await this.#work();
	}

	/** The viewers who have subscribed are now these. */
	async present(viewers) {
		await this.#received("before the viewers change");
		this.#step("viewers", { viewers });
		await this.#work();
	}

	/** Takes the next action that has come later. */
	receive(action) {
		return this.#take("action", action);
	}

	/** Takes the next event. */
	receiveEvent(event) {
		return this.#take("event", event);
	}

	/** Moves the clock. Waits end in the order of their deadlines. */
	async advance(milliseconds) {
		await this.#work();
		const end = this.#now + milliseconds;
		for (;;) {
			const times = this.#tasks.map((task) => this.#next(task));
			const time = Math.min(...times);
			if (!(time <= end)) break;
			this.#now = time;
			this.#end(this.#tasks[times.indexOf(time)]);
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
		await this.#received("before a restart");
		this.#now += after;
		for (const task of this.#tasks.filter(({ attempt }) => attempt)) {
			this.#remove(task);
			if (task.effect.restart === "again") this.#start(task.effect);
			else this.#fail(task.effect, "interrupted", "the program was restarted", false);
		}
		const state = copy(this.#machine.state);
		this.#machine = new Machine(this.#kind, this.#opening);
		this.#step("restore", { version: this.#kind.version ?? 1, state });
		await this.#work();
	}

	/** Checks that everything was received and that no effect is left, except `every`. */
	async finish() {
		await this.#received("at the end of the test");
		const left = this.#tasks.map(({ effect }) => effect).filter(({ type }) => type !== "every");
		if (left.length > 0) throw new TestFailure(`effects have not ended: ${JSON.stringify(left)}`);
	}

	async #received(when) {
		await this.#work();
		if (this.#steps.length === 0) return;
		const { kind, value } = this.#steps[0];
		throw new TestFailure(`the ${kind} ${JSON.stringify(value)} was not received ${when}`);
	}

	async #take(kind, expected) {
		await this.#work();
		const wanted = copy(expected);
		const step = this.#steps.shift();
		const text = `the ${kind} ${JSON.stringify(wanted)} is expected`;
		if (!step) throw new TestFailure(`${text}, and nothing has come`);
		Object.assign(this, step.shown);
		if (step.kind !== kind || !isDeepStrictEqual(step.value, wanted))
			throw new TestFailure(`${text}, and the ${step.kind} ${JSON.stringify(step.value)} has come`);
	}

	/** Carries out a request and the immediate actions after it. The test must receive an action that `came` later. */
	#step(method, params, came = []) {
		const steps = [...came];
		for (let next = [method, params]; next; next = this.#actions.shift()) {
			const { events = [], effects = [] } = JSON.parse(this.#machine.turn(next[0], { ...next[1], now: this.#now }));
			steps.push(...events.map(({ event }) => ({ kind: "event", value: event })));
			for (const effect of effects) this.#perform(effect);
		}
		const shown = { state: this.#machine.state, view: this.#machine.view };
		this.#steps.push(...steps.map((step) => ({ ...step, shown })));
		if (came.length === 0) Object.assign(this, shown);
	}

	/** Carries out an action that has come later. */
	#later(action, error) {
		this.#step("action", { action, error }, [{ kind: "action", value: action }]);
	}

	#perform(effect) {
		const { type, id, milliseconds, debounce, throttle } = effect;
		const mine = this.#tasks.filter((task) => id !== undefined && task.effect.id === id);
		if (type === "cancel") this.#remove(...mine);
		else if (type === "action") {
			const isFailing = this.#faults[effect.name]?.shift();
			if (isFailing) this.#fail(effect, "fault", "injected", false);
			else this.#actions.push(["action", { action: effect.action }]);
		} else if (type === "after" || (type === "every" && !mine.some((task) => task.effect.type === "every")))
			this.#wait(effect, this.#now + milliseconds);
		else if (type === "run") {
			// It replaces the one that waits.
			if (debounce !== undefined || throttle !== undefined)
				this.#remove(...mine.filter((task) => task.effect.type === "run" && !task.attempt));
			const begin = debounce === undefined ? throttle && this.#throttled[id] : this.#now + debounce;
			if (begin > this.#now) this.#wait(effect, begin);
			else this.#start(effect);
		}
	}

	#wait(effect, deadline) {
		this.#tasks.push({ effect, deadline, attempt: 0, timeout: Infinity });
	}

	/** Begins work now, or after the earlier work of its queue. */
	#start(effect) {
		const { id, throttle, latest, timeout } = effect;
		if (throttle !== undefined) this.#throttled[id] = this.#now + throttle;
		if (latest) this.#remove(...this.#tasks.filter((task) => task.attempt && task.effect.id === id));
		this.#tasks.push({ effect, deadline: this.#now, attempt: 1, timeout: this.#now + (timeout ?? Infinity) });
	}

	/** Calls all work that can begin; of a queue the first one. */
	async #work() {
		for (let task; (task = this.#tasks.find((task) => this.#isReady(task))); ) await this.#attempt(task);
	}

	#isReady(task) {
		if (!task.attempt || task.deadline > this.#now) return false;
		const queue = task.effect.serial;
		return queue === undefined || this.#tasks.find((other) => other.attempt && other.effect.serial === queue) === task;
	}

	async #attempt(task) {
		const { name, retry = { attempts: 1 } } = task.effect;
		const fault = this.#faults[name]?.shift();
		if (fault === "hang") return void (task.deadline = Infinity);
		const send = (action) => this.#later(copy(action));
		const context = { name, attempt: task.attempt, signal: new AbortController().signal, send };
		let action;
		try {
			if (fault) throw new Error("injected");
			action = await perform(this.#kind, name, task.effect.arguments ?? null, context);
		} catch (error) {
			if (task.attempt < retry.attempts) {
				task.deadline = this.#now + retry.milliseconds * 2 ** (task.attempt - 1);
				task.attempt++;
				return;
			}
			this.#remove(task);
			return this.#fail(task.effect, fault ? "fault" : "error", error.message);
		}
		this.#remove(task);
		if (action !== undefined) this.#later(copy(action));
	}

	/** Returns the time at which the clock ends a wait, the wait for an attempt, or work. */
	#next({ attempt, deadline, timeout }) {
		// Work that waits for its queue has a deadline that has passed.
		return Math.min(attempt === 0 || deadline > this.#now ? deadline : Infinity, timeout);
	}

	#end(task) {
		const { effect, attempt, timeout } = task;
		if (attempt && timeout > this.#now) return; // The next attempt can begin.
		this.#remove(task);
		if (attempt) this.#fail(effect, "timeout", "the time has passed");
		else if (effect.type === "run") this.#start(effect);
		else {
			if (effect.type === "every") this.#wait(effect, this.#now + effect.milliseconds);
			this.#later(effect.action);
		}
	}

	/** Sends the action of a failure: as a part of this step, or later. */
	#fail({ failed }, reason, message, isLater = true) {
		if (failed === undefined) return;
		const error = { reason, message };
		if (isLater) this.#later(failed, error);
		else this.#actions.push(["action", { action: failed, error }]);
	}

	#remove(...tasks) {
		this.#tasks = this.#tasks.filter((task) => !tasks.includes(task));
	}
}
