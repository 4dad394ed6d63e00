// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SQLiteFiles

/// A small file beside the journal, which tells the next start what it has to check.
///
/// | content | last use of the journal | check |
/// |---|---|---|
/// | no file | each commit waited for the disk, or the program did not know the mark | none |
/// | the id of this start of the machine | commits did not wait | none |
/// | another id, or the machine has none | commits did not wait, and power may have been lost | the indexes |
/// | `damaged` | damage was found that new indexes did not mend | everything |
///
/// Without syncing, a loss of power can leave old pages beside new ones. SQLite does not notice an
/// old page of an index; sessions would be missing, as if they had never existed. The mark is not
/// synced either: it protects from some seconds after the first use on.
struct JournalMark {
  static let name = "sessions.sqlite.boot"

  /// The check that a start has to make.
  enum Check: Equatable {
    case none, indexes, everything
  }

  let folder: String
  private var path: String { "\(folder)/\(Self.name)" }
  private static let damaged = "damaged"

  /// True if commits have waited for the disk until now.
  var isMissing: Bool { Self.text(of: path) == nil }

  /// The check that the start has to make.
  var check: Check {
    switch Self.text(of: path) {
    case nil: .none
    case Self.damaged: .everything
    case let text: text == Self.boot ? .none : .indexes
    }
  }

  /// Notes that commits do not wait for the disk.
  func noteUnsynced() throws(StorageError) { try write(Self.boot ?? "unknown") }

  /// Notes damage, so that the next start reads the whole journal.
  func noteDamage() throws(StorageError) { try write(Self.damaged) }

  /// Notes that everything has been synced, or that the file is new.
  func remove() { unlink(path) }

  private func write(_ text: String) throws(StorageError) {
    guard Self.text(of: path) != text else { return }
    let file = try DatabaseFolder(path: folder).openFile(Self.name)
    defer { close(file) }
    // On a full disk the earlier mark stays, or a text that is none of this start's.
    let bytes = Array(text.utf8)
    if pwrite(file, bytes, bytes.count, 0) == bytes.count { ftruncate(file, off_t(bytes.count)) }
  }

  /// The id of this start of the machine; nil if it cannot be read.
  private static var boot: String? { text(of: "/proc/sys/kernel/random/boot_id") }

  /// Returns the first bytes of a file without white space; nil if it cannot be read.
  private static func text(of path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(file, &bytes, bytes.count)
    guard count >= 0 else { return nil }
    return String(decoding: bytes.prefix(count).filter { $0 > UInt8(ascii: " ") }, as: UTF8.self)
  }
}
