// SPDX-License-Identifier: Apache-2.0

extension JSONWriter {
  /// Writes a value of a type that is encodable; `null` if it cannot be encoded.
  ///
  /// For places that cannot fail, such as the elements of a list in a state: one number that is not
  /// finite must not take the rest of the list with it.
  public mutating func encoding<T: Encodable>(_ value: T) {
    if T.self != Double.self, T.self != Float.self, let direct = value as? any JSONWritable {
      return direct.place(in: &self)
    }
    do throws(JSONError) {
      try JSON.write(value, to: &self)
    } catch {
      null()
    }
  }
}
