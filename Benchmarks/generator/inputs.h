// SPDX-License-Identifier: Apache-2.0
//
// What is sent, and what the state must be after it.
//
// Inputs come in cycles of `cycle` inputs; after whole cycles the state is known without asking.
#ifndef INPUTS_H
#define INPUTS_H

#include "../common/bytes.h"

enum kind { ADD_REMOVE, RENAME, MOVE, REMOVE_MIDDLE, REMOVE_FIRST, FORM, BALANCE, LOADING, KINDS };

/// The kind with this name, as the command line has it; KINDS for none.
enum kind kind_named(const char *name);
const char *kind_name(enum kind kind);
/// The name of the store that takes the inputs.
const char *store_name(enum kind kind);
/// After so many inputs the state is one that `expected_state` knows.
int cycle(enum kind kind);

/// The number of requests that bring a store to where inputs may begin.
int preparations(enum kind kind);
/// `"method":…,"params":{…}` of one of them.
void add_preparation(struct bytes *out, enum kind kind, int number, long items);
/// `"method":…,"params":{…}` of the input with this number, from 0.
void add_input(struct bytes *out, enum kind kind, long number, long items);

/// The state after so many inputs, in RFC 8785 form. False where it is not known: the balance has
/// the time in it.
bool expected_state(struct bytes *text, enum kind kind, long inputs, long items);

#endif
