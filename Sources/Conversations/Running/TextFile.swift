// SPDX-License-Identifier: Apache-2.0

import Foundation
import Transports

/// Whole files, as bytes.
enum TextFile {
  static func read(_ path: String) throws(FileFault) -> [UInt8] {
    do {
      return [UInt8](try Data(contentsOf: URL(filePath: path)))
    } catch {
      throw FileFault(description: "it cannot be read: \(reason(for: error))")
    }
  }

  static func write(_ bytes: [UInt8], to path: String) throws(FileFault) {
    do {
      try Data(bytes).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw FileFault(description: "it cannot be written: \(reason(for: error))")
    }
  }

  /// What the system says, where it is the system.
  private static func reason(for error: any Error) -> String {
    let cause = (error as? CocoaError)?.underlying as? POSIXError
    return cause.map { systemMessage($0.code.rawValue) } ?? "\(error)"
  }
}

/// Why a file cannot be used.
struct FileFault: Error, CustomStringConvertible {
  let description: String
}
