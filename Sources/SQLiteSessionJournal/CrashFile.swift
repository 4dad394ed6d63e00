// SPDX-License-Identifier: Apache-2.0

internal import CCrashes
internal import Foundation
internal import SQLiteFiles
internal import Sessions

/// Counts the crashes of restored work, in the file `crashes` of the data folder.
///
/// The file is only appended to. It has two kinds of lines:
/// - The handle of a session: the signal handler of `CCrashes` writes it when the restored work of
///   that session crashes the process.
/// - The handle and ` ended`: written when the restored work of the session has ended. Only crashes
///   after this line count, so that crashes count only if they are consecutive.
final class CrashFile: CrashCounter {
  static let name = "crashes"
  /// The number of consecutive crashes after which a session is set aside.
  static let maximumCrashes = 2

  /// The number of lines that cannot be parsed.
  let unreadableLines: Int
  private let file: Int32
  private let crashes: Lock<[SessionHandle: Int]>

  private static let ended = " ended"
  /// The length of the part of the file that is read, at its end: about 30,000 crashes.
  private static let maximumBytes: off_t = 1 << 20
  /// The size of the signal stack in bytes; large enough for the handler of the Swift runtime too.
  private static let stackBytes = 64 << 10

  /// Opens the file in a folder, creates it if it does not exist, and counts the recorded crashes.
  ///
  /// At most one object per process: the signal handlers of a process write to one file.
  ///
  /// - Throws: Errors of `DatabaseFolder.openFile`.
  init(folder: String) throws(StorageError) {
    file = try DatabaseFolder(path: folder).openFile(Self.name, O_APPEND)
    let (counted, unreadable) = Self.count(Self.end(of: file))
    crashes = Lock(counted)
    unreadableLines = unreadable
    crash_watch(file)
  }

  deinit {
    crash_watch(-1)
    close(file)
  }

  /// Returns true if the restored work of a session has crashed the process too often to run again.
  func isSetAside(_ session: SessionHandle) -> Bool {
    crashes.withLock { $0[session, default: 0] } >= Self.maximumCrashes
  }

  /// The sessions whose restored work has crashed the process too often.
  var setAside: [SessionHandle] {
    crashes.withLock { crashes in crashes.filter { $0.value >= Self.maximumCrashes }.map(\.key) }
  }

  /// Calls `body`; a crash in it, on this thread, is recorded for the session.
  func perform(for session: SessionHandle, _ body: () -> Void) {
    withUnsafeTemporaryAllocation(byteCount: Self.stackBytes, alignment: 16) { stack in
      crash_mark(session.description, stack.baseAddress, stack.count)
      defer { crash_unmark() }
      body()
    }
  }

  /// Records that the restored work of a session has ended, if crashes of it are recorded.
  func ended(_ session: SessionHandle) {
    guard crashes.withLock({ $0.removeValue(forKey: session) }) != nil else { return }
    let line = Array("\(session)\(Self.ended)\n".utf8)
    // If the disk is full, the next process counts the earlier crashes again.
    _ = write(file, line, line.count)
  }

  /// Counts the recorded crashes of each session.
  static func count(_ text: [UInt8]) -> (crashes: [SessionHandle: Int], unreadable: Int) {
    var (crashes, unreadable) = ([SessionHandle: Int](), 0)
    for line in text.split(separator: UInt8(ascii: "\n")) {
      // Every valid line is shorter than this.
      let line = String(decoding: line.prefix(64), as: UTF8.self)
      let hasEnded = line.hasSuffix(ended)
      guard let session = SessionHandle(hasEnded ? String(line.dropLast(ended.count)) : line) else {
        unreadable += 1
        continue
      }
      crashes[session] = hasEnded ? nil : crashes[session, default: 0] + 1
    }
    return (crashes, unreadable)
  }

  private static func end(of file: Int32) -> [UInt8] {
    let size = lseek(file, 0, SEEK_END)
    let count = max(0, min(size, maximumBytes))
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = max(0, pread(file, buffer.baseAddress, count, size - off_t(count)))
    }
  }
}
