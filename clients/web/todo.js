// SPDX-License-Identifier: Apache-2.0

import { $, announce, element, icon, isStill, reason, showRevision, write } from "./dom.js";
import { draggable } from "./drag.js";

const grip = "M9 6h.01M9 12h.01M9 18h.01M15 6h.01M15 12h.01M15 18h.01";
const cross = "M7 7l10 10M17 7L7 17";

/** The list: everything that is done to it is drawn at once, and settled by the server. */
export function todo(client) {
  const section = $("#todo");
  const list = $("#todos");
  const store = client.store("todo");
  /** What stands in the list, by the todo's id. */
  const rows = new Map();
  let todos = [];
  let isFirst = true;

  const send = (input, change) => {
    const draw = (state) =>
      state.type === "content" ? { ...state, todos: change(state.todos) } : state;
    write($("#todo-problem"), "");
    return store.send(input, { draw }).catch((error) => write($("#todo-problem"), reason(error)));
  };
  const replaced = (id, members) => (todos) =>
    todos.map((todo) => (todo.id === id ? { ...todo, ...members } : todo));

  function add(title) {
    const before = new Set(todos.map(({ id }) => id));
    const own = { id: `new ${Math.random()}`, title, completed: false };
    // Once the todo is there, under the server's id, ours is not drawn any more.
    const isThere = ({ id, title: other }) => other === title && !before.has(id);
    send({ type: "todoAdded", title }, (todos) => (todos.some(isThere) ? todos : [...todos, own]));
    announce(`${title} was added.`);
  }

  function move(id, index) {
    const others = todos.filter((todo) => todo.id !== id);
    const moved = todos.find((todo) => todo.id === id);
    if (!moved || index < 0 || index > others.length || todos[index] === moved) return;
    const before = others[index]?.id ?? null;
    announce(`${moved.title}, ${index + 1} of ${todos.length}`);
    send({ type: "todoMoved", id, before }, (todos) => {
      const moved = todos.find((todo) => todo.id === id);
      const others = todos.filter((todo) => todo.id !== id);
      const at = before === null ? others.length : others.findIndex((todo) => todo.id === before);
      return moved && at >= 0 ? others.toSpliced(at, 0, moved) : todos;
    });
  }

  function remove({ id, title }) {
    const index = todos.findIndex((todo) => todo.id === id);
    send({ type: "todoRemoved", id }, (todos) => todos.filter((todo) => todo.id !== id));
    announce(`${title} was removed.`);
    const next = todos[Math.min(index, todos.length - 1)];
    (rows.get(next?.id)?.removing ?? $("#add-title")).focus();
  }

  function row(todo) {
    const { id } = todo;
    const handle = element("button", { className: "icon grip", "aria-describedby": "todo-help" }, icon(grip));
    const check = element("input", { type: "checkbox" });
    const title = element("button", { className: "title" });
    const removing = element("button", { className: "icon" }, icon(cross));
    const node = element("li", {}, handle, check, title, removing);
    const row = { node, handle, check, title, removing, todo };

    handle.onkeydown = (event) => {
      const index = todos.findIndex((todo) => todo.id === id);
      const to = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: todos.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      move(id, to);
    };
    check.onchange = () => {
      const completed = check.checked;
      send({ type: completed ? "todoCompleted" : "todoReopened", id }, replaced(id, { completed }));
    };
    title.onclick = () => edit(row);
    removing.onclick = () => remove(row.todo);
    draggable(node, handle, list, (index) => move(id, index), () => render(store.state));
    return row;
  }

  function edit(row) {
    const { id, title } = row.todo;
    const field = element("input", { value: title, className: "title", "aria-label": `New title of ${title}` });
    let isDone = false;
    const done = (keeps) => {
      // Taking the field away ends its focus, which would be heard as a second end.
      if (isDone || field.isMoving) return;
      isDone = true;
      const hadFocus = document.activeElement === field;
      const value = field.value.trim();
      if (field.isConnected) field.replaceWith(row.title);
      if (keeps && value && value !== title) send({ type: "todoRenamed", id, title: value }, replaced(id, { title: value }));
      if (hadFocus) row.title.focus();
    };
    field.onkeydown = (event) => {
      const { key } = event;
      if (event.isComposing || (key !== "Enter" && key !== "Escape")) return;
      // Else the key would press the button that gets the focus.
      event.preventDefault();
      done(key === "Enter");
    };
    field.onblur = () => done(true);
    row.title.replaceWith(field);
    field.focus();
    field.select();
  }

  function update(row, todo) {
    const { title, completed } = (row.todo = todo);
    write(row.title, title);
    row.title.setAttribute("aria-label", `${title}, rename`);
    row.handle.setAttribute("aria-label", `Move ${title}`);
    row.check.setAttribute("aria-label", `${title}, done`);
    row.removing.setAttribute("aria-label", `Remove ${title}`);
    row.check.checked = completed;
    row.node.classList.toggle("done", completed);
    row.node.classList.toggle("sending", todo.id.startsWith("new "));
  }

  function render(state) {
    showRevision(section, store);
    section.setAttribute("aria-busy", state.type === "loading");
    const failed = state.type === "error";
    if (failed) write($("#todo-problem"), `An error occurred: ${state.message}`);
    $("#todo-again").hidden = !failed;
    if (state.type !== "content" || list.isDragging) return;
    todos = state.todos;
    const open = todos.filter((todo) => !todo.completed).length;
    write($("#todo-count"), todos.length ? `${open} of ${todos.length} open` : "");
    $("#todo-empty").hidden = todos.length > 0;
    place();
    isFirst = false;
  }

  // Rows are kept by their ids, and moved where they are not in their place: one that is moved loses
  // the focus, and gets it back.
  function place() {
    const focused = list.contains(document.activeElement) ? document.activeElement : null;
    const tops = isStill() ? null : new Map([...rows.values()].map(({ node }) => [node, node.offsetTop]));
    if (focused) focused.isMoving = true;
    const wanted = new Set(todos.map(({ id }) => id));
    for (const [id, { node }] of rows)
      if (!wanted.has(id)) {
        node.remove();
        rows.delete(id);
      }
    let at = list.firstElementChild;
    for (const todo of todos) {
      if (!rows.has(todo.id)) rows.set(todo.id, row(todo));
      const { node } = rows.get(todo.id);
      update(rows.get(todo.id), todo);
      if (node === at) at = at.nextElementSibling;
      else list.insertBefore(node, at);
    }
    if (focused?.isConnected && focused !== document.activeElement) focused.focus();
    if (focused) focused.isMoving = false;
    if (tops && !isFirst) glide(tops);
  }

  function glide(tops) {
    for (const { node } of rows.values()) {
      const from = tops.get(node);
      if (from === undefined) node.animate([{ opacity: 0 }, {}], 200);
      else if (from !== node.offsetTop)
        node.animate([{ transform: `translateY(${from - node.offsetTop}px)` }, {}], {
          duration: 180,
          easing: "ease-out",
        });
    }
  }

  const title = $("#add-title");
  title.value = sessionStorage.draft ?? "";
  title.oninput = () => (sessionStorage.draft = title.value);
  $("#add").onsubmit = (event) => {
    event.preventDefault();
    const text = title.value.trim();
    if (!text) return title.focus();
    title.value = sessionStorage.draft = "";
    add(text);
  };
  const load = () => store.send({ type: "stateRequested" }).catch(() => {});
  $("#todo-again").onclick = load;
  client.on("session", ({ lost }) => lost && load());
  store.watch(render);
  load();
}
