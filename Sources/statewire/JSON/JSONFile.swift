// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import StatewireJSON
import StatewireServer
import TransportSupport

/// A JSON file on the command line.
struct JSONFile {
  /// A fault in a file, in one line.
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  // Deeper than for messages, but bounded: JSON trees are freed recursively.
  static let limits = JSONLimits(maximumDepth: 1024)

  /// The name for output, without control characters.
  let name: String
  let bytes: [UInt8]

  /// Reads a file; `-` is standard input.
  ///
  /// - Throws: `Fault` if it cannot be read.
  init(_ name: String) throws {
    self.name = name.printable
    do throws(WholeFile.Fault) {
      let file = try name == "-" ? WholeFile(descriptor: STDIN_FILENO) : WholeFile(name)
      bytes = file.bytes
    } catch {
      throw Fault(description: "\(self.name): cannot be read: \(error)")
    }
  }

  /// Checks whether the file is JSON.
  ///
  /// - Throws: `Fault` with the place of the first error.
  func check() throws {
    try naming { () throws(JSONError) in
      try bytes.span.withUnsafeBytes { bytes throws(JSONError) in
        var reader = JSONReader(bytes, limits: Self.limits)
        try reader.skipValue()
        try reader.finish()
      }
    }
  }

  /// Returns the value in the file.
  ///
  /// - Throws: `Fault` with the place of the first error.
  func value() throws -> JSONValue {
    try naming { () throws(JSONError) in try JSONValue(parsing: bytes, limits: Self.limits) }
  }

  /// Calls `body`, and converts its error to a `Fault` with the name of the file and the place.
  func naming<Result>(_ body: () throws(JSONError) -> Result) throws -> Result {
    do throws(JSONError) {
      return try body()
    } catch {
      let place = error.offset.map { self.place(of: $0) } ?? ""
      throw Fault(description: "\(name)\(place): \(error)")
    }
  }

  /// Calls `body`; after a `Fault`, writes it to standard error and throws `ExitCode` 1.
  static func reportingFaults(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let fault as Fault {
      Output.writeError(fault.description)
      throw ExitCode(1)
    }
  }

  /// Returns `:line:column` of an offset. Both count from 1; columns are in bytes.
  private func place(of offset: Int) -> String {
    let before = bytes.prefix(offset)
    let line = before.count { $0 == 0x0A } + 1
    let column = offset - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
    return ":\(line):\(column)"
  }
}
