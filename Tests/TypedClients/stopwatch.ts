// SPDX-License-Identifier: Apache-2.0
//
// A client of Examples/Stopwatch with generated types.

import { connect, Store } from "statewire/node";
import { StopwatchInput, stopwatchInputs, stopwatchKind, StopwatchState, StopwatchTypes } from "./types";

declare const process: { argv: string[] };

function check(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

async function main(): Promise<void> {
  const client = connect(process.argv[2]!);
  const stopwatch = client.store(stopwatchKind);
  // @ts-expect-error: there is no such input
  const wrong: StopwatchInput = { type: "eaten" };
  check(wrong.type !== "startTapped", "an input that is not one");
  await stopwatch.send(stopwatchInputs.startTapped());
  for await (const state of stopwatch) {
    const seconds: number = state.seconds;
    if (state.isRunning && seconds > 0) break;
  }
  await stopwatch.send(stopwatchInputs.stopTapped(), { settle: true });

  // A second store of the kind, with the types alone.
  const other: Store<StopwatchTypes> = client.store<StopwatchTypes>("other", { kind: stopwatchKind });
  const state = await new Promise<StopwatchState>((resolve) => other.subscribe(resolve));
  check(state.seconds === 0 && !state.isRunning, "the second stopwatch is not new");
  client.close();
  console.log("ok");
}

main();
