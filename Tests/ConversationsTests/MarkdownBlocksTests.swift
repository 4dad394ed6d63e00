// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Conversations

@Suite("Conversations in Markdown")
struct MarkdownBlocksTests {
  static let text = """
    # A title

    ```conversation
    --> 1
    <-- 2
    ```

    ```json
    --> not ours
    ```

    * In a list:
      ~~~~ conversation of some kind
      --> 3

      <-- {"a":
        4}
      ~~~
      ~~~~

    ````markdown
    ```conversation
    --> an example of an example
    ```
    ````

    ```conversations
    --> another word
    ```

    Some `` ``` `` in a line. ```conversation```

    ```conversation
    --> 5
    """

  @Test("the parser finds the fenced blocks and their line numbers in the file")
  func blocks() throws {
    let text = Self.text.replacing("  ~~~\n", with: "")
    let conversations = try ConversationParser.conversations(in: text.utf8, file: "x.md")
    #expect(conversations.map(\.line) == [4, 14, 33])
    #expect(
      conversations.map { $0.steps.map(\.shown) } == [
        ["4 send 1", "5 expect 2"], ["14 send 3", "16 expect {\"a\": 4}"], ["33 send 5"],
      ])
  }

  @Test("an error gives the line and column in the file")
  func errors() {
    let error = #expect(throws: ConversationError.self) {
      try ConversationParser.conversations(in: Self.text.utf8, file: "x.md")
    }
    // The shorter fence does not close the block.
    #expect(
      error?.description
        == "x.md:18:3: expected --> or <--, a connection's name before one, \"in any order\", @ or #"
    )
  }

  @Test("a file without a block is refused")
  func none() {
    let error = #expect(throws: ConversationError.self) {
      try ConversationParser.conversations(in: "# Nothing\n".utf8, file: "x.md")
    }
    #expect(error?.description == "x.md:1:1: there is no block ```conversation in this file")
  }
}
