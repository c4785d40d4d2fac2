/** The numbers of coalesced requests, compared with counting them one by one. */
import type { Counted } from "@data-cabinet/store-pg/limit/CoalescedCounts"
import { distributeSenders } from "@data-cabinet/store-pg/limit/IntakeCounts"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

const LIMIT = 5

const Sender = Schema.Struct({
  client: Schema.NullOr(Schema.Literals(["c1", "c2"])),
  source: Schema.NullOr(Schema.Literals(["s1", "s2"])),
  requests: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 })),
})

it.prop(
  "distributeSenders gives each request the numbers that it would have if all were counted one by one",
  [Schema.Array(Sender).check(Schema.isMaxLength(6)), Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))],
  ([senders, before]) => {
    const counts = new Map(["c1", "c2", "s1", "s2"].map((subject) => [subject, before]))
    const count = (subject: string | null): Counted | null => {
      if (subject === null) return null
      const next = counts.get(subject)! + 1
      counts.set(subject, next)
      return { count: next, left_ms: 1_000 }
    }
    const oneByOne = senders.map(({ client, source, requests }) =>
      Array.from({ length: requests }, () => {
        const number = count(client)
        return { client: number, source: number === null || number.count <= LIMIT ? count(source) : null }
      }),
    )
    const windows = new Map(Array.from(counts, ([subject, last]) => [subject, { count: last, left_ms: 1_000 }]))
    assert.deepStrictEqual(distributeSenders(senders, windows, LIMIT), oneByOne)
  },
)
