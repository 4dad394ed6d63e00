// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Foundation

/// The address of a database, with everything that is needed to connect to it.
///
/// The text is a connection string of libpq: `postgres://user:password@host:port/database?…`, or
/// `host=… dbname=…`. Passwords may also be in `PGPASSWORD`, `PGPASSFILE` or `~/.pgpass`.
///
/// - Source: https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING
public struct PostgresAddress: Sendable, CustomStringConvertible, CustomReflectable {
  /// The options in the text.
  let options: [(keyword: String, value: String)]

  /// Parses a connection string.
  ///
  /// - Throws: `PostgresError`; the message does not quote the text.
  public init(_ text: String) throws(PostgresError) {
    if let problem = postgres_load() { throw PostgresError(.notSent, String(cString: problem)) }
    guard let parsed = postgres_parse(text) else {
      throw PostgresError(
        .notSent,
        "the address of the database is not a connection string; an example is "
          + "postgres://user@host:5432/database")
    }
    defer { postgres_free_options(parsed) }
    var options: [(String, String)] = []
    var next = parsed
    while let keyword = next.pointee.keyword {
      if let value = next.pointee.value {
        options.append((String(cString: keyword), String(cString: value)))
      }
      next += 1
    }
    self.options = options
  }

  /// Reads the address from the first line of a file. Only its owner may have access to the file.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - isProtected: True if the folder of the file protects it, whatever its permissions are.
  /// - Throws: `PostgresError`.
  public init(file path: String, isProtected: Bool = false) throws(PostgresError) {
    let attributes: [FileAttributeKey: Any]
    let text: String
    do {
      attributes = try FileManager.default.attributesOfItem(atPath: path)
      text = try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw PostgresError(.notSent, "cannot read the address of the database in \(path)")
    }
    let mode = attributes[.posixPermissions] as? Int ?? 0
    guard isProtected || mode & 0o077 == 0 else {
      throw PostgresError(
        .notSent,
        "other users can read the address of the database in \(path); run chmod 600 \(path)")
    }
    let line = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).first
    try self.init(String(line ?? "").trimmingCharacters(in: .whitespaces))
  }

  /// Returns the address that a user has configured; nil if there is none.
  ///
  /// - Parameters:
  ///   - option: The value of a command-line option, which precedes the environment.
  ///   - environment: The value of an environment variable.
  /// - Throws: `PostgresError`. Either value may be `file:PATH`, so that a password is neither in
  ///   the list of processes nor in the environment.
  public static func configured(
    option: String?, environment: String?
  ) throws(PostgresError) -> PostgresAddress? {
    guard let text = option ?? environment, !text.isEmpty else { return nil }
    if text.hasPrefix("file:") {
      return try PostgresAddress(file: String(text.dropFirst("file:".count)))
    }
    return try PostgresAddress(text)
  }

  /// True if the text has a password. Other users of the machine see one that is in an option.
  public var hasPassword: Bool { options.contains { $0.keyword == "password" } }

  /// The host, port, database and user, without the password.
  public var description: String {
    let shown = ["host", "hostaddr", "port", "dbname", "user"]
    let parts = options.filter { shown.contains($0.keyword) }.map { "\($0.keyword)=\($0.value)" }
    return parts.isEmpty ? "the default database of libpq" : parts.joined(separator: " ")
  }

  /// No members, so that no log prints the password.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Returns the options to connect with: those in the text, and defaults for the others.
  ///
  /// A connection whose other end has disappeared is noticed within about 10 s.
  func keywords(application: String) -> [(keyword: String, value: String)] {
    let defaults = [
      ("application_name", application), ("connect_timeout", "5"), ("keepalives_idle", "5"),
      ("keepalives_interval", "2"), ("keepalives_count", "3"), ("tcp_user_timeout", "10000"),
      ("target_session_attrs", "read-write"), ("client_encoding", "UTF8"),
      // Otherwise each connection first looks for a Kerberos ticket.
      ("gssencmode", "disable"),
    ]
    return options.filter { $0.keyword != "client_encoding" }
      + defaults.filter { name, _ in
        name == "client_encoding" || !options.contains { $0.keyword == name }
      }
  }
}
