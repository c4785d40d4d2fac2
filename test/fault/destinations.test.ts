/**
 * Every event is in the files or messages of a destination once, whenever a process is killed or stopped. `DESTINATION_KILLS` kills more at
 * random moments.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { DESTINATION, DESTINATION_DEFAULTS } from "@data-cabinet/core/destination/Destination"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import { destinationFollower } from "@data-cabinet/core/destination/WriteDestination"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { followerLoop, runFollower } from "@data-cabinet/core/follower/FollowerLoop"
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Layer } from "effect"
import { afterAll, afterEach, assert, beforeAll, it, vi } from "vitest"
import { hasNats, type NatsService, startNats } from "../support/natsServer.ts"
import { LOOPBACK, S3_KEYS, type S3Service, startS3 } from "../support/s3Service.ts"
import { withDatabase } from "../support/postgres.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"
import { seeded } from "../support/random.ts"
import { testCabinet } from "../support/testCabinet.ts"
import { requestOf } from "./acceptRequest.ts"

const KILLS = Number(process.env["DESTINATION_KILLS"] ?? 1)
/** For a kill, a process must start; beside other work that takes seconds. */
const KILLS_MILLIS = 300_000 + KILLS * 20_000

const WORKER = program(new URL("destinationWorker.ts", import.meta.url))
const root = mkdtempSync(join(tmpdir(), "destinations-"))
const BUCKET = "s3://events/"
const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>
let s3: S3Service
let nats: NatsService | null = null
let sourceId: number
let otherId: number
beforeAll(async () => {
  s3 = await startS3()
  if (hasNats) nats = await startNats()
  cabinet = testCabinet(database.url, { settings: { destinationRoot: root, allowedNetworks: [LOOPBACK] } })
  const create = (name: string) => cabinet.runPromise(Sources.use((sources) => sources.create({ name })))
  sourceId = (await create("Orders")).id
  otherId = (await create("Others")).id
})
afterAll(async () => {
  await cabinet.dispose()
  await s3.close()
  await nats?.close()
  rmSync(root, { recursive: true })
})

const children: Array<ChildProcess> = []
const end = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}
afterEach(async () => {
  for (const child of children.splice(0)) await end(child)
  // A test that failed may have left it stopped.
  await nats?.start()
  await database.run(`DELETE FROM cabinet.follower WHERE kind = '${DESTINATION}'`)
})
const worker = (step: string): ChildProcess => {
  const child = fork(WORKER, [database.url, root, step], {
    execArgv: [...PROGRAM_FLAGS],
    env: { ...process.env, ...compileCache() },
  })
  children.push(child)
  return child
}
/** A process that has reached this step. */
const reached = async (step: string): Promise<ChildProcess> => {
  const child = worker(step)
  const [said] = (await once(child, "message", { signal: AbortSignal.timeout(120_000) })) as [string]
  assert.strictEqual(said, step)
  return child
}

let bodies = 0
const accept = async (count: number, to = sourceId) => {
  for (let n = 0; n < count; n++) {
    await cabinet.runPromise(EventLog.use((log) => appendEvents(log, requestOf(to, `body ${bodies++}`, false))))
  }
}
const accepted = async (of = [sourceId, otherId]) =>
  (
    await database.run(
      `SELECT id::int AS id FROM cabinet.event WHERE source_id IN (${of.join(", ")}) ORDER BY epoch, xid, id`,
    )
  ).map(({ id }) => id)

const namesIn = (location: string) =>
  location.startsWith(BUCKET)
    ? s3.names(`${location.slice(BUCKET.length)}/`)
    : readdirSync(join(root, location))
        .filter((name) => name.endsWith(".ndjson") && !name.startsWith("."))
        .toSorted()
const textOf = (location: string, name: string) =>
  location.startsWith(BUCKET) ? s3.objects.get(name)!.toString() : readFileSync(join(root, location, name), "utf8")
/** The events of all files, in the order of their names. */
const written = (location: string) =>
  namesIn(location).flatMap((name) =>
    textOf(location, name)
      .split("\n")
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { readonly id: number }).id),
  )

/** The end of every lease, rest and wait. */
const later = () => database.run("UPDATE cabinet.clock SET shift = shift + interval '10 minutes'")
/** Serves what is due, until nothing is. */
const serve = async () => {
  await later()
  while ((await cabinet.runPromise(FollowerStore.use((store) => runFollower(store, destinationFollower)))) === 0);
}
const add = (location: string, sources: ReadonlyArray<number> | null = null) => {
  const bucket = location.startsWith(BUCKET)
    ? { endpoint: s3.endpoint, credentials: S3_KEYS }
    : location.startsWith("nats:")
      ? { endpoint: nats!.endpoint }
      : {}
  return cabinet.runPromise(
    Destinations.use((all) => all.add({ ...DESTINATION_DEFAULTS, location, sources, ...bucket })),
  )
}
const state = async () => (await cabinet.runPromise(Destinations.use((all) => all.list)))[0]!

it.each([
  ["writing", "killed/writing"],
  ["written", "killed/written"],
  ["written", "s3://events/killed"],
])("a destination whose process is killed when a slice is %s has every event once: %s", async (step, location) => {
  await add(location)
  await accept(5)
  const child = await reached(step)
  const before = await accepted()
  await end(child)
  assert.deepStrictEqual(written(location), step === "written" ? before : [])
  // The slice that was begun ends where it was planned to end.
  await accept(5)
  await serve()
  assert.deepStrictEqual(written(location), await accepted())
  assert.lengthOf(namesIn(location), 2)
  assert.deepInclude(await state(), { behind: 0, failures: 0, eventId: (await accepted()).at(-1) as number })
})

it("a destination whose process stops before its slice appears is served by another, and has every event once", async () => {
  await add("stopped")
  await accept(5)
  const child = await reached("appearing")
  await accept(5)
  await serve()
  assert.deepStrictEqual(written("stopped"), await accepted())
  const files = namesIn("stopped")
  const ended = once(child, "message")
  child.kill("SIGCONT")
  assert.strictEqual(((await ended) as [string])[0], "ended")
  assert.deepStrictEqual(namesIn("stopped"), files)
  assert.deepStrictEqual(written("stopped"), await accepted())
})

it("a destination continues after files that were taken away, and after those that it does not remember", async () => {
  await add("moved")
  await accept(3)
  await serve()
  const [first] = namesIn("moved") as [string]
  renameSync(join(root, "moved", first), join(root, first))
  await accept(3)
  await serve()
  assert.deepStrictEqual(written("moved"), (await accepted()).slice(-3))
  renameSync(join(root, first), join(root, "moved", first))
  // As after a restore of a backup that is older than the files.
  await database.run(`UPDATE cabinet.follower SET epoch = 0, xid = 0, event_id = 0 WHERE kind = '${DESTINATION}'`)
  await database.run("UPDATE cabinet.destination SET planned_epoch = NULL")
  await accept(3)
  await serve()
  assert.deepStrictEqual(written("moved"), await accepted())
})

it("a destination of one source passes the events of others, and keeps up", async () => {
  await add("filtered", [otherId])
  await accept(2)
  await serve()
  assert.deepInclude(await state(), { behind: 0, failures: 0 })
  await accept(2, otherId)
  await accept(2)
  await serve()
  assert.deepStrictEqual(written("filtered"), await accepted([otherId]))
  assert.deepInclude(await state(), { behind: 0, failures: 0 })
})

it("a destination that fails says why, and holds up no other", async () => {
  await add("taken")
  await accept(1)
  await serve()
  const { id } = await state()
  await cabinet.runPromise(Destinations.use((all) => all.remove(id)))
  await add("taken")
  await add("free")
  await serve()
  assert.deepStrictEqual(written("free"), await accepted())
  const { failures, error, retryAt, behind } = await state()
  assert.isAtLeast(failures, 1)
  assert.match(error ?? "", /^The directory has files of another destination, such as /)
  assert.isNotNull(retryAt)
  assert.strictEqual(behind, (await accepted()).length)
})

it("a bucket that refuses is waited for, holds up no other, and gets everything then; restarted, it gets everything again", async () => {
  const location = "s3://events/waiting"
  s3.refuse = ({ method }) => (method === "PUT" ? { status: 503, code: "SlowDown", message: "Wait." } : null)
  await add(location)
  await add("beside")
  await serve()
  assert.deepStrictEqual(written("beside"), await accepted())
  const waiting = await state()
  assert.match(waiting.error ?? "", /^The bucket refused to write a file: 503 SlowDown: Wait\.$/)
  assert.deepInclude(waiting, { failures: 1, eventId: null, behind: (await accepted()).length })
  s3.refuse = () => null
  await serve()
  assert.deepStrictEqual(written(location), await accepted())
  assert.deepInclude(await state(), { failures: 0, error: null, behind: 0 })
  const restart = cabinet.runPromiseExit(Destinations.use((all) => all.restart(waiting.id)))
  assert.include(JSON.stringify(await restart), "destination_filled")
  s3.objects.clear()
  const { tag, behind } = await cabinet.runPromise(Destinations.use((all) => all.restart(waiting.id)))
  assert.notStrictEqual(tag, waiting.tag)
  assert.strictEqual(behind, (await accepted()).length)
  await serve()
  assert.deepStrictEqual(written(location), await accepted())
})

it("a bucket that does not respond holds up no other destination meanwhile", async () => {
  s3.silent = () => true
  await add("s3://events/silent")
  await add("meanwhile")
  await later()
  const stop = new AbortController()
  const serving = cabinet.runPromiseExit(Effect.scoped(Layer.launch(followerLoop(destinationFollower))), {
    signal: stop.signal,
  })
  await vi.waitFor(async () => assert.deepStrictEqual(written("meanwhile"), await accepted()), 60_000)
  assert.deepInclude(await state(), { location: "s3://events/silent", failures: 0, eventId: null })
  stop.abort()
  await serving
  s3.silent = () => false
})

it(
  `a bucket has every event once, at whatever moment a process is killed (${KILLS} kills)`,
  async () => {
    const location = "s3://events/random"
    await add(location)
    const random = seeded(KILLS)
    for (let kill = 0; kill < KILLS; kill++) {
      await accept(1 + random(4))
      await later()
      const seen = s3.requests.length
      const child = worker("none")
      await vi.waitFor(() => assert.isAbove(s3.requests.length, seen), { timeout: 240_000, interval: 1 })
      await setTimeout(random(25))
      await end(child)
    }
    const killed = written(location)
    assert.deepStrictEqual(killed, (await accepted()).slice(0, killed.length))
    await serve()
    assert.deepStrictEqual(written(location), await accepted())
  },
  KILLS_MILLIS,
)

const STREAM = "nats://EVENTS/cabinet"
const stored = async (stream = "EVENTS") =>
  (await nats!.messages(stream)).map(({ text }) => (JSON.parse(text) as { readonly id: number }).id)

it.skipIf(!hasNats)(
  `a stream has every event once and in order, at whatever moment a process or the broker is killed (${KILLS} kills of each)${hasNats ? "" : ": nats-server is missing, .ci/nats installs it"}`,
  async () => {
    await nats!.create("EVENTS", "cabinet")
    await add(STREAM)
    const random = seeded(KILLS)
    for (let kill = 0; kill < KILLS; kill++) {
      await accept(20 + random(100))
      await later()
      const before = (await stored()).length
      const child = worker("none")
      if (kill % 2 === 0) {
        await vi.waitFor(async () => assert.isAbove((await stored()).length, before), { timeout: 240_000, interval: 1 })
        await end(child)
      }
      await nats!.stop()
      await setTimeout(random(25))
      if (kill === 0) {
        // The killed process may have published everything.
        await accept(1)
        await serve()
        assert.match((await state()).error ?? "", /^The broker was not reached at nats:/)
      }
      await nats!.start()
      await end(child)
      const killed = await stored()
      assert.deepStrictEqual(killed, (await accepted()).slice(0, killed.length))
    }
    await serve()
    assert.deepStrictEqual(await stored(), await accepted())
    assert.deepInclude(await state(), { failures: 0, error: null, behind: 0 })
    const { id } = await state()
    const filled = cabinet.runPromiseExit(Destinations.use((all) => all.restart(id)))
    assert.include(JSON.stringify(await filled), "Purge the stream first")
    await nats!.call("PURGE.EVENTS")
    await cabinet.runPromise(Destinations.use((all) => all.restart(id)))
    await serve()
    assert.deepStrictEqual(await stored(), await accepted())
  },
  KILLS_MILLIS,
)

it.skipIf(!hasNats)(
  `a stream that is full says so, holds up no other, and gets everything once there is room${hasNats ? "" : ": nats-server is missing, .ci/nats installs it"}`,
  async () => {
    const limits = { max_bytes: 2_000, discard: "new" }
    await nats!.create("FULL", "full", limits)
    await add("nats://FULL/full")
    await add("beside-full")
    await accept(20)
    await serve()
    assert.deepStrictEqual(written("beside-full"), await accepted())
    const { error, failures } = await state()
    assert.match(error ?? "", /^The stream FULL refused a message: 10077 maximum bytes exceeded\. Raise its limit, /)
    assert.isAtLeast(failures, 1)
    await nats!.call("UPDATE.FULL", { name: "FULL", subjects: ["full.>"], storage: "file", num_replicas: 1 })
    await serve()
    assert.deepStrictEqual(await stored("FULL"), await accepted())
    assert.deepInclude(await state(), { failures: 0, error: null, behind: 0 })
  },
)

it.skipIf(!hasNats)(
  `a stream whose process stops before it publishes is served by another, and has every event once${hasNats ? "" : ": nats-server is missing, .ci/nats installs it"}`,
  async () => {
    await nats!.create("STOPPED", "stopped")
    await add("nats://STOPPED/stopped")
    await serve()
    await accept(1)
    await later()
    const child = await reached("appearing")
    await serve()
    assert.deepStrictEqual(await stored("STOPPED"), await accepted())
    const ended = once(child, "message")
    child.kill("SIGCONT")
    assert.strictEqual(((await ended) as [string])[0], "ended")
    assert.deepStrictEqual(await stored("STOPPED"), await accepted())
  },
)
