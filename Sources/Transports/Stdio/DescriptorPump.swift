// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Copies one descriptor to another on a thread that blocks.
///
/// It holds at most one buffer of 64 KiB: while the target does not accept it, nothing more is
/// read.
enum DescriptorPump {
  /// Starts copying. Both descriptors are closed at the end.
  ///
  /// - Parameters:
  ///   - source: The descriptor to read.
  ///   - target: The descriptor to write.
  ///   - ended: Called on that thread when all bytes are copied or a read or write has failed; with
  ///     the error number if bytes are lost that the target did not accept.
  /// - Throws: `StartupError` if the system cannot start a thread; the descriptors stay open then.
  static func begin(
    from source: CInt, to target: CInt, ended: @escaping @Sendable (CInt?) -> Void = { _ in }
  ) throws(StartupError) {
    try SystemThread.start {
      let failure = copy(from: source, to: target)
      // If the target is a socket, another descriptor of it stays open for the other direction.
      shutdown(target, CInt(SHUT_WR))
      close(source)
      close(target)
      ended(failure)
    }
  }

  private static func copy(from source: CInt, to target: CInt) -> CInt? {
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
      while true {
        let count = retrying(source, POLLIN) { read(source, buffer.baseAddress, buffer.count) }
        guard count > 0 else { return nil }
        var written = 0
        while written < count {
          let rest = UnsafeRawBufferPointer(rebasing: buffer[written..<count])
          let step = retrying(target, POLLOUT) { write(target, rest.baseAddress, rest.count) }
          guard step != 0 else { return EIO }
          guard step > 0 else { return isReaderGone(target) ? nil : errno }
          written += step
        }
      }
    }
  }

  /// Returns true if `errno` says that a write failed because the reader is gone: the other end of
  /// a pipe or socket, or the terminal. No reader loses bytes then.
  private static func isReaderGone(_ target: CInt) -> Bool {
    switch errno {
    case EPIPE, ECONNRESET: return true
    case EIO:
      defer { errno = EIO }
      var status = stat()
      return fstat(target, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
    default: return false
    }
  }

  /// Repeats a call that was interrupted by a signal, or that must wait because another process has
  /// made the descriptor non-blocking.
  private static func retrying(_ descriptor: CInt, _ event: Int32, _ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 { return result }
      if errno == EAGAIN {
        var wanted = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        _ = poll(&wanted, 1, -1)
      } else if errno != EINTR {
        return result
      }
    }
  }
}
