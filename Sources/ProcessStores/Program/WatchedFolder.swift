// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A watch on the files of a program, by repeated comparison of their dates and sizes.
struct WatchedFolder {
  private let folder: URL
  /// The file that the command names; nil for none.
  private let file: URL?
  private let ignored: Set<String>
  private var last: [String: Stamp] = [:]
  /// True if the folder has more than `maximumFiles` files.
  private(set) var hasTooMany = false
  /// A change that has been seen once; it counts when nothing has changed since.
  private var isChanging = false

  var folderPath: String { folder.path }

  private struct Stamp: Equatable {
    let date: Date?
    let size: Int?
  }

  /// The most files in the folder that are watched.
  static let maximumFiles = 2_000
  private static let ignoredFolders: Set<String> = [
    "node_modules", "__pycache__", "venv", "target",
  ]

  /// Begins with the files as they are now.
  ///
  /// - Parameter command: The command, whose folder is watched: that of the first word that names a
  ///   file, or else the working folder. An interpreter that is named by its path does not count.
  init(of command: ProgramCommand) {
    let base = URL(
      fileURLWithPath: command.folder ?? FileManager.default.currentDirectoryPath,
      isDirectory: true)
    ignored = Set(command.unwatched.map { URL(fileURLWithPath: $0, relativeTo: base).path })
    // The program itself only if it is not an interpreter of a file.
    let program = command.words[0].contains("/") ? command.words.prefix(1) : []
    let files = (command.words.dropFirst() + program).map {
      URL(fileURLWithPath: $0, relativeTo: base)
    }
    let existing = files.filter { url in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
    file = existing.first { !Self.isBinary($0) } ?? existing.first
    folder = file?.deletingLastPathComponent() ?? base
    last = takeStamps()
  }

  /// Returns true for an executable file that is not a script: it is an interpreter, and a later
  /// word names the script.
  private static func isBinary(_ file: URL) -> Bool {
    guard FileManager.default.isExecutableFile(atPath: file.path) else { return false }
    let start = try? FileHandle(forReadingFrom: file).read(upToCount: 2)
    return start != Data("#!".utf8)
  }

  /// Returns true if a file has changed, and no other has changed since the previous call.
  mutating func hasChanged() -> Bool {
    let now = takeStamps()
    if now != last {
      last = now
      isChanging = true
      return false
    }
    defer { isChanging = false }
    return isChanging
  }

  private mutating func takeStamps() -> [String: Stamp] {
    let keys: [URLResourceKey] = [
      .isDirectoryKey, .contentModificationDateKey, .fileSizeKey,
    ]
    var stamps: [String: Stamp] = [:]
    func add(_ url: URL, _ values: URLResourceValues) {
      stamps[url.path] = Stamp(date: values.contentModificationDate, size: values.fileSize)
    }
    hasTooMany = false
    let files = FileManager.default.enumerator(
      at: folder, includingPropertiesForKeys: keys, options: [.skipsHiddenFiles])
    while let url = files?.nextObject() as? URL {
      guard let values = try? url.resourceValues(forKeys: Set(keys)) else { continue }
      if values.isDirectory == true {
        if Self.ignoredFolders.contains(url.lastPathComponent) || ignored.contains(url.path) {
          files?.skipDescendants()
        }
        continue
      }
      guard stamps.count < Self.maximumFiles else {
        hasTooMany = true
        break
      }
      add(url, values)
    }
    if let path = file?.path, stamps[path] == nil {
      // A new URL, because a URL keeps the values that it has read.
      let url = URL(fileURLWithPath: path)
      if let values = try? url.resourceValues(forKeys: Set(keys)) { add(url, values) }
    }
    return stamps
  }
}
