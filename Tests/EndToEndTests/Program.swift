// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The program as a user starts it.
enum Program {
  /// Beside the tests, where the build leaves both.
  static let path: String = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "statewire").path
  }()

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// What a run of the program left.
  struct Result {
    var status: Int32
    var output: String
    var errors: String
    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// Runs a script of bash in which `$statewire` is the program, and waits for its end.
  static func script(_ text: String, in folder: Folder) throws -> Result {
    try run(
      ["-c", "cd \"$folder\"; " + text], input: "",
      environment: ["statewire": path, "folder": folder.path], program: "/bin/bash")
  }

  /// Starts the program with its input in a file, and waits for its end.
  static func run(
    _ arguments: [String], input: String, environment: [String: String] = [:],
    program: String = path
  ) throws -> Result {
    let folder = try Folder()
    let file = folder.url.appending(path: "input")
    try input.write(to: file, atomically: true, encoding: .utf8)
    let output = folder.url.appending(path: "output")
    let errors = folder.url.appending(path: "errors")
    for url in [output, errors] { try Data().write(to: url) }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = try FileHandle(forReadingFrom: file)
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus,
      output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }

  /// A folder that goes away with its last user.
  final class Folder: Sendable {
    let url: URL
    var path: String { url.path }

    init() throws {
      url = FileManager.default.temporaryDirectory.appending(path: "statewire-\(UUID())")
      // For its owner alone, whatever the umask: it may be a data folder.
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(at: url) }
  }
}
