// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { applyPatch, canonical, crc32, digest, PatchError } from "../index.js";

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../conformance/${name}.json`, import.meta.url), "utf8"));
/** Freezes a value: a patch must not change its input. */
const frozen = (value) => {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
};

test("canonical forms and digests are those of the vectors", () => {
  const vectors = read("canonical");
  assert.ok(vectors.length > 10);
  for (const { text, canonical: expected, digest: number } of vectors) {
    assert.equal(canonical(JSON.parse(text)), expected);
    assert.equal(digest(JSON.parse(text)), number, text);
  }
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
});

test("patches give the results of the vectors and do not change their input", () => {
  const vectors = read("patches");
  assert.ok(vectors.length > 50);
  for (const { doc, patch, expected, error } of vectors) {
    frozen([doc, patch]);
    const story = JSON.stringify({ doc, patch });
    if (error) assert.throws(() => applyPatch(doc, patch), PatchError, story);
    else assert.deepEqual(applyPatch(doc, patch), expected, story);
  }
});

test("unchanged parts are shared with the previous state", () => {
  const before = frozen({ a: [{ n: 1 }, { n: 2 }], b: { c: [1] } });
  const after = applyPatch(before, [
    { op: "replace", path: "/a/1/n", value: 3 },
    { op: "add", path: "/a/-", value: { n: 4 } },
  ]);
  assert.deepEqual(after, { a: [{ n: 1 }, { n: 3 }, { n: 4 }], b: { c: [1] } });
  assert.equal(after.b, before.b);
  assert.equal(after.a[0], before.a[0]);
});

test("a copy and its original are independent", () => {
  const after = applyPatch(frozen({ a: { x: [1] } }), [
    { op: "add", path: "/a/x/-", value: 2 },
    { op: "copy", from: "/a", path: "/b" },
    { op: "add", path: "/a/x/-", value: 3 },
  ]);
  assert.deepEqual(after, { a: { x: [1, 2, 3] }, b: { x: [1, 2] } });
});

test("a member named __proto__ is an ordinary member", () => {
  const after = applyPatch(JSON.parse('{"__proto__": {"a": 1}}'), [
    { op: "replace", path: "/__proto__/a", value: 2 },
    { op: "add", path: "/b", value: 1 },
  ]);
  assert.equal(JSON.stringify(after), '{"__proto__":{"a":2},"b":1}');
  assert.equal({}.a, undefined);
});
