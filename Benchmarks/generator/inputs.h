// SPDX-License-Identifier: Apache-2.0
//
// The inputs, and the state after them.
//
// Inputs come in cycles of `cycle` inputs; after a whole cycle the generator knows the state.
#ifndef INPUTS_H
#define INPUTS_H

#include "../common/bytes.h"

enum kind { ADD_REMOVE, RENAME, MOVE, REMOVE_MIDDLE, REMOVE_FIRST, FORM, BALANCE, LOADING, KINDS };

/// Returns the kind with a name from the command line; KINDS if there is none.
enum kind kind_named(const char *name);
const char *kind_name(enum kind kind);
/// Returns the name of the store that receives the inputs.
const char *store_name(enum kind kind);
/// Returns the number of inputs after which `expected_state` knows the state.
int cycle(enum kind kind);

/// Returns the number of requests that prepare a store for inputs.
int preparations(enum kind kind);
/// Appends `"method":…,"params":{…}` of one of them. A todo list has this store kind.
void add_preparation(
    struct bytes *out, enum kind kind, const char *store_kind, int number, long items);
/// Appends `"method":…,"params":{…}` of the input with this number, from 0.
void add_input(struct bytes *out, enum kind kind, long number, long items);

/// Writes the state after this number of inputs, in RFC 8785 form. Returns false if it is unknown: the
/// balance contains the time.
bool expected_state(struct bytes *text, enum kind kind, long inputs, long items);

#endif
