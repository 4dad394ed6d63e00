// SPDX-License-Identifier: Apache-2.0

/// The search for the name that an unknown one was meant to be.
enum NameSuggestion {
  /// Returns the most similar name; nil if none is similar.
  static func nearest(to name: String, in names: [String]) -> String? {
    let name = name.lowercased().replacing("_", with: "-")
    let near = names.map { ($0, distance(name, $0)) }.min { $0.1 < $1.1 }
    guard let near, near.1 <= max(2, name.count / 4), near.1 < name.count else { return nil }
    return near.0
  }

  /// Returns the number of characters to insert, remove or replace, after Levenshtein.
  private static func distance(_ first: String, _ second: String) -> Int {
    let second = Array(second)
    var row = Array(0...second.count)
    for (index, character) in first.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in second.indices {
        let replaced = diagonal + (second[column] == character ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
      }
    }
    return row[second.count]
  }
}
