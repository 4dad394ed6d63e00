// SPDX-License-Identifier: Apache-2.0

internal import Yams

/// A value in a configuration file, with its line.
///
/// A scalar is the text in the file, without a type: the option decides how it is read, as on the
/// command line and in the environment. So `no`, `010` and `12:30` are what they look like.
struct FileValue: Sendable {
  enum Content: Sendable {
    /// A scalar; nil if nothing is after the key.
    case text(String?)
    case list([FileValue])
    case mapping([Entry])
  }

  /// A member of a mapping.
  struct Entry: Sendable {
    let key: String
    let line: Int
    let value: FileValue
  }

  /// The reason why a file cannot be read.
  struct Fault: Error {
    /// Counted from 1; nil if it is not known.
    let line: Int?
    let reason: String
  }

  let content: Content
  let line: Int

  /// Parses a document; an empty one is a mapping without members.
  init(parsing yaml: String) throws(Fault) {
    // The parser owns the anchors.
    let parser: Parser
    let root: Node?
    do {
      parser = try Parser(yaml: yaml)
      root = try parser.singleRoot()
    } catch let error as YamlError {
      throw Fault(error, in: yaml)
    } catch {
      throw Fault(line: nil, reason: "\(error)")
    }
    guard let root else {
      self.init(.mapping([]), line: 1)
      return
    }
    self = try withExtendedLifetime(parser) { () throws(Fault) in try FileValue(root) }
  }

  private init(_ content: Content, line: Int) { (self.content, self.line) = (content, line) }

  private init(_ node: Node) throws(Fault) {
    let line = node.mark?.line ?? 1
    if node.anchor != nil {
      throw Fault(line: line, reason: "anchors are not supported; write the value again")
    }
    switch node {
    case .scalar(let scalar):
      let isAbsent = scalar.style == .plain && ["", "~", "null"].contains(scalar.string)
      self.init(.text(isAbsent ? nil : scalar.string), line: line)
    case .sequence(let sequence):
      var list: [FileValue] = []
      for element in sequence { list.append(try FileValue(element)) }
      self.init(.list(list), line: line)
    case .mapping(let mapping):
      var entries: [Entry] = []
      for (key, value) in mapping {
        let line = key.mark?.line ?? line
        guard case .scalar(let name) = key else {
          throw Fault(line: line, reason: "a key must be a text")
        }
        guard !entries.contains(where: { $0.key == name.string }) else {
          throw Fault(line: line, reason: "the key '\(name.string)' occurs twice")
        }
        entries.append(Entry(key: name.string, line: line, value: try FileValue(value)))
      }
      self.init(.mapping(entries), line: line)
    case .alias: throw Fault(line: line, reason: "aliases are not supported; write the value again")
    }
  }

  /// The text of a scalar with at least one character.
  var text: String? {
    if case .text(let text?) = content, !text.isEmpty { text } else { nil }
  }

  /// The texts of a list, or of a scalar; nil if there is another value in it.
  var texts: [String]? {
    switch content {
    case .text: return text.map { [$0] }
    case .list(let list):
      let texts = list.compactMap(\.text)
      return texts.count == list.count ? texts : nil
    case .mapping: return nil
    }
  }

  /// The members of a mapping.
  var entries: [Entry]? {
    if case .mapping(let entries) = content { entries } else { nil }
  }
}

extension FileValue {
  /// A text that equal values have, whatever their form in the file is.
  var canonicalText: String {
    switch content {
    case .text(let text): "\(text ?? "")".debugDescription
    case .list(let list): "[" + list.map(\.canonicalText).joined(separator: ",") + "]"
    case .mapping(let entries):
      "{"
        + entries.sorted { $0.key < $1.key }
        .map { "\($0.key.debugDescription):\($0.value.canonicalText)" }.joined(separator: ",") + "}"
    }
  }
}

extension FileValue.Fault {
  /// The reason in an error of the parser.
  init(_ error: YamlError, in yaml: String) {
    switch error {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      let start = context.map { "\($0.text) (line \($0.mark.line)): " } ?? ""
      self.init(line: mark.line, reason: "not YAML: \(start)\(problem)")
    case .reader(let problem, let offset, _, _):
      let line = offset.map { offset in
        1 + yaml.prefix(offset).count(where: \.isNewline)
      }
      self.init(line: line, reason: "not YAML: \(problem)")
    case .duplicatedKeysInMapping(let keys, let context):
      self.init(line: context.mark.line, reason: "the key '\(keys[0])' occurs twice")
    default: self.init(line: nil, reason: "not YAML: \(error)")
    }
  }
}
