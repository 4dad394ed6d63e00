// SPDX-License-Identifier: Apache-2.0

/// The options of a server, from the command line, the environment and the configuration file; the
/// first of these that has an option decides.
struct EffectiveOptions: Sendable {
  /// The values; of options with a fault, the default.
  private(set) var options = ServeOptions()
  /// The options that have a value, in the order of the help.
  private(set) var settings: [OptionSetting] = []
  /// Messages about all values that cannot be used. A server with any of them does not start.
  private(set) var faults: [String] = []
  /// Messages about secrets that other users may read.
  private(set) var warnings: [String] = []
  /// The keys of the options that a running server reloads.
  let reloadedKeys: Set<String>

  /// Reads the environment and the file that the command line or the environment names.
  ///
  /// - Parameters:
  ///   - commandLine: The options on the command line.
  ///   - environment: The environment.
  ///   - hasBuiltin: True if the program has the built-in kinds.
  init(_ commandLine: CommandLineOptions, environment: [String: String], hasBuiltin: Bool) {
    let all = ServeOption.all(hasBuiltin: hasBuiltin)
    let path =
      commandLine.options.configurationFile
      ?? all.first { !$0.isInFile }.flatMap { environment[$0.variable] }
    let file = path.flatMap { $0.isEmpty ? nil : ConfigurationFile($0, all) }
    self.init(commandLine, environment: environment, file, all)
  }

  init(
    _ commandLine: CommandLineOptions, environment: [String: String], _ file: ConfigurationFile?,
    _ all: [ServeOption]
  ) {
    reloadedKeys = Set(all.filter(\.isReloaded).map(\.key))
    var faults = file?.faults ?? []
    var found: [String: OptionSetting] = [:]
    for option in all {
      let words = commandLine.given.filter { $0.option.name == option.name }.map(\.word)
      let given =
        words.isEmpty
        ? nil
        : OptionSetting(
          option, option.kind == .flag ? ["true"] : option.kind == .value ? words.suffix(1) : words,
          .commandLine)
      let sources = [
        file?.settings[option.name], EnvironmentSettings.setting(of: option, in: environment),
        given,
      ].compactMap { $0 }
      guard var setting = sources.first else { continue }
      for other in sources.dropFirst() { setting.override(by: other) }
      found[option.name] = setting
    }
    // One of two options for the same is used, if they are in different sources.
    for option in all {
      guard let setting = found[option.name], let name = option.alternative,
        let other = found[name]
      else { continue }
      if setting.source.precedence < other.source.precedence { found[option.name] = nil }
    }
    settings = all.compactMap { found[$0.name] }
    options.credentials = CredentialFolder(environment)
    for setting in settings { faults += setting.read(into: &options) }
    for (name, program) in file?.programs ?? [:] {
      if options.stores.contains(where: { OptionSetting.name(in: $0) == name }) {
        options.programs[name] = program
      } else if !program.hasCommand {
        faults.append(
          SettingFault(
            line: program.line,
            message:
              "\(file?.path ?? ""):\(program.line): stores.\(name): no command; add command, or pass "
              + "--store \(name)=COMMAND"))
      }
    }
    // In the order of the file; those of the environment come last.
    self.faults = faults.sorted { ($0.line ?? .max) < ($1.line ?? .max) }.map(\.message)
    if let database = found["database"] ?? found["database-file"] {
      options.databasePlace =
        database.source == .commandLine ? nil : database.source.place(of: database.option)
    }
    if let file, file.isExposed { warnings = Self.warnings(file) }
  }

  /// The values by key, to find changes: options, and settings of store programs in the file.
  var texts: [String: [String]] {
    var texts: [String: [String]] = [:]
    for setting in settings {
      guard let key = setting.option.mappingKey else {
        texts[setting.option.key] = setting.values.map(\.text)
        continue
      }
      for value in setting.values {
        let name = OptionSetting.name(in: value.text)
        let end = setting.option.name == "store" ? ".\(ProgramSetting.command)" : ""
        texts["\(key).\(name)\(end)", default: []].append(value.text)
      }
    }
    for (name, program) in options.programs {
      for member in program.members where member.setting.key != ProgramSetting.command {
        texts["stores.\(name).\(member.setting.key)"] = [member.value.canonicalText]
      }
    }
    return texts
  }

  /// Returns a warning for each secret in a file that other users may read or change.
  private static func warnings(_ file: ConfigurationFile) -> [String] {
    let secrets = file.settings.values.filter { setting in
      setting.option.isSecret
        && setting.values.contains { !isReference($0.text, setting.option) }
    }.map(\.option.key)
    let programs = file.programs.filter { $0.value.members.contains { $0.setting.isSecret } }
      .map { "stores.\($0.key).environment" }
    return (secrets + programs).sorted().map { key in
      "other users may read or change \(key) in \(file.path); set its permissions to 600"
    }
  }

  /// True if the value of an option that may be a secret names a file instead.
  static func isReference(_ text: String, _ option: ServeOption) -> Bool {
    let value = option.mappingKey == nil ? text[...] : text.drop { $0 != "=" }.dropFirst()
    return value.hasPrefix("@") || value.hasPrefix("file:")
  }
}

extension SettingSource {
  fileprivate var precedence: Int {
    switch self {
    case .file: 0
    case .environment: 1
    case .commandLine: 2
    }
  }
}
