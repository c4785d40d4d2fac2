/** What processes spend from their leases, compared with a database that only adds. */
import { type QuotaRequest, LeasedQuota } from "@data-cabinet/store-pg/limit/LeasedQuota"
import type { Counted } from "@data-cabinet/store-pg/limit/CoalescedCounts"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

const LIMIT = 20_000
const SHARE = LIMIT / 1000

/** One source's window and the processes that count in it; a requested lease is granted when the test says so. */
class Minute {
  count = 0
  readonly dealt: Array<number> = []
  readonly processes: ReadonlyArray<{ readonly ahead: LeasedQuota; asked: ReadonlyArray<QuotaRequest> }>

  constructor(processes: number) {
    this.processes = Array.from({ length: processes }, () => ({ ahead: new LeasedQuota(LIMIT), asked: [] }))
  }

  window = (): Counted => ({ count: this.count, left_ms: 30_000 })

  /** True if the request may pass. */
  request(at: number): boolean {
    const process = this.processes[at]!
    const ahead = process.ahead.spend(null, "source:1", 0)?.source
    if (ahead) {
      this.dealt.push(ahead.count)
      return ahead.count <= LIMIT
    }
    const number = ++this.count
    this.dealt.push(number)
    const wanted = process.ahead.wanted(null, "source:1", { client: null, source: this.window() }, 0)
    process.asked = [...process.asked, ...wanted]
    return number <= LIMIT
  }

  give(at: number): void {
    const process = this.processes[at]!
    for (const { requests } of process.asked) this.count += requests
    process.ahead.give(process.asked, new Map([["source:1", this.window()]]), 0)
    process.asked = []
  }
}

const Step = Schema.Struct({
  process: Schema.Literals([0, 1, 2]),
  requests: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_000 })),
})

it.prop(
  "LeasedQuota assigns each number once, exceeds no limit, and loses at most a thousandth per process",
  [Schema.Array(Step).check(Schema.isMaxLength(30)), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))],
  ([steps, every]) => {
    const minute = new Minute(3)
    let passed = 0
    const ask = (process: number, n: number) => {
      const may = minute.request(process)
      if (may) passed++
      if (n % every === 0) minute.give(process)
      return may
    }
    for (const { process, requests } of steps) for (let n = 0; n < requests; n++) ask(process, n)
    // Then a single process requests until it is refused, whatever the others hold.
    for (let n = 0; ask(0, n); n++);
    assert.strictEqual(new Set(minute.dealt).size, minute.dealt.length)
    assert.isAtMost(passed, LIMIT)
    assert.isAtLeast(passed, LIMIT - 2 * SHARE)
  },
)

const ahead = (limit: number, count: number, seconds = 30) =>
  new LeasedQuota(limit).wanted("ip:1", null, { client: { count, left_ms: seconds * 1000 }, source: null }, 0)

it("LeasedQuota leases as many as were requested so far, at most a thousandth of the limit, until the middle of the window", () => {
  assert.deepStrictEqual(ahead(50_000, 9), [])
  assert.deepStrictEqual(ahead(50_000, 10), [{ subject: "ip:1", requests: 10 }])
  assert.deepStrictEqual(ahead(50_000, 20_000), [{ subject: "ip:1", requests: 50 }])
  assert.deepStrictEqual(ahead(50_000, 24_951), [])
  assert.deepStrictEqual(ahead(9_999, 1_000), [])
  assert.deepStrictEqual(ahead(50_000, 1_000, 1), [])
})

it("LeasedQuota assigns from both or neither, not past the window's end, and leases again only when none is left", () => {
  const one = new LeasedQuota(100_000)
  const count = (client: number, source: number) => ({
    client: { count: client, left_ms: 30_000 },
    source: { count: source, left_ms: 30_000 },
  })
  const wanted = one.wanted("ip:1", "source:1", count(12, 40), 0)
  assert.deepStrictEqual(wanted, [
    { subject: "ip:1", requests: 12 },
    { subject: "source:1", requests: 40 },
  ])
  assert.deepStrictEqual(one.wanted("ip:1", "source:1", count(13, 41), 0), [])
  one.give(wanted, new Map([["ip:1", { count: 25, left_ms: 30_000 }]]), 1_000)
  assert.strictEqual(one.spend("ip:1", "source:1", 2_000), null)
  assert.deepStrictEqual(one.spend("ip:1", null, 30_949), { client: { count: 14, left_ms: 1 }, source: null })
  assert.strictEqual(one.spend("ip:1", null, 30_950), null)
  // The source's requests were not counted, so they are requested again; the client first has some left, later none.
  assert.deepStrictEqual(one.wanted("ip:1", "source:1", count(26, 50), 2_000), [{ subject: "source:1", requests: 50 }])
  assert.deepStrictEqual(one.wanted("ip:1", null, count(26, 50), 31_000), [{ subject: "ip:1", requests: 26 }])
})
