// SPDX-License-Identifier: Apache-2.0

import { $, element, reason, showRevision, write } from "./dom.js";

/** The form: two entries, validated by the server as they are typed. */
export function form(client) {
  const section = $("#form");
  const [first, second] = [$("#first"), $("#second")];
  const store = client.store("form");
  let said = null;

  store.watch((state) => {
    showRevision(section, store);
    show(first, state.firstEntry);
    show(second, state.secondEntry);
    const { validationMessages: messages, submitAllowed } = state;
    if (String(messages) !== said) {
      said = String(messages);
      $("#messages").replaceChildren(...messages.map((text) => element("li", {}, text)));
    }
    $("#submit").disabled = !submitAllowed;
    if (!submitAllowed) write($("#submitted"), "");
  });
  store.onEvent(() => write($("#submitted"), "Set."));

  // Drawn early, so that what is typed stays in the field however slow the server is.
  const send = (input, draw) =>
    store.send(input, { draw }).catch((error) => write($("#submitted"), reason(error)));
  const typed = (field, type, member) => {
    field.oninput = () => {
      const { value } = field;
      send({ type, value }, (state) => ({ ...state, [member]: value }));
    };
  };
  typed(first, "firstEntryChanged", "firstEntry");
  typed(second, "secondEntryChanged", "secondEntry");
  $("#entries").onsubmit = (event) => {
    event.preventDefault();
    store.send({ type: "submitTapped" }).catch(() => {});
  };
  $("#show").onchange = ({ target }) => {
    first.type = second.type = target.checked ? "text" : "password";
  };

  // The server never writes a form down: after a restart it knows nothing of what stands here.
  const restore = (before) => {
    if (!before?.firstEntry && !before?.secondEntry) return;
    const { firstEntry, secondEntry } = before;
    send({ type: "entriesChanged", firstEntry, secondEntry }, (state) => ({
      ...state,
      firstEntry,
      secondEntry,
    }));
  };
  client.on("resynchronised", ({ store: name, reason, before }) => {
    if (name === "form" && reason === "reopened") restore(before);
  });
  client.on("session", ({ lost }) => {
    if (lost) restore(store.state);
  });
}

// Writing a value moves the caret to its end; most of the time it is there already.
function show(field, value) {
  if (field.value !== value) field.value = value;
}
