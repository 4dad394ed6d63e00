// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension StandardForms {
  /// All types with a form of their own; of a generic type one example stands for all.
  ///
  /// The coders find conformances at run time. Naming them here keeps a linker from dropping them.
  static var types: [any StandardEncoding.Type] {
    [
      Date.self, Decimal.self, Data.self, URL.self, UUID.self, Locale.self, TimeZone.self,
      Duration.self, Set<Int>.self, [Int: Int].self, Range<Int>.self, ClosedRange<Int>.self,
      PartialRangeFrom<Int>.self, PartialRangeUpTo<Int>.self, PartialRangeThrough<Int>.self,
    ]
  }
}
