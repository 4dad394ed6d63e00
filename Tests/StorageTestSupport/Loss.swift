// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What can happen to the files of a database that is open.
public enum Loss: String, CaseIterable, Sendable {
  case deleted, moved, replaced, logDeleted, logReplaced, folderMoved, folderDeleted, folderReplaced

  /// Does it to a file and its folder.
  /// - Returns: What takes it back; nil where nothing can.
  public func happen(to name: String, in folder: String) throws -> (() throws -> Void)? {
    let (files, file, log) = (FileManager.default, "\(folder)/\(name)", "\(folder)/\(name)-wal")
    func move(_ path: String) throws -> () throws -> Void {
      try files.moveItem(atPath: path, toPath: path + "-away")
      return {
        if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
        try files.moveItem(atPath: path + "-away", toPath: path)
      }
    }
    switch self {
    case .deleted: try files.removeItem(atPath: file)
    case .moved: return try move(file)
    case .replaced:
      let takeBack = try move(file)
      try files.copyItem(atPath: file + "-away", toPath: file)
      return takeBack
    case .logDeleted: try files.removeItem(atPath: log)
    case .logReplaced:
      let takeBack = try move(log)
      try Data().write(to: URL(filePath: log))
      return takeBack
    case .folderMoved: return try move(folder)
    case .folderDeleted: try files.removeItem(atPath: folder)
    case .folderReplaced:
      let takeBack = try move(folder)
      try files.copyItem(atPath: folder + "-away", toPath: folder)
      return takeBack
    }
    return nil
  }
}
