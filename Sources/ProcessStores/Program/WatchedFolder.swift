// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A watch on the files of a program, by repeated comparison of their dates and sizes.
struct WatchedFolder {
  private let folder: URL
  /// The file that the command names; nil for none.
  private let file: URL?
  private let ignored: Set<String>
  /// The files that the standard streams of this process write to: each line of its log would be a change.
  private let outputs: [URL]
  private var last: [String: Stamp] = [:]
  /// True if the folder has more than `maximumFiles` files.
  private(set) var hasTooMany = false
  private var isTooManyTaken = false
  /// A change that has been seen once; it counts when nothing has changed since.
  private var isChanging = false
  /// The name of a file of the last change.
  private(set) var changedFile: String?

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
  /// - Parameters:
  ///   - command: The command, whose folder is watched: that of the first word that names a
  ///     file, or else the working folder. An interpreter that is named by its path does not count.
  ///   - outputs: The paths of files that the standard streams of this process write to.
  init(of command: ProgramCommand, outputs: [String] = Self.standardOutputs) {
    self.outputs = outputs.map { URL(fileURLWithPath: $0) }
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
      let files = Set(now.keys).union(last.keys).filter { now[$0] != last[$0] }
      changedFile = files.min().map { URL(fileURLWithPath: $0).lastPathComponent }
      last = now
      isChanging = true
      return false
    }
    defer { isChanging = false }
    return isChanging
  }

  private func isOutput(_ file: URL) -> Bool {
    outputs.contains {
      $0.lastPathComponent == file.lastPathComponent
        && $0.path == file.resolvingSymlinksInPath().path
    }
  }

  /// The targets of the standard output and error; those that are not files have no path of a file.
  private static var standardOutputs: [String] {
    ["/proc/self/fd/1", "/proc/self/fd/2"].compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: $0)
    }
  }

  /// Returns true once if the folder has too many files.
  mutating func takeTooMany() -> Bool {
    guard hasTooMany, !isTooManyTaken else { return false }
    isTooManyTaken = true
    return true
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
      if isOutput(url) { continue }
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
