// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Copies one descriptor to another with a thread that blocks.
///
/// What it holds is one buffer; when the other side does not take it, it reads no more.
enum DescriptorPump {
  /// Starts copying; the descriptors are closed at the end.
  ///
  /// - Parameters:
  ///   - source: Where bytes come from.
  ///   - target: Where they go.
  ///   - ended: Called on that thread when everything has been copied, or nothing more can be; with the error number
  ///     if something was lost that the target did not take.
  /// - Throws: `StartupError`; the descriptors stay open then.
  static func begin(
    from source: CInt, to target: CInt, ended: @escaping @Sendable (CInt?) -> Void = { _ in }
  ) throws(StartupError) {
    try SystemThread.start {
      let failure = copy(from: source, to: target)
      // A socket has another descriptor, for the other direction.
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

  /// Whether a write has failed because nobody is there to read, by `errno`: the other end of a pipe or
  /// socket is gone, or the terminal. That loses nothing that anybody wanted.
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

  /// Repeats a call that a signal has interrupted, or that has to wait since somebody else has
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
