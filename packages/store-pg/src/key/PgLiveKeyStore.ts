/** Keys and tokens of requests in progress, found by one statement for all concurrent lookups. */
import type { Role } from "@data-cabinet/core/key/Role"
import { Effect, Layer, Result } from "effect"
import { byteaArray } from "../connection/Parameter.ts"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { coalescedCounts } from "../limit/CoalescedCounts.ts"
import { LIVE_KEYS } from "../limit/CountStatement.ts"
import { scopeOf } from "./PgReaderTokenStore.ts"
import { LIVE_READERS } from "./ReaderTokenStatement.ts"
import { LiveKeyStore, type LiveToken } from "@data-cabinet/core/key/Authenticate"

interface KeyRow {
  readonly subject: string
}

interface TokenRow extends KeyRow {
  readonly role: Role
  readonly scope: string | null
}

export const layer = Layer.effect(
  LiveKeyStore,
  Effect.gen(function* () {
    const sql = yield* StatementClient
    const finder = <Row extends KeyRow>(statement: string) =>
      coalescedCounts<Row>((counts) => {
        const fingerprints = byteaArray(Array.from(counts.keys(), (hex) => Buffer.from(hex, "hex")))
        return orUnavailable(
          Effect.map(
            sql.unsafe<Row>(statement, [fingerprints]),
            // Callers that looked up the same subject get the same result.
            (rows) => new Map(rows.map((row) => [row.subject, Array<Row>(counts.get(row.subject)!).fill(row)])),
          ),
        )
      })
    const findKey = yield* finder<KeyRow>(LIVE_KEYS)
    const findToken = yield* finder<TokenRow>(LIVE_READERS)
    const hexOf = (fingerprint: Uint8Array) => Buffer.from(fingerprint).toString("hex")
    return LiveKeyStore.of({
      key: async (fingerprint, deadline) =>
        Result.map(await findKey(hexOf(fingerprint), deadline), (row) => row !== null),
      token: async (fingerprint, deadline) =>
        Result.map(await findToken(hexOf(fingerprint), deadline), (row): LiveToken | null =>
          row === null ? null : { role: row.role, scope: scopeOf(row.scope) },
        ),
    })
  }),
)
