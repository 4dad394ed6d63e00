// SPDX-License-Identifier: Apache-2.0

/// The options on a command line, in its order.
struct CommandLineOptions: Sendable {
  /// The options and their values; a flag has the empty string.
  private(set) var given: [(option: ServeOption, word: String)] = []
  /// The values of these options alone.
  private(set) var options = ServeOptions()

  /// No options.
  init() {}

  /// Adds an option after the others; returns nil on success.
  mutating func add(_ option: ServeOption, _ word: String) -> ServeOption.Fault? {
    given.append((option, word))
    return option.read(&options, word)
  }

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
    var lookup = OptionLookup(hasBuiltin: hasBuiltin)
    var words = words.makeIterator()
    while let word = words.next() {
      guard word.hasPrefix("--") else { return nil }
      let parts = word.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let option = lookup.option(named: parts[0]) else { return nil }
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
      guard let value, add(option, value) == nil else { return nil }
    }
    do { try options.validate() } catch { return nil }
  }
}

/// A lookup of options by name, which creates the options of one group after the other.
private struct OptionLookup {
  private var created: [ServeOption] = []
  private var others: ArraySlice<() -> [ServeOption]>

  init(hasBuiltin: Bool) { others = ServeOption.groups(hasBuiltin: hasBuiltin)[...] }

  mutating func option(named name: some StringProtocol) -> ServeOption? {
    if let known = created.first(where: { $0.name == name }) { return known }
    while let group = others.popFirst() {
      let new = group()
      created += new
      if let option = new.first(where: { $0.name == name }) { return option }
    }
    return nil
  }
}
