// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import TestSupport
import Testing

@Suite("Client of a spawned program", .timeLimit(.minutes(15)))
struct SpawnedClientTests {
  @Test(
    "the client sends and receives over the program's standard streams", arguments: Framing.allCases
  )
  func echo(_ framing: Framing) async throws {
    let connection = try await EchoServer.spawn(framing)
    for text in ["{}", "\"é\"", String(repeating: "x", count: 1_000_000)] {
      try await connection.send(text)
      #expect(try await connection.receiveText() == text)
    }
    try await connection.closeInput()
    #expect(try await connection.receiveText() == "\"bye\"")
    #expect(try await connection.receive() == nil)
    #expect(try await connection.receive() == nil)
    try await connection.closeInput()
    await connection.close()
  }

  @Test("raw bytes are sent unchanged")
  func raw() async throws {
    let connection = try await EchoServer.spawn()
    try await connection.send(raw: [UInt8]("1\n\"tw".utf8))
    try await connection.send(raw: [UInt8]("o\"\n3\n".utf8))
    for text in ["1", "\"two\"", "3"] {
      #expect(try await connection.receiveText() == text)
    }
    await connection.close()
  }

  @Test("the client notices the end of the program")
  func end() async throws {
    let connection = try await EchoServer.spawn()
    try await connection.send("\"exit\"")
    #expect(try await connection.receiveText() == "\"bye\"")
    #expect(try await connection.receive() == nil)
    await connection.close()
    await #expect(throws: ClientError.closed) { try await connection.receive() }
    await #expect(throws: (any Error).self) { try await connection.send("1") }
    await connection.close()
  }

  @Test("a program waits while the client does not receive, and no message is lost")
  func flood() async throws {
    let connection = try await EchoServer.spawn()
    try await connection.send("\"flood\"")
    for _ in 0..<EchoServer.floodCount {
      #expect(try await connection.receiveText()?.utf8.count == 1000)
    }
    try await connection.send("\"flood\"")
    #expect(try await connection.receiveText()?.utf8.count == 1000)
    // `close` reads the remaining output, so that the program reaches the end of its input.
    await connection.close()
  }

  @Test("a cancelled receive takes no message")
  func cancelledReceive() async throws {
    let connection = try await EchoServer.spawn()
    for index in 0..<200 {
      let taken = await withTaskGroup(of: String?.self) { group in
        group.addTask { try? await connection.receiveText() }
        if index % 2 == 0 { await Task.yield() }
        try? await connection.send("\(index)")
        group.cancelAll()
        return await group.next() ?? nil
      }
      if taken == nil {
        #expect(try await connection.receiveText() == "\(index)")
      } else {
        #expect(taken == "\(index)")
      }
    }
    await connection.close()
  }

  @Test("the client keeps the end of the program's standard error, if this is requested")
  func errors() async throws {
    let connection = try await EchoServer.spawn(errorOutput: .collected)
    try await connection.send("\"errors\"")
    #expect(try await connection.receiveText() == "\"errors\"")
    await eventually("the other stream") { await !connection.collectedErrorOutput.isEmpty }
    #expect(await connection.collectedErrorOutput == [UInt8]("oh\n".utf8))
    await connection.close()
  }

  @Test("`close` ends a program that does not end by itself")
  func stubborn() async throws {
    let ignoring = "import signal; signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
    let connection = try await ClientConnection.spawn(
      ["python3", "-c", ignoring + "print(1, flush=True)\nwhile True: signal.pause()"])
    #expect(try await connection.receiveText() == "1")
    await connection.close(patience: .zero)
  }

  @Test("`close` ends a program that does not read its input")
  func deaf() async throws {
    let connection = try await ClientConnection.spawn(
      ["python3", "-c", "print(1, flush=True)\nimport signal\nwhile True: signal.pause()"])
    #expect(try await connection.receiveText() == "1")
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        let large = [UInt8](repeating: 0x31, count: 32 << 20)
        await #expect(throws: (any Error).self) { try await connection.send(large) }
      }
      await Task.yield()
      await connection.close(patience: .zero)
    }
  }

  @Test("a cancelled `close` kills a program that ignores signals")
  func killed() async throws {
    let connection = try await ClientConnection.spawn(
      [
        "python3", "-c",
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
          + "print(1, flush=True)\nwhile True: signal.pause()",
      ])
    #expect(try await connection.receiveText() == "1")
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await connection.close() }
      group.cancelAll()
    }
  }

  @Test("the client reports that a program cannot be started")
  func notStarted() async {
    for command in [["/nowhere/at/all"], ["no-such-program-anywhere"], []] {
      await #expect(throws: ClientError.self) { try await ClientConnection.spawn(command) }
    }
    let error = await #expect(throws: ClientError.self) {
      try await ClientConnection.spawn(["/nowhere/at/all"])
    }
    #expect(error?.description == "/nowhere/at/all could not be started: No such file or directory")
  }

  @Test("a program does not inherit the streams of another program")
  func descriptors() async throws {
    let connections = try await withThrowingTaskGroup(of: ClientConnection.self) { group in
      for _ in 0..<8 { group.addTask { try await EchoServer.spawn() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    // Each program reaches the end of its input while the others are running.
    for connection in connections {
      try await connection.closeInput()
      #expect(try await connection.receiveText() == "\"bye\"")
      #expect(try await connection.receive() == nil)
    }
    for connection in connections { await connection.close() }
  }
}
