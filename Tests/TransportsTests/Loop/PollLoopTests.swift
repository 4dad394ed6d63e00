// SPDX-License-Identifier: Apache-2.0

import Glibc
import StateMachines
import Testing

@testable import Transports

@Suite("Poll loop", .timeLimit(.minutes(20)))
struct PollLoopTests {
  /// Notes of events, from any thread.
  private let record = Lock([String]())
  private func note(_ text: String) { record.withLock { $0.append(text) } }

  @Test("the loop runs scheduled work in the order of time, whatever the order of scheduling")
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
      ended.signal()
    }
    await ended.wait()
    #expect(record.withLock { $0 } == ["a", "b", "B", "c"])
  }

  @Test("the loop runs work of other threads in order, while it has nothing else to do")
  func handedOver() async throws {
    let loop = try PollLoop()
    let ended = Latch()
    try SystemThread.start {
      loop.run()
      ended.signal()
    }
    for number in 0..<1000 { loop.execute { [self] in note("\(number)") } }
    loop.execute { loop.stop() }
    await ended.wait()
    #expect(record.withLock { $0 } == (0..<1000).map { "\($0)" })
  }

  @Test("the loop reports events of a descriptor only while they are wanted")
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
        loop.setEvents(POLLIN, of: readEnd)
        loop.schedule(after: .milliseconds(20)) { close(writeEnd) }
      }
    }
    try SystemThread.start {
      loop.run()
      ended.signal()
    }
    await ended.wait()
    close(readEnd)
    #expect(record.withLock { $0 } == ["wanted", "byte 7", "end"])
  }

  @Test("a task that prefers the loop runs on it, and the loop ends with the task")
  func tasks() async throws {
    let loop = try PollLoop()
    let ended = Latch()
    try SystemThread.start { [self] in
      loop.run {
        note(loop.isCurrent ? "here" : "elsewhere")
        await Task.yield()
        note(loop.isCurrent ? "here" : "elsewhere")
      }
      ended.signal()
    }
    await ended.wait()
    #expect(record.withLock { $0 } == ["here", "here"])
  }

  @Test("a latch notifies those who waited before it happened and those who wait after it")
  func event() async {
    let event = Latch()
    event.whenSignalled { [self] in note("before") }
    event.signal()
    event.signal()
    event.whenSignalled { [self] in note("after") }
    await event.wait()
    #expect(record.withLock { $0 } == ["before", "after"])
  }
}
