// SPDX-License-Identifier: Apache-2.0

import Glibc
import StateMachines
import Testing

@testable import Transports

@Suite("Poll loop", .timeLimit(.minutes(10)))
struct PollLoopTests {
  /// What has happened, from whatever thread.
  private let record = Lock([String]())
  private func note(_ text: String) { record.withLock { $0.append(text) } }

  @Test("does what is due in the order of its time, whatever order it came in")
  func timers() async throws {
    let loop = try PollLoop()
    let ended = Latch()
    loop.execute { [self] in
      loop.schedule(after: .milliseconds(30)) { note("c") }
      loop.schedule(after: .milliseconds(10)) { note("a") }
      loop.schedule(after: .milliseconds(20)) { note("b") }
      loop.schedule(after: .milliseconds(20)) { note("B") }
      loop.schedule(after: .milliseconds(40)) { loop.stop() }
    }
    try SystemThread.start {
      loop.run()
      ended.happen()
    }
    await ended.wait()
    #expect(record.withLock { $0 } == ["a", "b", "B", "c"])
  }

  @Test("does what other threads hand over in their order, while it waits for nothing else")
  func handedOver() async throws {
    let loop = try PollLoop()
    let ended = Latch()
    try SystemThread.start {
      loop.run()
      ended.happen()
    }
    for number in 0..<1000 { loop.execute { [self] in note("\(number)") } }
    loop.execute { loop.stop() }
    await ended.wait()
    #expect(record.withLock { $0 } == (0..<1000).map { "\($0)" })
  }

  @Test("tells of a descriptor only while that is wanted")
  func descriptors() async throws {
    var ends: [CInt] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (readEnd, writeEnd) = (ends[0], ends[1])
    let loop = try PollLoop()
    let ended = Latch()
    loop.execute { [self] in
      loop.watch(readEnd) { [unowned loop] _ in
        var byte: UInt8 = 0
        let count = read(readEnd, &byte, 1)
        note(count == 1 ? "byte \(byte)" : "end")
        if count == 0 { loop.stop() }
      }
      var byte: UInt8 = 7
      _ = write(writeEnd, &byte, 1)
      loop.schedule(after: .milliseconds(20)) {
        note("wanted")
        loop.want(POLLIN, of: readEnd)
        loop.schedule(after: .milliseconds(20)) { close(writeEnd) }
      }
    }
    try SystemThread.start {
      loop.run()
      ended.happen()
    }
    await ended.wait()
    close(readEnd)
    #expect(record.withLock { $0 } == ["wanted", "byte 7", "end"])
  }

  @Test("is where a task runs that prefers it, and ends with it")
  func tasks() async throws {
    let loop = try PollLoop()
    let ended = Latch()
    try SystemThread.start { [self] in
      loop.run {
        note(loop.isCurrent ? "here" : "elsewhere")
        await Task.yield()
        note(loop.isCurrent ? "here" : "elsewhere")
      }
      ended.happen()
    }
    await ended.wait()
    #expect(record.withLock { $0 } == ["here", "here"])
  }

  @Test("what happens once is told to those who came before and after it")
  func event() async {
    let event = Latch()
    event.whenHappened { [self] in note("before") }
    event.happen()
    event.happen()
    event.whenHappened { [self] in note("after") }
    await event.wait()
    #expect(record.withLock { $0 } == ["before", "after"])
  }
}
