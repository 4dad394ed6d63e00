// SPDX-License-Identifier: Apache-2.0

/// An option of `serve`.
///
/// Each option is declared once, in `ServeOption+Table.swift`. Both parsers of the command line, the
/// environment, the configuration file, the help and the completions use that declaration.
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
    /// The value is not allowed; the reason in one sentence.
    case because(String)
    /// The value is allowed, but cannot be used here; the reason without a full stop.
    case unusable(String)
  }

  /// The name, without dashes.
  let name: String
  let kind: Kind
  /// The placeholder for the value in the help; nil for a flag.
  var valueName: String?
  /// True if the next word is always the value, even if it begins with a dash.
  var takesAnyWord = false
  /// Returns the summary in the help, one sentence; a closure, because only the help needs it.
  let summary: @Sendable () -> String
  /// More sentences for the help.
  var discussion = ""
  /// Returns the values that the option accepts, such as "a whole number from 1 to 1000".
  var allowed: @Sendable () -> String = { "a text" }
  /// Returns the default, or a description of it; nil if there is none.
  var standard: @Sendable () -> String? = { nil }
  /// The key in a configuration file if values have the form `NAME=VALUE`: the file has a mapping
  /// from names to values, and sources are merged by name. Nil: the key is the name of the option.
  var mappingKey: String?
  /// True if a value may contain a password: it is never shown.
  var isSecret = false
  /// True if the option may be in a configuration file.
  var isInFile = true
  /// True if a running server applies a changed value at SIGHUP.
  var isReloaded = false
  /// The name of another option for the same; the one from the source of higher precedence is used.
  var alternative: String?
  /// Reads a value (for a flag, the empty string) into the options; returns nil on success.
  let read: @Sendable (inout ServeOptions, String) -> Fault?

  /// Returns the error message for a refused value.
  func message(for fault: Fault, _ word: String) -> String {
    switch fault {
    case .malformed: "The value '\(word)' is invalid for '--\(name) <\(valueName ?? "")>'."
    case .because(let sentence): "--\(name): \(sentence)"
    case .unusable(let reason): "--\(name): \(reason)"
    }
  }

  /// The key in a configuration file.
  var key: String { mappingKey ?? name }

  /// The environment variable.
  var variable: String { Self.variablePrefix + name.uppercased().replacing("-", with: "_") }

  static let variablePrefix = "STATEWIRE_"

  /// Returns the option with some properties changed.
  func with(_ change: (inout ServeOption) -> Void) -> ServeOption {
    var option = self
    change(&option)
    return option
  }
}

// MARK: - Kinds of values

extension ServeOption {
  /// Returns an option that sets a flag to true.
  static func flag(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Bool> & Sendable,
    discussion: String = "", _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .flag, summary: summary, discussion: discussion,
      allowed: { "true or false" }, standard: { "false" },
      read: { options, _ in
        options[keyPath: place] = true
        return nil
      })
  }

  /// Returns an option for any text.
  static func text(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, String?> & Sendable,
    valueName: String, discussion: String = "",
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: valueName, summary: summary, discussion: discussion,
      read: { options, word in
        options[keyPath: place] = word
        return nil
      })
  }

  /// Returns an option for the path of a file, which may be a credential of systemd.
  static func file(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, String?> & Sendable,
    discussion: String = "", _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: "file", summary: summary, discussion: discussion,
      allowed: { "a path, or credential:NAME for a file in $\(CredentialFolder.variable)" },
      read: { options, word in
        do throws(CredentialFolder.Fault) {
          options[keyPath: place] = try options.credentials.path(word)
          return nil
        } catch {
          return .unusable(error.reason)
        }
      })
  }

  /// Returns a repeatable option for any texts.
  static func texts(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, [String]> & Sendable,
    valueName: String, discussion: String = "",
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .values, valueName: valueName, summary: summary, discussion: discussion,
      read: { options, word in
        options[keyPath: place].append(word)
        return nil
      })
  }

  /// Returns a repeatable option for TCP addresses.
  static func listeners(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, [ListenerAddress]> & Sendable,
    discussion: String = "", _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .values, valueName: "host:port", summary: summary, discussion: discussion,
      allowed: { "HOST:PORT, such as 127.0.0.1:7227 or [::1]:7227" },
      read: { options, word in
        guard let listener = ListenerAddress(word) else { return .malformed }
        options[keyPath: place].append(listener)
        return nil
      })
  }

  /// Returns an option for an integer.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - place: The property that it sets.
  ///   - least: The minimum, which the help does not mention.
  ///   - most: The maximum.
  ///   - summary: The summary in the help, one sentence without the default.
  static func number(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Int> & Sendable, least: Int = 1,
    most: Int = .max, _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: unit(of: name), takesAnyWord: true,
      summary: { "\(summary()) (default: \(ServeOptions()[keyPath: place]))" },
      allowed: { range(least, most) },
      standard: { "\(ServeOptions()[keyPath: place])" },
      read: { options, word in number(word, least, most) { options[keyPath: place] = $0 } })
  }

  /// Returns an option for a positive integer, with a description of its default.
  static func number(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Int?> & Sendable, most: Int = .max,
    default: @escaping @Sendable @autoclosure () -> String,
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: unit(of: name), takesAnyWord: true,
      summary: { "\(summary()) (default: \(`default`()))" },
      allowed: { range(1, most) }, standard: `default`,
      read: { options, word in number(word, 1, most) { options[keyPath: place] = $0 } })
  }

  /// Returns an option for a rate, an integer per second; 0 is no limit.
  static func rate(
    _ name: String, _ place: any WritableKeyPath<ServeOptions, Int?> & Sendable,
    _ summary: @escaping @Sendable @autoclosure () -> String
  ) -> ServeOption {
    ServeOption(
      name: name, kind: .value, valueName: unit(of: name), takesAnyWord: true,
      summary: { "\(summary()) (default: \(ServeOptions()[keyPath: place] ?? 0))" },
      allowed: { range(0, .max) },
      standard: { "\(ServeOptions()[keyPath: place] ?? 0)" },
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
      allowed: { "seconds from 0 to \(Int(most))" },
      standard: { "\((ServeOptions()[keyPath: place] ?? .zero).components.seconds)" },
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
      allowed: { "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))" },
      standard: { ServeOptions()[keyPath: place].rawValue },
      read: { options, word in
        guard let choice = Choice(rawValue: word) else {
          let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
          return .because("'\(word)' is not one of \(words).")
        }
        options[keyPath: place] = choice
        return nil
      })
  }

  private static func range(_ least: Int, _ most: Int) -> String {
    most == .max ? "a whole number of at least \(least)" : "a whole number from \(least) to \(most)"
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
