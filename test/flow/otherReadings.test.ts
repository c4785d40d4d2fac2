/** An event keeps which values of its request were read in which charset. */
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { originalShape } from "@data-cabinet/core/event/OriginalShape"
import { Option } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
})
afterAll(() => cabinet?.close())

it("EventDetail says which values of a form were read in another charset, and lists none for a form in one", async () => {
  const source = await cabinet.source("Forms")
  const encoding = async (body: string) => {
    const headers = { "content-type": "application/x-www-form-urlencoded" }
    const response = await fetch(`${cabinet.address(source)}?src=%D6`, { method: "POST", body, headers })
    const { id } = (await response.json()) as { readonly id: number }
    const found = Option.getOrThrow(await cabinet.run(EventDetail.use((detail) => detail.find(id))))
    return originalShape.json(found.original!).encoding
  }
  const verdict = { decided_by: "data", replaced: 0 }
  assert.deepStrictEqual(await encoding("name=%D0%B6&text=%C4%E0"), {
    ...verdict,
    name: "windows-1251",
    others: [{ name: "utf-8", decided_by: "data", place: "body", fields: ["name"], more: 0 }],
  })
  assert.deepStrictEqual(await encoding("text=%C4%E0"), { ...verdict, name: "windows-1251", others: [] })
})
