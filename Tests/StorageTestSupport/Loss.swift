// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A loss of the files of an open database.
public enum Loss: String, CaseIterable, Sendable {
  case deleted, moved, replaced, logDeleted, logReplaced, folderMoved, folderDeleted, folderReplaced

  /// Causes the loss of a database file.
  ///
  /// - Returns: A function that restores the files; nil if they cannot be restored.
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
      let restore = try move(file)
      try files.copyItem(atPath: file + "-away", toPath: file)
      return restore
    case .logDeleted: try files.removeItem(atPath: log)
    case .logReplaced:
      let restore = try move(log)
      try Data().write(to: URL(filePath: log))
      return restore
    case .folderMoved: return try move(folder)
    case .folderDeleted: try files.removeItem(atPath: folder)
    case .folderReplaced:
      let restore = try move(folder)
      try files.copyItem(atPath: folder + "-away", toPath: folder)
      return restore
    }
    return nil
  }
}
