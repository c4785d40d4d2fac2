/** Cabinets that open on use and close when idle, and the rounds over cabinets that no process has open. */
import { CabinetRegistry } from "@data-cabinet/core/tenancy/CabinetRegistry"
import * as PgCabinetSignal from "@data-cabinet/store-pg/tenancy/PgCabinetSignal"
import { Effect, Result } from "effect"
import { afterEach, beforeEach, expect, it } from "vitest"
import { testDatabase, type TestDatabase } from "../../../../test/support/postgres.ts"
import { tenantScheduler, type TenantWork } from "../../src/tenancy/TenantScheduler.ts"
import { tenantPool, type TenantPool } from "../../src/tenancy/TenantPool.ts"
import { registryLayer, resolveTenant } from "../../src/tenancy/ResolveTenant.ts"
import { readSettings } from "../../src/settings/ReadSettings.ts"

const WORK: TenantWork = {
  kept: { originalDays: 90, logDays: 30, failedLogDays: 90, auditDays: 400 },
  polls: true,
}

let own: TestDatabase
let cabinets: ReadonlyArray<TestDatabase>

beforeEach(async () => {
  own = await testDatabase()
  cabinets = [await testDatabase(), await testDatabase()]
})
afterEach(async () => {
  await Promise.all([own, ...cabinets].map((database) => database.drop()))
})

/** Runs `work` with two cabinets, `a` and `b`, that stay open for 300 ms after use. */
const over = <A>(work: (many: TenantPool) => Effect.Effect<A, unknown, any>) =>
  Effect.gen(function* () {
    const registry = yield* CabinetRegistry
    yield* registry.add("a", cabinets[0]!.url)
    yield* registry.add("b", cabinets[1]!.url)
    const settings = yield* readSettings({ given: {}, env: {} })
    const many = yield* tenantPool({
      settings,
      delivers: false,
      polls: false,
      baseUrlOf: (name) => `https://${name}.test`,
      inUse: () => Effect.void,
      idle: "300 millis",
    })
    yield* many.reload
    return yield* work(many)
  }).pipe(Effect.scoped, Effect.provide(registryLayer({ url: own.url })), (whole) =>
    Effect.runPromise(whole as Effect.Effect<A, unknown>),
  )

const sessions = async (database: TestDatabase) =>
  Number((await own.run(`SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = '${database.name}'`))[0]!["n"])

const until = (check: () => Promise<boolean>) => Effect.promise(() => expect.poll(check).toBe(true))
const opened = (many: TenantPool, name: string) => until(() => Effect.runPromise(many.isOpen(name)))

it("a cabinet is opened when it is held, closed with all its sessions when idle, and opened again", () =>
  over((many) =>
    Effect.gen(function* () {
      for (let n = 0; n < 2; n++) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* many.hold("a")
            yield* until(async () => (await sessions(cabinets[0]!)) > 0)
          }),
        )
        yield* until(async () => !(await Effect.runPromise(many.isOpen("a"))))
        yield* until(async () => (await sessions(cabinets[0]!)) === 0)
      }
      const noted = yield* Effect.promise(() => cabinets[0]!.run("SELECT url FROM cabinet.base_address"))
      expect(noted).toEqual([{ url: "https://a.test" }])
      expect(yield* many.isOpen("b")).toBe(false)
      expect(yield* Effect.promise(() => sessions(cabinets[1]!))).toBe(0)
    }),
  ))

it("a cabinet that leaves the registry is closed, and not opened again", () =>
  over((many) =>
    Effect.gen(function* () {
      yield* Effect.scoped(many.hold("a"))
      yield* CabinetRegistry.use((registry) => registry.remove("a"))
      yield* many.reload
      expect(yield* many.isOpen("a")).toBe(false)
      expect(yield* Effect.promise(() => many.find("a"))).toEqual(Result.succeed(undefined))
      expect(yield* Effect.flip(Effect.scoped(many.hold("a")))).toMatchObject({ _tag: "StoreUnavailable" })
    }),
  ))

it("a cabinet that cannot be opened says why, without names, also while it is not tried again", () =>
  over((many) =>
    Effect.gen(function* () {
      const { name } = cabinets[1]!
      const rename = (from: string, to: string) =>
        Effect.promise(() => own.run(`ALTER DATABASE ${from} RENAME TO ${to}`))
      const refusal = Effect.map(Effect.flip(Effect.scoped(many.hold("b"))), ({ message }) => message)
      yield* Effect.acquireRelease(rename(name, `${name}_away`), () => rename(`${name}_away`, name))
      const said = "The cabinet's database cannot be used: it does not exist."
      expect([yield* refusal, yield* refusal]).toEqual([said, said])
    }),
  ))

it("tenantScheduler opens a cabinet with work due, and leaves an idle one closed", async () => {
  await cabinets[0]!.run(
    "INSERT INTO cabinet.source (id, name, intake_secret, secret_hash) VALUES (1, 'Polled', 's', 's')",
  )
  await cabinets[0]!.run(
    "INSERT INTO cabinet.poll (source_id, url, every_seconds, paused_at) VALUES (1, 'http://127.0.0.1:9', 60, NULL)",
  )
  await over((many) =>
    Effect.gen(function* () {
      yield* tenantScheduler(many, WORK)
      yield* opened(many, "a")
      // One check of the other cabinet, and the next in 24 hours.
      yield* until(async () => (await hoursUntilDue("b")) === 24)
      expect(yield* many.isOpen("b")).toBe(false)
    }),
  )
})

const hoursUntilDue = async (name: string) =>
  Number(
    (
      await own.run(
        `SELECT ceil(extract(epoch FROM due_at - cabinet.now()) / 3600)::int AS hours FROM cabinet.registry_due WHERE name = '${name}'`,
      )
    )[0]!["hours"],
  )

it("tenantScheduler immediately opens a cabinet that another process reports as used", () =>
  over((many) =>
    Effect.gen(function* () {
      yield* tenantScheduler(many, WORK)
      // A notification sent before anybody listened is lost.
      yield* until(async () => {
        await Effect.runPromise(Effect.provide(PgCabinetSignal.notify("b"), registryLayer({ url: own.url })))
        return Effect.runPromise(many.isOpen("b"))
      })
    }),
  ))

it("a flood of notifications opens no unknown cabinet, causes no query of the registry, and opens a known cabinet once", () =>
  over((many) =>
    Effect.gen(function* () {
      const held: Array<string> = []
      let reloads = 0
      const counted: TenantPool = {
        ...many,
        hold: (name) =>
          Effect.andThen(
            Effect.sync(() => void held.push(name)),
            many.hold(name),
          ),
        reload: Effect.andThen(
          Effect.sync(() => void reloads++),
          many.reload,
        ),
      }
      yield* tenantScheduler(counted, WORK)
      const notify = (statement: string) => Effect.promise(() => own.run(statement))
      yield* notify(`DO $$ BEGIN
        FOR n IN 1..5000 LOOP PERFORM pg_notify('${PgCabinetSignal.CHANNEL}', repeat('x', 1000) || n); END LOOP;
        PERFORM pg_notify('${PgCabinetSignal.CHANNEL}', '');
      END $$`)
      yield* notify(`DO $$ BEGIN FOR n IN 1..200 LOOP NOTIFY ${PgCabinetSignal.CHANNEL}, 'b'; COMMIT; END LOOP; END $$`)
      // An honest notification after all of these still arrives.
      yield* until(async () => {
        await Effect.runPromise(Effect.provide(PgCabinetSignal.notify("a"), registryLayer({ url: own.url })))
        return Effect.runPromise(many.isOpen("a"))
      })
      yield* opened(many, "b")
      expect(held.toSorted()).toEqual(["a", "b"])
      // Only its own rounds, none for a notification.
      expect(reloads).toBeLessThan(60)
    }),
  ))

it("resolveTenant makes a cabinet due for a worker when a command that may change it ends, and no other cabinet", () =>
  over(() =>
    Effect.gen(function* () {
      const settings = yield* readSettings({ given: {}, env: {} })
      const inAYear = Effect.promise(() =>
        own.run("UPDATE cabinet.registry_due SET due_at = cabinet.now() + interval '1 year'"),
      )
      const hours = (name: string) => Effect.promise(() => hoursUntilDue(name))
      const during = (changes: boolean) =>
        Effect.scoped(Effect.andThen(resolveTenant({ url: own.url } as never, "a", settings, { changes }), hours("a")))
      yield* inAYear
      expect(yield* during(false)).toBeGreaterThan(8_000)
      expect(yield* hours("a")).toBeGreaterThan(8_000)
      // If it is killed, the cabinet is due within ten minutes.
      expect(yield* during(true)).toBe(1)
      expect(yield* hours("a")).toBeLessThanOrEqual(0)
      expect(yield* hours("b")).toBeGreaterThan(8_000)
    }),
  ))
