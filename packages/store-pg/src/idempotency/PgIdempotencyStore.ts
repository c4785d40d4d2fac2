/**
 * Idempotency records in PostgreSQL. Beginning or removing one is a separate statement, visible at once to all. Neither
 * waits for a transaction that completes a record, because other callers' statements share the session. The record
 * decides: work whose record is gone cannot commit.
 */
import { createHmac } from "node:crypto"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { type Claim, IdempotencyStore } from "@data-cabinet/core/idempotency/IdempotencyStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Semaphore } from "effect"
import { SqlError } from "effect/sql"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable, sqlState, unavailable } from "../connection/StoreFailure.ts"

const SECRET = "SELECT bytes FROM cabinet.secret WHERE purpose = 'idempotency'"

const BEGIN = `
  INSERT INTO cabinet.idempotency (actor, key, request) VALUES ($1, decode($2, 'hex'), decode($3, 'hex'))
  ON CONFLICT (actor, key) DO NOTHING RETURNING id::text AS id`

const FIND = `
  SELECT id::text AS id, request = decode($3, 'hex') AS same, response,
    extract(epoch FROM cabinet.now() - begun_at)::float8 AS age
  FROM cabinet.idempotency WHERE actor = $1 AND key = decode($2, 'hex')`

const COMPLETE = "UPDATE cabinet.idempotency SET response = $2 WHERE id = $1 AND response IS NULL RETURNING 1"

/** Skips a record that is being completed at this moment. */
const REMOVE = `
  DELETE FROM cabinet.idempotency WHERE id IN (
    SELECT i.id FROM cabinet.idempotency i WHERE i.id = $1 AND (i.response IS NULL OR $2) FOR UPDATE SKIP LOCKED)
  RETURNING 1`

/** An earlier statement of the transaction failed, and the failure was ignored. */
const ABORTED = "25P02"

/**
 * Such as the outcome of an act in the audit log, whose failure its use case ignores: the whole transaction is undone
 * with it.
 */
const abortedAsUnavailable = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.catchCause(self, (cause): Effect.Effect<never, E | StoreUnavailable> => {
    const isAborted = cause.reasons.some(
      (reason) => reason._tag === "Die" && SqlError.isSqlError(reason.defect) && sqlState(reason.defect) === ABORTED,
    )
    return isAborted
      ? Effect.fail(unavailable("A part of the work could not be written, and nothing was done."))
      : Effect.failCause(cause)
  })

/**
 * Such work may wait for other systems, for example to resolve the name of a new address: most sessions stay free,
 * however many requests come.
 */
const MAX_CONCURRENT_TRANSACTIONS = 2

interface Found {
  readonly id: string
  readonly same: boolean
  readonly response: string | null
  readonly age: number
}

export const layer = Layer.effect(
  IdempotencyStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const quick = yield* StatementClient
    const places = yield* Semaphore.make(MAX_CONCURRENT_TRANSACTIONS)
    let secret: Uint8Array | undefined

    const claim = Effect.fnUntraced(function* (
      given: ReadonlyArray<string>,
      keepSeconds: number,
    ): Effect.fn.Return<Claim, SqlError.SqlError> {
      for (;;) {
        const [begun] = yield* quick.unsafe<{ readonly id: string }>(BEGIN, given)
        if (begun !== undefined) return { is: "claimed", id: Number(begun.id) }
        const [found] = yield* quick.unsafe<Found>(FIND, given)
        // Released in between.
        if (found === undefined) continue
        const { id, same, response, age } = found
        if (age >= keepSeconds && (yield* quick.unsafe(REMOVE, [id, true])).length > 0) continue
        return { is: "found", sameRequest: same, response, ageSeconds: age }
      }
    })

    return IdempotencyStore.of({
      claim: ({ actor, key, request }, keepSeconds) =>
        Effect.gen(function* () {
          secret ??= (yield* quick.unsafe<{ readonly bytes: Uint8Array }>(SECRET))[0]!.bytes
          const hmac = (text: string) => createHmac("sha256", secret!).update(text).digest("hex")
          return yield* claim([actor, hmac(`key\0${key}`), hmac(`request\0${request}`)], keepSeconds)
        }).pipe(orUnavailable),
      complete: (id, response) =>
        orUnavailable(Effect.map(sql.unsafe(COMPLETE, [id, response]), ({ length }) => length > 0)),
      release: (id) => orUnavailable(Effect.asVoid(quick.unsafe(REMOVE, [id, false]))),
      transaction: (work) => orUnavailable(abortedAsUnavailable(places.withPermits(1)(sql.withTransaction(work)))),
    })
  }),
)
