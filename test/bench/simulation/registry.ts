/** What a round over a large registry of cabinets costs the process that reads it: CPU, and how long its loop is held. */
import { registryLayer } from "../../../packages/cli/src/tenancy/ResolveTenant.ts"
import { tenantPool } from "../../../packages/cli/src/tenancy/TenantPool.ts"
import { readSettings } from "../../../packages/cli/src/settings/ReadSettings.ts"
import { tenantScheduler } from "../../../packages/cli/src/tenancy/TenantScheduler.ts"
import type { PgClient } from "@effect/sql-pg"
import { type Duration, Effect } from "effect"
import { ourServer } from "../contestant.ts"
import { rounded, type Simulation } from "./simulation.ts"

const ROUNDS = 20
const KEPT = { originalDays: 90, logDays: 30, failedLogDays: 90, auditDays: 400 }

const cpuMillis = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** CPU of the longest event loop turn until `done`: unlike wall time, no other program adds to it. */
const longestTurn = async (done: Promise<unknown>) => {
  let longest = 0
  let isDone = false
  void done.finally(() => (isDone = true))
  for (let before = cpuMillis(); !isDone;) {
    await new Promise((resolve) => setImmediate(resolve))
    const now = cpuMillis()
    longest = Math.max(longest, now - before)
    before = now
  }
  return longest
}

/** The median of the rounds' CPU including watching, and of their longest event loop turns; milliseconds. */
const measured = async (rounds: number, round: () => Promise<unknown>) => {
  const cpu: Array<number> = []
  const held: Array<number> = []
  for (let n = 0; n < rounds; n++) {
    const began = cpuMillis()
    held.push(await longestTurn(round()))
    cpu.push(cpuMillis() - began)
  }
  const median = (values: Array<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
  return { cpu: rounded(median(cpu), 1), held: rounded(median(held), 1), heldAtMost: rounded(Math.max(...held), 1) }
}

export const largeRegistry = async ({ cluster, note }: Simulation, registered: number) => {
  const own = await cluster.database("registry")
  await (await ourServer(own, ["--no-delivery", "--no-poll"])).stop()
  await cluster.run(
    own,
    `INSERT INTO cabinet.registered_cabinet (name, database_name)
     SELECT 'c' || n, 'cabinet_c' || n FROM generate_series(1, ${registered}) n`,
  )
  const work = Effect.gen(function* () {
    const context = yield* Effect.context<PgClient.PgClient>()
    const many = yield* tenantPool({
      settings: yield* readSettings({ given: {}, env: {} }),
      delivers: false,
      polls: false,
      baseUrlOf: (name) => `https://${name}.test`,
      inUse: () => Effect.void,
    })
    const reload = () => Effect.runPromise(many.reload)
    note(`the first read of ${registered} cabinets, ms`, yield* Effect.promise(() => measured(1, reload)))
    note("the hourly read, ms", yield* Effect.promise(() => measured(1, () => Effect.runPromise(many.reloadWhole))))
    note("a round without a change, ms", yield* Effect.promise(() => measured(ROUNDS, reload)))
    // As after the first day. The databases do not exist, so a look at one fails.
    const spread = "UPDATE cabinet.registry_due SET due_at = cabinet.now() + random() * interval '24 hours'"
    yield* Effect.promise(() => cluster.run(own, spread))
    const rounds = (time: Duration.Input) =>
      Effect.runPromise(
        Effect.scoped(Effect.andThen(tenantScheduler(many, { kept: KEPT, polls: true }), Effect.sleep(time))).pipe(
          Effect.provide(context),
        ),
      )
    // Watching the turns of the loop keeps it busy, so the CPU is measured without.
    const began = cpuMillis()
    yield* Effect.promise(() => rounds("60 seconds"))
    note("60 seconds of a worker's rounds, ms of CPU", rounded(cpuMillis() - began, 1))
    const { held } = yield* Effect.promise(() => measured(1, () => rounds("15 seconds")))
    note("the longest turn of a worker's loop, ms", held)
  })
  await Effect.runPromise(Effect.scoped(Effect.provide(work, registryLayer({ url: own }))) as Effect.Effect<void>)
}
