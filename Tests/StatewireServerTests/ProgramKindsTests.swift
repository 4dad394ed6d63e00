// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import ProcessStores
import TestSupport
import Testing

@testable import StatewireServer

@Suite("Programs of store kinds", .timeLimit(.minutes(15)))
struct ProgramKindsTests {
  /// A program that describes itself unless its folder has a file `fault`.
  private static let script = """
    read request
    if [ -e fault ]; then echo the fault >&2; exit 1; fi
    echo '{"jsonrpc":"2.0","id":1,"result":{"protocol":1}}'
    cat >/dev/null
    """

  @Test("a reload without a change starts a changed program again that did not run")
  func retried() async throws {
    let folder = try TestFolder()
    let (lines, log) = AsyncStream.makeStream(of: String.self)
    var kind = ProgramKind("a", ProgramCommand(words: ["sh", "-c", Self.script]))
    kind.command.folder = folder.path
    let kinds = ProgramKinds([kind], Logger(label: "test") { _ in LogLines { log.yield($0) } }, nil)
    await kinds.start(until: Latch())
    var iterator = lines.makeAsyncIterator()

    try "".write(toFile: folder.file("fault"), atomically: true, encoding: .utf8)
    kinds.reload([kind])
    let refused = await iterator.next()
    #expect(
      refused?.hasPrefix("error: store kind a: the earlier program continues, ") == true
        && refused?.hasSuffix(": the fault") == true, "\(refused ?? "")")
    kinds.reload([])
    #expect(await iterator.next() == refused)
    try FileManager.default.removeItem(atPath: folder.file("fault"))
    kinds.reload([])
    #expect(await iterator.next() == "notice: store kind a: the changed program runs")

    // The program that runs now stays.
    kinds.reload([])
    await kinds.stopReplying()
    await kinds.close()
    log.finish()
    #expect(await iterator.next() == nil)
  }
}
