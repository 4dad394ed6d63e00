// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import StatewireJSON
import StatewireServer
import TransportSupport

/// A JSON file on the command line.
struct JSONFile {
  /// What is wrong with a file, in one line.
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  // Files may nest deeper than messages; still bounded, since trees are freed recursively.
  private static let limits = JSONLimits(maximumDepth: 1024)

  /// For people.
  let name: String
  let bytes: [UInt8]

  init(_ name: String) throws {
    self.name = name.printable
    do throws(WholeFile.Fault) {
      let file = try name == "-" ? WholeFile(descriptor: STDIN_FILENO) : WholeFile(name)
      bytes = file.bytes
    } catch {
      throw Fault(description: "\(self.name): cannot be read: \(error)")
    }
  }

  func check() throws {
    try naming { () throws(JSONError) in
      try bytes.span.withUnsafeBytes { bytes throws(JSONError) in
        var reader = JSONReader(bytes, limits: Self.limits)
        try reader.skipValue()
        try reader.finish()
      }
    }
  }

  func value() throws -> JSONValue {
    try naming { () throws(JSONError) in try JSONValue(parsing: bytes, limits: Self.limits) }
  }

  /// Turns an error about this file into one line with its name and place.
  func naming<Result>(_ body: () throws(JSONError) -> Result) throws -> Result {
    do throws(JSONError) {
      return try body()
    } catch {
      let place = error.offset.map { self.place(of: $0) } ?? ""
      throw Fault(description: "\(name)\(place): \(error)")
    }
  }

  /// Writes a fault to standard error and ends with 1.
  static func reportingFaults(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let fault as Fault {
      Output.complain(fault.description)
      throw ExitCode(1)
    }
  }

  /// `:line:column`, both from 1, columns in bytes.
  private func place(of offset: Int) -> String {
    let before = bytes.prefix(offset)
    let line = before.count { $0 == 0x0A } + 1
    let column = offset - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
    return ":\(line):\(column)"
  }
}
