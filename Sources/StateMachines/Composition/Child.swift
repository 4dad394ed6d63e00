// SPDX-License-Identifier: Apache-2.0

public import VersionedList

/// A machine that runs inside another one, its parent: a part of the parent's state with its own
/// inputs, actions and effects.
///
/// ```swift
/// struct Race: StateMachine {
///   enum Input: Codable, Sendable { case left(Stopwatch.Input), right(Stopwatch.Input), lapTapped }
///   …
///   var children: [Child<Race>] {
///     Child("left", Stopwatch(), state: \.left, input: …, action: …)
///     Child("right", Stopwatch(), state: \.right, input: …, action: …)
///   }
/// }
/// ```
///
/// The store calls each function of a machine for its children first and then for the machine
/// itself, which can therefore react to the inputs and actions of its children. The children's ids
/// of effects and names of operations begin with the child's name and `/`, for an element of a list
/// also with the id of the element: `left/ticking`, `cards/7/save`.
///
/// An input or an action belongs to the first child that has its case.
///
/// The effects of a child that is no longer in the state are cancelled. An input for it is refused.
public struct Child<Parent: StateMachine>: Sendable {
  let node: ChildNode<Parent>

  /// Creates a child that is always in the parent's state, and has no events.
  ///
  /// - Parameters:
  ///   - name: The name in effect ids and names of operations. No other child has it.
  ///   - machine: The machine of the child.
  ///   - state: The child's state in the state of the parent.
  ///   - input: The case of the parent's inputs that has inputs of the child.
  ///   - action: The case of the parent's actions that has actions of the child.
  public init<Machine: StateMachine>(
    _ name: String, _ machine: Machine,
    state: any WritableKeyPath<Parent.State, Machine.State> & Sendable,
    input: CasePath<Parent.Input, Machine.Input>, action: CasePath<Parent.Action, Machine.Action>
  ) where Machine.Event == Never {
    node = ChildNode(
      ScopedChild(
        name: name, Composed(machine), SingleState(member: StateMember(state)),
        input: .single(input),
        action: .single(action), event: nil))
  }

  /// Creates a child that is always in the parent's state, with events.
  ///
  /// - Parameters:
  ///   - name: The name in effect ids and names of operations. No other child has it.
  ///   - machine: The machine of the child.
  ///   - state: The child's state in the state of the parent.
  ///   - input: The case of the parent's inputs that has inputs of the child.
  ///   - action: The case of the parent's actions that has actions of the child.
  ///   - event: Returns the parent's event for an event of the child; nil if there is none.
  public init<Machine: StateMachine>(
    _ name: String, _ machine: Machine,
    state: any WritableKeyPath<Parent.State, Machine.State> & Sendable,
    input: CasePath<Parent.Input, Machine.Input>, action: CasePath<Parent.Action, Machine.Action>,
    event: @escaping @Sendable (Machine.Event) -> Parent.Event?
  ) {
    node = ChildNode(
      ScopedChild(
        name: name, Composed(machine), SingleState(member: StateMember(state)),
        input: .single(input),
        action: .single(action), event: { event($1) }))
  }

  /// Creates a child that can be absent from the parent's state, and has no events.
  ///
  /// - Parameters:
  ///   - name: The name in effect ids and names of operations. No other child has it.
  ///   - machine: The machine of the child.
  ///   - optionalState: The child's state in the state of the parent; nil while it is absent.
  ///   - input: The case of the parent's inputs that has inputs of the child.
  ///   - action: The case of the parent's actions that has actions of the child.
  public init<Machine: StateMachine>(
    _ name: String, _ machine: Machine,
    optionalState: any WritableKeyPath<Parent.State, Machine.State?> & Sendable,
    input: CasePath<Parent.Input, Machine.Input>, action: CasePath<Parent.Action, Machine.Action>
  ) where Machine.Event == Never {
    node = ChildNode(
      ScopedChild(
        name: name, Composed(machine), OptionalState(member: StateMember(optionalState)),
        input: .single(input),
        action: .single(action), event: nil))
  }

  /// Creates a child that can be absent from the parent's state, with events.
  ///
  /// - Parameters:
  ///   - name: The name in effect ids and names of operations. No other child has it.
  ///   - machine: The machine of the child.
  ///   - optionalState: The child's state in the state of the parent; nil while it is absent.
  ///   - input: The case of the parent's inputs that has inputs of the child.
  ///   - action: The case of the parent's actions that has actions of the child.
  ///   - event: Returns the parent's event for an event of the child; nil if there is none.
  public init<Machine: StateMachine>(
    _ name: String, _ machine: Machine,
    optionalState: any WritableKeyPath<Parent.State, Machine.State?> & Sendable,
    input: CasePath<Parent.Input, Machine.Input>, action: CasePath<Parent.Action, Machine.Action>,
    event: @escaping @Sendable (Machine.Event) -> Parent.Event?
  ) {
    node = ChildNode(
      ScopedChild(
        name: name, Composed(machine), OptionalState(member: StateMember(optionalState)),
        input: .single(input),
        action: .single(action), event: { event($1) }))
  }

  /// Creates a child for each element of a list; the children have no events.
  ///
  /// - Parameters:
  ///   - name: The name in effect ids and names of operations. No other child has it.
  ///   - machine: The machine of each element.
  ///   - elements: The list of the elements in the state of the parent.
  ///   - input: The case of the parent's inputs that has the id of an element and an input for it.
  ///   - action: The case of the parent's actions that has the id of an element and an action of it.
  public init<Machine: StateMachine>(
    _ name: String, _ machine: Machine,
    elements: any WritableKeyPath<Parent.State, KeyedList<Machine.State>> & Sendable,
    input: CasePath<Parent.Input, (Machine.State.ID, Machine.Input)>,
    action: CasePath<Parent.Action, (Machine.State.ID, Machine.Action)>
  )
  where
    Machine.Event == Never, Machine.State: Identifiable, Machine.State.ID: KeyedListID & Sendable
  {
    node = ChildNode(
      ScopedChild(
        name: name, Composed(machine), ElementState(member: StateMember(elements)), input: input,
        action: action,
        event: nil))
  }

  /// Creates a child for each element of a list, with events.
  ///
  /// - Parameters:
  ///   - name: The name in effect ids and names of operations. No other child has it.
  ///   - machine: The machine of each element.
  ///   - elements: The list of the elements in the state of the parent.
  ///   - input: The case of the parent's inputs that has the id of an element and an input for it.
  ///   - action: The case of the parent's actions that has the id of an element and an action of it.
  ///   - event: Returns the parent's event for an event of the element with an id; nil if there is
  ///     none.
  public init<Machine: StateMachine>(
    _ name: String, _ machine: Machine,
    elements: any WritableKeyPath<Parent.State, KeyedList<Machine.State>> & Sendable,
    input: CasePath<Parent.Input, (Machine.State.ID, Machine.Input)>,
    action: CasePath<Parent.Action, (Machine.State.ID, Machine.Action)>,
    event: @escaping @Sendable (_ id: Machine.State.ID, Machine.Event) -> Parent.Event?
  ) where Machine.State: Identifiable, Machine.State.ID: KeyedListID & Sendable {
    node = ChildNode(
      ScopedChild(
        name: name, Composed(machine), ElementState(member: StateMember(elements)), input: input,
        action: action,
        event: event))
  }
}

/// Collects the children of a machine, also with `if`, `switch` and `for`.
@resultBuilder
public enum ChildrenBuilder<Parent: StateMachine> {
  /// Returns a child, whose parent is known from here.
  public static func buildExpression(_ child: Child<Parent>) -> [Child<Parent>] { [child] }
  /// Returns the children in their order.
  public static func buildBlock(_ children: [Child<Parent>]...) -> [Child<Parent>] {
    children.flatMap { $0 }
  }
  /// Returns the children of an `if`; none if its condition is false.
  public static func buildOptional(_ children: [Child<Parent>]?) -> [Child<Parent>] {
    children ?? []
  }
  /// Returns the children of the first branch.
  public static func buildEither(first children: [Child<Parent>]) -> [Child<Parent>] { children }
  /// Returns the children of the other branch.
  public static func buildEither(second children: [Child<Parent>]) -> [Child<Parent>] { children }
  /// Returns the children of a loop in their order.
  public static func buildArray(_ children: [[Child<Parent>]]) -> [Child<Parent>] {
    children.flatMap { $0 }
  }
}
