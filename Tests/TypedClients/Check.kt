// SPDX-License-Identifier: Apache-2.0
//
// Reads values with the generated types of Tests/ClientTypesTests/Golden/odd.json, and writes them again.

package odd

fun check(value: Any?, expected: Any?) {
    if (value != expected) throw IllegalStateException("" + value + " is not " + expected)
}

fun main() {
    check(ODD_KIND, "odd-kind")
    val card = mapOf("id" to "1", "title" to "a", "due" to null)
    val added = mapOf("type" to "cardAdded", "card" to card, "before" to "2")
    val input = OddKindInput.fromJson(added)
    check(input, OddKindInputCardAdded(OddKindStateColumnCard("1", "a"), "2"))
    check(input.toJson(), added)
    check(OddKindInputUndoTapped.toJson(), mapOf("type" to "undo-tapped"))
    check(OddKindInput.fromJson(mapOf("type" to "list", "list" to listOf(1, 2))).toJson(),
        mapOf("type" to "list", "list" to listOf(1L, 2L)))

    val sum = mapOf(
        "type" to "sum",
        "left" to mapOf("type" to "number", "value" to 1.5),
        "right" to mapOf("type" to "number", "value" to 2.0))
    check(OddKindStateExpression.fromJson(sum).toJson(), sum)
    val tree = mapOf("name" to "a", "children" to listOf(mapOf("name" to "b", "children" to listOf<Any>())))
    check(OddKindStateTree.fromJson(tree).toJson(), tree)
    val point = mapOf("x" to 1.0, "y" to 2.0)
    check(OddKindStateChoice.fromJson(point).toJson(), point)
    check(OddKindStateChoice.fromJson("text"), OddKindStateChoiceOfText("text"))
    check(OddKindStateColor.fromJson("dark-red"), OddKindStateColor.DARK_RED)
    check(OddKindStatePriority.VALUE_MINUS3.toJson(), -3L)
    try {
        OddKindInput.fromJson(mapOf("type" to "unknown"))
        throw IllegalStateException("an unknown input was read")
    } catch (error: IllegalArgumentException) {
        println("ok")
    }
}
