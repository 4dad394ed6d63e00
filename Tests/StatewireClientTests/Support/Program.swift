// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireClient

/// The program that the tests talk to, and the data that proves a client.
enum Program {
  /// Beside the tests, where the build leaves both.
  static let path: String = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "statewire").path
  }()

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static let conformance = root.appending(path: "clients/conformance")

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
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Unexpected("\(program) ended with status \(process.terminationStatus)")
    }
  }
}

/// Something that a test did not expect.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A folder that goes away with its last user.
final class Folder: Sendable {
  let url: URL
  var path: String { url.path }

  init() throws {
    // Short, since a socket's path has about a hundred bytes.
    let name = String(UInt32.random(in: .min ... .max), radix: 36)
    url = URL(filePath: "/tmp").appending(path: "statewire-\(name)")
    // For its owner alone, whatever the umask: it may be a data folder.
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String) -> String { url.appending(path: name).path }
}
