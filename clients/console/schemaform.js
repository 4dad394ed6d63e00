// SPDX-License-Identifier: Apache-2.0
//
// Fields for a value that a JSON schema describes. A part of the schema that has no simple field gets
// a field for JSON.

import { element } from "./dom.js";

/** Follows references to `#/components/…`. */
export function resolved(schema, document) {
	for (let steps = 0; schema?.$ref && steps < 20; steps++) {
		schema = schema.$ref.slice(2).split("/").reduce((part, key) => part?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], document);
	}
	return schema ?? {};
}

/** The alternatives of an input by their `type`; empty if the schema has another form. */
export function cases(schema, document) {
	const whole = resolved(schema, document);
	const all = (whole.oneOf ?? whole.anyOf ?? [whole]).map((one) => resolved(one, document));
	const named = all.map((one) => [resolved(one.properties?.type, document).const, one]);
	return named.every(([name]) => typeof name === "string") ? named : [];
}

/** The schema without null, and true if the value can be null. */
function withoutNull(schema, document) {
	const whole = resolved(schema, document);
	if (Array.isArray(whole.type)) {
		const types = whole.type.filter((type) => type !== "null");
		return [{ ...whole, type: types.length === 1 ? types[0] : types }, types.length < whole.type.length];
	}
	const any = whole.anyOf ?? [];
	const rest = any.filter((one) => one.type !== "null");
	if (rest.length === 1 && any.length === 2) return [resolved(rest[0], document), true];
	return [whole, false];
}

/**
 * Makes a field for a value.
 *
 * Returns its element, and a function that returns the value: undefined to leave it out. The function
 * throws an error with a sentence if the field has no valid value.
 */
export function field(name, schema, isRequired, document) {
	const [type, isNullable] = withoutNull(schema, document);
	const id = `field-${name}`;
	const label = element("label", { htmlFor: id, textContent: isRequired ? name : `${name} (optional)` });
	const wrap = (input) => element("div", { className: "field" }, label, input);
	const isOptional = !isRequired || isNullable;
	/** The value of an empty field that is optional. */
	const empty = isRequired ? null : undefined;
	const fail = (text) => {
		throw new Error(`${name}: ${text}`);
	};
	// A checkbox cannot be empty.
	const choices = type.enum ?? (type.type === "boolean" && isOptional ? [false, true] : undefined);
	if (choices) {
		const texts = choices.map((one) => `${one}`);
		if (isOptional) texts.unshift("");
		const input = element("select", { id }, ...texts.map((textContent) => element("option", { textContent })));
		return [wrap(input), () => (isOptional ? [empty, ...choices] : choices)[input.selectedIndex]];
	}
	if (type.type === "boolean") {
		const input = element("input", { id, type: "checkbox" });
		return [element("div", { className: "field row" }, input, label), () => input.checked];
	}
	if (type.type === "string") {
		const input = element("input", { id, autocomplete: "off", spellcheck: false });
		return [wrap(input), () => (input.value || !isOptional ? input.value : empty)];
	}
	if (type.type === "integer" || type.type === "number") {
		const input = element("input", { id, inputMode: "decimal", autocomplete: "off" });
		return [
			wrap(input),
			() => {
				const text = input.value.trim();
				if (!text && isOptional) return empty;
				const number = Number(text);
				if (!text || !Number.isFinite(number)) fail("enter a number");
				return number;
			},
		];
	}
	const input = element("textarea", { id, rows: 3, spellcheck: false, placeholder: "JSON" });
	return [
		wrap(input),
		() => {
			if (!input.value.trim() && isOptional) return empty;
			try {
				return JSON.parse(input.value);
			} catch {
				return fail("enter JSON");
			}
		},
	];
}
