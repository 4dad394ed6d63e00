// SPDX-License-Identifier: Apache-2.0
//
// Limits and their use.

import { bytes, element, keyed, write } from "./dom.js";

const number = new Intl.NumberFormat("en");
/** From this part of a limit on, a meter has another colour. */
const HIGH = 0.8;

const text = (count, unit) => (unit === "bytes" ? bytes(count) : number.format(count));
const part = ({ value, limit }) => (limit ? value / limit : 0);

/** The use of a limit as a text. */
export const use = (gauge) => `${text(gauge.value, gauge.unit)} of ${text(gauge.limit, gauge.unit)}`;

/** Makes a meter; `set` gives it a value. */
export const meter = (name) => element("meter", { min: 0, ariaLabel: name });

export function set(node, { value, limit }) {
	Object.assign(node, { max: Math.max(1, limit), high: limit * HIGH, value: Math.min(value, limit) });
}

/** Shows gauges in a list of terms. */
export function showGauges(list, gauges) {
	keyed(
		list,
		gauges,
		({ name }) => name,
		({ name }) => element("div", { className: "gauge" }, element("dt", { textContent: name }), element("dd", {}, element("span"), meter(name))),
		(node, gauge) => {
			const [label, bar] = node.lastChild.children;
			write(label, use(gauge));
			set(bar, gauge);
			bar.ariaValueText = use(gauge);
		},
	);
}

/** Returns the name and the use of the limit that is used most. */
export function fullest(gauges) {
	const most = gauges.reduce((one, other) => (part(other) > part(one) ? other : one));
	return `${most.name} ${use(most)}`;
}
