// SPDX-License-Identifier: Apache-2.0

public import TestSupport

/// Sentences that a database has said of its failures. (GRDB has a `Record`, too.)
public typealias Complaints = TestSupport.Record<String>
