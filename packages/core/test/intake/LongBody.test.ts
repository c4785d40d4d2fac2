/** Long bodies are read piece by piece, with the same result, and no request waits for more than one piece. */
import { Context, Result } from "effect"
import { assert, it } from "vitest"
import { MemoryBudget, MemoryShares } from "../../src/limit/MemoryBudget.ts"
import { jsonPieces, submissionPieces } from "../../src/intake/LongBody.ts"
import { parseSubmission } from "../../src/intake/ParseSubmission.ts"
import { submissionParser } from "../../src/intake/PreparedSubmission.ts"
import type { IntakeRequest } from "../../src/intake/IntakeRequest.ts"
import type { Timer } from "../../src/runtime/TimerWheel.ts"
import type { IntakeSource } from "../../src/source/Source.ts"

it("jsonPieces parses a body that would be parsed as JSON, and parseSubmission uses its result", () => {
  const body = Buffer.from(`{"list":[${'{"a":"\uFFFD"},'.repeat(8_000)}1],"b":"\xff"}`, "utf8")
  for (const contentType of ["application/json", "text/plain", undefined, "application/x-www-form-urlencoded"]) {
    const submission = { body, contentType, query: "q=1", encoding: null }
    const read = jsonPieces(submission)!
    let ahead = read()
    let pieces = 1
    for (; ahead === undefined; pieces++) ahead = read()
    assert.isAbove(pieces, 1)
    assert.deepStrictEqual(parseSubmission({ ...submission, ...ahead }), parseSubmission(submission))
  }
  const form = { body: Buffer.from("a=1"), contentType: "application/x-www-form-urlencoded", query: "", encoding: null }
  assert.isNull(jsonPieces(form))
  assert.isNull(jsonPieces({ ...form, contentType: "multipart/form-data; boundary=x" }))
})

it.each([
  ["lines", Array.from({ length: 90 }, (_, n) => `{"n":${n},"t":"${"x".repeat(2_000)}"}`).join("\n")],
  ["one long line", `{"list":[${"1,".repeat(100_000)}1]}\n{"a":1}`],
  ["one text on many lines", `{\n"list":[\n${"1,\n".repeat(60_000)}1]}`],
  ["a long line that is no object", `{"a":1}\n[${"1,".repeat(100_000)}1]`],
  ["a long line that does not parse", `{"a":1}\n[${"1,".repeat(100_000)}1`],
])("jsonPieces reads lines of JSON in pieces, with the same result: %s", (_, text) => {
  const submission = { body: Buffer.from(text), contentType: "application/x-ndjson", query: "", encoding: null }
  const read = jsonPieces(submission)!
  let ahead = read()
  let pieces = 1
  for (; ahead === undefined; pieces++) ahead = read()
  assert.isAbove(pieces, 1)
  assert.deepStrictEqual(parseSubmission({ ...submission, ...ahead }), parseSubmission(submission))
})

it("submissionPieces writes at most its limit of events in one piece, with the same result", () => {
  const query = Array.from({ length: 2_000 }, (_, n) => `field${n}=1`).join("&")
  const body = Buffer.from(`[${Array.from({ length: 100 }, (_, n) => `{"n":${n}}`).join()}]`)
  const submission = { body, contentType: "application/json", query, encoding: null }
  const parse = submissionPieces(submission)
  let pieces = 1
  let parsed = parse()
  for (; parsed === undefined; pieces++) parsed = parse()
  const whole = parseSubmission(submission)
  assert.deepStrictEqual(parsed, whole)
  const length = whole.events.reduce((sum, { text }) => sum + text.length, 0)
  assert.isAtLeast(pieces, length / (65_536 + whole.events[0]!.text.length))
})

/** Bodies of one object that take far longer to read and write than their size suggests. */
const ONE_OBJECT: ReadonlyArray<readonly [string, string]> = [
  ["a list of empty objects", `{"a":[${"{},".repeat(100_000)}1]}`],
  ["a list of empty lists", `{"a":[${"[],".repeat(100_000)}1]}`],
  ["a list of numbers", `{"a":[${"1,".repeat(150_000)}1]}`],
  ["an object of lists", `{${Array.from({ length: 30_000 }, (_, n) => `"${n}":[1]`).join()}}`],
  ["an object of objects in another", `{"a":{${Array.from({ length: 30_000 }, (_, n) => `"${n}":{}`).join()}}}`],
  ["a list that is no object", `[${"1,".repeat(150_000)}1]`],
  ["nested lists", `{"a":[${`${"[".repeat(400)}${"]".repeat(400)},`.repeat(400)}1]}`],
]

it.each(ONE_OBJECT)("submissionPieces writes one event in pieces, with the same result: %s", (_, text) => {
  const submission = { body: Buffer.from(text), contentType: "application/json", query: "", encoding: null }
  const json = jsonPieces(submission)!
  let read = json()
  while (read === undefined) read = json()
  const parse = submissionPieces({ ...submission, ...read })
  let pieces = 1
  let parsed = parse()
  for (; parsed === undefined; pieces++) parsed = parse()
  assert.deepStrictEqual(parsed, parseSubmission(submission))
  // One for reading, and at least one for each piece of the canonical text.
  assert.isAtLeast(pieces, 1 + parsed.events[0]!.text.length / 65_536)
})

const SOURCE = {
  id: 1,
  version: 1,
  encoding: null,
  thanksUrl: null,
  kept: null,
  verification: null,
} as unknown as IntakeSource
const requestOf = (body: string): IntakeRequest => ({
  source: SOURCE,
  secret: "s",
  body: Buffer.from(body),
  undecodable: null,
  query: "",
  sender: {
    contentType: "application/json",
    ip: null,
    referer: null,
    origin: null,
    userAgent: null,
    acceptLanguage: null,
  },
  headers: {},
  baseUrl: "https://data.example",
  deadline: Number.POSITIVE_INFINITY,
  context: Context.empty(),
})

/** A timer wheel that the test turns by hand. */
const manualWheel = () => {
  const timers = new Set<Timer>()
  const watch = (timer: Timer) => {
    timers.add(timer)
    return () => void timers.delete(timer)
  }
  const expire = (deadline: number) => {
    for (const timer of timers) if (timer.deadline <= deadline && timers.delete(timer)) timer.expire()
  }
  return { watch, expire, timers }
}

const PLENTY = new MemoryShares(new MemoryBudget(100_000_000))

it("submissionParser writes the events of a short batch with a long query piece by piece", async () => {
  const parse = submissionParser(PLENTY, manualWheel())
  const order: Array<string> = []
  const asked = (name: string, request: IntakeRequest) => parse(request, SOURCE).finally(() => void order.push(name))
  const query = Array.from({ length: 5_000 }, (_, n) => `field${n}=1`).join("&")
  const batch = asked("batch", { ...requestOf(`[${'{"a":1},'.repeat(99)}{"a":1}]`), query })
  let turns = 0
  const turn = () => {
    turns++
    if (!order.includes("batch")) setImmediate(turn)
  }
  setImmediate(turn)
  const short = asked("short", requestOf('{"a":1}'))
  for (const parsed of await Promise.all([batch, short])) assert.isTrue(Result.isSuccess(parsed))
  assert.deepStrictEqual(order, ["short", "batch"])
  assert.isAbove(turns, 20)
})

it("submissionParser completes short bodies before an earlier long one, and fails none for a fault in another", async () => {
  const parse = submissionParser(PLENTY, manualWheel())
  const order: Array<string> = []
  const asked = (name: string, request: IntakeRequest) => parse(request, SOURCE).finally(() => void order.push(name))
  let ticks = 0
  let counting = true
  const tick = () => {
    ticks++
    if (counting) setImmediate(tick)
  }
  setImmediate(tick)
  const long = asked("long", requestOf(`{"list":[${"1,".repeat(300_000)}1]}`))
  const faulty = asked("faulty", {
    ...requestOf("x".repeat(100_000)),
    get query(): string {
      throw new RangeError("a planted fault")
    },
  })
  const short = asked("short", requestOf('{"a":1}'))
  const outcomes = await Promise.allSettled([long, short, faulty])
  counting = false
  assert.deepStrictEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected"],
  )
  assert.strictEqual(order[0], "short")
  assert.isAbove(ticks, 8)
})

it("submissionParser abandons a long body at its deadline, and reports that nothing was saved", async () => {
  const wheel = manualWheel()
  const budget = new MemoryBudget(100_000_000)
  const parse = submissionParser(new MemoryShares(budget), wheel)
  let pieces = 0
  const long = requestOf(`{"list":[${"1,".repeat(100_000)}1]}`)
  const counted: IntakeRequest = {
    ...long,
    deadline: 10,
    get undecodable() {
      if (++pieces === 3) wheel.expire(10)
      return null
    },
  }
  // More than are read at once: the last ones still wait in the queue when their time is up.
  const waiting = Array.from({ length: 20 }, () => parse({ ...long, deadline: 5 }, SOURCE))
  wheel.expire(5)
  for (const parsed of await Promise.all([...waiting, parse(counted, SOURCE)])) {
    assert.deepInclude(Result.isFailure(parsed) && parsed.failure, { _tag: "StoreUnavailable", outcomeUnknown: false })
  }
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
  assert.deepStrictEqual([pieces, budget.isUnused, wheel.timers.size], [3, true, 0])
  // Abandoned bodies free their slots.
  assert.isTrue(Result.isSuccess(await parse(long, SOURCE)))
})

it("submissionParser refuses a long body for which there is no memory, and releases the memory of others", async () => {
  const body = `{"list":[${"1,".repeat(100_000)}1]}`
  const budget = new MemoryBudget(body.length * 3)
  const wheel = manualWheel()
  const parse = submissionParser(new MemoryShares(budget), wheel)
  const sent = (id: number) => parse({ ...requestOf(body), deadline: 10 }, { ...SOURCE, id })
  // A fourth body in total is one too many; so is a second from a source that already holds as much as it leaves free.
  const parsed = await Promise.all([sent(1), sent(2), sent(1), sent(3), sent(4)])
  assert.deepStrictEqual(parsed.map(Result.isSuccess), [true, true, false, true, false])
  assert.match(String(Result.isFailure(parsed[4]!) && parsed[4].failure.message), /Too much received data is waiting/)
  const late = sent(1)
  wheel.expire(10)
  assert.isTrue(Result.isFailure(await late))
  assert.isTrue(budget.isUnused)
})
