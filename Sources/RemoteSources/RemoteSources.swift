// SPDX-License-Identifier: Apache-2.0

// What comes from outside the program: the balance and the values of loaders, over HTTP or from
// files.
//
// The protocols are BuiltinStores': `BalanceService` and `LoadingSource`. Here they meet real
// servers and real file systems, neither of which is trusted. Only the operator names a URL or a
// file, on the command line; a frontend knows names such as `user` at most. What a server says is
// bounded in bytes, in redirects and in time, and cannot lead to another server. What a folder
// holds cannot lead out of it.
//
//     --source user=https://…  ->  SourceArgument -> HTTPSource -> HTTPFetch -> RemoteClient
//     --source notes=file:…    ->  SourceArgument -> FileSource -> OpenFile
//     --balance-url https://…  ->  HTTPAddress -> HTTPBalanceService -> HTTPFetch -> RemoteClient
//
// Never here: a store's clock. Waiting for a server takes real time, and a test that moves its
// clock does not make a server late; the policies of a loader (`timeout`, `retry`) go by it.
