// SPDX-License-Identifier: Apache-2.0

/// An option of `serve`.
///
/// Each option is declared once, in `ServeOption+Table.swift`. Both parsers of the command line,
/// the help and the completions use that declaration.
struct ServeOption: Sendable {
  enum Kind: Sendable {
    /// An option without a value.
    case flag
    /// An option with one value; if repeated, the last value is used.
    case value
    /// An option with one value that may be repeated; all values are used.
    case values
  }

  /// A reason to refuse a value.
  enum Fault {
    /// The value does not have the form of the option.
    case malformed
    /// The reason in one sentence.
    case because(String)
  }

  /// The name, without dashes.
  let name: String
  let kind: Kind
  /// The placeholder for the value in the help; nil for a flag.
  var valueName: String?
  /// True if the next word is always the value, even if it begins with a dash.
  var takesAnyWord = false
  /// Returns one sentence for the help; a closure, because only the help needs it.
  let summary: @Sendable () -> String
  /// More sentences for the help.
  var discussion = ""
  /// Reads a value (for a flag, the empty string) into the options; returns nil on success.
  let read: @Sendable (inout ServeOptions, String) -> Fault?

  /// Returns the error message for a refused value.
  func message(for fault: Fault, _ word: String) -> String {
    switch fault {
    case .malformed: "The value '\(word)' is invalid for '--\(name) <\(valueName ?? "")>'."
    case .because(let sentence): "--\(name): \(sentence)"
    }
  }
}

// MARK: - Kinds of values

extension ServeOption {
  /// Returns an option that sets a flag to true.
  static func flag(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Bool> & Sendable,
    discussion: String = "", _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(name: name, kind: .flag, summary: summary, discussion: discussion) { options, _ in
      options[keyPath: place] = true
      return nil
    }
  }

  /// Returns an option for any text.
  static func text(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, String?> & Sendable,
    valueName: String, discussion: String = "",
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: valueName, summary: summary, discussion: discussion
    ) { options, word in
      options[keyPath: place] = word
      return nil
    }
  }

  /// Returns a repeatable option for any texts.
  static func texts(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, [String]> & Sendable,
    valueName: String, discussion: String = "",
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .values, valueName: valueName, summary: summary, discussion: discussion
    ) { options, word in
      options[keyPath: place].append(word)
      return nil
    }
  }

  /// Returns a repeatable option for TCP addresses.
  static func listeners(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, [ListenerAddress]> & Sendable,
    discussion: String = "", _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .values, valueName: "host:port", summary: summary, discussion: discussion
    ) { options, word in
      guard let listener = ListenerAddress(word) else { return .malformed }
      options[keyPath: place].append(listener)
      return nil
    }
  }

  /// Returns an option for an integer.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - place: The property that it sets.
  ///   - least: The minimum, which the help does not mention.
  ///   - most: The maximum.
  ///   - summary: One sentence for the help, without the default.
  static func number(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Int> & Sendable, least: Int = 1,
    most: Int = .max, _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: unit(of: name), takesAnyWord: true,
      summary: { "\(summary()) (default: \(ServeOptions()[keyPath: place]))" },
      read: { options, word in number(word, least, most) { options[keyPath: place] = $0 } })
  }

  /// Returns an option for a positive integer, with a description of its default.
  static func number(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Int?> & Sendable,
    default: @escaping @Sendable @autoclosure () -> String,
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: unit(of: name), takesAnyWord: true,
      summary: { "\(summary()) (default: \(`default`()))" },
      read: { options, word in number(word, 1, .max) { options[keyPath: place] = $0 } })
  }

  /// Returns an option for a rate, an integer per second; 0 is no limit.
  static func rate(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Int?> & Sendable,
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: unit(of: name), takesAnyWord: true,
      summary: { "\(summary()) (default: \(ServeOptions()[keyPath: place] ?? 0))" },
      read: { options, word in
        number(word, 0, .max) { options[keyPath: place] = $0 > 0 ? $0 : nil }
      })
  }

  /// Returns an option for a time in seconds, at most 10^9; 0 is no limit.
  static func seconds(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Duration?> & Sendable,
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    let most = 1e9
    return ServeOption(
      name: name, kind: .value, valueName: "seconds", takesAnyWord: true,
      summary: {
        let time = ServeOptions()[keyPath: place] ?? .zero
        return "\(summary()) (default: \(time.components.seconds))"
      },
      read: { options, word in
        guard let seconds = Double(word) else { return .malformed }
        guard (0...most).contains(seconds) else {
          return .because("The time must be from 0 to \(Int(most)) seconds.")
        }
        options[keyPath: place] = seconds > 0 ? .seconds(seconds) : nil
        return nil
      })
  }

  /// Returns an option for one of several words.
  static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Choice> & Sendable,
    valueName: String, discussion: String = "",
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: valueName,
      summary: {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        let standard = ServeOptions()[keyPath: place].rawValue
        return "\(summary()) (values: \(words); default: \(standard))"
      }, discussion: discussion,
      read: { options, word in
        guard let choice = Choice(rawValue: word) else {
          let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
          return .because("'\(word)' is not one of \(words).")
        }
        options[keyPath: place] = choice
        return nil
      })
  }

  /// Returns the placeholder for the number of a limit.
  private static func unit(of name: String) -> String {
    name.split(separator: "-").contains("bytes") ? "bytes" : "count"
  }

  private static func number(
    _ word: String, _ least: Int, _ most: Int, _ store: (Int) -> Void
  ) -> Fault? {
    guard let number = Int(word) else { return .malformed }
    guard number >= least else {
      return .because("The limit must be at least \(least).")
    }
    guard number <= most else { return .because("The limit must be at most \(most).") }
    store(number)
    return nil
  }
}
