// SPDX-License-Identifier: Apache-2.0

internal import CCrashes
internal import Foundation
internal import SQLiteFiles
internal import Sessions

/// The crashes of restored work, in the file `crashes` of the data folder.
///
/// A line is the handle of a session: the signal handler of `CCrashes` writes it when the work of that session crashes the
/// process. A handle and `ended` is written when the restored work of the session has ended; only lines after that count.
/// So the file is only appended to, and two crashes with a good process between them are not two in a row.
final class CrashFile: CrashCounter {
  static let name = "crashes"
  /// A session is set aside after so many crashes.
  static let maximumCrashes = 2

  /// The number of lines that cannot be read.
  let unreadableLines: Int
  private let file: Int32
  private let crashes: Lock<[SessionHandle: Int]>

  private static let ended = " ended"
  /// The part of the file that is read, at its end: 30,000 crashes.
  private static let maximumBytes: off_t = 1 << 20
  /// Enough for a signal handler, also for that of the Swift runtime.
  private static let stackBytes = 64 << 10

  /// Opens the file of a folder, made if it is not there, and counts the crashes of this process in it.
  ///
  /// A process has one at a time, since its signal handlers write to one file.
  ///
  /// - Throws: What `DatabaseFolder.openFile` throws.
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

  /// True if the restored work of a session has crashed the process so often that it is not to run again.
  func isSetAside(_ session: SessionHandle) -> Bool {
    crashes.withLock { $0[session, default: 0] } >= Self.maximumCrashes
  }

  func perform(for session: SessionHandle, _ body: () -> Void) {
    withUnsafeTemporaryAllocation(byteCount: Self.stackBytes, alignment: 16) { stack in
      crash_mark(session.description, stack.baseAddress, stack.count)
      defer { crash_unmark() }
      body()
    }
  }

  func ended(_ session: SessionHandle) {
    guard crashes.withLock({ $0.removeValue(forKey: session) }) != nil else { return }
    let line = Array("\(session)\(Self.ended)\n".utf8)
    // If the disk is full, the next process counts the earlier crashes again.
    _ = write(file, line, line.count)
  }

  /// The crashes in the lines of a file, for each session.
  static func count(_ text: [UInt8]) -> (crashes: [SessionHandle: Int], unreadable: Int) {
    var (crashes, unreadable) = ([SessionHandle: Int](), 0)
    for line in text.split(separator: UInt8(ascii: "\n")) {
      // No valid line is as long as that.
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
