import { readableName } from "@data-cabinet/core/row/ReadableName"
import { isSqlName } from "@data-cabinet/core/row/SqlName"
import { it as propertyIt } from "@effect/vitest"
import { Schema } from "effect"
import { assert, it } from "vitest"

it.each([
  ["Заказы", "zakazy"],
  ["Ünïcode Straße", "unicode_strasse"],
  ["tags[]", "tags"],
  ["a.b-c", "a_b_c"],
  ["2nd", "_2nd"],
  ["_private", "_private"],
  ["日本", "riben"],
  ["   ", "field"],
  ["a - b", "a_b"],
  ["total__", "total"],
  ["a__b", "a__b"],
  ["__a", "__a"],
  ["(a)", "a"],
  ["!_a", "a"],
  ["__", "field"],
  ["_", "field"],
  ["line2", "line2"],
])("readableName of %s is %s", (words, name) => {
  assert.strictEqual(readableName(words, new Set(), "field"), name)
})

const words = Schema.String.check(Schema.isMaxLength(120))

propertyIt.prop(
  "readableName is a name PostgreSQL holds, readable, and free",
  [Schema.Array(words).check(Schema.isMaxLength(20))],
  ([all]) => {
    const taken = new Set<string>()
    for (const each of all) {
      const name = readableName(each, taken, "field")
      assert.isTrue(isSqlName(name))
      assert.match(name, /^[a-z_][a-z0-9_]*$/)
      assert.isFalse(taken.has(name))
      taken.add(name)
    }
  },
  { arbitrary: { runs: 300 } },
)
