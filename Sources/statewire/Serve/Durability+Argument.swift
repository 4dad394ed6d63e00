// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import SQLiteFiles

extension Durability: ExpressibleByArgument {}
