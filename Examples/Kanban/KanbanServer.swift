// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireServer

/// Serves one desk to all sessions, and saves its board as `board.json` in the data folder.
@main
struct KanbanServer: ServerProgram {
  static let abstract = "Serves a kanban board with a timer."
  static let kinds = ServerKinds { context in
    let kanban = Kanban { board in
      let folder = URL(filePath: try context.dataFolder())
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try JSONEncoder().encode(board).write(to: folder.appending(path: "board.json"))
    }
    return [StoreKind("desk", scope: .shared()) { Desk(kanban: kanban) }]
  }
  static var site: WebSite { WebSite(folder: "Examples/Kanban/web") }
}
