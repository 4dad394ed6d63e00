// SPDX-License-Identifier: Apache-2.0

/** Parses the conversations of a transcript of clients/conformance/record. */
export function conversations(text) {
  const conversations = [];
  // Only `\n` ends a line: JSON may contain other line separators.
  for (const line of text.split("\n")) {
    if (line.startsWith("# ")) conversations.push({ place: line.slice(2), steps: [] });
    else if (line) conversations.at(-1).steps.push(step(line));
  }
  return conversations;
}

function step(line) {
  const [, name, arrow, rest] = /^(?:(\S+) )?(-->|<--) (.*)$/s.exec(line);
  const isOurs = arrow === "-->";
  const common = { line, name: name ?? "", isOurs };
  if (rest === "close" || rest === "end of input") return { ...common, kind: "close" };
  if (/^(frame|raw) "/.test(rest)) return { ...common, kind: "bytes" };
  return { ...common, kind: "message", message: JSON.parse(rest) };
}
