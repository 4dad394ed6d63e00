// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireClient
import TestSupport

/// A process that reports its address; it is killed when it is released.
final class Listening {
  private let process = Process()
  private let output = Pipe()
  private let input = Pipe()
  /// The temporary files of the process, which it cannot remove when it is killed.
  private let folder: TestFolder
  private var text = ""
  /// The address of the process.
  private(set) var place = ""

  /// Starts a program and waits until it reports its address.
  init(_ program: String, _ arguments: [String], saysItOnErrors: Bool) throws {
    folder = try TestFolder()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = Program.environment.merging(["TMPDIR": folder.path]) { $1 }
    process.standardInput = input
    process.standardOutput = saysItOnErrors ? FileHandle.nullDevice : output
    process.standardError = saysItOnErrors ? output : FileHandle.standardError
    try process.run()
    while place.isEmpty {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw Unexpected("\(program) does not listen: \(text)") }
      text += String(decoding: data, as: UTF8.self)
      for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
        if let found = line.range(of: "listening on ") {
          place = String(line[found.upperBound...])
        }
      }
    }
  }

  deinit { kill() }

  /// Kills the process.
  func kill() {
    guard process.isRunning else { return }
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Stops the process, or continues it.
  func freeze(_ isFrozen: Bool) {
    _ = Foundation.kill(process.processIdentifier, isFrozen ? SIGSTOP : SIGCONT)
  }

  /// Ends the process and returns the lines that it has printed since it listens.
  func lines() throws -> [String] {
    kill()
    let rest = try output.fileHandleForReading.readToEnd() ?? Data()
    return (text + String(decoding: rest, as: UTF8.self)).split(separator: "\n").map(String.init)
      .filter { !$0.contains("listening on ") }
  }

  /// The address with a scheme.
  func address(_ scheme: String = "tcp", authority: String? = nil) throws -> Address {
    let hostAndPort = place.components(separatedBy: "/").last ?? ""
    guard let address = Address("\(scheme)://\(hostAndPort)", authority: authority) else {
      throw Unexpected("\(place) is not an address")
    }
    return address
  }

  // MARK: Programs

  /// Starts `statewire serve` on a free port.
  static func server(
    _ options: [String] = [], at listener: [String] = ["--tcp", "127.0.0.1:0"]
  ) throws -> Listening {
    // The handshake timeout is not tested here, and all tests run in parallel.
    try Listening(
      Program.path, ["serve", "--time-to-first-request", "0"] + listener + options,
      saysItOnErrors: true)
  }

  /// Starts `fault-proxy` in front of a server; its lines are the faults that it has planted.
  static func proxy(_ server: Listening, _ options: [String]) throws -> Listening {
    let script = Program.conformance.appending(path: "fault-proxy").path
    return try Listening(script, [server.place] + options, saysItOnErrors: false)
  }
}

extension ClientOptions {
  /// Options with short delays.
  static var soon: ClientOptions {
    var options = ClientOptions()
    options.backoff = Backoff(base: .milliseconds(10), maximum: .milliseconds(100))
    options.timeout = .seconds(120)
    return options
  }

  func with(_ change: (inout ClientOptions) -> Void) -> ClientOptions {
    var options = self
    change(&options)
    return options
  }
}
