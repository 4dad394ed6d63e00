// SPDX-License-Identifier: Apache-2.0
//
// The data of ICU that the program needs, in place of those in the library of the toolchain: see
// Scripts/icu-data. Empty unless `make release` has written them.

#ifdef STATEWIRE_ICU_SYMBOL
_Alignas(16) const unsigned char STATEWIRE_ICU_SYMBOL[] = {
#embed "../../.build/static/icu-data"
};
#endif
