// SPDX-License-Identifier: Apache-2.0

// The Swift code of docs/embedding.md, without `@main`: a program of tests has its own `main`.

import ArgumentParser
import Foundation
import Logging
import StateMachines
import StatewireServer

struct Laps: StateMachine {
  struct Configuration: Codable, Sendable { var maximum: Int? }
  enum Input: Codable, Sendable { case lapTapped }
  enum Action: Sendable { case counted }
  struct State: Codable, Sendable {
    var laps = 0
    let maximum: Int
  }

  let initialState: State

  init(_ configuration: Configuration) throws(ConfigurationError) {
    let maximum = configuration.maximum ?? 10
    guard maximum > 0 else {
      throw ConfigurationError("maximum must be at least 1", at: ["maximum"])
    }
    initialState = State(maximum: maximum)
  }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    state.laps < state.maximum ? .action(.counted) : .none
  }

  func reduce(_ state: inout State, _ action: Action) { state.laps += 1 }
}

struct LapServer: ServerProgram {
  static let name = "lap-server"
  static let version = "1.2.0"
  static let abstract = "Counts the laps of a race."
  static let kinds: ServerKinds = [
    StoreKind("laps", configuration: Laps.Configuration.self) {
      configuration throws(ConfigurationError) in try Laps(configuration)
    }
  ]
  static var site: WebSite { WebSite(folder: "web") }
  static let commands: [any ParsableCommand.Type] = [Greet.self]
}

struct Greet: ParsableCommand {
  @Argument(help: "Name of the person to greet.") var name: String
  func run() { Output.show("Hello, \(name)") }
}

enum Kinds {
  static let withBuiltin: ServerKinds =
    .builtin + [
      StoreKind("laps", configuration: Laps.Configuration.self) {
        configuration throws(ConfigurationError) in try Laps(configuration)
      }
    ]

  static let logged = ServerKinds { context in
    let logger = context.logger
    return [
      StoreKind("laps", configuration: Laps.Configuration.self) {
        configuration throws(ConfigurationError) in
        logger.debug("a race begins")
        return try Laps(configuration)
      }
    ]
  }
}

enum Sites {
  static let index = Array("<!doctype html>".utf8)

  static var embedded: WebSite { WebSite(files: ["index.html": index]) }

  static var withImages: WebSite {
    WebSite(
      folder: "web",
      contentSecurityPolicy: """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https://img.example; \
        connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """)
  }
}

enum OwnMain {
  static func run(_ kinds: ServerKinds) async throws {
    var configuration = ServerConfiguration(kinds: kinds)
    configuration.name = "lap-server"
    configuration.version = "1.2.0"
    configuration.listeners = [
      .tcp(host: "127.0.0.1", port: 7228), .web(host: "127.0.0.1", port: 7281),
    ]
    configuration.site = WebSite(folder: "web")
    configuration.limits.frameBytes = 64 << 10
    try await Server.run(configuration)
  }
}

enum OwnCommandLine {
  struct Race: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      subcommands: [ServeCommand<LapServer>.self])
  }
}
