// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import ClientTransports
internal import ClientTypes
internal import Foundation
internal import StatewireJSON

/// The command `types` of a program: types for clients, as source text.
public struct TypesCommand<Program: ServerProgram>: AsyncParsableCommand {
  /// The name and the help of the command.
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "types",
      abstract: "Generates types for clients in TypeScript, Python, Swift or Kotlin.",
      discussion: """
        Writes the types of the store kinds of this program and of store programs (--store), of a running server (--connect) or of \
        a stored description (--schema): for each kind its name, its state, inputs, events and \
        configuration, and constructors of its inputs. The names come from the names of kinds and \
        members, never from Swift types. docs/clients.md describes the result.
        """)
  }

  @Option(
    help: ArgumentHelp(
      "Describe the kinds of a running server.",
      discussion:
        "HOST:PORT, tls://HOST:PORT, ws://HOST:PORT, wss://HOST:PORT, unix:PATH, or a path with /.",
      valueName: "address"))
  var connect: String?

  @OptionGroup var programs: StoreProgramOptions

  @Option(
    help: ArgumentHelp(
      "Describe the kinds of an OpenRPC document, the output of the command schema; - is standard input.",
      valueName: "file"))
  var schema: String?

  @Option(
    help: ArgumentHelp(
      "Language of the types: typescript, python, swift or kotlin.", valueName: "language"))
  var language: LanguageOption

  @Option(
    help: ArgumentHelp(
      "Names of the kinds, separated by commas. (default: all)", valueName: "names"))
  var kinds: String?

  @Option(
    help: ArgumentHelp("Write to this file instead of standard output.", valueName: "file"))
  var output: String?

  @Flag(help: "Write nothing; exit with status 1 if the file of --output differs.")
  var check = false

  @Flag(
    help:
      "For a client library: the types of all methods, errors and kinds, under the names of the schemas."
  )
  var `protocol` = false

  @Option(
    help: ArgumentHelp(
      "With typescript: the module of the JavaScript client; empty for none.", valueName: "module"))
  var clientModule = "statewire"

  @Option(help: ArgumentHelp("With kotlin: the package of the file.", valueName: "name"))
  var package: String?

  @OptionGroup var tokenFile: TokenFileOption

  @OptionGroup var trust: TrustOptions

  /// Creates the command with its defaults.
  public init() {}

  /// Checks the options, without reading files.
  public func validate() throws {
    if connect != nil, schema != nil {
      throw ValidationError("pass either --connect or --schema, not both")
    }
    if programs.isGiven, connect != nil || schema != nil {
      throw ValidationError("pass --store without --connect and --schema")
    }
    if let connect, ServerAddress(connect) == nil {
      throw ValidationError(
        "--connect must be HOST:PORT, tls://…, ws://…, wss://…, unix:PATH or a path with a slash")
    }
    if connect == nil, tokenFile.isGiven || trust.areGiven {
      throw ValidationError("--token-file and --tls-… require --connect")
    }
    if let names, names.contains("") { throw ValidationError("--kinds has an empty name") }
    if kinds != nil, `protocol` {
      throw ValidationError("--protocol has the types of all kinds; pass it without --kinds")
    }
    if check, output == nil { throw ValidationError("--check requires --output") }
    if let package {
      guard language.language == .kotlin else {
        throw ValidationError("--package requires --language kotlin")
      }
      let isName = package.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
        $0.first?.isLetter == true && $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
      }
      guard isName else { throw ValidationError("--package must be a name such as com.example") }
    }
  }

  /// Writes the types.
  ///
  /// - Throws: `StartupError` if the description cannot be read or has another form, or the file
  ///   cannot be written; `ExitCode.failure` if `--check` finds a difference.
  public func run() async throws {
    let (document, origin) = try await document()
    var options = ClientTypes.Options()
    (options.clientModule, options.package) = (clientModule, package)
    let text: String
    do throws(ClientTypesError) {
      let types =
        try `protocol` ? ClientTypes(ofProtocol: document) : ClientTypes(of: document, kinds: names)
      text = types.text(in: language.language, options)
    } catch {
      throw StartupError(origin.map { "\($0): \(error)" } ?? "\(error)", cause: error)
    }
    guard let output else { return try Output.write(Array(text.utf8)) }
    if check { return try compare(text, with: output) }
    do {
      try Data(text.utf8).write(to: URL(filePath: output), options: .atomic)
    } catch {
      throw StartupError("cannot write \(output): \(error.localizedDescription)", cause: error)
    }
  }

  private var names: [String]? {
    kinds?.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  /// Returns the OpenRPC document, and the name of its origin for error messages.
  private func document() async throws -> (JSONValue, origin: String?) {
    if let connect, let address = ServerAddress(connect) {
      let server = DescribedServer(
        address: address, trust: trust.trust, token: try tokenFile.token())
      return (try await server.description(), connect)
    }
    guard let schema else {
      let description = try await programs.description(with: Program.kinds)
      for warning in description.warnings { Output.writeError("warning: \(warning)") }
      return (description.openRPC, nil)
    }
    let name = schema == "-" ? "standard input" : schema
    do {
      let file = try schema == "-" ? WholeFile(descriptor: STDIN_FILENO) : WholeFile(schema)
      return (try JSONValue(parsing: file.bytes, limits: JSONLimits(maximumDepth: 1024)), name)
    } catch let fault as WholeFile.Fault {
      throw StartupError("cannot read \(name): \(fault)", cause: fault)
    } catch {
      throw StartupError("\(name) is not JSON: \(error)", cause: error)
    }
  }

  private func compare(_ text: String, with output: String) throws {
    if let file = try? WholeFile(output), file.bytes.elementsEqual(text.utf8) { return }
    Output.writeError(
      "\(output) differs from the types of the server; run the command without --check")
    throw ExitCode.failure
  }

  /// The value of `--language`.
  struct LanguageOption: ExpressibleByArgument {
    let language: ClientTypes.Language

    init?(argument: String) {
      guard let language = ClientTypes.Language(rawValue: argument) else { return nil }
      self.language = language
    }

    static var allValueStrings: [String] { ClientTypes.Language.allCases.map(\.rawValue) }
  }
}
