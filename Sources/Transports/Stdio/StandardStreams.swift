// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// Standard input and output as two descriptors that never keep a reader or writer waiting.
///
/// Pipes and sockets can be polled and are used as they are. Regular files cannot, and terminals are
/// shared with others who would be surprised to find them non-blocking; between those and the loop
/// stand pipes that threads fill and empty.
struct StandardStreams {
  let input: CInt
  let output: CInt
  private let flags: [SharedFlags]
  /// What takes their places in the end; open from the start, since later there may be no descriptor left.
  private let nowhere: CInt
  /// When the last byte has left, if a thread carries them.
  private let pumped: Latch?

  /// Takes both.
  /// - Parameter outputFailed: Told why if something that was written is lost, on any thread.
  init(outputFailed: @escaping @Sendable (String) -> Void) throws(StartupError) {
    guard let nowhere = Nowhere.open(O_CLOEXEC) else {
      throw StartupError("/dev/null cannot be opened: \(systemMessage(errno))")
    }
    self.nowhere = nowhere
    // A peer that stops reading must give an error, not a signal.
    signal(SIGPIPE, SIG_IGN)
    if Self.canBePolled(STDIN_FILENO) {
      input = STDIN_FILENO
    } else {
      let (readEnd, writeEnd) = try Self.makePipe()
      try DescriptorPump.begin(from: duplicate(STDIN_FILENO), to: writeEnd)
      input = readEnd
    }
    if Self.canBePolled(STDOUT_FILENO) {
      output = STDOUT_FILENO
      pumped = nil
    } else {
      let (readEnd, writeEnd) = try Self.makePipe()
      output = writeEnd
      let pumped = Latch()
      try DescriptorPump.begin(from: readEnd, to: duplicate(STDOUT_FILENO)) { failure in
        if let failure { outputFailed(systemMessage(failure)) }
        pumped.happen()
      }
      self.pumped = pumped
    }
    flags = [input, output].map { SharedFlags(of: $0) }
    for flags in flags { flags.makeNonBlocking() }
  }

  /// Lets go of both.
  /// - Parameter over: Called, on any thread, when everything written has gone out.
  func close(_ over: @escaping @Sendable () -> Void) {
    for flags in flags { flags.restore() }
    // Closed for the peer, and nothing that is opened later shall be taken for one of them.
    for descriptor in Set([STDIN_FILENO, STDOUT_FILENO, input, output]) {
      if descriptor > STDERR_FILENO { Glibc.close(descriptor) } else { dup2(nowhere, descriptor) }
    }
    Glibc.close(nowhere)
    guard let pumped else { return over() }
    pumped.whenHappened(over)
  }

  private static func canBePolled(_ descriptor: CInt) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    let kind = status.st_mode & S_IFMT
    return kind == S_IFIFO || kind == S_IFSOCK
  }

  private static func makePipe() throws(StartupError) -> (readEnd: CInt, writeEnd: CInt) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw StartupError("no pipe could be made: \(systemMessage(errno))")
    }
    return (ends[0], ends[1])
  }
}

/// The flags of an open file, which all its descriptors share, in this and in other processes; what
/// is made of them here is put back.
private struct SharedFlags {
  private let descriptor: CInt
  private let flags: CInt

  init(of descriptor: CInt) {
    self.descriptor = descriptor
    flags = fcntl(descriptor, F_GETFL)
  }

  func makeNonBlocking() { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }

  func restore() {
    if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags) }
  }
}
