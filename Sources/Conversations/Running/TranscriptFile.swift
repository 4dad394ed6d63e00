// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import StatewireJSON

/// The file that transcripts are written to, one after the other as conversations are played.
struct TranscriptFile {
  private let file: FileHandle

  /// Begins a file, or begins one again; only its owner can read it, since what is said in a
  /// conversation is in it, passwords included.
  init(path: String) throws {
    // Not through `FileManager`: that makes a new file and puts it in the place of the old one, be
    // that /dev/stdout.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileFault(description: systemMessage(errno)) }
    // One that was there before may have been everybody's.
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      _ = fchmod(descriptor, 0o600)
    }
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Writes where a conversation stands, and its transcript.
  func add(_ transcript: Transcript, of conversation: Conversation) throws {
    // Messages may hold what a terminal would execute.
    var lines = [Array("# \(conversation.place)".utf8)] + transcript.lines.map(\.bytes)
    if isatty(file.fileDescriptor) == 1 {
      lines = lines.map { Array(String(decoding: $0, as: UTF8.self).printable.utf8) }
    }
    try file.write(contentsOf: Data((lines + [[]]).joined(separator: [UInt8(ascii: "\n")])))
  }
}
