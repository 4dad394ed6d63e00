// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StatewireServer

/// The command `statewire new`: writes a project with a store, its test, its server and its page.
struct New: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Writes a project that tests and serves a store.",
    discussion: """
      Writes a store, its tests and a page into the new folder NAME. The README of the project has its \
      commands. A project in Python or JavaScript has a copy of the library for stores and needs nothing \
      else. A project in Swift is a package with a server of its own. It uses the checkout or the repository of \
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
  enum Language: String, CaseIterable, ExpressibleByArgument { case swift, python, javascript }

  func validate() throws {
    do throws(ProjectName.Fault) { _ = try ProjectName(name) } catch {
      throw ValidationError("\(error)")
    }
  }

  func run() async throws {
    let project = try ProjectName(name)
    let source = language == .swift ? try StatewireSource(option: statewire) : nil
    try ProjectTemplate(name: project, language: language, source: source).write(to: name)
    Output.show(
      """
      \(name): \(source.map { "a package that uses \($0.text)" } ?? "a store in \(language.title)")

      These commands test it and serve its page at http://127.0.0.1:7281/:

        cd \(name)
      \(commands.map { "  \($0)" }.joined(separator: "\n"))
      \(language == .swift ? "\nThe first build takes minutes." : "")
      """)
  }

  private var commands: [String] {
    switch language {
    case .swift: ["swift test", "swift run \(name) serve --web 127.0.0.1:7281"]
    case .python: ["python3 -m unittest", served("python3 store.py")]
    case .javascript: ["node --test", served("node store.js")]
    }
  }

  private func served(_ command: String) -> String {
    "statewire serve --store \(name)='\(command)' --watch --web 127.0.0.1:7281 --web-root web"
  }
}

extension New.Language {
  /// The name of the language, for people.
  fileprivate var title: String {
    switch self {
    case .swift: "Swift"
    case .python: "Python"
    case .javascript: "JavaScript"
    }
  }
}
