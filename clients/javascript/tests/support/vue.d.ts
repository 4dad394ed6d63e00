// SPDX-License-Identifier: Apache-2.0
//
// The types of Vue that vue.d.ts uses, for a check without Vue.

declare module "vue" {
  export interface Ref<T = any> {
    value: T;
  }
  export interface ComputedRef<T = any> {
    readonly value: T;
  }
}
