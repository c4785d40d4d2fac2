import { OwnCall } from "@data-cabinet/core/runtime/AbortableCall"
import type { FoundRows, ReadResult } from "@data-cabinet/core/row/RowReader"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { assert, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { ReadGroups } from "../../src/row/ReadGroups.ts"
import { ReadLimiter } from "../../src/row/ReadLimiter.ts"
import type { GroupRead, RowQuery } from "../../src/row/ReadRows.ts"

const TABLE = {} as RowQuery["page"]["table"]
const ANOTHER = {} as RowQuery["page"]["table"]

const BUSY = { busy: true } as unknown as ReadResult

/** Reads in flight, by name in the order in which they were sent to the database; each ends on command. */
const open = Effect.gen(function* () {
  const ends = yield* timerWheel
  const context = yield* Effect.context()
  const turns = new ReadLimiter({
    slots: 4,
    share: 1,
    isolated: { slots: 1, share: 1 },
    queueTimeoutMillis: 8_000,
    wheel: ends,
  })
  const sent: Array<string> = []
  const pending = new Map<string, (result: "read" | "changed" | "failed" | Error) => void>()
  const aborted: Array<string> = []
  const names = new Map<RowQuery, string>()
  const rowsOf = (query: RowQuery) => ({ items: names.get(query) }) as unknown as FoundRows
  const begun = (
    name: string,
    call: OwnCall | Parameters<ConstructorParameters<typeof ReadGroups>[0]["single"]>[1],
  ) => {
    sent.push(name)
    call.onAbort(() => void aborted.push(name))
    return new Promise<"read" | "changed" | "failed">((resolve, reject) =>
      pending.set(name, (result) => (result instanceof Error ? reject(result) : resolve(result))),
    )
  }
  const groups = new ReadGroups({
    wheel: ends,
    turns,
    busy: BUSY,
    single: async (query, call) => {
      await begun(names.get(query)!, call)
      return Result.succeed(rowsOf(query))
    },
    group: async (queries, call): Promise<GroupRead> => {
      const outcome = await begun(queries.map((query) => names.get(query)).join("+"), call)
      return outcome === "read" ? queries.map(rowsOf) : outcome
    },
    took: () => {},
  })
  const results = new Map<string, unknown>()
  const calls = new Map<string, OwnCall>()
  const read = (name: string, page: Partial<RowQuery["page"]> = {}) => {
    const query = {
      object: "object",
      page: { table: TABLE, text: "a page", runsNoUserCode: true, replan: false, limit: 100, ...page },
    } as RowQuery
    names.set(query, name)
    const call = new OwnCall(Number.POSITIVE_INFINITY, context)
    calls.set(name, call)
    groups.read(query, call).then(
      (result) => results.set(name, result === BUSY ? "busy" : Result.isSuccess(result) && result.success.items),
      (fault: unknown) => results.set(name, fault),
    )
  }
  const settled = Effect.promise(() => new Promise(setImmediate))
  const end = (name: string, how: "read" | "changed" | "failed" | Error = "read") => {
    pending.get(name)!(how)
    return settled
  }
  const leave = (name: string) => {
    calls.get(name)!.abort()
    return settled
  }
  return { sent, aborted, results, read, end, leave, settled }
})

const many = (read: (name: string) => void, ...names: ReadonlyArray<string>) => names.forEach((name) => read(name))

it.effect(
  "ReadGroups joins up to three other reads, at most half of the waiting ones, and each gets its own page",
  () =>
    Effect.gen(function* () {
      const { sent, results, read, end } = yield* open
      many(read, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
      assert.deepStrictEqual(sent, ["a"])
      yield* end("a")
      assert.deepStrictEqual(sent.slice(1), ["b+c+d+e"])
      yield* end("b+c+d+e")
      // Four wait behind f, so two are left for other slots.
      assert.deepStrictEqual(sent.slice(2), ["f+g+h"])
      yield* end("f+g+h")
      yield* end("i")
      yield* end("j")
      assert.deepStrictEqual(sent.slice(3), ["i", "j"])
      assert.deepStrictEqual(results, new Map([..."abcdefghij"].map((name) => [name, name])))
    }).pipe(Effect.scoped),
)

it.effect(
  "ReadGroups reads a page separately if it is long, has a custom plan or another object, or may run a customer's code",
  () =>
    Effect.gen(function* () {
      const { sent, results, read, end } = yield* open
      read("a")
      read("long", { limit: 101 })
      read("planned", { replan: true })
      read("another", { table: ANOTHER })
      many(read, "b", "c", "d", "e")
      yield* end("a")
      yield* end("long")
      yield* end("planned")
      yield* end("another")
      assert.deepStrictEqual(sent, ["a", "long", "planned", "another", "b+c"])
      yield* end("b+c")
      yield* end("d")
      yield* end("e")
      assert.strictEqual(results.size, 8)
      const views = yield* open
      for (const name of ["v", "w", "x", "y"]) views.read(name, { runsNoUserCode: false })
      for (const name of ["v", "w", "x", "y"]) yield* views.end(name)
      assert.deepStrictEqual(views.sent, ["v", "w", "x", "y"])
    }).pipe(Effect.scoped),
)

it.effect(
  "ReadGroups reads each page of a group separately after one failed, and in groups again after five seconds",
  () =>
    Effect.gen(function* () {
      const { sent, results, read, end } = yield* open
      many(read, "a", "b", "c", "d")
      yield* end("a")
      yield* end("b+c", "failed")
      // c is behind d, which was ahead of it in the queue.
      for (const name of ["b", "d", "c"]) yield* end(name)
      assert.deepStrictEqual(sent, ["a", "b+c", "b", "d", "c"])
      assert.deepStrictEqual([...results.keys()].toSorted(), ["a", "b", "c", "d"])
      many(read, "e", "f", "g", "h")
      for (const name of ["e", "f", "g", "h"]) yield* end(name)
      assert.deepStrictEqual(sent.slice(5), ["e", "f", "g", "h"])
      yield* TestClock.adjust(5_000)
      many(read, "i", "j", "k", "l")
      yield* end("i")
      assert.deepStrictEqual(sent.slice(9), ["i", "j+k"])
    }).pipe(Effect.scoped),
)

it.effect("ReadGroups continues with groups if an object merely changed", () =>
  Effect.gen(function* () {
    const { sent, results, read, end } = yield* open
    many(read, "a", "b", "c", "d")
    yield* end("a")
    yield* end("b+c", "changed")
    many(read, "e", "f")
    yield* end("b")
    assert.deepStrictEqual(sent, ["a", "b+c", "b", "d+e"])
    yield* end("d+e")
    yield* end("c")
    yield* end("f")
    assert.deepStrictEqual(results, new Map([..."abcdef"].map((name) => [name, name])))
  }).pipe(Effect.scoped),
)

it.effect("ReadGroups reads each page separately if a group is slow, and cancels the group", () =>
  Effect.gen(function* () {
    const { sent, aborted, results, read, end, settled } = yield* open
    many(read, "a", "slow", "c", "d")
    yield* end("a")
    assert.deepStrictEqual(aborted, [])
    yield* TestClock.adjust(500)
    yield* settled
    assert.deepStrictEqual(aborted, ["slow+c"])
    // The slow read has a slot to itself, as it would without a group.
    assert.deepStrictEqual(sent, ["a", "slow+c", "slow"])
    yield* end("slow")
    // The slot still belongs to the group, whose session is not idle yet.
    assert.deepStrictEqual(sent, ["a", "slow+c", "slow"])
    yield* end("slow+c", "failed")
    yield* end("d")
    yield* end("c")
    assert.deepStrictEqual(
      [...results],
      ["a", "slow", "d", "c"].map((name) => [name, name]),
    )
  }).pipe(Effect.scoped),
)

it.effect("ReadGroups cancels a group when all its callers have left, and not before", () =>
  Effect.gen(function* () {
    const { sent, aborted, results, read, end, leave } = yield* open
    many(read, "a", "b", "c", "d", "e", "f", "g")
    yield* leave("d")
    assert.strictEqual(results.get("d"), "busy")
    yield* end("a")
    assert.deepStrictEqual(sent, ["a", "b+c+e"])
    yield* leave("c")
    yield* leave("b")
    assert.deepStrictEqual(aborted, [])
    yield* end("b+c+e")
    assert.strictEqual(results.get("e"), "e")
    assert.deepStrictEqual(sent.slice(2), ["f"])
    many(read, "h", "i", "j")
    yield* end("f")
    assert.deepStrictEqual(sent.slice(3), ["g+h"])
    yield* leave("g")
    yield* leave("h")
    assert.deepStrictEqual(aborted, ["g+h"])
  }).pipe(Effect.scoped),
)

it.effect("ReadGroups leaves a fault to the single read that hits it again", () =>
  Effect.gen(function* () {
    const { results, read, end } = yield* open
    many(read, "a", "b", "c", "d")
    yield* end("a")
    yield* end("b+c", new Error("a fault"))
    yield* end("b", new Error("a fault of b"))
    yield* end("d")
    yield* end("c")
    assert.deepStrictEqual(results.get("b"), new Error("a fault of b"))
    assert.deepStrictEqual(results.get("c"), "c")
  }).pipe(Effect.scoped),
)

it.effect("ReadGroups excludes statements that were slow recently or are unknown, until they are fast", () =>
  Effect.gen(function* () {
    const { sent, read, end } = yield* open
    read("scan", { text: "scan" })
    yield* TestClock.adjust(50)
    yield* end("scan")
    read("a")
    read("b")
    read("scan 2", { text: "scan" })
    read("unknown", { text: "unknown" })
    many(read, "c", "d", "e")
    yield* end("a")
    // Six were waiting, five of them behind b; half of those is two.
    assert.deepStrictEqual(sent.slice(2), ["b+c+d"])
    yield* end("b+c+d")
    yield* end("scan 2")
    yield* end("unknown")
    yield* end("e")
    assert.deepStrictEqual(sent.slice(3), ["scan 2", "unknown", "e"])
    for (let reads = 3; reads < 6; reads++) {
      read(`scan ${reads}`, { text: "scan" })
      yield* end(`scan ${reads}`)
    }
    read("f")
    read("scan 6", { text: "scan" })
    many(read, "g", "h")
    yield* end("f")
    assert.deepStrictEqual(sent.slice(10), ["scan 6+g"])
  }).pipe(Effect.scoped),
)

it.effect("ReadGroups compares the pages of one table, and reads them in groups if all are slow", () =>
  Effect.gen(function* () {
    const { sent, read, end } = yield* open
    many(read, "a", "b", "c", "d")
    yield* TestClock.adjust(80)
    yield* end("a")
    assert.deepStrictEqual(sent, ["a", "b+c"])
  }).pipe(Effect.scoped),
)
