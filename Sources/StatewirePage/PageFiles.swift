// SPDX-License-Identifier: Apache-2.0

internal import CWebFiles

/// The page of `statewire`, which shows the built-in stores in a browser.
///
/// A `ServerProgram` with the built-in kinds serves it with `static var page { PageFiles.all }`.
public enum PageFiles {
  /// The contents of all files, by path.
  ///
  /// - Complexity: O(*n*) in the number of bytes, because each access copies them.
  public static var all: [String: [UInt8]] {
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
