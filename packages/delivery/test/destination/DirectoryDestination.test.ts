/** A destination in a directory: the contract, and what is special about files. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FEED_START } from "@data-cabinet/core/feed/FeedStore"
import { directoryDestination } from "@data-cabinet/delivery/destination/DirectoryDestination"
import { type EncodeSlice, parseSliceName, sliceName } from "@data-cabinet/delivery/destination/SliceName"
import { Effect } from "effect"
import { afterAll, assert, it } from "vitest"
import { destinationContract, place, sliceOf } from "../../../../test/support/destinationContract.ts"

const home = mkdtempSync(join(tmpdir(), "destination-"))
afterAll(() => rmSync(home, { recursive: true }))

const lines: EncodeSlice = async function* ({ events }) {
  for (const items of events) for (const text of items.texts()) yield Buffer.from(`${text}\n`)
}

let made = 0
const directory = () => join(home, String(made++), "events")
const visible = (at: string) => readdirSync(at, { encoding: "utf8" }).filter((name) => !name.startsWith("."))
const openAt = (at: string) => directoryDestination(at, { tag: "aaaaaaaa", format: "ndjson" }, lines)

destinationContract("A directory", () => {
  const at = directory()
  mkdirSync(at, { recursive: true })
  return {
    open: (tag, format) => directoryDestination(at, { tag, format }, lines),
    lines: () =>
      visible(at)
        .toSorted()
        .flatMap((name) => readFileSync(join(at, name), "utf8").split("\n").slice(0, -1)),
  }
})

it("A directory that is missing is created, with those above it", async () => {
  const at = directory()
  assert.isNull(await Effect.runPromise(openAt(at).position(FEED_START)))
  await Effect.runPromise(openAt(at).write(sliceOf(0, 1)))
  assert.lengthOf(visible(at), 1)
})

it("A directory loses what a killed process has left of its own slices, and nothing else", async () => {
  const at = directory()
  mkdirSync(at, { recursive: true })
  const slice = sliceName({ tag: "aaaaaaaa", format: "ndjson" }, sliceOf(0, 1))
  const others = ["notes.part", `.${slice.replaceAll("a", "b")}.0.part`, "aaaaaaaa_readme.ndjson"]
  for (const name of [`.${slice}.12345678.part`, ...others]) writeFileSync(join(at, name), "x")
  assert.isNull(await Effect.runPromise(openAt(at).position(FEED_START)))
  assert.sameMembers(readdirSync(at), others)
})

it("A directory that cannot be written fails in the words of the system", async () => {
  const at = directory()
  mkdirSync(join(at, ".."), { recursive: true })
  writeFileSync(at, "a file")
  const failed = await Effect.runPromise(Effect.flip(openAt(at).write(sliceOf(0, 1))))
  assert.match(failed.message, /^E[A-Z]+: /)
})

it("sliceName has places that parseSliceName reads, and sorts as they do", () => {
  const named = { tag: "0a1b2c3d", format: "parquet" } as const
  const to = place(9_007_199_254_740_991, 99_999_999, 18_446_744_073_709_551_615n)
  const last = sliceName(named, { from: place(10), to })
  assert.deepEqual(parseSliceName(last), { tag: "0a1b2c3d", to })
  const first = sliceName(named, { from: place(9), to: place(10) })
  assert.deepEqual([last, first].toSorted(), [first, last])
  for (const other of ["", "events.parquet", `.${last}`, `${last}.part`]) assert.isNull(parseSliceName(other))
})
