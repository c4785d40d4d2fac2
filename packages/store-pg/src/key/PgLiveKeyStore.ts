/** Keys and tokens of requests in progress, found by one statement for all that are looked up meanwhile. */
import { LiveKeyStore, type LiveToken } from "@data-cabinet/core/key/LiveKeyStore"
import { Effect, Layer, Result } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import { coalescedLookups } from "../limit/CoalescedCounts.ts"
import { findKeys } from "../limit/KeyCounts.ts"
import { findReaders, scopeOf } from "./PgReaderTokenStore.ts"

export const layer = Layer.effect(
  LiveKeyStore,
  Effect.gen(function* () {
    const sql = yield* StatementClient
    const findKey = yield* coalescedLookups((fingerprints) => findKeys(sql, fingerprints))
    const findToken = yield* coalescedLookups((fingerprints) => findReaders(sql, fingerprints))
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
