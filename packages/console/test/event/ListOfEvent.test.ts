import { eventAddress, listIn } from "@data-cabinet/console/event/ListOfEvent"
import { queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import { assert, it } from "vitest"

const back = (address: string) => listIn(queryPairs(address.split("?")[1] ?? ""))

it("listIn returns to the list with its filter and page, and to no other address", () => {
  const lists = ["events", "trash", "events?text=a+%26+b%26&cursor=x%2Fy", "trash?source_id=1"]
  for (const list of lists) assert.strictEqual(back(eventAddress("7", list)), list)
  assert.strictEqual(eventAddress("7", "events"), "events/7")
  for (const wrong of ["//evil.example", "people", "events/7/purge", "events\n?x", "eventsx", "../sign-out", ""]) {
    assert.strictEqual(back(eventAddress("7", wrong)), "events", wrong)
  }
})
