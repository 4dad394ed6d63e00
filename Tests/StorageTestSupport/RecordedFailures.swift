// SPDX-License-Identifier: Apache-2.0

public import TestSupport

/// The error messages of a database. The type is qualified with its module because GRDB also has a
/// `Record`.
public typealias RecordedFailures = TestSupport.Record<String>
