// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#endif

/// A program that was started with pipes for its standard streams.
///
/// It is not Foundation's `Process`: that needs a run loop, and leaks its descriptors into other
/// children, which then keep each other's input open.
struct ChildProcess: Sendable {
  let id: pid_t

  /// Our ends of the pipes; whoever starts a program closes them.
  struct Streams: Sendable {
    /// Where its input is written.
    let input: CInt
    /// Where its output is read.
    let output: CInt
    /// Where its errors are read, if they were to be collected.
    let errors: CInt?
  }

  /// Starts a program; one at a time, since a pipe is not marked as ours at the moment it is made.
  ///
  /// - Parameter command: The program and its arguments; a name without `/` is looked up in `PATH`.
  @Starting
  static func start(
    _ command: [String], collectsErrors: Bool
  ) throws(ClientError) -> (ChildProcess, Streams) {
    guard let program = command.first else {
      throw .notStarted(command: "nothing", errorNumber: EINVAL)
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
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    try check(posix_spawn_file_actions_init(&actions))
    defer { posix_spawn_file_actions_destroy(&actions) }
    try check(posix_spawnattr_init(&attributes))
    defer { posix_spawnattr_destroy(&attributes) }

    // A copy is left open by exec, whatever becomes of its original.
    try check(posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO))
    try check(posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO))
    if let errors {
      try check(posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO))
    }
    // What this program ignores or blocks is its own business: NIO ignores SIGPIPE, for one.
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
    try check(posix_spawnp(&id, program, &actions, &attributes, &arguments, environ))
    return id
  }

  private static func check(_ errorNumber: CInt) throws(SystemError) {
    guard errorNumber == 0 else { throw SystemError(number: errorNumber) }
  }
}

// MARK: - Its end

extension ChildProcess {
  /// Waits for the program's end, and helps where that is needed; its input has been closed.
  ///
  /// The system tells of the end of a child by a signal, which is not ours to handle in a library;
  /// so it is asked now and then, the sooner the more likely.
  func end(patience: Duration) async {
    if await isReaped(within: patience) { return }
    kill(id, SIGTERM)
    // A program that tidies up is quick about it, and has that time even if the caller was cancelled: the
    // work of a future is not cancelled with the task that waits for it.
    let time = Task.isCancelled ? Duration.seconds(1) : .seconds(5)
    let end = MultiThreadedEventLoopGroup.singleton.any().makeFutureWithTask {
      if await isReaped(within: time) { return }
      kill(id, SIGKILL)
      var status: CInt = 0
      while waitpid(id, &status, 0) == -1, errno == EINTR {}
    }
    try? await end.get()
  }

  /// Kills the program, without waiting for its end.
  func killUnreaped() {
    kill(id, SIGKILL)
  }

  private func isReaped(within time: Duration) async -> Bool {
    let deadline = ContinuousClock.now + time
    var pause = Duration.milliseconds(1)
    while true {
      var status: CInt = 0
      // Also if somebody else has reaped it: then there is nothing to wait for.
      if waitpid(id, &status, WNOHANG) != 0 { return true }
      guard ContinuousClock.now < deadline, !Task.isCancelled else { return false }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }
}

// MARK: - The system

/// Where programs are started.
@globalActor
actor Starting {
  static let shared = Starting()
}

/// An error number of the system.
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

/// `close`, which is also the name of what connections do.
private func closeDescriptor(_ descriptor: CInt) -> CInt { close(descriptor) }

/// The error number of a connection that the other side has reset.
let connectionReset = ECONNRESET
/// That of one to which nobody listens any more.
let brokenPipe = EPIPE
