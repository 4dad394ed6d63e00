// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

/// The state of a store whose machine is a program, as the server keeps and journals it.
struct ProcessState: Codable, Sendable {
  /// The version of the program that has made `state`; 0 before the first.
  var version: Int
  /// The state of the program.
  var state: VersionedValue
  /// True if clients receive `shown`; false if they receive the state.
  private var hasView: Bool
  private var shown: VersionedValue
  /// The property of viewers that selects their view; nil for none.
  let viewKey: ViewKey?
  /// The views of single viewers, by `viewName`.
  private(set) var views: [String: VersionedValue]
  /// The bytes of `views`; nil after a restart.
  private var viewsBytes: Int?
  /// The effects that have not ended, in the order in which they began. A list in which one is found
  /// by its key, because each input in flight can have one.
  private(set) var pending: KeyedList<PendingEffect>
  /// The bytes of `pending`; nil after a restart.
  private var pendingBytes: Int?
  /// The number of the last input that the program has responded to with an update. Inputs of one
  /// store are responded to in order, so those up to it are part of the state. Nil before the first,
  /// and in the journals of earlier versions.
  var answered: UInt64?

  init(
    version: Int, state: VersionedValue, view: VersionedValue?, views: [String: VersionedValue],
    pending: KeyedList<PendingEffect> = [], viewKey: ViewKey? = nil
  ) {
    (self.version, self.state, self.views, self.pending) = (version, state, views, pending)
    // Apart from its value, because a view may be null.
    (hasView, shown, self.viewKey) = (view != nil, view ?? .empty, viewKey)
  }

  private enum CodingKeys: String, CodingKey {
    case version, state, hasView, shown, viewKey, views, pending, answered
  }

  /// The most effects that have not ended: with more, the store takes no inputs, and drops actions.
  static let maximumEffects = 10_000
  var hasTooManyEffects: Bool { pending.count > Self.maximumEffects }

  /// Returns the least interval of the repeated effects among those that begin, in milliseconds. All of a store
  /// give at most about ten actions per millisecond, because each passes the loop that serves other stores.
  func leastInterval(beginning effects: some Sequence<PendingEffect>) -> Int {
    guard effects.contains(where: \.isRepeated) else { return 0 }
    return pending.count { $0.isRepeated } / 10
  }

  /// The bytes that are not in the view that clients receive.
  var hiddenBytes: Int {
    let views = viewsBytes ?? self.views.values.reduce(0) { $0 + $1.textBytes }
    let pending = pendingBytes ?? self.pending.reduce(0) { $0 + $1.bytes }
    return (hasView ? state.textBytes : 0) + views + pending
  }

  /// Takes the state and the views of an update.
  mutating func take(_ update: ProcessUpdate) {
    (version, state, view) = (update.version, update.state, update.view)
    (views, viewsBytes) = (update.views, update.viewsBytes)
    if let answered = update.answered { self.answered = answered }
    if let ended = update.ended { end(ended) }
    begin(update.effects)
  }

  /// Removes an effect that has ended.
  mutating func end(_ key: Int) {
    if let bytes = pendingBytes, let ended = pending[id: key] { pendingBytes = bytes - ended.bytes }
    pending.remove(id: key)
  }

  /// The view that clients receive; nil if they receive the state.
  var view: VersionedValue? {
    get { hasView ? shown : nil }
    set { (hasView, shown) = (newValue != nil, newValue ?? .empty) }
  }

  /// The view of a viewer; nil for the view of everyone.
  func view(of viewer: String?) -> VersionedValue {
    viewer.flatMap { views[$0] } ?? view ?? state
  }
}

extension ProcessState {
  /// Adds the effects that begin, and removes those that are cancelled.
  ///
  /// It goes through the pending effects at most twice, however many effects begin.
  mutating func begin(_ effects: [PendingEffect]) {
    // The last cancellation of each id.
    var cancelled: [ByteString: Int] = [:]
    for (index, new) in effects.enumerated() where new.effect.type == .cancel {
      if let id = new.effectID { cancelled[id] = index }
    }
    var bytes = pendingBytes ?? pending.reduce(0) { $0 + $1.bytes }
    if !cancelled.isEmpty {
      pending.removeAll { each in
        guard let id = each.effectID, cancelled[id] != nil else { return false }
        bytes -= each.bytes
        return true
      }
    }
    var repeating: Set<ByteString>?
    for (index, new) in effects.enumerated() where new.effect.type != .cancel {
      if let id = new.effectID, let end = cancelled[id], index < end { continue }
      if new.effect.type == .every, let id = new.effectID {
        var running = repeating ?? Set(pending.lazy.filter(\.isRepeated).compactMap(\.effectID))
        let isFirst = running.insert(id).inserted
        repeating = running
        if !isFirst { continue }
      }
      pending.append(new)
      bytes += new.bytes
    }
    pendingBytes = bytes
  }
}

/// Returns the key of the views of viewers with a name.
///
/// The characters outside of ASCII are escaped, as in JSON. Swift compares texts by their characters, and
/// two viewers whose names have the same characters in other bytes are two.
func viewName(_ name: String) -> String {
  let backslash = UInt16(UInt8(ascii: "\\"))
  guard name.utf16.contains(where: { $0 >= 0x80 || $0 == backslash }) else { return name }
  var key = ""
  for unit in name.utf16 {
    if unit < 0x80, unit != backslash {
      key.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
    } else {
      let digits = String(unit, radix: 16)
      key += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }
  return key
}

/// The change of a store that a response of the program makes.
///
/// A class: it is passed from the thread of the program to that of the store.
final class ProcessUpdate: Sendable {
  let version: Int
  let state: VersionedValue
  let view: VersionedValue?
  let views: [String: VersionedValue]
  let viewsBytes: Int
  /// The effects that begin.
  let effects: [PendingEffect]
  let events: [ProcessEvent]
  let isRedaction: Bool
  /// The effect that ends with the update; nil for none.
  let ended: Int?
  /// The number of the input that it responds to; nil for none, or if the store is not journaled.
  let answered: UInt64?

  init(
    version: Int, state: VersionedValue, view: VersionedValue?, views: [String: VersionedValue],
    viewsBytes: Int,
    effects: [PendingEffect], events: [ProcessEvent], isRedaction: Bool, ended: Int?,
    answered: UInt64?
  ) {
    (self.version, self.state, self.view) = (version, state, view)
    (self.views, self.viewsBytes) = (views, viewsBytes)
    (self.effects, self.events, self.isRedaction) = (effects, events, isRedaction)
    (self.ended, self.answered) = (ended, answered)
  }
}

/// An event of a program.
struct ProcessEvent: Encodable, Sendable {
  let event: JSONText
  /// The values of the property that selects views, whose viewers receive it; nil for everyone.
  let recipients: [String]?

  func encode(to encoder: any Encoder) throws { try event.encode(to: encoder) }
}

extension ProcessEvent: JSONWritable {
  func write(to writer: inout JSONWriter) { event.write(to: &writer) }
}

/// The reason why the program receives an action for a failure.
struct ActionFailure: Hashable, Sendable {
  enum Reason: String, Sendable { case error, timeout, interrupted, fault }

  let reason: Reason
  let message: String
}

/// The part of an effect that an action comes from.
enum ActionOrigin: Sendable {
  /// A time of an effect that is repeated. One that waits for the program stands for all later ones.
  case tick
  /// Work that continues.
  case work
  /// The end of the effect, which ends with the response.
  case end
}

/// An action of the machine.
enum ProcessAction: Sendable {
  /// The program has responded.
  case updated(ProcessUpdate)
  /// An event of the update before.
  case happened(ProcessEvent)
  /// The program is to receive an action of an effect.
  // Indirect, so that the other actions are small.
  indirect case act(JSONText, of: Int, ActionOrigin, ActionFailure?)
  /// The work of an effect has failed.
  indirect case failed(key: Int, ActionFailure)
  /// An effect has ended without an action.
  case dropped(Int)
  /// The program of changed files runs. Folded for the trace alone.
  case reloaded
  /// The program of changed files does not run, so the earlier one continues. Folded for the trace
  /// alone.
  case reloadFailed
}

/// An input: the text that the client has sent, or in a journal an object of it and its sender.
struct ProcessInput: Codable, Sendable {
  let text: JSONText

  /// Returns the input with its sender, as it is journaled.
  func journaled(from viewer: Viewer) -> ProcessInput {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("input", text)
    writer.key("viewer")
    writer.value(viewer)
    writer.endObject()
    return ProcessInput(text: JSONText(writer.bytes()))
  }

  /// The input and the sender of a journaled input; of another text the text and the server.
  var original: (input: JSONText, viewer: Viewer) {
    struct Journaled: Decodable {
      struct Sender: Decodable {
        let identity: String?
        let frontend: String?
        let role: Viewer.Role?
      }

      let input: JSONText
      let viewer: Sender
    }
    guard let journaled = try? JSON.decode(Journaled.self, from: text.bytes, limits: .stored) else {
      return (text, .server)
    }
    let sender = journaled.viewer
    guard let role = sender.role else { return (journaled.input, .server) }
    let viewer = Viewer(identity: sender.identity, name: sender.frontend, role: role)
    return (journaled.input, viewer)
  }
}

extension ProcessInput: JSONReadable, JSONWritable {
  init(reading reader: inout JSONReader) throws(JSONError) { text = try reader.read() }
  func write(to writer: inout JSONWriter) { text.write(to: &writer) }
}
