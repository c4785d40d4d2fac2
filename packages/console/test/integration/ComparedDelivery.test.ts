import { onlyIn } from "@data-cabinet/console/integration/ComparedDelivery"
import { assert, it } from "vitest"

it("the fields that only one of two bodies has are named by their place, once however often they occur", () => {
  const failed = '{"id":1,"data":{"payload":{"name":"Ada","items":[{"sku":"A"},{"sku":"B","gift":true}],"note":null}}}'
  const worked = '{"id":2,"data":{"payload":{"order_no":7,"name":"Grace","items":[{"sku":"C"}]}}}'
  assert.deepStrictEqual(onlyIn(failed, worked), [
    ["data.payload.items[].gift", "data.payload.note"],
    ["data.payload.order_no"],
  ])
  assert.deepStrictEqual(onlyIn(failed, failed), [[], []])
})

it("bodies that are no JSON, or too long, are not compared", () => {
  assert.isNull(onlyIn("name=Ada", "{}"))
  assert.isNull(onlyIn("{}", `"${"x".repeat(100_000)}"`))
})
