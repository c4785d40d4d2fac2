/** What every destination does, whatever kind of place it is. */
import type { DestinationFormat, FeedSlice, OpenDestination } from "@data-cabinet/core/destination/Destination"
import { FEED_START, type FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { Items } from "@data-cabinet/core/pagination/Items"
import { Effect, Exit } from "effect"
import { assert, beforeEach, it } from "vitest"

/** A place for the tests of one destination, empty at first. */
export interface ContractPlace {
  readonly open: (tag: string, format: DestinationFormat) => OpenDestination
  /** What a reader of the place finds, by its lines, in their order. */
  readonly lines: () => ReadonlyArray<string> | Promise<ReadonlyArray<string>>
}

export const place = (id: number, epoch = 1, xid = BigInt(id) + 700n): FeedPlace => ({ epoch, xid, id })

/** Events with these ids, each with a number that no double holds. */
export const eventsOf = (...ids: ReadonlyArray<number>): Items => {
  const texts = ids.map(
    (id) => `{"id":${id},"source":{"id":7,"name":"Orders"},"payload":{"n":${String(id).padStart(40, "1")}}}`,
  )
  let end = -1
  return new Items(
    Buffer.from(texts.join(",")),
    0,
    texts.map((text) => (end += text.length + 1)),
  )
}

/** The events after the first id, up to and with the last. */
export const sliceOf = (from: number, to: number, mayAppear = () => true): FeedSlice => {
  const ids = Array.from({ length: to - from }, (_, n) => from + n + 1)
  return {
    from: place(from),
    to: place(to),
    events: ids.map((id) => eventsOf(id)),
    placeOf: (page) => place(ids[page]!),
    mayAppear,
  }
}

const textOf = (...ids: ReadonlyArray<number>) => ids.flatMap((id) => eventsOf(id).texts())

/** Declares the tests. `make` returns a new place for each. */
export const destinationContract = (name: string, make: () => ContractPlace | Promise<ContractPlace>): void => {
  let at: ContractPlace
  let one: OpenDestination
  beforeEach(async () => {
    at = await make()
    one = at.open("aaaaaaaa", "ndjson")
  })
  const run = <A, E>(work: Effect.Effect<A, E>) => Effect.runPromise(work)

  it(`${name} has no position before its first slice, and then that of its last event`, async () => {
    assert.isNull(await run(one.position(FEED_START)))
    await run(one.write(sliceOf(0, 2)))
    assert.deepEqual(await run(one.position(FEED_START)), place(2))
    await run(one.write(sliceOf(2, 3)))
    assert.deepEqual(await run(at.open("aaaaaaaa", "ndjson").position(FEED_START)), place(3))
    assert.isNull(await run(one.position(place(3))))
    assert.deepEqual(await run(one.position(place(2))), place(3))
    assert.deepEqual(await at.lines(), textOf(1, 2, 3))
  })

  it(`${name} orders positions as the feed does: by epoch, transaction and event, not by their digits`, async () => {
    const between = [place(9, 1, 9n), place(8, 1, 10n), place(10, 1, 10n), place(1, 2, 3n), place(1, 10, 1n)]
    for (const [n, to] of between.entries()) {
      const from = between[n - 1] ?? place(0, 0, 0n)
      await run(one.write({ from, to, events: [eventsOf(n + 1)], placeOf: () => to, mayAppear: () => true }))
      assert.deepEqual(await run(one.position(FEED_START)), to)
    }
    assert.deepEqual(await at.lines(), textOf(1, 2, 3, 4, 5))
  })

  it(`${name} replaces a slice that is written again`, async () => {
    await run(one.write(sliceOf(0, 2)))
    await run(at.open("aaaaaaaa", "ndjson").write(sliceOf(0, 2)))
    assert.deepEqual(await at.lines(), textOf(1, 2))
  })

  it(`${name} shows nothing of a slice that may not appear, nor of one that fails`, async () => {
    const late = await run(Effect.exit(one.write(sliceOf(0, 2, () => false))))
    assert.isTrue(Exit.isFailure(late))
    const broken = { ...sliceOf(0, 2), events: [eventsOf(1), null as unknown as Items] }
    assert.isTrue(Exit.isFailure(await run(Effect.exit(one.write(broken)))))
    assert.deepEqual(await at.lines(), [])
    assert.isNull(await run(one.position(FEED_START)))
    await run(one.write(sliceOf(0, 2)))
    assert.deepEqual(await at.lines(), textOf(1, 2))
  })

  it(`${name} refuses a place with what another destination wrote, in words that name some of it`, async () => {
    await run(one.write(sliceOf(0, 2)))
    const refused = await run(Effect.flip(at.open("bbbbbbbb", "ndjson").position(FEED_START)))
    assert.match(
      refused.message,
      /^The (directory|bucket|stream) has (files|messages) of another destination, such as (aaaaaaaa_|its last one, 2\.)/,
    )
  })
}
