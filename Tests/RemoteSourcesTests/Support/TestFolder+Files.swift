// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

extension TestFolder {
  /// Calls `body` with a new folder.
  @discardableResult
  static func making<Result>(_ body: (TestFolder) async throws -> Result) async throws -> Result {
    try await body(TestFolder())
  }

  func write(_ text: String, to name: String) throws { try write([UInt8](text.utf8), to: name) }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
  }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(path)/\(name)", withIntermediateDirectories: true)
  }

  func makeLink(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: "\(path)/\(name)", withDestinationPath: target)
  }

  func makePipe(_ name: String) throws {
    guard mkfifo("\(path)/\(name)", 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: "\(path)/\(name)")
  }

  /// Changes the size of a file in place.
  func truncate(_ name: String, to count: Int) throws {
    guard Foundation.truncate("\(path)/\(name)", count) == 0 else {
      throw CocoaError(.fileWriteUnknown)
    }
  }
}
