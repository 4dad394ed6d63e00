// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A running process with the bytes that it was not sent and those of incomplete lines.
final class ProgramStreams {
  /// The state of the output of the process.
  enum Output {
    case open
    case ended
    /// A line is too long.
    case overlong
  }

  private let process: ProgramProcess
  private var unsent: [UInt8] = []
  private var sentCount = 0
  private var received: [UInt8] = []
  /// The first bytes of `received` that have no newline.
  private var searchedCount = 0
  private var errorText: [UInt8] = []
  private var hasErrors = true
  /// True if the process does not read any more.
  private var isInputClosed = false
  private var blankLines = 0
  /// The descriptors that the last `poll` has reported.
  private var reported: [Int32] = []
  private var chunk = [UInt8](repeating: 0, count: 64 << 10)

  /// The longest line from the process.
  static let maximumLineBytes = 16 << 20
  private static let maximumErrorLine = 4 << 10

  /// Starts a process.
  init(_ command: ProgramCommand) throws(ProgramProcess.StartError) {
    process = try ProgramProcess(command)
  }

  /// Ends the process.
  ///
  /// - Parameter waits: True to give it time to end by itself after the end of its input.
  /// - Returns: The way in which it has ended, as the predicate of a sentence.
  @discardableResult
  func end(waiting waits: Bool = false) -> String {
    // Its descriptor is closed, and may be that of something else in the next moment.
    hasErrors = false
    return process.end(waiting: waits)
  }

  /// Returns the number of lines without a message since the last call.
  func takeBlankLines() -> Int {
    defer { blankLines = 0 }
    return blankLines
  }

  var unsentCount: Int { unsent.count - sentCount }

  /// The descriptors to wait for.
  var items: [pollfd] {
    // A negative descriptor is not waited for.
    var items = [process.output, process.ending].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    if hasErrors { items.append(pollfd(fd: process.errors, events: Int16(POLLIN), revents: 0)) }
    if unsentCount > 0 {
      items.append(pollfd(fd: process.input, events: Int16(POLLOUT), revents: 0))
    }
    return items
  }

  /// Stores the descriptors that `poll` has reported as ready.
  func note(_ items: [pollfd]) {
    reported.removeAll(keepingCapacity: true)
    for item in items where item.revents != 0 { reported.append(item.fd) }
  }

  /// True if there is output, or if the process can no longer be a store.
  var hasOutput: Bool { isInputClosed || hasEnded || reported.contains(process.output) }

  /// True if the process has ended. Another process may hold its pipes.
  private var hasEnded: Bool { reported.contains(process.ending) }

  /// True if there is standard error.
  var hasErrorText: Bool { hasErrors && reported.contains(process.errors) }

  // MARK: Sending

  /// Sends bytes, now or when the process reads.
  func send(_ bytes: UnsafeRawBufferPointer) {
    unsent.append(contentsOf: bytes)
    flush()
  }

  /// Sends what waits, as far as the process reads.
  func flush() {
    while unsentCount > 0 {
      let count = unsent.withUnsafeBytes { bytes in
        write(process.input, bytes.baseAddress?.advanced(by: sentCount), bytes.count - sentCount)
      }
      if count > 0 {
        sentCount += count
      } else if errno != EINTR {
        if errno != EAGAIN { isInputClosed = true }
        break
      }
    }
    if unsentCount == 0 {
      unsent.removeAll(keepingCapacity: unsent.capacity < 1 << 20)
      sentCount = 0
    } else if sentCount > 1 << 20 {
      unsent.removeFirst(sentCount)
      sentCount = 0
    }
  }

  // MARK: Receiving

  /// Reads a part of the output.
  ///
  /// - Parameter line: Handles a complete line; returns false if no more lines are handled.
  func receive(_ line: (UnsafeRawBufferPointer) -> Bool) -> Output {
    // A process that does not read its input cannot be a store.
    if isInputClosed { return .ended }
    // A bounded part, so that the stores are served in between.
    for _ in 0..<16 {
      let count = read(process.output, &received)
      if count == 0 { return .ended }
      if count < 0 { return hasEnded ? .ended : .open }
      guard takeLines(line) else { return .open }
      if received.count > Self.maximumLineBytes { return .overlong }
      if count < chunk.count { break }
    }
    return .open
  }

  /// Appends what can be read.
  ///
  /// - Returns: The number of bytes; 0 at the end, and -1 if there are none now.
  private func read(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Int {
    let count = chunk.withUnsafeMutableBytes {
      readDescriptor(descriptor, $0.baseAddress, $0.count)
    }
    if count > 0 { bytes += chunk[..<count] }
    return count
  }

  /// Handles the lines that are complete; returns false if `line` has.
  private func takeLines(_ line: (UnsafeRawBufferPointer) -> Bool) -> Bool {
    var (lineStart, index) = (0, searchedCount)
    // Moved, so that nothing is copied.
    var text: [UInt8] = []
    swap(&text, &received)
    let goesOn = text.withUnsafeBytes { bytes in
      while let end = bytes.firstNewline(from: index) {
        let text = UnsafeRawBufferPointer(rebasing: bytes[lineStart..<end])
        (lineStart, index) = (end + 1, end + 1)
        if text.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) {
          blankLines += 1
          continue
        }
        guard line(text) else { return false }
      }
      return true
    }
    text.removeFirst(lineStart)
    searchedCount = goesOn ? text.count : 0
    swap(&text, &received)
    return goesOn
  }

  /// Reads a part of the standard error.
  ///
  /// - Parameter line: Handles a line.
  func receiveErrors(_ line: (String) -> Void) {
    guard hasErrors else { return }
    let count = read(process.errors, &errorText)
    if count == 0 { hasErrors = false }
    var start = 0
    while let end = errorText[start...].firstIndex(of: UInt8(ascii: "\n")) {
      line(String(decoding: errorText[start..<end].prefix(Self.maximumErrorLine), as: UTF8.self))
      start = end + 1
    }
    errorText.removeFirst(start)
    guard errorText.count > Self.maximumErrorLine || (count == 0 && !errorText.isEmpty) else {
      return
    }
    line(String(decoding: errorText.prefix(Self.maximumErrorLine), as: UTF8.self))
    errorText = []
  }
}

extension UnsafeRawBufferPointer {
  /// Returns the offset of the first newline from an offset on; nil if there is none.
  fileprivate func firstNewline(from start: Int) -> Int? {
    guard let base = baseAddress, start < count,
      let found = memchr(base + start, Int32(UInt8(ascii: "\n")), count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }
}

/// Calls the function of the system, which a method hides.
private func readDescriptor(
  _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int
) -> Int {
  #if canImport(Glibc)
    Glibc.read(descriptor, buffer, count)
  #elseif canImport(Musl)
    Musl.read(descriptor, buffer, count)
  #else
    Darwin.read(descriptor, buffer, count)
  #endif
}
