/** A process that moves events into files and is killed at any step leaves nothing that is lost, and nothing that stays. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ColdFiles } from "@data-cabinet/core/cold/ColdFiles"
import { ColdStore } from "@data-cabinet/core/cold/ColdStore"
import { moveEvents } from "@data-cabinet/core/cold/MoveEvents"
import { Effect, Scope } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { COLD_LIMITS, coldCabinet } from "../support/coldCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
const root = mkdtempSync(join(tmpdir(), "cold-crash-"))
let old: Awaited<ReturnType<typeof coldCabinet>>
let before: Awaited<ReturnType<(typeof old)["walk"]>>
beforeAll(async () => {
  old = await coldCabinet(database.url, { coldStore: root })
  await old.followersReach(3)
  before = await old.walk(7)
})
afterAll(async () => {
  await old.cabinet.dispose()
  rmSync(root, { recursive: true })
})

const killed = Effect.die(new Error("killed"))
type Step = "read" | "added" | "finished" | "listed" | "deleted"

/** A round of a process that is killed after a step: it cleans nothing up. */
const roundUntil = (step: Step) =>
  Effect.gen(function* () {
    const [store, files] = [yield* ColdStore, yield* ColdFiles]
    const after = <A, E, R>(name: Step, work: Effect.Effect<A, E, R>) =>
      name === step ? Effect.andThen(work, killed) : work
    const forever = yield* Scope.make()
    const round = moveEvents(COLD_LIMITS, true).pipe(
      Effect.provideService(ColdStore, {
        ...store,
        release: () => Effect.void,
        next: (place, limits) => after("read", store.next(place, limits)),
        list: (file, border) => after("listed", store.list(file, border)),
        replace: (one, file, isNew) => after("listed", store.replace(one, file, isNew)),
        deleteRows: (file, rows) => after("deleted", store.deleteRows(file, rows)),
      }),
      Effect.provideService(ColdFiles, {
        ...files,
        create: (name) =>
          Effect.map(Effect.provideService(files.create(name), Scope.Scope, forever), (writer) => ({
            add: (events) => after("added", writer.add(events)),
            finish: after("finished", writer.finish),
          })),
      }),
    )
    return (yield* Effect.exit(round))._tag
  })

it.each<Step>(["read", "added", "finished", "listed", "deleted"])(
  "every event is still there once when a process is killed after it has %s",
  async (step) => {
    if (step === "deleted") await old.settle()
    assert.strictEqual(await old.cabinet.runPromise(roundUntil(step)), "Failure")
    assert.deepEqual(await old.walk(7), before)
    await old.sql("UPDATE cabinet.cold_state SET leased_until = 'epoch'")
  },
)

it("a file that was replaced by a process that was killed then is complete as well", async () => {
  await old.move()
  await old.settle()
  await old.move()
  assert.strictEqual(await old.rows(), 1)
  await old.sql("UPDATE cabinet.event SET deleted_at = NULL")
  assert.deepEqual(await old.walk(7), before)
})

it("files that were begun and never listed are removed", async () => {
  await old.sql("UPDATE cabinet.cold_leftover SET remove_at = 'epoch'")
  await old.move()
  const listed = await old.sql("SELECT name FROM cabinet.cold_file ORDER BY name")
  assert.strictEqual(listed.length, 3)
  assert.deepEqual(
    readdirSync(root).toSorted(),
    listed.map(({ name }) => String(name)),
  )
})

it("a second process that has read the same events lists no file of them", async () => {
  await old.sql("UPDATE cabinet.event SET received_at = '2021-01-01'")
  const listed = Effect.gen(function* () {
    const [store, files] = [yield* ColdStore, yield* ColdFiles]
    const all = yield* store.files
    const other = Effect.provideService(moveEvents({ ...COLD_LIMITS, fileEvents: 1 }, false), ColdStore, store)
    return yield* Effect.gen(function* () {
      yield* Effect.provideService(moveEvents({ ...COLD_LIMITS, fileEvents: 1 }, false), ColdStore, {
        ...store,
        // The other is quicker, between the two steps of this one.
        list: (file, border) =>
          Effect.gen(function* () {
            yield* store.release(null)
            yield* other.pipe(Effect.provideService(ColdFiles, files), Effect.orDie)
            return yield* store.list(file, border)
          }),
      })
      return (yield* store.files).length - all.length
    })
  })
  assert.strictEqual(await old.cabinet.runPromise(listed), 1)
})
