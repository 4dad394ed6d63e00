// SPDX-License-Identifier: Apache-2.0
//
// JSON Patch (RFC 6902) on states that are never changed: what a patch touches is copied, the rest
// is shared with the state before, which whoever holds it can go on drawing.

import { StatewireError } from "./errors.js";

/** The patch does not fit the state; the state is as it was. */
export class PatchError extends StatewireError {}

/** The state after the operations. Throws `PatchError`, and then nothing has happened. */
export function applyPatch(state, operations) {
  if (!Array.isArray(operations)) throw new PatchError("a patch is an array");
  // Containers that this patch has made: nobody else holds them, so they are changed in place, and
  // many operations on one list copy it once.
  const own = new Set();
  return operations.reduce((root, operation) => apply(root, operation, own), state);
}

function apply(root, operation, own) {
  const path = tokens(operation?.path);
  switch (operation.op) {
    case "add":
      return add(root, path, given(operation), own);
    case "replace":
      return replace(root, path, given(operation), own);
    case "remove":
      return remove(root, path, own);
    case "move": {
      const from = tokens(operation.from);
      if (from.length < path.length && from.every((token, i) => token === path[i]))
        throw new PatchError("a value cannot move into itself");
      const value = read(root, from);
      return add(remove(root, from, own), path, value, own);
    }
    case "copy": {
      const value = read(root, tokens(operation.from));
      // From now on two places hold it.
      own.clear();
      return add(root, path, value, own);
    }
    case "test":
      if (!equal(read(root, path), given(operation))) throw new PatchError("a test has failed");
      return root;
    default:
      throw new PatchError(`there is no operation ${JSON.stringify(operation.op)}`);
  }
}

function given(operation) {
  if (operation.value === undefined) throw new PatchError("the value is missing");
  return operation.value;
}

/** The reference tokens of a JSON Pointer (RFC 6901). */
function tokens(pointer) {
  if (pointer === "") return [];
  if (typeof pointer !== "string" || pointer[0] !== "/" || /~(?![01])/.test(pointer))
    throw new PatchError(`no JSON Pointer: ${JSON.stringify(pointer)}`);
  const parts = pointer.slice(1).split("/");
  return pointer.includes("~")
    ? parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    : parts;
}

function isContainer(value) {
  return typeof value === "object" && value !== null;
}

/** Where a token leads in a container; elements of an array up to `end`, exclusive. */
function key(container, token, end) {
  if (!Array.isArray(container)) return token;
  const index = /^(0|[1-9]\d*)$/.test(token) ? Number(token) : NaN;
  if (!(index < end)) throw new PatchError(`no such element: ${token}`);
  return index;
}

function child(container, token) {
  if (!isContainer(container)) throw new PatchError(`nothing lies below ${token}`);
  const at = key(container, token, container.length);
  if (!Object.hasOwn(container, at)) throw new PatchError(`no such member: ${token}`);
  return container[at];
}

function read(root, path) {
  return path.reduce(child, root);
}

/** The root with one container of it changed, the copies on the way to it made. */
function changed(root, path, own, change) {
  let top = mine(root, own);
  let container = top;
  for (const token of path.slice(0, -1)) {
    const below = mine(child(container, token), own);
    put(container, key(container, token, container.length), below);
    container = below;
  }
  change(container, path[path.length - 1]);
  return top;
}

function mine(container, own) {
  if (own.has(container)) return container;
  if (!isContainer(container)) throw new PatchError("the path leads through a value");
  const copy = Array.isArray(container) ? container.slice() : { ...container };
  own.add(copy);
  return copy;
}

// An assignment to a member of this name would change the prototype.
function put(container, at, value) {
  if (at === "__proto__")
    Object.defineProperty(container, at, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  else container[at] = value;
}

function add(root, path, value, own) {
  if (path.length === 0) return value;
  return changed(root, path, own, (container, token) => {
    if (!Array.isArray(container)) put(container, token, value);
    else if (token === "-") container.push(value);
    else container.splice(key(container, token, container.length + 1), 0, value);
  });
}

function replace(root, path, value, own) {
  if (path.length === 0) return value;
  return changed(root, path, own, (container, token) => {
    child(container, token);
    put(container, key(container, token, container.length), value);
  });
}

function remove(root, path, own) {
  // RFC 6902 says nothing of removing the whole; a state is always there.
  if (path.length === 0) throw new PatchError("the whole cannot be removed");
  return changed(root, path, own, (container, token) => {
    child(container, token);
    if (Array.isArray(container)) container.splice(Number(token), 1);
    else delete container[token];
  });
}

function equal(a, b) {
  if (a === b) return true;
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]))
  );
}
