// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import TransportSupport

/// Checks of the system's limits, before code runs that ends the process when a limit is reached.
///
/// A result holds only while no other thread takes the same resource, that is, during startup.
package enum SystemResources {
  /// Checks that the process can open `count` more files.
  /// - Complexity: O(`count`) system calls.
  /// - Throws: `StartupError`; no file is left open.
  package static func require(descriptors count: Int) throws(StartupError) {
    var open: [CInt] = []
    defer { for descriptor in open { close(descriptor) } }
    var next = Glibc.open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    while next >= 0, open.count < count {
      open.append(next)
      next = fcntl(open[0], F_DUPFD_CLOEXEC, 0)
    }
    if next >= 0 { open.append(next) }
    guard open.count < count else { return }
    throw StartupError(
      """
      the server needs \(count) more descriptors but can open only \(open.count): \(systemMessage(errno)); \
      raise the limit (ulimit -n)
      """)
  }

  /// Checks that the process can start `count` more threads.
  /// - Complexity: O(`count`) threads are started and ended, unless the limits leave much room.
  /// - Throws: `StartupError`; no thread is left running.
  package static func require(threads count: Int) throws(StartupError) {
    if ThreadLimits.leaveRoom(for: count) { return }
    var threads: [pthread_t] = []
    let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(gate, nil)
    pthread_mutex_lock(gate)
    defer {
      pthread_mutex_unlock(gate)
      for thread in threads { pthread_join(thread, nil) }
      pthread_mutex_destroy(gate)
      gate.deallocate()
    }
    for _ in 0..<count {
      var thread = pthread_t()
      // Each thread waits for the gate, so that all of them exist at the same time.
      let result = pthread_create(
        &thread, nil,
        { gate in
          guard let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self) else { return nil }
          pthread_mutex_lock(gate)
          pthread_mutex_unlock(gate)
          return nil
        }, gate)
      guard result == 0 else {
        throw StartupError(
          """
          the server needs \(count) more threads but can start only \(threads.count): \
          \(systemMessage(result)); raise the limits (ulimit -u, -v, -d)
          """)
      }
      threads.append(thread)
    }
  }

  /// The number of processors that the process may use at its start: SwiftNIO counts those of the control
  /// group, the affinity mask may leave fewer.
  static let processors: Int = {
    let processors = max(1, System.coreCount)
    // Without /proc the mask is not considered.
    let status = (try? WholeFile("/proc/thread-self/status").bytes) ?? []
    let allowed = allowedProcessors(inStatus: String(decoding: status, as: UTF8.self))
    return min(processors, allowed ?? processors)
  }()

  /// Returns the number of processors of the affinity mask in a status file of Linux; nil if there
  /// is none.
  ///
  /// - Parameter status: The text; the mask is a hexadecimal number with commas.
  static func allowedProcessors(inStatus status: String) -> Int? {
    let name = "Cpus_allowed:".utf8
    let lines = status.utf8.split(separator: UInt8(ascii: "\n"))
    guard let line = lines.first(where: { $0.starts(with: name) }) else { return nil }
    let bits = line.dropFirst(name.count).reduce(0) { count, digit in
      count + (Character(Unicode.Scalar(digit)).hexDigitValue ?? 0).nonzeroBitCount
    }
    return bits > 0 ? bits : nil
  }

  /// Raises the limit of open files as far as the system allows.
  ///
  /// - Returns: The number of files that the process may have open.
  package static func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return .max }
    if limit.rlim_cur < limit.rlim_max {
      let allowed = limit.rlim_cur
      limit.rlim_cur = limit.rlim_max
      if setrlimit(resource, &limit) != 0 { limit.rlim_cur = allowed }
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// Counts the open descriptors below `limit`.
  ///
  /// - Complexity: O(`limit`), in one system call.
  package static func openDescriptors(below limit: Int) -> Int {
    // poll(2) fails for more descriptors than the process may have open.
    var descriptors = (0..<CInt(clamping: limit)).map { pollfd(fd: $0, events: 0, revents: 0) }
    guard poll(&descriptors, nfds_t(descriptors.count), 0) >= 0 else { return 0 }
    return descriptors.count { $0.revents & Int16(POLLNVAL) == 0 }
  }
}
