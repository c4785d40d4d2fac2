import { deliveryLists, eventLists } from "@data-cabinet/console/table/ListBehind"
import { queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import { assert, it } from "vitest"

const pairsOf = (address: string) => queryPairs(address.split("?")[1] ?? "")
const back = (list: string) => eventLists.in(pairsOf(eventLists.within("events/7", list)))

it("a thing leads back to its list with filter and page, and to no other address", () => {
  const lists = ["events", "trash", "events?text=a+%26+b%26&cursor=x%2Fy", "trash?source_id=1"]
  for (const list of lists) assert.strictEqual(back(list), list)
  assert.strictEqual(eventLists.within("events/7", "events"), "events/7")
  for (const wrong of ["//evil.example", "people", "events/7/purge", "events\n?x", "eventsx", "../sign-out", ""]) {
    assert.strictEqual(back(wrong), "events", wrong)
  }
  const tab = deliveryLists.within("deliveries/7", "events/9", [["tab", "request"]])
  assert.strictEqual(tab, "deliveries/7?tab=request&list=events%2F9")
  assert.strictEqual(deliveryLists.in(pairsOf(tab)), "events/9")
  assert.strictEqual(deliveryLists.in(pairsOf(eventLists.within("deliveries/7", "trash"))), "deliveries")
})
