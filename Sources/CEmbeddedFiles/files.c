// SPDX-License-Identifier: Apache-2.0
//
// Written by Scripts/embed-files.

#include "CEmbeddedFiles.h"

static const unsigned char file_0[] = {
#embed "../../clients/web/balance.js"
};

static const unsigned char file_1[] = {
#embed "../../clients/web/browser.js"
};

static const unsigned char file_2[] = {
#embed "../../clients/web/dom.js"
};

static const unsigned char file_3[] = {
#embed "../../clients/web/drag.js"
};

static const unsigned char file_4[] = {
#embed "../../clients/web/edit.js"
};

static const unsigned char file_5[] = {
#embed "../../clients/web/form.js"
};

static const unsigned char file_6[] = {
#embed "../../clients/web/index.html"
};

static const unsigned char file_7[] = {
#embed "../../clients/web/loaders.js"
};

static const unsigned char file_8[] = {
#embed "../../clients/web/page.js"
};

static const unsigned char file_9[] = {
#embed "../../clients/web/rows.js"
};

static const unsigned char file_10[] = {
#embed "../../clients/web/style.css"
};

static const unsigned char file_11[] = {
#embed "../../clients/web/theme.css"
};

static const unsigned char file_12[] = {
#embed "../../clients/web/todo.js"
};

static const unsigned char file_13[] = {
#embed "../../clients/web/unsent.js"
};

static const unsigned char file_14[] = {
#embed "../../clients/console/again.js"
};

static const unsigned char file_15[] = {
#embed "../../clients/console/api.js"
};

static const unsigned char file_16[] = {
#embed "../../clients/console/console.js"
};

static const unsigned char file_17[] = {
#embed "../../clients/console/conversation.js"
};

static const unsigned char file_18[] = {
#embed "../../clients/console/dom.js"
};

static const unsigned char file_19[] = {
#embed "../../clients/console/gauges.js"
};

static const unsigned char file_20[] = {
#embed "../../clients/console/index.html"
};

static const unsigned char file_21[] = {
#embed "../../clients/console/operate.js"
};

static const unsigned char file_22[] = {
#embed "../../clients/console/schemaform.js"
};

static const unsigned char file_23[] = {
#embed "../../clients/console/session.js"
};

static const unsigned char file_24[] = {
#embed "../../clients/console/sessions.js"
};

static const unsigned char file_25[] = {
#embed "../../clients/console/style.css"
};

static const unsigned char file_26[] = {
#embed "../../clients/console/timeline.js"
};

static const unsigned char file_27[] = {
#embed "../../clients/console/token.js"
};

static const unsigned char file_28[] = {
#embed "../../clients/console/travel.js"
};

static const unsigned char file_29[] = {
#embed "../../clients/console/tree.js"
};

static const unsigned char file_30[] = {
#embed "../../clients/web/theme.css"
};

static const unsigned char file_31[] = {
#embed "../../clients/javascript/index.js"
};

static const unsigned char file_32[] = {
#embed "../../clients/javascript/react.js"
};

static const unsigned char file_33[] = {
#embed "../../clients/javascript/src/client.js"
};

static const unsigned char file_34[] = {
#embed "../../clients/javascript/src/connection.js"
};

static const unsigned char file_35[] = {
#embed "../../clients/javascript/src/digest.js"
};

static const unsigned char file_36[] = {
#embed "../../clients/javascript/src/equal.js"
};

static const unsigned char file_37[] = {
#embed "../../clients/javascript/src/errors.js"
};

static const unsigned char file_38[] = {
#embed "../../clients/javascript/src/liveness.js"
};

static const unsigned char file_39[] = {
#embed "../../clients/javascript/src/outbox.js"
};

static const unsigned char file_40[] = {
#embed "../../clients/javascript/src/patch.js"
};

static const unsigned char file_41[] = {
#embed "../../clients/javascript/src/replica.js"
};

static const unsigned char file_42[] = {
#embed "../../clients/javascript/src/store.js"
};

static const unsigned char file_43[] = {
#embed "../../clients/javascript/src/view.js"
};

static const unsigned char file_44[] = {
#embed "../../clients/javascript/src/waiting.js"
};

static const unsigned char file_45[] = {
#embed "../../clients/javascript/src/websocket.js"
};

static const unsigned char file_46[] = {
#embed "../../clients/javascript/svelte.js"
};

static const unsigned char file_47[] = {
#embed "../../clients/javascript/vue.js"
};

static const unsigned char file_48[] = {
#embed "../../Examples/Template/.gitignore"
};

static const unsigned char file_49[] = {
#embed "../../Examples/Template/Package.swift"
};

static const unsigned char file_50[] = {
#embed "../../Examples/Template/README.md"
};

static const unsigned char file_51[] = {
#embed "../../Examples/Template/Sources/CounterServer/CounterServer.swift"
};

static const unsigned char file_52[] = {
#embed "../../Examples/Template/Sources/CounterServer/CounterStore.swift"
};

static const unsigned char file_53[] = {
#embed "../../Examples/Template/Tests/CounterServerTests/CounterStoreTests.swift"
};

static const unsigned char file_54[] = {
#embed "../../Examples/Template/counter.conversation"
};

static const unsigned char file_55[] = {
#embed "../../Examples/Template/web/index.html"
};

static const unsigned char file_56[] = {
#embed "../../Examples/Template/web/page.js"
};

static const unsigned char file_57[] = {
#embed "../../Examples/Template-python/.gitignore"
};

static const unsigned char file_58[] = {
#embed "../../Examples/Template-python/README.md"
};

static const unsigned char file_59[] = {
#embed "../../Examples/Template-python/store.py"
};

static const unsigned char file_60[] = {
#embed "../../Examples/Template-python/test_store.py"
};

static const unsigned char file_61[] = {
#embed "../../Examples/Template-python/web/index.html"
};

static const unsigned char file_62[] = {
#embed "../../Examples/Template-python/web/page.js"
};

static const unsigned char file_63[] = {
#embed "../../Examples/Template/counter.conversation"
};

static const unsigned char file_64[] = {
#embed "../../clients/python/src/statewire/stores/__init__.py"
};

static const unsigned char file_65[] = {
#embed "../../clients/python/src/statewire/stores/difference.py"
};

static const unsigned char file_66[] = {
#embed "../../clients/python/src/statewire/stores/effects.py"
};

static const unsigned char file_67[] = {
#embed "../../clients/python/src/statewire/stores/kind.py"
};

static const unsigned char file_68[] = {
#embed "../../clients/python/src/statewire/stores/serving.py"
};

static const unsigned char file_69[] = {
#embed "../../clients/python/src/statewire/stores/testing.py"
};

static const unsigned char file_70[] = {
#embed "../../clients/python/src/statewire/stores/types.py"
};

static const unsigned char file_71[] = {
#embed "../../Examples/Template-javascript/.gitignore"
};

static const unsigned char file_72[] = {
#embed "../../Examples/Template-javascript/README.md"
};

static const unsigned char file_73[] = {
#embed "../../Examples/Template-javascript/package.json"
};

static const unsigned char file_74[] = {
#embed "../../Examples/Template-javascript/store.js"
};

static const unsigned char file_75[] = {
#embed "../../Examples/Template-javascript/store.test.js"
};

static const unsigned char file_76[] = {
#embed "../../Examples/Template-javascript/web/index.html"
};

static const unsigned char file_77[] = {
#embed "../../Examples/Template-javascript/web/page.js"
};

static const unsigned char file_78[] = {
#embed "../../Examples/Template/counter.conversation"
};

static const unsigned char file_79[] = {
#embed "../../clients/javascript/stores.d.ts"
};

static const unsigned char file_80[] = {
#embed "../../clients/javascript/stores.js"
};

static const unsigned char file_81[] = {
#embed "../../clients/javascript/stores/difference.js"
};

static const unsigned char file_82[] = {
#embed "../../clients/javascript/stores/effects.js"
};

static const unsigned char file_83[] = {
#embed "../../clients/javascript/stores/frozen.js"
};

static const unsigned char file_84[] = {
#embed "../../clients/javascript/stores/kind.js"
};

static const unsigned char file_85[] = {
#embed "../../clients/javascript/stores/serving.js"
};

static const unsigned char file_86[] = {
#embed "../../clients/javascript/stores/testing.js"
};

static const struct embedded_file files[] = {
  {"page/balance.js", file_0, sizeof file_0},
  {"page/browser.js", file_1, sizeof file_1},
  {"page/dom.js", file_2, sizeof file_2},
  {"page/drag.js", file_3, sizeof file_3},
  {"page/edit.js", file_4, sizeof file_4},
  {"page/form.js", file_5, sizeof file_5},
  {"page/index.html", file_6, sizeof file_6},
  {"page/loaders.js", file_7, sizeof file_7},
  {"page/page.js", file_8, sizeof file_8},
  {"page/rows.js", file_9, sizeof file_9},
  {"page/style.css", file_10, sizeof file_10},
  {"page/theme.css", file_11, sizeof file_11},
  {"page/todo.js", file_12, sizeof file_12},
  {"page/unsent.js", file_13, sizeof file_13},
  {"console/again.js", file_14, sizeof file_14},
  {"console/api.js", file_15, sizeof file_15},
  {"console/console.js", file_16, sizeof file_16},
  {"console/conversation.js", file_17, sizeof file_17},
  {"console/dom.js", file_18, sizeof file_18},
  {"console/gauges.js", file_19, sizeof file_19},
  {"console/index.html", file_20, sizeof file_20},
  {"console/operate.js", file_21, sizeof file_21},
  {"console/schemaform.js", file_22, sizeof file_22},
  {"console/session.js", file_23, sizeof file_23},
  {"console/sessions.js", file_24, sizeof file_24},
  {"console/style.css", file_25, sizeof file_25},
  {"console/timeline.js", file_26, sizeof file_26},
  {"console/token.js", file_27, sizeof file_27},
  {"console/travel.js", file_28, sizeof file_28},
  {"console/tree.js", file_29, sizeof file_29},
  {"console/theme.css", file_30, sizeof file_30},
  {"client/index.js", file_31, sizeof file_31},
  {"client/react.js", file_32, sizeof file_32},
  {"client/src/client.js", file_33, sizeof file_33},
  {"client/src/connection.js", file_34, sizeof file_34},
  {"client/src/digest.js", file_35, sizeof file_35},
  {"client/src/equal.js", file_36, sizeof file_36},
  {"client/src/errors.js", file_37, sizeof file_37},
  {"client/src/liveness.js", file_38, sizeof file_38},
  {"client/src/outbox.js", file_39, sizeof file_39},
  {"client/src/patch.js", file_40, sizeof file_40},
  {"client/src/replica.js", file_41, sizeof file_41},
  {"client/src/store.js", file_42, sizeof file_42},
  {"client/src/view.js", file_43, sizeof file_43},
  {"client/src/waiting.js", file_44, sizeof file_44},
  {"client/src/websocket.js", file_45, sizeof file_45},
  {"client/svelte.js", file_46, sizeof file_46},
  {"client/vue.js", file_47, sizeof file_47},
  {"template/swift/.gitignore", file_48, sizeof file_48},
  {"template/swift/Package.swift", file_49, sizeof file_49},
  {"template/swift/README.md", file_50, sizeof file_50},
  {"template/swift/Sources/CounterServer/CounterServer.swift", file_51, sizeof file_51},
  {"template/swift/Sources/CounterServer/CounterStore.swift", file_52, sizeof file_52},
  {"template/swift/Tests/CounterServerTests/CounterStoreTests.swift", file_53, sizeof file_53},
  {"template/swift/counter.conversation", file_54, sizeof file_54},
  {"template/swift/web/index.html", file_55, sizeof file_55},
  {"template/swift/web/page.js", file_56, sizeof file_56},
  {"template/python/.gitignore", file_57, sizeof file_57},
  {"template/python/README.md", file_58, sizeof file_58},
  {"template/python/store.py", file_59, sizeof file_59},
  {"template/python/test_store.py", file_60, sizeof file_60},
  {"template/python/web/index.html", file_61, sizeof file_61},
  {"template/python/web/page.js", file_62, sizeof file_62},
  {"template/python/counter.conversation", file_63, sizeof file_63},
  {"template/python/statewire/stores/__init__.py", file_64, sizeof file_64},
  {"template/python/statewire/stores/difference.py", file_65, sizeof file_65},
  {"template/python/statewire/stores/effects.py", file_66, sizeof file_66},
  {"template/python/statewire/stores/kind.py", file_67, sizeof file_67},
  {"template/python/statewire/stores/serving.py", file_68, sizeof file_68},
  {"template/python/statewire/stores/testing.py", file_69, sizeof file_69},
  {"template/python/statewire/stores/types.py", file_70, sizeof file_70},
  {"template/javascript/.gitignore", file_71, sizeof file_71},
  {"template/javascript/README.md", file_72, sizeof file_72},
  {"template/javascript/package.json", file_73, sizeof file_73},
  {"template/javascript/store.js", file_74, sizeof file_74},
  {"template/javascript/store.test.js", file_75, sizeof file_75},
  {"template/javascript/web/index.html", file_76, sizeof file_76},
  {"template/javascript/web/page.js", file_77, sizeof file_77},
  {"template/javascript/counter.conversation", file_78, sizeof file_78},
  {"template/javascript/statewire/stores.d.ts", file_79, sizeof file_79},
  {"template/javascript/statewire/stores.js", file_80, sizeof file_80},
  {"template/javascript/statewire/stores/difference.js", file_81, sizeof file_81},
  {"template/javascript/statewire/stores/effects.js", file_82, sizeof file_82},
  {"template/javascript/statewire/stores/frozen.js", file_83, sizeof file_83},
  {"template/javascript/statewire/stores/kind.js", file_84, sizeof file_84},
  {"template/javascript/statewire/stores/serving.js", file_85, sizeof file_85},
  {"template/javascript/statewire/stores/testing.js", file_86, sizeof file_86},
  {NULL, NULL, 0},
};

struct embedded_file embedded_file(size_t i) { return files[i]; }
