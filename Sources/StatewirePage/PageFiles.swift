// SPDX-License-Identifier: Apache-2.0

internal import CEmbeddedFiles

/// Files for browsers that are embedded in the program.
public enum PageFiles {
  /// The page of `statewire`, which shows the built-in stores: the contents of its files by path.
  ///
  /// A `ServerProgram` with the built-in kinds serves it with
  /// `static var site: WebSite { WebSite(files: PageFiles.all) }`.
  ///
  /// - Complexity: O(*n*) in the number of bytes, because each access copies them.
  public static var all: [String: [UInt8]] { removing("page/") }

  /// The modules of the JavaScript client: their contents by path, which begins with `client/`.
  ///
  /// - Complexity: O(*n*) in the number of bytes, because each access copies them.
  public static var client: [String: [UInt8]] { files(below: "client/") }

  /// The page of the console: the contents of its files by path.
  ///
  /// - Complexity: O(*n*) in the number of bytes, because each access copies them.
  public static var console: [String: [UInt8]] { removing("console/") }

  /// Returns the files below a folder, by their paths in it.
  private static func removing(_ folder: String) -> [String: [UInt8]] {
    let files = files(below: folder).map { (String($0.dropFirst(folder.count)), $1) }
    return Dictionary(uniqueKeysWithValues: files)
  }

  private static func files(below folder: String) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for index in 0... {
      let file = embedded_file(index)
      guard let path = file.path.map({ String(cString: $0) }) else { break }
      guard path.hasPrefix(folder) else { continue }
      files[path] = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
    return files
  }
}
