// SPDX-License-Identifier: Apache-2.0
//
// A simple implementation of JSON Patch for comparison: on a deep copy, operation by operation.

export function straightforward(state, patch) {
  let root = structuredClone(state);
  for (const { op, path, from, value } of patch) {
    const at = (pointer) => pointer.split("/").slice(1).map((t) => t.replace(/~1/g, "/").replace(/~0/g, "~"));
    const get = (tokens) => tokens.reduce((node, token) => node[token], root);
    const take = (pointer) => {
      const tokens = at(pointer);
      const parent = get(tokens.slice(0, -1));
      const last = tokens.at(-1);
      if (Array.isArray(parent)) return parent.splice(Number(last), 1)[0];
      const taken = parent[last];
      delete parent[last];
      return taken;
    };
    const put = (pointer, what) => {
      const tokens = at(pointer);
      if (!tokens.length) return (root = what);
      const parent = get(tokens.slice(0, -1));
      const last = tokens.at(-1);
      if (!Array.isArray(parent)) parent[last] = what;
      else parent.splice(last === "-" ? parent.length : Number(last), 0, what);
    };
    if (op === "remove") take(path);
    else if (op === "add") put(path, structuredClone(value));
    else if (op === "replace") {
      if (path) take(path);
      put(path, structuredClone(value));
    } else if (op === "move") put(path, take(from));
    else if (op === "copy") put(path, structuredClone(get(at(from))));
  }
  return root;
}
