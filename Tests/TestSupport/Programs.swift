// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The package under test: its files, and its programs, which the build writes next to the tests.
public enum TestedPackage {
  public static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Returns the path of a program of the package.
  public static func program(_ name: String) -> String {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: tests).deletingLastPathComponent().appending(path: name).path
  }
}

/// The result of a run of a program.
public struct ProgramResult: Sendable {
  public var status: Int32
  public var output: String
  public var errors: String
  public var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// Starts a program with its input in a file, and waits for its end.
  ///
  /// - Parameter environment: Variables that are added to the environment of the tests or replaced.
  public init(
    of program: String, _ arguments: [String], input: String = "",
    environment: [String: String] = [:]
  ) throws {
    // Uses files, because a full pipe without a reader would block the program.
    let folder = try TestFolder()
    let files = ["input", "output", "errors"].map { folder.url.appending(path: $0) }
    for url in files { try Data().write(to: url) }
    try input.write(to: files[0], atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    try process.run()
    process.waitUntilExit()
    status = process.terminationStatus
    output = String(decoding: try Data(contentsOf: files[1]), as: UTF8.self)
    errors = String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
  }
}

extension FileHandle {
  /// Reads until the output contains a complete line with a text.
  ///
  /// - Returns: The output, and the first such line.
  /// - Throws: `EndOfOutput` if the writer ends before.
  public func read(untilLineWith text: String) throws -> (all: String, line: String) {
    var all = ""
    while true {
      let lines = all.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      if let line = lines.first(where: { $0.contains(text) }) { return (all, String(line)) }
      let data = availableData
      guard !data.isEmpty else { throw EndOfOutput(text: all) }
      all += String(decoding: data, as: UTF8.self)
    }
  }
}

/// An error: the output of a program ended before the line that a test waits for.
public struct EndOfOutput: Error, CustomStringConvertible {
  /// The output of the program.
  public let text: String
  public var description: String { "the output ended after: \(text)" }
}
