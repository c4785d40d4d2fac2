import { Items } from "@data-cabinet/core/pagination/Items"
import { pageBody } from "@data-cabinet/http-node/html/PageBody"
import { assert, it } from "@effect/vitest"

it("pageBody is an object with the items as its data, followed by the rest", () => {
  const items = Buffer.from('{"a":"é"},{"a":2}')
  const body = pageBody(new Items(items, 0, [10, items.length]), '"next_cursor":"é"')
  assert.strictEqual(Buffer.from(body).toString(), '{"data":[{"a":"é"},{"a":2}],"next_cursor":"é"}\n')
})
