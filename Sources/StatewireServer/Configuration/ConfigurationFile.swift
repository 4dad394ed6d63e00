// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import Transports

/// A configuration file: a YAML mapping whose keys are names of options.
struct ConfigurationFile: Sendable {
  private static let maximumBytes = 1 << 20

  let path: String
  /// The options, by name.
  private(set) var settings: [String: OptionSetting] = [:]
  /// The settings of store programs, by the names of their kinds.
  private(set) var programs: [String: ProgramSettings] = [:]
  /// Everything that cannot be used.
  private(set) var faults: [SettingFault] = []
  /// True if other users may read or change the file.
  private(set) var isExposed = false

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - options: The options that may be in it.
  init(_ path: String, _ options: [ServeOption]) {
    self.path = path
    do throws(WholeFile.Fault) {
      let file = try WholeFile(path, maximumBytes: Self.maximumBytes)
      isExposed = file.isRegular && file.mode & 0o077 != 0
      guard let text = String(validating: file.bytes, as: UTF8.self) else {
        fault(nil, "\(path): not UTF-8")
        return
      }
      read(text, options)
    } catch {
      fault(nil, "the configuration in \(path) cannot be read: \(error)")
    }
  }

  /// Reads the text of a file.
  init(_ path: String, text: String, _ options: [ServeOption]) {
    self.path = path
    read(text, options)
  }

  private mutating func read(_ text: String, _ options: [ServeOption]) {
    let root: FileValue
    do throws(FileValue.Fault) {
      root = try FileValue(parsing: text)
    } catch {
      fault(error.line, "\(path):\(error.line.map { "\($0): " } ?? " ")\(error.reason)")
      return
    }
    guard let entries = root.entries else {
      fault(
        root.line, "\(path):\(root.line): the file must be a mapping from options to values")
      return
    }
    let keys = options.filter(\.isInFile).map(\.key)
    for entry in entries {
      guard let option = options.first(where: { $0.key == entry.key }) else {
        let nearest = NameSuggestion.nearest(to: entry.key, in: keys)
        fault(
          entry,
          "unknown key; "
            + (nearest.map { "did you mean '\($0)'?" } ?? "serve --help lists the options"))
        continue
      }
      guard option.isInFile else {
        fault(entry, "this option cannot be in a configuration file")
        continue
      }
      read(entry, option)
    }
  }

  private mutating func read(_ entry: FileValue.Entry, _ option: ServeOption) {
    if option.mappingKey != nil { return readMapping(entry, option) }
    let source = SettingSource.file(path: path, line: entry.line)
    switch option.kind {
    case .flag, .value:
      guard let text = entry.value.text else {
        return fault(entry, "one value is required; allowed: \(option.allowed())")
      }
      settings[option.name] = OptionSetting(option, [text], source)
    case .values:
      guard let texts = entry.value.texts else {
        return fault(entry, "a value or a list is required; allowed in it: \(option.allowed())")
      }
      settings[option.name] = OptionSetting(option, texts, source)
    }
  }

  /// Reads a mapping from names to values. A store can have a mapping of settings instead of a command.
  private mutating func readMapping(_ entry: FileValue.Entry, _ option: ServeOption) {
    guard let members = entry.value.entries else {
      return fault(entry, "a mapping from names to values is required")
    }
    var setting = OptionSetting(option, [], .file(path: path, line: entry.line))
    for member in members {
      let source = SettingSource.file(path: path, line: member.line)
      if let text = member.value.text {
        setting.override(by: OptionSetting(option, ["\(member.key)=\(text)"], source))
      } else if option.name == "store", let entries = member.value.entries {
        var program = ProgramSettings()
        for entry in entries {
          if let message = program.add(entry, of: member.key, in: path) {
            fault(entry.line, message)
          }
        }
        program.line = member.line
        programs[member.key] = program
        if let command = program.command {
          setting.override(
            by: OptionSetting(option, ["\(member.key)=\(command.text)"], command.source))
        }
      } else {
        fault(
          member.line, "\(path):\(member.line): \(entry.key).\(member.key): one value is required")
      }
    }
    settings[option.name] = setting
  }

  private mutating func fault(_ entry: FileValue.Entry, _ reason: String) {
    fault(entry.line, "\(path):\(entry.line): \(entry.key.printable): \(reason)")
  }

  private mutating func fault(_ line: Int?, _ message: String) {
    faults.append(SettingFault(line: line, message: message))
  }
}
