// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#else
  @preconcurrency import Darwin
#endif

/// A program that was started with pipes as its standard streams.
///
/// Foundation's `Process` is not used: it needs a run loop, and its descriptors leak into other
/// children, which then keep each other's input open.
struct ChildProcess: Sendable {
  let id: pid_t

  /// This process's ends of the pipes. The caller of `start` closes them.
  struct Streams: Sendable {
    /// Writes to the program's standard input.
    let input: CInt
    /// Reads the program's standard output.
    let output: CInt
    /// Reads the program's standard error; nil if it is not collected.
    let errors: CInt?
  }

  /// Starts a program. Calls run one at a time, since a new pipe is not marked close-on-exec until
  /// after its creation.
  ///
  /// - Parameters:
  ///   - command: The program and its arguments; a name without `/` is looked up in `PATH`.
  ///   - collectsErrors: True to connect a pipe to standard error.
  /// - Throws: `ClientError.notStarted`.
  @Starting
  static func start(
    _ command: [String], collectsErrors: Bool
  ) throws(ClientError) -> (ChildProcess, Streams) {
    guard let program = command.first else {
      throw .notStarted(command: "an empty command", errorNumber: EINVAL)
    }
    var pipes: [Pipe] = []
    do throws(SystemError) {
      for _ in 0..<(collectsErrors ? 3 : 2) { pipes.append(try Pipe()) }
      let errors = collectsErrors ? pipes[2] : nil
      let id = try spawn(
        program, command, input: pipes[0].reading, output: pipes[1].writing,
        errors: errors?.writing)
      for descriptor in [pipes[0].reading, pipes[1].writing, errors?.writing] {
        if let descriptor { _ = closeDescriptor(descriptor) }
      }
      let streams = Streams(
        input: pipes[0].writing, output: pipes[1].reading, errors: errors?.reading)
      return (ChildProcess(id: id), streams)
    } catch {
      for pipe in pipes {
        _ = closeDescriptor(pipe.reading)
        _ = closeDescriptor(pipe.writing)
      }
      throw .notStarted(command: program, errorNumber: error.number)
    }
  }

  private static func spawn(
    _ program: String, _ command: [String], input: CInt, output: CInt, errors: CInt?
  ) throws(SystemError) -> pid_t {
    #if canImport(Darwin)
      // Pointers there.
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
      let environment = _NSGetEnviron().pointee
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
      let environment = environ
    #endif
    try check(posix_spawn_file_actions_init(&actions))
    defer { posix_spawn_file_actions_destroy(&actions) }
    try check(posix_spawnattr_init(&attributes))
    defer { posix_spawnattr_destroy(&attributes) }

    // The copy is not close-on-exec, even though the original is.
    try check(posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO))
    try check(posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO))
    if let errors {
      try check(posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO))
    }
    // The program must not inherit ignored or blocked signals: NIO ignores SIGPIPE, for example.
    var signals = sigset_t()
    sigemptyset(&signals)
    try check(posix_spawnattr_setsigmask(&attributes, &signals))
    sigfillset(&signals)
    try check(posix_spawnattr_setsigdefault(&attributes, &signals))
    try check(
      posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)))

    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var id = pid_t()
    try check(posix_spawnp(&id, program, &actions, &attributes, &arguments, environment))
    return id
  }

  private static func check(_ errorNumber: CInt) throws(SystemError) {
    guard errorNumber == 0 else { throw SystemError(number: errorNumber) }
  }
}

// MARK: - End

extension ChildProcess {
  /// Waits for the end of the program, whose input has been closed. Sends SIGTERM after `patience`,
  /// and SIGKILL after five more seconds (one if the task is cancelled).
  ///
  /// The system reports the end of a child by SIGCHLD, which a library must not handle. So the
  /// status is polled, first after 1 ms and later every 50 ms.
  ///
  /// - Returns: The status of `waitpid`; 0 if other code has reaped the program.
  @discardableResult
  func end(patience: Duration) async -> CInt {
    if let status = await status(within: patience) { return status }
    kill(id, SIGTERM)
    // The program gets this time to clean up even if the caller was cancelled: the work of a future
    // is not cancelled with the task that waits for it.
    let time = Task.isCancelled ? Duration.seconds(1) : .seconds(5)
    let end = MultiThreadedEventLoopGroup.singleton.any().makeFutureWithTask {
      if let status = await status(within: time) { return status }
      kill(id, SIGKILL)
      var status: CInt = 0
      while waitpid(id, &status, 0) == -1, errno == EINTR {}
      return status
    }
    return (try? await end.get()) ?? 0
  }

  /// Kills the program without waiting for its end.
  func killWithoutWaiting() {
    kill(id, SIGKILL)
  }

  /// The status of the program, which is reaped; nil if it has not ended.
  var status: CInt? {
    var status: CInt = 0
    // Also if other code has reaped it: there is nothing to wait for then.
    return waitpid(id, &status, WNOHANG) != 0 ? status : nil
  }

  /// Waits for the end of the program; nil if it has not ended within the time.
  private func status(within time: Duration) async -> CInt? {
    let deadline = ContinuousClock.now + time
    var pause = Duration.milliseconds(1)
    while true {
      if let status { return status }
      guard ContinuousClock.now < deadline, !Task.isCancelled else { return nil }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }
}

// MARK: - System calls

/// The actor that starts programs, one at a time.
@globalActor
actor Starting {
  static let shared = Starting()
}

/// An `errno` of the system.
private struct SystemError: Error {
  let number: CInt
}

/// A pipe that other children do not inherit.
private struct Pipe {
  let reading: CInt
  let writing: CInt

  init() throws(SystemError) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError(number: errno) }
    reading = ends[0]
    writing = ends[1]
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }
}

/// Calls `close`, a name that the methods of connections hide.
@discardableResult
func closeDescriptor(_ descriptor: CInt) -> CInt { close(descriptor) }

/// The error number of a connection that the server has reset.
let connectionReset = ECONNRESET
/// The error number of a connection whose reader is gone.
let brokenPipe = EPIPE
