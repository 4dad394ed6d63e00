// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("..", import.meta.url);
const read = (name) => readFileSync(new URL(name, root), "utf8");

function declared(name) {
  const text = read(name);
  const names = [...text.matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, name]) => name);
  for (const [, list] of text.matchAll(/^export \{([^}]*)\}/gm))
    names.push(...list.split(",").map((name) => name.trim()).filter(Boolean));
  return names.sort();
}

for (const name of ["index", "node", "stores"])
  test(`${name}.js exports the declared names`, async () => {
    const module = await import(new URL(`${name}.js`, root));
    assert.deepEqual(Object.keys(module).sort(), declared(`${name}.d.ts`));
  });

test("each error of the protocol has a class", async () => {
  const module = await import("../index.js");
  const { components } = JSON.parse(read("../../Protocol/Schemas/openrpc.json"));
  for (const [key, { code }] of Object.entries(components.errors)) {
    const name = key.replace(/(Error)?$/, "Error");
    const error = module.rpcError({ code, message: "" });
    assert.ok(module[name] && error.constructor === module[name], name);
    assert.equal(error.name, name);
  }
  assert.equal(module.rpcError({ code: -32020, message: "", data: { reason: "forbidden" } }).reason, "forbidden");
});

// Those for React and Vue need these libraries: Tests/Bindings.
test("svelte.js exports the declared names", async () => {
  assert.deepEqual(Object.keys(await import("../svelte.js")), [...new Set(declared("svelte.d.ts"))]);
});

test("package.json exports the bindings with their declarations", () => {
  const { exports } = JSON.parse(read("package.json"));
  for (const { types, default: module } of Object.values(exports)) assert.ok(read(types) && read(module));
  for (const name of ["react", "svelte", "vue"]) assert.equal(exports[`./${name}`].default, `./${name}.js`);
});

test("modules for browsers import nothing of Node", () => {
  const files = readdirSync(new URL("src", root)).filter((name) => name.endsWith(".js"));
  for (const name of ["index.js", "svelte.js", ...files.map((name) => `src/${name}`)])
    for (const [, from] of read(name).matchAll(/from "([^"]*)"/g))
      assert.match(from, /^\.\.?\/(?!node)/, `${name} imports ${from}`);
});
