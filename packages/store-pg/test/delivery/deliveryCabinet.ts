/** A cabinet that sends nothing, with helpers for acting on its deliveries. */
import { AddressCheck } from "@data-cabinet/core/delivery/AddressCheck"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import type { ClaimRequest, Settlement } from "@data-cabinet/core/delivery/DeliveryQueue"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { testDatabase } from "../../../../test/support/postgres.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

export const claimOf = (change: Partial<ClaimRequest> = {}): ClaimRequest => ({
  lane: "healthy",
  limit: 100,
  perAddress: 100,
  room: new Map(),
  after: 0,
  leaseSeconds: 60,
  ...change,
})

/** The settlement of an attempt that got `status`; null: no response. */
export const settlementOf = (
  delivery: { readonly id: number; readonly attempt: number },
  status: number | null,
  afterSeconds = 30,
): Settlement => ({
  deliveryId: delivery.id,
  attempt: delivery.attempt,
  outcome: {
    status,
    failure: status === null ? "no response" : null,
    peer: "203.0.113.9",
    durationMs: 12,
    timing: { nameMs: 1, connectMs: 2, tlsMs: null, waitMs: 8, bodyMs: 1 },
    responseBody: "ok",
  },
  next: status !== null && status < 300 ? { state: "delivered" } : { state: "retry", afterSeconds },
})

/** Any address will do, because nothing is sent. */
const unchecked = Layer.succeed(AddressCheck, AddressCheck.of({ check: () => Effect.void }))

const PLANNED =
  "cabinet.address, cabinet.address_pace, cabinet.attempt, cabinet.delivery, cabinet.event, cabinet.source"

export const openDeliveryCabinet = async () => {
  const database = await testDatabase()
  const runtime = testCabinet(database.url, { override: unchecked })
  const run = database.run
  const queue = <A, E>(use: (queue: typeof DeliveryQueue.Service) => Effect.Effect<A, E>) =>
    runtime.runPromise(DeliveryQueue.use(use))
  const book = <A, E>(use: (book: typeof Addresses.Service) => Effect.Effect<A, E>) =>
    runtime.runPromise(Addresses.use(use))
  const deliveries = <A, E>(use: (deliveries: typeof Deliveries.Service) => Effect.Effect<A, E>) =>
    runtime.runPromise(Deliveries.use(use))
  const source = async (name = "Orders"): Promise<number> => {
    const [row] = await run(
      `INSERT INTO cabinet.source (name, intake_secret, secret_hash) VALUES ('${name}', 's', sha256(gen_random_uuid()::text::bytea)) RETURNING id::int`,
    )
    return row!["id"] as number
  }
  /** Advances the cabinet's clock, and creates the daily partitions that the service would create meanwhile. */
  const pass = async (interval: string): Promise<void> => {
    await run(`UPDATE cabinet.clock SET shift = shift + interval '${interval}'`)
    await run(
      `SELECT cabinet.make_partitions('cabinet.attempt_delivered'), cabinet.make_partitions('cabinet.attempt_failed')`,
    )
  }
  return {
    name: database.name,
    url: database.url,
    runtime,
    run,
    queue,
    book,
    deliveries,
    /** A ping that the caller has claimed. */
    ping: (addressId: number) => queue((all) => Effect.map(all.ping(addressId, 60), Option.getOrThrow)),
    /** PostgreSQL's plan of a statement on one of our connections. */
    plan: async (statement: string, parameters: ReadonlyArray<unknown>): Promise<string> => {
      const explained = PgClient.PgClient.use((sql) => sql.unsafe<object>(`EXPLAIN ${statement}`, parameters))
      return (await runtime.runPromise(explained)).flatMap((row) => Object.values(row)).join("\n")
    },
    /** PostgreSQL's plans of a statement for these parameters and for any, with their costs. */
    plans: async (statement: string, parameters: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
      const explained = (mode: "custom" | "generic") =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          yield* sql.unsafe(`SET LOCAL plan_cache_mode = force_${mode}_plan`)
          const lines = yield* sql.unsafe<object>(`EXPLAIN EXECUTE planned (${parameters.join(", ")})`)
          return lines.flatMap((line) => Object.values(line)).join("\n")
        })
      const both = PgClient.PgClient.use((sql) =>
        sql.withTransaction(
          Effect.gen(function* () {
            // Statistics that change between the two would tell them apart.
            yield* sql.unsafe(`LOCK TABLE ${PLANNED} IN SHARE UPDATE EXCLUSIVE MODE`)
            yield* sql.unsafe(`PREPARE planned AS ${statement}`)
            const plans = yield* Effect.all([explained("custom"), explained("generic")])
            yield* sql.unsafe("DEALLOCATE planned")
            return plans
          }),
        ),
      )
      return runtime.runPromise(both)
    },
    source,
    /** Events of a source with their deliveries, as accept creates them; returns the events' ids. */
    accept: async (sourceId: number, count = 1, payload = "{}"): Promise<ReadonlyArray<number>> => {
      const rows = await run(`
        WITH made AS (
          INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
          SELECT 1, pg_current_xact_id()::text::bigint, nextval('cabinet.event_id'), ${sourceId}, cabinet.now(), 'webhook', false, false,
            '${payload}'::json
          FROM generate_series(1, ${count}) RETURNING *
        ), due AS (
          INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
          SELECT a.id, e.id, e.received_at, e.received_at FROM made e JOIN cabinet.address a ON a.removed_at IS NULL
            AND (a.every_source OR EXISTS (SELECT FROM cabinet.address_source s WHERE s.address_id = a.id AND s.source_id = e.source_id))
        ) SELECT id::int FROM made ORDER BY id`)
      return rows.map((row) => row["id"] as number)
    },
    pass,
    /** Empties it and resets its clock before each test; returns a new source. */
    begin: async (): Promise<number> => {
      await run(
        // First what is counted in the background, which then locks addresses.
        "TRUNCATE cabinet.filtered_events, cabinet.address, cabinet.address_source, cabinet.delivery, cabinet.fan_out, cabinet.filtered_fan_out, cabinet.resend, cabinet.subscription_count, cabinet.attempt, cabinet.source CASCADE",
      )
      await run("UPDATE cabinet.clock SET shift = '0'")
      await pass("0 days")
      return source()
    },
    close: async () => {
      await runtime.dispose()
      await database.drop()
    },
  }
}

export type DeliveryCabinet = Awaited<ReturnType<typeof openDeliveryCabinet>>
