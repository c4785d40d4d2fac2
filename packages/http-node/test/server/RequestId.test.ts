import { requestId } from "@data-cabinet/http-node/server/RequestId"
import { expect, it } from "vitest"

it("requestId keeps the sender's id when it is safe in a log", () => {
  for (const brought of [
    "1",
    "order-77",
    "0af7651916cd43dd8448eb211c80319c",
    "Root=1-67891233-abcdef",
    "a".repeat(128),
  ]) {
    expect(requestId(brought)).toBe(brought)
  }
})

it("requestId creates an id for a missing, empty, long or unsafe one", () => {
  for (const brought of [undefined, "", "a".repeat(129), "a b", "a\nb", 'a"b', "\u001b[31m", "é"]) {
    expect(requestId(brought)).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
  }
})
