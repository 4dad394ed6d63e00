// SPDX-License-Identifier: Apache-2.0

/// One option of `serve`. It is declared once, in a table of `ServeOption+Table.swift`; every parser of the command
/// line, the help and the completions read that declaration.
struct ServeOption: Sendable {
  enum Kind: Sendable {
    /// Takes no value.
    case flag
    /// Takes one value; of several the last one counts.
    case value
    /// Takes one value, and may be repeated.
    case values
  }

  /// The reason why a value cannot be used.
  enum Fault {
    /// The value has another form.
    case malformed
    /// One sentence.
    case because(String)
  }

  /// Without the dashes.
  let name: String
  let kind: Kind
  /// The word for the value in the help; nil: the name.
  var valueName: String?
  /// True if every word after the option is its value, also one that begins with a dash.
  var takesAnyWord = false
  /// One sentence of the help. It is a closure since only the help needs it.
  let summary: @Sendable () -> String
  /// More sentences of the help.
  var discussion = ""
  /// Reads a value, the empty text for a flag.
  let read: @Sendable (inout ServeOptions, String) -> Fault?

  /// Returns the sentence that tells the user why a value was refused.
  func message(for fault: Fault, _ word: String) -> String {
    switch fault {
    case .malformed: "The value '\(word)' is invalid for '--\(name) <\(valueName ?? name)>'."
    case .because(let sentence): "--\(name): \(sentence)"
    }
  }
}

// MARK: - Kinds of values

extension ServeOption {
  static func flag(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Bool> & Sendable,
    discussion: String = "", _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(name: name, kind: .flag, summary: summary, discussion: discussion) { options, _ in
      options[keyPath: place] = true
      return nil
    }
  }

  /// Any text.
  static func text(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, String?> & Sendable,
    valueName: String? = nil, discussion: String = "",
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: valueName, summary: summary, discussion: discussion
    ) { options, word in
      options[keyPath: place] = word
      return nil
    }
  }

  /// Any texts.
  static func texts(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, [String]> & Sendable,
    valueName: String? = nil, discussion: String = "",
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .values, valueName: valueName, summary: summary, discussion: discussion
    ) { options, word in
      options[keyPath: place].append(word)
      return nil
    }
  }

  /// TCP addresses.
  static func listeners(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, [ListenerAddress]> & Sendable,
    discussion: String = "", _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(name: name, kind: .values, summary: summary, discussion: discussion) {
      options, word in
      guard let listener = ListenerAddress(word) else { return .malformed }
      options[keyPath: place].append(listener)
      return nil
    }
  }

  /// A whole number.
  ///
  /// - Parameters:
  ///   - least: The least value; the help does not name it.
  ///   - most: The greatest value.
  static func number(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Int> & Sendable, least: Int = 1,
    most: Int = .max, _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, takesAnyWord: true,
      summary: { "\(summary()) (default: \(ServeOptions()[keyPath: place]))" },
      read: { options, word in number(word, least, most) { options[keyPath: place] = $0 } })
  }

  /// A whole number from 1 that has another default than a number.
  static func number(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Int?> & Sendable,
    default: @escaping @Sendable @autoclosure () -> String,
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, takesAnyWord: true,
      summary: { "\(summary()) (default: \(`default`()))" },
      read: { options, word in number(word, 1, .max) { options[keyPath: place] = $0 } })
  }

  /// A whole number in a second; 0 is any number.
  static func rate(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Int?> & Sendable,
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, takesAnyWord: true,
      summary: { "\(summary()) (default: \(ServeOptions()[keyPath: place] ?? 0))" },
      read: { options, word in
        number(word, 0, .max) { options[keyPath: place] = $0 > 0 ? $0 : nil }
      })
  }

  /// A number of seconds; 0 is any time.
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
          return .because("A time is at least 0 seconds, and at most \(Int(most)).")
        }
        options[keyPath: place] = seconds > 0 ? .seconds(seconds) : nil
        return nil
      })
  }

  /// One of a few words.
  static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Choice> & Sendable,
    valueName: String? = nil, discussion: String = "",
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
          return .because("'\(word)' is none of \(words).")
        }
        options[keyPath: place] = choice
        return nil
      })
  }

  private static func number(
    _ word: String, _ least: Int, _ most: Int, _ store: (Int) -> Void
  ) -> Fault? {
    guard let number = Int(word) else { return .malformed }
    guard number >= least else {
      return .because("A limit is at least \(least).")
    }
    guard number <= most else { return .because("The limit is at most \(most).") }
    store(number)
    return nil
  }
}
