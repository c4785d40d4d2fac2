/** Short bodies are parsed at once; longer ones in pieces, with the same result, and only if there is memory. */
import type { IntakeRequest } from "@data-cabinet/core/intake/IntakeRequest"
import { submissionParser } from "@data-cabinet/core/intake/PreparedSubmission"
import { MemoryBudget, MemoryShares } from "@data-cabinet/core/limit/MemoryBudget"
import type { IntakeSource } from "@data-cabinet/core/source/Source"
import { Result } from "effect"
import { assert, it } from "vitest"
import { request, store, text } from "./MemoryStore.ts"

const SOURCE = store().state.source!
const KEPT: IntakeSource = { ...SOURCE, kept: { headers: ["X-Other"], fields: ["X-Topic", "X-Name"], query: false } }

/** A parser whose memory is partly used by another submission, so that a body that does not fit is refused at once. */
const parserWith = (bytes: number) => {
  const budget = new MemoryBudget(bytes)
  budget.add(1)
  return submissionParser(new MemoryShares(budget), { watch: () => () => undefined })
}

const x = (length: number) => "x".repeat(length)

it.each<readonly [what: string, source: IntakeSource, short: Partial<IntakeRequest>, long: Partial<IntakeRequest>]>([
  ["body", SOURCE, { body: text(x(65_536)) }, { body: text(x(65_537)) }],
  ["query", SOURCE, { query: x(2_048) }, { query: x(2_049) }],
  [
    "fields of headers",
    KEPT,
    { headers: { "x-topic": x(2_000), "x-name": x(48), "x-other": x(5_000) } },
    { headers: { "x-topic": x(2_000), "x-name": x(49) } },
  ],
])("submissionParser reserves memory only for a long %s", async (_, source, short, long) => {
  const none = parserWith(0)
  assert.isTrue(Result.isSuccess(await none(request(source, short), source)))
  assert.isTrue(Result.isFailure(await none(request(source, long), source)))
  assert.isTrue(Result.isSuccess(await parserWith(10_000_000)(request(source, long), source)))
})

const LONG_QUERY = `q=${x(2_049)}`

it.each<readonly [what: string, change: Partial<IntakeRequest>]>([
  ["an object", { body: text('{"a":1.0,"b":{"c":[1e400]}}') }],
  ["a batch", { body: text('[{"a":1},{"b":2}]') }],
  ["a body that is no JSON", { body: text("{") }],
  ["a body that is no object", { body: text("[1]") }],
  ["a batch that is too long", { body: text(`[${"{},".repeat(100)}{}]`) }],
  ["nothing", { body: text("") }],
  ["a body that cannot be decoded", { undecodable: "broken" }],
])("submissionParser has the same result in pieces and at once: %s", async (_, change) => {
  const outcomeOf = async (parsed: Awaited<ReturnType<ReturnType<typeof parserWith>>>) => {
    if (Result.isFailure(parsed)) return parsed.failure
    const { request: accepted, resultOf } = parsed.success
    const receipts = accepted.events.map((_event, at) => ({ id: at + 1, repeatOf: null, empty: false }))
    return { accepted, result: resultOf(receipts) }
  }
  const parse = parserWith(10_000_000)
  const sent = request(KEPT, { query: LONG_QUERY, headers: { "x-topic": "orders" }, ...change })
  const inPieces = await outcomeOf(await parse(sent, KEPT))
  // The same fields from a short query, added afterwards.
  const short = await outcomeOf(await parse({ ...sent, query: "q=x" }, KEPT))
  const written = (outcome: unknown) =>
    JSON.stringify(outcome, (key, value: unknown) => {
      if (key === "fingerprint" || key === "memory") return undefined
      return value instanceof Map ? [...value] : value
    })
  assert.strictEqual(written(inPieces).replaceAll(x(2_049), "x"), written(short))
})

it("submissionParser frees memory and timer when it is done, at its deadline and after a fault", async () => {
  const budget = new MemoryBudget(1_000_000)
  const timers = new Set<() => void>()
  const parse = submissionParser(new MemoryShares(budget), {
    watch: ({ expire }) => {
      timers.add(expire)
      return () => void timers.delete(expire)
    },
  })
  const long = request(SOURCE, { body: text(`["${x(70_000)}"]`) })
  const isOver = () => assert.deepStrictEqual([budget.isUnused, timers.size], [true, 0])
  assert.isTrue(Result.isSuccess(await parse(long, SOURCE)))
  isOver()
  const late = parse(long, SOURCE)
  for (const expire of timers) expire()
  assert.deepInclude(Result.getOrThrow(Result.flip(await late)), { _tag: "StoreUnavailable", outcomeUnknown: false })
  isOver()
  const faulty: IntakeRequest = {
    ...long,
    get undecodable(): string {
      throw new RangeError("a fault of ours")
    },
  }
  await parse(faulty, SOURCE).then(
    () => assert.fail(),
    (fault: unknown) => assert.instanceOf(fault, RangeError),
  )
  isOver()
  assert.isTrue(Result.isSuccess(await parse(long, SOURCE)))
})
