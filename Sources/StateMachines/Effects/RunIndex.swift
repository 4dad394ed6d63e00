// SPDX-License-Identifier: Apache-2.0

/// The numbers of runs by effect id and by input id, to find runs without a search through all.
///
/// A class, because few stores have so many runs that they need it.
final class RunIndex {
  private var ids: [EffectID: [RunNumber]] = [:]
  private var inputIDs: [InputID: [RunNumber]] = [:]

  /// Adds a run; its number must be greater than all before.
  func add<Action>(_ run: EffectRunner<Action>.Run) {
    for id in Self.ids(of: run) { ids[id, default: []].append(run.number) }
    if Self.isCancelledWithInput(run) { inputIDs[run.inputID, default: []].append(run.number) }
  }

  func remove<Action>(_ run: EffectRunner<Action>.Run) {
    for id in Self.ids(of: run) { Self.remove(run.number, from: &ids[id]) }
    if Self.isCancelledWithInput(run) { Self.remove(run.number, from: &inputIDs[run.inputID]) }
  }

  /// Returns the runs with an id, or with a window of this id, in the order in which they began.
  func runs(_ id: EffectID) -> [RunNumber] { ids[id] ?? [] }

  /// Returns the runs of an input, in the order in which they began, without exchanges: what another
  /// party has been asked to do continues.
  func runs(of inputID: InputID) -> [RunNumber] { inputIDs[inputID] ?? [] }

  private static func isCancelledWithInput<Action>(_ run: EffectRunner<Action>.Run) -> Bool {
    run.work.exchange == nil
  }

  private static func ids<Action>(of run: EffectRunner<Action>.Run) -> [EffectID] {
    switch (run.work.id, run.window) {
    case (let id?, let window?) where id != window: [id, window]
    case (let id?, _): [id]
    case (nil, let window?): [window]
    case (nil, nil): []
    }
  }

  private static func remove(_ number: RunNumber, from numbers: inout [RunNumber]?) {
    guard let index = numbers?.partitioningIndex(where: { $0.rawValue >= number.rawValue }),
      index < numbers?.count ?? 0, numbers?[index] == number
    else { return }
    numbers?.remove(at: index)
    if numbers?.isEmpty == true { numbers = nil }
  }
}
