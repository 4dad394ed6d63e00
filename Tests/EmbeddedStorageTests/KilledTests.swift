// SPDX-License-Identifier: Apache-2.0

import Foundation
import Sessions
import StorageTestSupport
import TestSupport
import Testing

/// The database and the journal are separate files. A kill between the commits to the two must lose
/// nothing, and repeat nothing.
@Suite("Kill of a process with lists in a database", .timeLimit(.minutes(15)))
struct KilledTests {
  @Test(
    "an input whose turn was not journaled leaves nothing in the database",
    arguments: [true, false])
  func between(isShown: Bool) async throws {
    try await withFolder { folder in
      let (ids, deaf) = (CountedIDs(), SilentClient())
      let handle = try await live(folder, ids) { shard, journal in
        let (participant, handle) = try shard.open(for: deaf)
        try shard.send(
          isShown ? #"{"type":"stateRequested"}"# : #"{"type":"todoRemoved","id":"?"}"#,
          participant,
          sequence: 1)
        await shard.pass()
        try shard.add("A", participant, sequence: 2)
        await shard.pass()
        // The process is killed during the journaling of the turn that accepts the next input.
        journal.die()
        try shard.add("B", participant, sequence: 3)
        await shard.pass()
        return handle
      }
      #expect(try await titles(folder) == ["A"])
      try await live(folder, ids) { shard, _ in
        let (participant, last) = try shard.attach(deaf, to: handle)
        #expect(last == 2)
        // A client may send another input instead, because input 3 got no response.
        try shard.add(isShown ? "B" : "C", participant, sequence: 3)
        await shard.pass()
      }
      #expect(try await titles(folder) == ["A", isShown ? "B" : "C"])
    }
  }

  @Test("a journaled input is performed once, by this process or by the next one")
  func after() async throws {
    try await withFolder { folder in
      let (ids, deaf) = (CountedIDs(), SilentClient())
      let handle = try await live(folder, ids) { shard, journal in
        let (participant, handle) = try shard.open(for: deaf)
        try shard.add("A", participant, sequence: 1)
        // The work of the input begins, but its end is not journaled.
        journal.die()
        await shard.pass()
        return handle
      }
      #expect(try await titles(folder) == ["A"])
      for round in 2...3 {
        try await live(folder, ids) { shard, journal in
          let (participant, last) = try shard.attach(deaf, to: handle)
          #expect(last == round - 1)
          try shard.add("\(round)", participant, sequence: round)
          journal.die()
          await shard.pass()
        }
      }
      #expect(try await titles(folder) == ["A", "2", "3"])
    }
  }

  @Test("inputs are performed after the journal has lost earlier ones")
  func afterLostInputs() async throws {
    try await withFolder { folder in
      let (ids, deaf) = (CountedIDs(), SilentClient())
      let files = FileManager.default
      let (name, kept) = ("\(folder)/sessions.sqlite", "\(folder)/kept")
      let handle = try await live(folder, ids) { shard, _ in
        let (participant, handle) = try shard.open(for: deaf)
        for suffix in ["", "-wal"] {
          try files.copyItem(atPath: name + suffix, toPath: kept + suffix)
        }
        try shard.add("A", participant, sequence: 1)
        try shard.add("B", participant, sequence: 2)
        await shard.pass()
        return handle
      }
      // The log is truncated.
      for suffix in ["", "-wal"] {
        if files.fileExists(atPath: name + suffix) { try files.removeItem(atPath: name + suffix) }
        try files.copyItem(atPath: kept + suffix, toPath: name + suffix)
      }
      try await live(folder, ids) { shard, _ in
        let (participant, last) = try shard.attach(deaf, to: handle)
        #expect(last == 0)
        try shard.add("C", participant, sequence: 1)
        try shard.add("D", participant, sequence: 2)
        await shard.pass()
      }
      #expect(try await titles(folder) == ["A", "B", "C", "D"])
    }
  }

  @Test("a folder can be used by several servers under test, one after another")
  func underTest() async throws {
    try await withFolder { folder in
      let (ids, deaf) = (CountedIDs(), SilentClient())
      for title in ["A", "B", "C"] {
        try await live(folder, ids) { shard, _ in
          try shard.add(title, deaf.join(Participant(deaf.id(on: shard), isolation: shard)))
          await shard.pass()
        }
      }
      #expect(try await titles(folder) == ["A", "B", "C"])
    }
  }
}
