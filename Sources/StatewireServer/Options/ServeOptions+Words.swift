// SPDX-License-Identifier: Apache-2.0

extension ServeOptions {
  /// Reads a well-formed command line without ArgumentParser, whose start takes as long as that of
  /// the server.
  ///
  /// Both parsers use the same declarations, so they can differ only in the division into words.
  /// This initializer accepts `--name value`, `--name=value` and `--flag`, if no value looks like
  /// an option.
  ///
  /// - Parameters:
  ///   - words: The words after `serve`.
  ///   - hasBuiltin: True if the program has the built-in kinds.
  /// - Returns: Nil for every other command line, for example one with `--help` or with a mistake:
  ///   ArgumentParser handles it.
  init?(words: some Sequence<String>, hasBuiltin: Bool) {
    self.init()
    var options = OptionLookup(hasBuiltin: hasBuiltin)
    var words = words.makeIterator()
    while let word = words.next() {
      guard word.hasPrefix("--") else { return nil }
      let parts = word.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let option = options.option(named: parts[0]) else { return nil }
      var value = parts.count > 1 ? String(parts[1]) : nil
      if option.kind == .flag {
        guard value == nil else { return nil }
        value = ""
      } else {
        if value == nil {
          value = words.next()
          if !option.takesAnyWord, value?.hasPrefix("-") != false { return nil }
        }
        guard value?.isEmpty == false else { return nil }
      }
      guard let value, option.read(&self, value) == nil else { return nil }
    }
    do { try validate() } catch { return nil }
  }
}

/// A lookup of options by name; a section is created on first use.
private struct OptionLookup {
  private let hasBuiltin: Bool
  private lazy var general = ServeOption.general(hasBuiltin: hasBuiltin)
  private lazy var security = ServeOption.security
  private lazy var limits = ServeOption.limits(hasBuiltin: hasBuiltin)

  init(hasBuiltin: Bool) { self.hasBuiltin = hasBuiltin }

  mutating func option(named name: some StringProtocol) -> ServeOption? {
    general.first { $0.name == name } ?? security.first { $0.name == name }
      ?? limits.first { $0.name == name }
  }
}
