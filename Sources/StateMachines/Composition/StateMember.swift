// SPDX-License-Identifier: Apache-2.0

/// A member of a state that is read and changed in place.
///
/// A stored member is found by its offset, because a key path reads a copy of the whole state, at a cost
/// of about a thousand instructions. Other members, for example those with observers, are found by
/// their key path.
struct StateMember<State, Value>: Sendable {
  private let path: any WritableKeyPath<State, Value> & Sendable
  /// The offset of a stored member; nil for others.
  let offset: Int?

  init(_ path: any WritableKeyPath<State, Value> & Sendable) {
    self.path = path
    offset = MemoryLayout<State>.offset(of: path)
  }

  func value(in state: State) -> Value {
    guard let offset else { return state[keyPath: path] }
    return withUnsafePointer(to: state) {
      (UnsafeRawPointer($0) + offset).assumingMemoryBound(to: Value.self).pointee
    }
  }

  func change(in state: inout State, _ change: (inout Value) -> Void) {
    guard let offset else { return change(&state[keyPath: path]) }
    withUnsafeMutablePointer(to: &state) {
      change(&(UnsafeMutableRawPointer($0) + offset).assumingMemoryBound(to: Value.self).pointee)
    }
  }
}
