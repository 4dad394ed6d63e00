// SPDX-License-Identifier: Apache-2.0

// RemoteSources: the balance and the values of loaders, over HTTP or from files.
//
// The module implements two protocols of BuiltinStores, `BalanceService` and `LoadingSource`, with
// real servers and file systems. Neither is trusted. Only the operator names a URL or a file, on
// the command line; a frontend only knows names such as `user`. A response has limits of bytes,
// redirects and time, and cannot redirect to another server. Links in a folder are not followed.
//
//     --source user=https://…  ->  SourceArgument -> HTTPSource -> HTTPFetch -> RemoteClient
//     --source notes=file:…    ->  SourceArgument -> FileSource -> OpenFile
//     --balance-url https://…  ->  HTTPAddress -> HTTPBalanceService -> HTTPFetch -> RemoteClient
//
// Never here: a store's clock. Waiting for a server takes real time; a test that advances the
// virtual clock must not cause a timeout. The policies of a loader (`timeout`, `retry`) use the
// store's clock.
