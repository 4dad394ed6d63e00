// SPDX-License-Identifier: Apache-2.0
//
// React 18 has no ES module; React 19 and content delivery networks have one.

export default window.React;
export const { Fragment, StrictMode, createElement, memo, startTransition } = window.React;
export const { useDeferredValue, useEffect, useLayoutEffect, useMemo, useReducer, useSyncExternalStore } = window.React;
