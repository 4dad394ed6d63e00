// SPDX-License-Identifier: Apache-2.0

import CWebFiles

/// The page that is in the program.
enum WebFiles {
  /// The files by their paths.
  static func all() -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for index in 0... {
      let file = web_file(index)
      guard let path = file.path else { break }
      files[String(cString: path)] = Array(
        UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
    return files
  }
}
