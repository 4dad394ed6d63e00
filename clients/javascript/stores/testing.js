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

// The longest wait between two attempts.
const DAY = 86_400_000;

const copy = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

export class TestStore {
	/** The state and the view after the last step that was sent or received. */
	state;
	view;
	#kind;
	#now;
	#machine;
	// Waits and work. `deadline` is Infinity for work that is at the program; `attempt` is 0 before work begins. Injected
	// faults do not count as `calls`.
	#tasks = [];
	// The time to which the test has moved the clock. `#now` stops at a step that must be received.
	#end;
	// The later actions and events that the test must receive.
	#came = [];
	// The requests with the viewers after a restart: one, or none before the first `present`.
	#presented = [];
	// By names: `__proto__` can be one of them.
	#faults = Object.create(null);
	#throttled = new Map();

	constructor(kind, { configuration = {}, viewer, restoring, version = kind.version ?? 1, now = 0 } = {}) {
		this.#kind = kind;
		this.#now = this.#end = now;
		this.#machine = new Machine(kind, { name: "test", configuration: copy(configuration) });
		const method = restoring === undefined ? "open" : "restore";
		this.#step([{ [method]: true, viewer, version, state: copy(restoring) }]);
	}

	/** Sends an input. Throws the `Refusal` if the store refuses it; then nothing has changed. */
	async send(input, viewer) {
		await this.#received();
		this.#step([{ input: copy(input), viewer }]);
		await this.#proceed();
	}

	/** Returns what a subscribed viewer receives of the state. */
	viewFor(viewer) {
		return this.#machine.viewFor(viewer);
	}

	/** Sets the subscribed viewers. */
	async present(viewers) {
		await this.#received();
		this.#presented = [{ viewers }];
		this.#step([...this.#presented]);
		await this.#proceed();
	}

	/** Takes the next action that has come later. */
	async receive(action) {
		this.#step([await this.#take("action", action)]);
		await this.#proceed();
	}

	/** Takes the next event. */
	async receiveEvent(event) {
		await this.#take("event", event);
		await this.#proceed();
	}

	/** Moves the clock. Waits end in the order of their deadlines. */
	async advance(milliseconds) {
		this.#end += milliseconds;
		await this.#proceed();
	}

	/** Makes the next calls of work, or the next actions with a name, fail (`"fail"`) or not end (`"hang"`). */
	inject(name, fault, times = 1) {
		(this.#faults[name] ??= []).push(...Array(times).fill(fault));
	}

	/** Ends the program, and restores the store from its state after some milliseconds. */
	async restart(after = 0) {
		await this.#received();
		const requests = [...this.#presented];
		for (const task of this.#tasks.filter(({ attempt, deadline }) => attempt && deadline === Infinity)) {
			if (task.effect.restart === "again") task.deadline = 0;
			else this.#missed(requests, task, "interrupted", "the program was restarted");
		}
		this.#now = this.#end += after;
		const state = copy(this.#machine.state);
		this.#step([{ restore: true, version: this.#kind.version ?? 1, state }, ...requests]);
		await this.#proceed();
	}

	/** Checks that everything was received and that no effect is left, except `every`. */
	async finish() {
		await this.#received();
		const left = this.#tasks.map(({ effect }) => effect).filter(({ type }) => type !== "every");
		if (left.length > 0) throw new TestFailure(`effects have not ended: ${JSON.stringify(left)}`);
	}

	async #received() {
		await this.#proceed();
		if (this.#came.length === 0) return;
		const [kind, value] = Object.entries(this.#came[0])[0];
		throw new TestFailure(`the ${kind} ${JSON.stringify(value)} was not received`);
	}

	async #take(kind, expected) {
		await this.#proceed();
		const wanted = copy(expected);
		const came = this.#came.shift();
		const text = `expected the ${kind} ${JSON.stringify(wanted)}`;
		if (!came) throw new TestFailure(`${text}, received nothing`);
		if (!Object.hasOwn(came, kind) || !isDeepStrictEqual(came[kind], wanted))
			throw new TestFailure(`${text}, received ${JSON.stringify(came)}`);
		return came;
	}

	/**
	 * Carries out requests and the immediate actions after them. The first member of a request has the name of its method.
	 * If one of them fails, nothing has changed, as in a program that is served; only injected faults are used up.
	 */
	#step(requests) {
		const undo = this.#machine.checkpoint();
		const before = [[...this.#tasks], [...this.#came], new Map(this.#throttled)];
		try {
			// The list grows: the actions of an update come after all earlier ones.
			for (const request of requests) {
				const text = this.#machine.turn(Object.keys(request)[0], { ...request, now: this.#now });
				const { events = [], effects = [] } = JSON.parse(text);
				this.#came.push(...events.map(({ event }) => ({ event })));
				for (const effect of effects) this.#perform(effect, requests);
			}
		} catch (error) {
			undo();
			[this.#tasks, this.#came, this.#throttled] = before;
			throw error;
		}
		Object.assign(this, { state: this.#machine.state, view: this.#machine.view });
	}

	/** Begins an effect; an immediate action is one of the next requests. */
	#perform(effect, requests) {
		const { type, id, milliseconds, debounce, throttle } = effect;
		const mine = this.#tasks.filter((task) => id !== undefined && task.effect.id === id);
		if (type === "cancel") {
			this.#remove(...mine);
			this.#throttled.delete(id);
		} else if (type === "action") {
			this.#cancelLatest(effect);
			const fault = this.#faults[effect.name]?.shift();
			if (fault === "hang") this.#wait(effect, Infinity);
			else if (fault) this.#fail(requests, effect, "fault", "injected");
			else requests.push({ action: effect.action });
		} else if (type === "after" || (type === "every" && !mine.some((task) => task.effect.type === "every")))
			this.#wait(effect, this.#now + milliseconds);
		else if (type === "run") {
			// It replaces the one that waits because of the same policy.
			const isSame = (task, policy) => effect[policy] !== undefined && task.effect[policy] !== undefined;
			this.#remove(...mine.filter((task) => !task.attempt && (isSame(task, "debounce") || isSame(task, "throttle"))));
			const begin = debounce === undefined ? throttle && this.#throttled.get(id) : this.#now + debounce;
			if (begin > this.#now) this.#wait(effect, begin);
			else this.#start(effect);
		}
	}

	#wait(effect, deadline) {
		this.#tasks.push({ effect, deadline, attempt: 0, timeout: Infinity });
	}

	/** Begins work now, or after the earlier work of its queue. */
	#start(effect) {
		const { id, throttle } = effect;
		if (throttle !== undefined) this.#throttled.set(id, this.#now + throttle);
		this.#cancelLatest(effect);
		this.#tasks.push({ effect, deadline: 0, attempt: 1, calls: 0, timeout: Infinity });
	}

	/** Cancels the effects with the id of an effect that is the latest, except work that a policy holds back. */
	#cancelLatest({ id, latest }) {
		const isHeld = ({ effect, attempt }) => effect.type === "run" && !attempt;
		if (latest) this.#remove(...this.#tasks.filter((task) => task.effect.id === id && !isHeld(task)));
	}

	/** Moves the clock to its end, but not beyond a step that the test must receive. */
	async #proceed() {
		while (this.#came.length === 0) {
			const times = this.#tasks.map((task) => this.#next(task));
			const time = Math.min(...times);
			if (!(time <= this.#end)) return void (this.#now = this.#end);
			this.#now = Math.max(this.#now, time);
			await this.#continue(this.#tasks[times.indexOf(time)]);
		}
	}

	/** Returns the time at which a wait ends, or at which work is called or times out. */
	#next(task) {
		const queue = task.effect.serial;
		const first = this.#tasks.find((other) => other.attempt && other.effect.serial === queue);
		const isQueued = task.attempt && queue !== undefined && first !== task;
		return isQueued ? task.timeout : Math.min(task.deadline, task.timeout);
	}

	/** Ends a wait, or calls or ends work. */
	async #continue(task) {
		const { effect, attempt, timeout } = task;
		if (attempt && timeout > this.#now) return this.#attempt(task);
		this.#remove(task);
		if (attempt) this.#fail(this.#came, effect, "timeout", "the time has passed");
		else if (effect.type === "run") this.#start(effect);
		else {
			if (effect.type === "every") this.#wait(effect, this.#now + effect.milliseconds);
			this.#came.push({ action: effect.action });
		}
	}

	async #attempt(task) {
		const { name, timeout = Infinity } = task.effect;
		task.timeout = Math.min(task.timeout, this.#now + timeout);
		task.deadline = Infinity;
		const fault = this.#faults[name]?.shift();
		if (fault === "hang" || task.timeout <= this.#now) return;
		const send = (action) => this.#came.push({ action: copy(action) });
		let action;
		try {
			if (fault) throw new Error("injected");
			const context = { attempt: ++task.calls, signal: new AbortController().signal };
			action = await perform(this.#kind, name, task.effect.arguments ?? null, send, context);
		} catch (error) {
			return this.#missed(this.#came, task, fault ? "fault" : "error", String(error?.message ?? error));
		}
		this.#remove(task);
		if (action !== undefined) send(action);
	}

	/** Waits for the next attempt, or ends the work and adds the action of the failure. */
	#missed(actions, task, reason, message) {
		const { attempts, milliseconds } = task.effect.retry ?? { attempts: 1 };
		if (task.attempt < attempts) {
			task.deadline = this.#now + Math.min(milliseconds * 2 ** (task.attempt - 1), DAY);
			task.attempt++;
		} else {
			this.#remove(task);
			this.#fail(actions, task.effect, reason, message);
		}
	}

	/** Adds the action of a failure to the actions of this step, or to those that must be received. */
	#fail(actions, { failed }, reason, message) {
		if (failed !== undefined) actions.push({ action: failed, error: { reason, message } });
	}

	#remove(...tasks) {
		this.#tasks = this.#tasks.filter((task) => !tasks.includes(task));
	}
}
