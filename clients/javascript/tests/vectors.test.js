// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { applyPatch, canonical, crc32, digest, PatchError } from "../index.js";

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../conformance/${name}.json`, import.meta.url), "utf8"));
/** Nothing that is handed to a patch may change. */
const frozen = (value) => {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
};

test("the canonical form and the digest are those of the vectors", () => {
  const vectors = read("canonical");
  assert.ok(vectors.length > 10);
  for (const { text, canonical: expected, digest: number } of vectors) {
    assert.equal(canonical(JSON.parse(text)), expected);
    assert.equal(digest(JSON.parse(text)), number, text);
  }
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
});

test("patches give what the vectors say, and change no state that was handed out", () => {
  const vectors = read("patches");
  assert.ok(vectors.length > 50);
  for (const { doc, patch, expected, error } of vectors) {
    frozen([doc, patch]);
    const story = JSON.stringify({ doc, patch });
    if (error) assert.throws(() => applyPatch(doc, patch), PatchError, story);
    else assert.deepEqual(applyPatch(doc, patch), expected, story);
  }
});

test("what a patch does not touch is shared with the state before", () => {
  const before = frozen({ a: [{ n: 1 }, { n: 2 }], b: { c: [1] } });
  const after = applyPatch(before, [
    { op: "replace", path: "/a/1/n", value: 3 },
    { op: "add", path: "/a/-", value: { n: 4 } },
  ]);
  assert.deepEqual(after, { a: [{ n: 1 }, { n: 3 }, { n: 4 }], b: { c: [1] } });
  assert.equal(after.b, before.b);
  assert.equal(after.a[0], before.a[0]);
});

test("a copy and its original part again", () => {
  const after = applyPatch(frozen({ a: { x: [1] } }), [
    { op: "add", path: "/a/x/-", value: 2 },
    { op: "copy", from: "/a", path: "/b" },
    { op: "add", path: "/a/x/-", value: 3 },
  ]);
  assert.deepEqual(after, { a: { x: [1, 2, 3] }, b: { x: [1, 2] } });
});

test("a member called __proto__ is a member like any other", () => {
  const after = applyPatch(JSON.parse('{"__proto__": {"a": 1}}'), [
    { op: "replace", path: "/__proto__/a", value: 2 },
    { op: "add", path: "/b", value: 1 },
  ]);
  assert.equal(JSON.stringify(after), '{"__proto__":{"a":2},"b":1}');
  assert.equal({}.a, undefined);
});
