// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

extension ProcessInput: NamedInTraces {
  /// The `type` of the input, as for other stores.
  var traceName: String? { text.typeName }
}

extension ProcessAction: NamedInTraces {
  /// The `type` of an action that the program receives, and of an event.
  var traceName: String? {
    switch self {
    case .act(let action, _, _, _): action.typeName
    case .happened(let event): event.event.typeName
    case .updated, .failed, .dropped, .reloaded, .reloadFailed: nil
    }
  }
}

extension JSONText {
  /// The member `type` of an object if it looks like a name; traces have no contents.
  fileprivate var typeName: String? {
    guard let name = try? bytes.withUnsafeBytes({ try Self.typeName(in: $0) }),
      (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ Self.nameBytes.contains($0) })
    else { return nil }
    return name
  }

  private static func typeName(in text: UnsafeRawBufferPointer) throws -> String? {
    var reader = JSONReader(text)
    try reader.beginObject()
    while let key = try reader.nextKey() {
      if key == "type" { return try reader.readString() }
      _ = try reader.skipValue()
    }
    return nil
  }

  private static let nameBytes = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./".utf8)
}
