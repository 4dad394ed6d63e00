// SPDX-License-Identifier: Apache-2.0
//
// The program under test, and scripts that listen.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const project = fileURLToPath(new URL("../../../../", import.meta.url));
export const program = process.env.STATEWIRE ?? `${project}.build/debug/statewire`;

/** A process that listens: `addresses` are the reported ones, `lines` all printed lines. */
export class Listening {
  addresses = [];
  lines = [];

  static async start(command, args, { stream = "stderr", count = 1 } = {}) {
    const process = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
    const listening = new Listening();
    listening.process = process;
    listening.ended = once(process, "exit");
    process[stream === "stderr" ? "stdout" : "stderr"].resume();
    await new Promise((resolve, reject) => {
      createInterface({ input: process[stream] }).on("line", (line) => {
        listening.lines.push(line);
        const [, address] = /listening on (?:[a-z]+:\/\/)?(\S+)$/.exec(line) ?? [];
        if (address && listening.addresses.push(address) === count) resolve();
      });
      process.on("error", reject);
      process.on("exit", () => reject(new Error(`it ended: ${listening.lines.join("\n")}`)));
    });
    return listening;
  }

  get address() {
    return this.addresses[0];
  }

  async stop(signal = "SIGTERM") {
    this.process.kill(signal);
    await this.ended;
  }
}

/** Starts `statewire serve` on a free port, or with the given listeners. */
export function serve(...options) {
  const listeners = options.filter((option) => ["--tcp", "--unix", "--web"].includes(option));
  const tcp = listeners.length ? [] : ["--tcp", "127.0.0.1:0"];
  const args = ["serve", "--log-level", "info", ...tcp, ...options];
  return Listening.start(program, args, { count: Math.max(1, listeners.length) });
}

/** Returns true if the program has an option. */
export function has(option) {
  return spawnSync(program, ["serve", "--help"], { encoding: "utf8" }).stdout.includes(option);
}
