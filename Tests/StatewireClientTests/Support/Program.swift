// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireClient
import TestSupport

/// The program under test, and the conformance data.
enum Program {
  static let path = TestedPackage.program("statewire")

  static let conformance = TestedPackage.root.appending(path: "clients/conformance")

  /// A data directory for servers without `--data-dir`, so that tests do not use the user's own.
  static let environment: [String: String] = {
    let state = FileManager.default.temporaryDirectory.appending(path: "statewire-client-tests")
    return ProcessInfo.processInfo.environment.merging([
      "XDG_STATE_HOME": state.path, "STATEWIRE": path, "PYTHONDONTWRITEBYTECODE": "1",
      // For the recorder on a busy machine: all tests run in parallel.
      "WAIT": "20",
    ]) { $1 }
  }()

  /// Reads a file of the conformance data.
  static func vectors(_ name: String) throws -> JSONValue {
    try JSONValue(parsing: [UInt8](Data(contentsOf: conformance.appending(path: name))))
  }

  /// Runs a program and waits for its end.
  static func run(_ program: String, _ arguments: [String]) throws {
    let result = try ProgramResult(of: program, arguments, environment: environment)
    guard result.status == 0 else {
      throw Unexpected("\(program) ended with status \(result.status): \(result.errors)")
    }
  }
}

/// An unexpected event in a test.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
