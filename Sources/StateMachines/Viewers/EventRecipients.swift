// SPDX-License-Identifier: Apache-2.0

/// The viewers that receive an event.
public enum EventRecipients: Sendable {
  /// All subscribed viewers. The default.
  case everyone
  /// Those who have subscribed and for which the closure returns true.
  case only(@Sendable (Viewer) -> Bool)

  /// Returns true if a viewer receives the event.
  public func contains(_ viewer: Viewer) -> Bool {
    switch self {
    case .everyone: true
    case .only(let isRecipient): isRecipient(viewer)
    }
  }

  /// Returns the viewers that are in both.
  func intersection(_ other: EventRecipients) -> EventRecipients {
    switch (self, other) {
    case (.everyone, let one), (let one, .everyone): one
    case (.only(let one), .only(let other)): .only { one($0) && other($0) }
    }
  }
}

/// An event with the viewers that receive it.
struct AddressedEvent<Event> {
  let event: Event
  let recipients: EventRecipients
}
