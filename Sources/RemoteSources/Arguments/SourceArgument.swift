// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// A source as written on the command line: `NAME=URL`.
///
/// - Shape: `user=https://example.com/user`, `user=http://…`, or `notes=file:notes.txt`. A file is
///   named relative to the folder of the sources, without `..`. The folder is `--source-dir`, or
///   the current folder.
public struct SourceArgument: Hashable, Sendable {
  /// The location of a source.
  enum Location: Hashable {
    case http(HTTPAddress)
    case file(FileName)
  }

  /// The name that frontends use: letters, digits, `.`, `-` and `_`.
  public let name: String
  let location: Location

  /// The origin of a source that is loaded over HTTP; nil for a file.
  public var origin: String? {
    if case .http(let address) = location { address.origin } else { nil }
  }

  /// Parses an argument.
  ///
  /// - Throws: `SourceError` with one sentence that names the source and does not quote a URL.
  public init(_ text: String) throws(SourceError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw SourceError("a source must have the form NAME=URL") }
    let (name, location) = (String(parts[0]), String(parts[1]))
    guard !name.isEmpty, name.utf8.allSatisfy(Self.isInName) else {
      throw SourceError(
        "the name of a source may only contain letters, digits, \".\", \"-\" and \"_\"")
    }
    self.name = name
    do {
      self.location = try Self.location(location)
    } catch {
      throw SourceError("the source \(name) cannot be used: \(error.message)")
    }
  }

  private static func location(_ text: String) throws(SourceError) -> Location {
    let end = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
    switch String(decoding: text.utf8[..<end].map(\.asciiLowercased), as: UTF8.self) {
    case "file" where end < text.endIndex:
      return .file(try FileName(String(decoding: text.utf8[end...].dropFirst(), as: UTF8.self)))
    case "http", "https":
      return .http(try HTTPAddress(text))
    default:
      throw SourceError("its URL must start with https://, http:// or file:")
    }
  }

  private static func isInName(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || ".-_".utf8.contains(byte)
  }
}

extension SourceArgument {
  /// Parses all arguments.
  ///
  /// - Throws: `SourceError` if one is malformed, or if two have the same name.
  public static func all(_ texts: [String]) throws(SourceError) -> [SourceArgument] {
    let arguments = try texts.map { text throws(SourceError) in try SourceArgument(text) }
    try check(arguments)
    return arguments
  }

  private static func check(_ arguments: [SourceArgument]) throws(SourceError) {
    var names: Set<String> = []
    for argument in arguments where !names.insert(argument.name).inserted {
      throw SourceError("two sources have the name \(argument.name)")
    }
  }

  /// Creates the sources of a program.
  ///
  /// - Parameters:
  ///   - arguments: The names and locations of the sources.
  ///   - folder: The folder of the sources that are files.
  ///   - client: The HTTP client of the sources with a URL.
  ///   - maximumBytes: The largest size of one source, in bytes. All that are fetched over HTTP at
  ///     the same time may have four times as many together.
  ///   - openFiles: Number of files that are read at the same time; a large one counts as several.
  ///     More loads wait.
  /// - Throws: `SourceError` if two have the same name, or a file cannot be used.
  public static func sources(
    _ arguments: [SourceArgument], folder: String = ".", client: RemoteClient,
    maximumBytes: Int = HTTPSource.maximumBytes, openFiles: Int = FileSource.openFiles
  ) throws(SourceError) -> LoadingSources {
    try check(arguments)
    let permits = AsyncSemaphore(openFiles)
    let (bytes, isTooLarge) = maximumBytes.multipliedReportingOverflow(by: 4)
    let quota = LoadingQuota(bytes: isTooLarge ? .max : bytes)
    var sources = LoadingSources()
    for argument in arguments {
      sources[argument.name] = try argument.source(
        folder, client, maximumBytes, quota, openFiles, permits)
    }
    return sources
  }

  private func source(
    _ folder: String, _ client: RemoteClient, _ maximumBytes: Int, _ quota: LoadingQuota,
    _ openFiles: Int, _ permits: AsyncSemaphore
  ) throws(SourceError) -> any LoadingSource {
    switch location {
    case .http(let address):
      return HTTPSource(address, client: client, maximumBytes: maximumBytes, quota: quota)
    case .file(let file):
      do {
        return try FileSource(
          folder: folder, name: file, maximumBytes: maximumBytes, openFiles: openFiles,
          permits: permits)
      } catch {
        throw SourceError("the source \(name) cannot be used: \(error.message)")
      }
    }
  }
}
