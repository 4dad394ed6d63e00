// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import StatewireJSON

/// The file of the transcripts; they are written one after the other as conversations are played.
struct TranscriptFile {
  private let file: FileHandle

  /// Creates the file, or truncates an existing one. Only its owner can read it, because
  /// conversations may contain passwords.
  init(path: String) throws {
    // Not `FileManager`: it creates a new file and replaces the old one, which may be /dev/stdout.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileFault(description: systemMessage(errno)) }
    // An existing file may have been readable for all users.
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      _ = fchmod(descriptor, 0o600)
    }
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Writes the position of a conversation, and its transcript.
  func add(_ transcript: Transcript, of conversation: Conversation) throws {
    // Messages may contain control sequences that a terminal would execute.
    var lines = [Array("# \(conversation.place)".utf8)] + transcript.lines.map(\.bytes)
    if isatty(file.fileDescriptor) == 1 {
      lines = lines.map { Array(String(decoding: $0, as: UTF8.self).printable.utf8) }
    }
    try file.write(contentsOf: Data((lines + [[]]).joined(separator: [UInt8(ascii: "\n")])))
  }
}
