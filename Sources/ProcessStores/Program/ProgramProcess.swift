// SPDX-License-Identifier: Apache-2.0

internal import CChildPrograms

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// One process of a program, with pipes as its standard streams.
///
/// It is created and ended on one thread: the system kills it when that thread ends.
struct ProgramProcess {
  let id: pid_t
  /// Writes to the standard input of the process.
  let input: Int32
  /// Reads its standard output.
  let output: Int32
  /// Reads its standard error.
  let errors: Int32
  /// Readable once the process has ended, also while another process holds its pipes; -1 if the system
  /// cannot tell.
  let ending: Int32

  /// Starts a process.
  ///
  /// - Throws: `StartError`.
  init(_ command: ProgramCommand) throws(StartError) {
    let pipes = try Self.pipes()
    var limits = child_limits(
      memory: UInt64(command.memoryBytes), files: 1024, processes: UInt64(command.processes))
    var (child, failed) = (pid_t(), UnsafePointer<CChar>?.none)
    let environment = Self.environment(command).map { "\($0)=\($1)" }
    let number = Self.withPointers(command.words) { words in
      Self.withPointers(environment) { environment in
        child_start(
          words, environment, command.folder, pipes.0.reading, pipes.1.writing, pipes.2.writing,
          &limits, &child, &failed)
      }
    }
    for end in [pipes.0.reading, pipes.1.writing, pipes.2.writing] { close(end) }
    guard number == 0 else {
      for end in [pipes.0.writing, pipes.1.reading, pipes.2.reading] { close(end) }
      let function = failed.map { String(cString: $0) } ?? "fork"
      throw StartError(function: function, number: number)
    }
    (id, input, output, errors) = (child, pipes.0.writing, pipes.1.reading, pipes.2.reading)
    ending = child_watch(child)
    for end in [input, output, errors] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
  }

  /// The reason why a process could not be started.
  struct StartError: Error, CustomStringConvertible {
    let function: String
    let number: Int32

    var description: String {
      "\(function): \(String(cString: strerror(number)))"
    }
  }

  /// Opens the pipes, or none.
  private static func pipes() throws(StartError) -> (Pipe, Pipe, Pipe) {
    var open: [Pipe] = []
    do throws(StartError) {
      for _ in 0..<3 { open.append(try Pipe()) }
      return (open[0], open[1], open[2])
    } catch {
      for pipe in open { for end in [pipe.reading, pipe.writing] { close(end) } }
      throw error
    }
  }

  private struct Pipe {
    let reading: Int32
    let writing: Int32

    init() throws(StartError) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw StartError(function: "pipe", number: errno) }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (reading, writing) = (ends[0], ends[1])
    }
  }

  /// Ends the process and its group, and closes the pipes.
  ///
  /// - Parameter waits: True to give it a second to end by itself after the end of its input.
  /// - Returns: The way in which it has ended, as the predicate of a sentence.
  @discardableResult
  func end(waiting waits: Bool) -> String {
    close(input)
    var status: Int32 = 0
    var isReaped = false
    // One that has ended by itself has a status of its own.
    for _ in 0..<(waits ? 1000 : 20) {
      if waitpid(id, &status, WNOHANG) == id {
        isReaped = true
        break
      }
      // The system reports the end by SIGCHLD only, which a library must not handle.
      usleep(1000)
    }
    let endedByItself = isReaped
    // Also the processes that it has started, and that have not left the group.
    kill(-id, SIGKILL)
    // It may have left the group itself. Its number is not used again before it is reaped.
    if !isReaped { kill(id, SIGKILL) }
    while !isReaped {
      let result = waitpid(id, &status, 0)
      isReaped = result == id || (result < 0 && errno != EINTR)
    }
    for end in [output, errors, ending] where end >= 0 { close(end) }
    guard endedByItself else { return "has closed a standard stream and continued" }
    let signal = status & 0x7f
    let way = signal == 0 ? "exit code \((status >> 8) & 0xff)" : "signal \(signal)"
    return "has ended (\(way))"
  }

  private static func environment(_ command: ProgramCommand) -> [String: String] {
    var environment: [String: String] = [:]
    for name in ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"] {
      if let value = getenv(name) { environment[name] = String(cString: value) }
    }
    return environment.merging(command.environment) { $1 }
  }

  private static func withPointers<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { UnsafePointer<CChar>($0) } + [nil]
    return body(pointers)
  }
}
