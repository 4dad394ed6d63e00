// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Testing

@Suite("Loading: texts")
struct LoadingTextTests {
  @Test(
    "each state has a text for plain frontends and one for screen readers",
    arguments: [
      (.idle, nil, nil, nil, nil),
      (.loading(progress: nil), nil, nil, nil, nil),
      (.loading(progress: LoadingProgress(percent: 40)), nil, nil, "40%", nil),
      (.loading(progress: LoadingProgress(percent: 0, message: "Soon")), nil, nil, "0%", "Soon"),
      (.loading(progress: LoadingProgress(message: "Soon")), nil, nil, nil, "Soon"),
      (
        .loading(progress: LoadingProgress(percent: 40, message: "Cancelled", isCancelled: true)),
        nil, nil, nil, "Loading cancelled."
      ),
      (.loaded(value: "x"), nil, nil, nil, nil),
      (
        .failure(error: .offline), "An error occurred", "There is no network", nil,
        "Error: There is no network"
      ),
    ] as [(LoadingViewState, String?, String?, String?, String?)])
  func texts(
    state: LoadingViewState, label: String?, value: String?, percent: String?, status: String?
  ) {
    #expect(state.accessibilityLabel == label)
    #expect(state.accessibilityValue == value)
    #expect(state.percentText == percent)
    #expect(state.statusText == status)
  }
}
