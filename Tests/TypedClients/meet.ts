// SPDX-License-Identifier: Apache-2.0

// Inputs of the children of the kind `meet` of odd.json.

import { meetInputs, type MeetInput } from "./odd";

function check(input: MeetInput, expected: string): void {
  const text = JSON.stringify(input);
  if (text !== expected) throw new Error(`${text} is not ${expected}`);
}

check(
  meetInputs.race.left.started(),
  '{"type":"race","value":{"type":"left","input":{"type":"started"}}}',
);
check(
  meetInputs.race.runner.name_({ id: 7 }, { name: "x", id: 8 }),
  '{"type":"race","value":{"type":"runner","id":7,"change":{"type":"name","name":"x","id":8}}}',
);
check(
  meetInputs.race.row.set({ _0: "r" }, 3),
  '{"type":"race","value":{"type":"row","_0":"r","_1":{"type":"set","_0":3}}}',
);
check(meetInputs.race({ value: { type: "over" } }), '{"type":"race","value":{"type":"over"}}');
console.log("ok");
