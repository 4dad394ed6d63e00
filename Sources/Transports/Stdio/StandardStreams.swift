// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// Standard input and output as two non-blocking descriptors.
///
/// Pipes and sockets can be polled and are used directly. Regular files cannot be polled. Terminals
/// are shared with other processes, which do not expect them to be non-blocking. For both, threads
/// copy between the descriptor and a pipe.
struct StandardStreams {
  let input: CInt
  let output: CInt
  private let flags: [SharedFlags]
  /// The descriptor that replaces both at the end. It is opened at the start, since later there may
  /// be no descriptor left.
  private let nullDevice: CInt
  /// Signalled when the last byte was written, if a thread copies the output; otherwise nil.
  private let pumped: Latch?

  /// Takes both streams over.
  /// - Parameter outputFailed: Called with the reason, on any thread, if bytes of the output are
  ///   lost.
  /// - Throws: `StartupError`.
  init(outputFailed: @escaping @Sendable (String) -> Void) throws(StartupError) {
    guard let nullDevice = NullDevice.open(O_CLOEXEC) else {
      throw StartupError("cannot open /dev/null: \(systemMessage(errno))")
    }
    self.nullDevice = nullDevice
    // A write to a client that has stopped reading must return an error, not raise a signal.
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
        pumped.signal()
      }
      self.pumped = pumped
    }
    flags = [input, output].map { SharedFlags(of: $0) }
    for flags in flags { flags.makeNonBlocking() }
  }

  /// Closes both streams and restores their flags.
  /// - Parameter completion: Called on any thread when all output was written.
  func close(_ completion: @escaping @Sendable () -> Void) {
    for flags in flags { flags.restore() }
    // The client sees the end of both. A file that is opened later must not get their numbers.
    for descriptor in Set([STDIN_FILENO, STDOUT_FILENO, input, output]) {
      if descriptor > STDERR_FILENO {
        Glibc.close(descriptor)
      } else {
        dup2(nullDevice, descriptor)
      }
    }
    Glibc.close(nullDevice)
    guard let pumped else { return completion() }
    pumped.whenSignalled(completion)
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
      throw StartupError(
        "cannot create a pipe: \(systemMessage(errno)); raise the limit (ulimit -n)")
    }
    return (ends[0], ends[1])
  }
}

/// The flags of an open file, which all its descriptors share, also in other processes. They are
/// restored at the end.
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
