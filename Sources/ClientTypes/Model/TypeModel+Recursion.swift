// SPDX-License-Identifier: Apache-2.0

extension TypeModel {
  /// True for an alias that contains itself without an object or a union between. Not all languages
  /// have such aliases.
  func isRecursiveAlias(_ index: Int) -> Bool {
    reaches(index) { declaration in
      if case .alias(let type) = declaration.shape { type.names } else { [] }
    }
  }

  /// True if a value of the type can contain another one, at any depth.
  func isRecursive(_ index: Int) -> Bool { reaches(index) { $0.types.flatMap(\.names) } }

  /// True for an object that contains itself without an array, a map or a union between, so that a
  /// structure of it would be infinitely large.
  func isDirectlyRecursive(_ index: Int) -> Bool {
    reaches(index) { declaration in
      switch declaration.shape {
      case .object(let members, _): members.flatMap { directNames(in: $0.type) }
      case .alias(let type): directNames(in: type)
      case .taggedUnion, .union, .values: []
      }
    }
  }

  private func directNames(in type: TypeExpression) -> [Int] {
    switch type {
    case .named(let index): [index]
    case .optional(let inner): directNames(in: inner)
    default: []
    }
  }

  private func reaches(_ target: Int, _ next: (TypeDeclaration) -> [Int]) -> Bool {
    var waiting = next(declarations[target])
    var visited: Set<Int> = []
    while let index = waiting.popLast() {
      if index == target { return true }
      if visited.insert(index).inserted { waiting += next(declarations[index]) }
    }
    return false
  }

  /// The alternatives of a union in the order in which a reader tries them: objects with many
  /// required members before objects with few, which would also fit, and integers before numbers.
  func mostSpecificFirst(
    _ alternatives: [TypeDeclaration.Alternative]
  ) -> [TypeDeclaration.Alternative] {
    alternatives.enumerated().sorted { one, other in
      let (first, second) = (specificity(one.element.type), specificity(other.element.type))
      return first == second ? one.offset < other.offset : first > second
    }.map(\.element)
  }

  private func specificity(_ type: TypeExpression) -> Int {
    switch type {
    case .any, .optional: return -2
    case .map: return -1
    case .number: return 0
    case .named(let index):
      switch declarations[index].shape {
      case .object(let members, _): return members.count(where: \.isRequired)
      case .taggedUnion, .values: return 1000
      case .union: return 1
      case .alias(let type): return isRecursiveAlias(index) ? -2 : specificity(type)
      }
    default: return 1
    }
  }
}
