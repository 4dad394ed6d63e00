// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// The program, started as a user starts it.
enum Program {
  static let path = TestedPackage.program("statewire")

  /// Runs a bash script in which `$statewire` is the program, and waits for its end.
  static func script(_ text: String, in folder: TestFolder) throws -> ProgramResult {
    try run(
      ["-c", "cd \"$folder\"; " + text],
      environment: ["statewire": path, "folder": folder.path], program: "/bin/bash")
  }

  /// Runs the program with its input in a file, and waits for its end.
  static func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:],
    program: String = path
  ) throws -> ProgramResult {
    try ProgramResult(of: program, arguments, input: input, environment: environment)
  }
}
