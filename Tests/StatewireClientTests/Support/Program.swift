// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireClient
import TestSupport

/// The program that the tests talk to, and the data that proves a client.
enum Program {
  static let path = TestedPackage.program("statewire")

  static let conformance = TestedPackage.root.appending(path: "clients/conformance")

  /// What is kept without `--data-dir` is never that of whoever runs the tests.
  static let environment: [String: String] = {
    let state = FileManager.default.temporaryDirectory.appending(path: "statewire-client-tests")
    return ProcessInfo.processInfo.environment.merging([
      "XDG_STATE_HOME": state.path, "STATEWIRE": path, "PYTHONDONTWRITEBYTECODE": "1",
      // For the recorder, which may have a busy machine: all tests run at once.
      "WAIT": "20",
    ]) { $1 }
  }()

  /// A file of the conformance data.
  static func vectors(_ name: String) throws -> JSONValue {
    try JSONValue(parsing: [UInt8](Data(contentsOf: conformance.appending(path: name))))
  }

  /// Runs a program to its end.
  static func run(_ program: String, _ arguments: [String]) throws {
    let result = try ProgramResult(of: program, arguments, environment: environment)
    guard result.status == 0 else {
      throw Unexpected("\(program) ended with status \(result.status): \(result.errors)")
    }
  }
}

/// Something that a test did not expect.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
