// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StatewireServer

/// The command `statewire new`: writes a project with a store, its test, its server and its page.
struct New: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Writes a project that builds, tests and serves a store.",
    discussion: """
      Writes a Swift package into the new folder NAME: a store, its tests, a server and a page. The \
      README of the project has its commands. The package uses the checkout or the repository of \
      Statewire that --statewire names; without the option, the folder in STATEWIRE_CHECKOUT, or the \
      checkout that the program was built in.
      """)

  @Argument(
    help: ArgumentHelp(
      "Name of the project and of its store kind: letters, digits and single dashes.",
      valueName: "name"))
  var name: String

  @Option(help: ArgumentHelp("Language of the store.", valueName: "language"))
  var language = Language.swift

  @Option(
    help: ArgumentHelp(
      "Checkout of Statewire, or the URL of its repository.", valueName: "folder|url"))
  var statewire: String?

  /// The languages of stores.
  enum Language: String, CaseIterable, ExpressibleByArgument { case swift }

  func validate() throws {
    do throws(ProjectName.Fault) { _ = try ProjectName(name) } catch {
      throw ValidationError("\(error)")
    }
  }

  func run() async throws {
    let project = try ProjectName(name)
    let source = try StatewireSource(option: statewire)
    try ProjectTemplate(name: project, source: source).write(to: name)
    Output.show(
      """
      \(name): a package that uses \(source.text)

      These commands test it and serve its page at http://127.0.0.1:7281/:

        cd \(name)
        swift test
        swift run \(name) serve --web 127.0.0.1:7281

      The first build takes minutes.
      """)
  }
}
