// SPDX-License-Identifier: Apache-2.0

export const { createRoot, flushSync } = window.ReactDOM;
