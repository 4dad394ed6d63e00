// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// What the system still allows, asked before something is used that ends the process where it does not.
///
/// The answer holds as long as nothing else takes the same, that is at the start.
package enum SystemResources {
  /// Makes sure that so many files can be opened.
  /// - Throws: `StartupError`; none is open then.
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
      the server needs \(count) more descriptors and can have \(open.count): \(systemMessage(errno)); \
      raise the limit (ulimit -n)
      """)
  }

  /// Makes sure that so many threads can be started.
  /// - Throws: `StartupError`; none runs then.
  package static func require(threads count: Int) throws(StartupError) {
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
      // All are there at the same time: each waits for the gate.
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
          the server needs \(count) more threads and can have \(threads.count): \
          \(systemMessage(result)); raise the limits (ulimit -u, ulimit -v)
          """)
      }
      threads.append(thread)
    }
  }

  /// How many files the process may have open, after raising that as far as is allowed.
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

  /// How many descriptors below a limit are open.
  package static func openDescriptors(below limit: Int) -> Int {
    // One call for all of them; it refuses more than the process may have open.
    var descriptors = (0..<CInt(clamping: limit)).map { pollfd(fd: $0, events: 0, revents: 0) }
    guard poll(&descriptors, nfds_t(descriptors.count), 0) >= 0 else { return 0 }
    return descriptors.count { $0.revents & Int16(POLLNVAL) == 0 }
  }
}
