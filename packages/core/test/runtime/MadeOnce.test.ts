import { madeOnce } from "@data-cabinet/core/runtime/MadeOnce"
import { assert, it } from "vitest"

it.each([undefined, null, 0, "", {}])("madeOnce creates %j on first use, and once", (value) => {
  let made = 0
  const get = madeOnce(() => (made++, value))
  assert.strictEqual(made, 0)
  assert.strictEqual(get(), value)
  assert.strictEqual(get(), value)
  assert.strictEqual(made, 1)
})
