// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireClient
import TestSupport

/// A process that says where it listens; it is killed with its last user.
final class Listening {
  private let process = Process()
  private let output = Pipe()
  private let input = Pipe()
  /// Its temporary files, which it cannot remove when it is killed.
  private let folder: TestFolder
  private var text = ""
  /// Where it listens.
  private(set) var place = ""

  /// Starts a program, and waits until it says where it listens.
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

  /// Ends it without a word.
  func kill() {
    guard process.isRunning else { return }
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Stops it, as if the machine had frozen, or lets it go on.
  func freeze(_ isFrozen: Bool) {
    _ = Foundation.kill(process.processIdentifier, isFrozen ? SIGSTOP : SIGCONT)
  }

  /// Ends it, and gives all lines that it has said since it listens.
  func lines() throws -> [String] {
    kill()
    let rest = try output.fileHandleForReading.readToEnd() ?? Data()
    return (text + String(decoding: rest, as: UTF8.self)).split(separator: "\n").map(String.init)
      .filter { !$0.contains("listening on ") }
  }

  /// The address of it, of a scheme.
  func address(_ scheme: String = "tcp", authority: String? = nil) throws -> Address {
    let hostAndPort = place.components(separatedBy: "/").last ?? ""
    guard let address = Address("\(scheme)://\(hostAndPort)", authority: authority) else {
      throw Unexpected("\(place) is no address")
    }
    return address
  }

  // MARK: What there is to start

  /// `statewire serve` at a port.
  static func server(
    _ options: [String] = [], at listener: [String] = ["--tcp", "127.0.0.1:0"]
  ) throws -> Listening {
    // How soon a peer has to speak is not what is tested, and all tests run at once.
    try Listening(
      Program.path, ["serve", "--time-to-first-request", "0"] + listener + options,
      saysItOnErrors: true)
  }

  /// `fault-proxy` in front of a server; its lines are the faults that it has planted.
  static func proxy(_ server: Listening, _ options: [String]) throws -> Listening {
    let script = Program.conformance.appending(path: "fault-proxy").path
    return try Listening(script, [server.place] + options, saysItOnErrors: false)
  }
}

extension ClientOptions {
  /// Tests wait for connections as little as may be.
  static var soon: ClientOptions {
    var options = ClientOptions()
    options.backoff = Backoff(base: .milliseconds(10), longest: .milliseconds(100))
    options.timeout = .seconds(120)
    return options
  }

  func with(_ change: (inout ClientOptions) -> Void) -> ClientOptions {
    var options = self
    change(&options)
    return options
  }
}
