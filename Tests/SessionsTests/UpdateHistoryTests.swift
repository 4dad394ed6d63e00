// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sessions

@Suite("Update history")
struct UpdateHistoryTests {
  @Test("the history returns exactly the updates from a revision on")
  func frames() {
    let history = UpdateHistory(from: 3, maximumBytes: 1000)
    for revision in 4...9 { history.append("to \(revision)", to: revision) }
    #expect(history.start == 3 && history.end == 9)
    #expect(history.frames(from: 3) == (4...9).map { "to \($0)" })
    #expect(history.frames(from: 7) == ["to 8", "to 9"])
    #expect(history.frames(from: 9) == [])
  }

  @Test("the history is limited in bytes, and drops the oldest updates first")
  func bounded() {
    let history = UpdateHistory(from: 0, maximumBytes: 100)
    for revision in 1...1000 {
      history.append("frame \(revision)", to: revision)
      let kept = history.frames(from: history.start)
      #expect(kept.reduce(0) { $0 + $1.utf8.count } <= 100)
      #expect(kept == (history.start + 1..<revision + 1).map { "frame \($0)" })
      // The history keeps at least half of its limit.
      if revision > 20 { #expect(revision - history.start >= 4) }
    }
  }

  @Test("the history keeps neither an update that is too large nor earlier ones")
  func large() {
    let history = UpdateHistory(from: 0, maximumBytes: 100)
    history.append("small", to: 1)
    history.append(String(repeating: "x", count: 51), to: 2)
    #expect(history.start == 2 && history.end == 2)
    history.append("small", to: 3)
    #expect(history.frames(from: 2) == ["small"])
  }

  @Test("the history restarts at an update that does not follow the last one")
  func gap() {
    let history = UpdateHistory(from: 0, maximumBytes: 100)
    history.append("a", to: 1)
    history.append("c", to: 3)
    #expect(history.start == 3 && history.frames(from: 3) == [])
    history.append("d", to: 4)
    history.restart(from: 9)
    #expect(history.start == 9 && history.end == 9)
  }
}

extension UpdateHistory {
  fileprivate func append(_ frame: String, to revision: Int) {
    Array(frame.utf8).withUnsafeBytes { append($0, to: revision) }
  }

  fileprivate func frames(from revision: Int) -> [String] {
    var frames: [String] = []
    forEach(from: revision) { frames.append(String(decoding: $0, as: UTF8.self)) }
    return frames
  }
}
