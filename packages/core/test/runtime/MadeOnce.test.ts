import { madeOnce } from "@data-cabinet/core/runtime/MadeOnce"
import { assert, it } from "vitest"

it.each([undefined, null, 0, "", {}])("madeOnce makes %j when it is first asked for, and once", (value) => {
  let made = 0
  const get = madeOnce(() => (made++, value))
  assert.strictEqual(made, 0)
  assert.strictEqual(get(), value)
  assert.strictEqual(get(), value)
  assert.strictEqual(made, 1)
})
