/** Finds and counts the tokens sent to the read API: one statement for all requests that arrive meanwhile. */
import type { ReadScopeOrAll } from "@data-cabinet/core/key/ReadScope"
import type { ListedObject } from "@data-cabinet/core/row/Tables"
import type { Role } from "@data-cabinet/core/key/Role"
import { Effect, Layer, Result } from "effect"
import { byteaArray, int4Array } from "../connection/Parameter.ts"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { coalescedCounts, type Counted, distribute } from "../limit/CoalescedCounts.ts"
import { limitOf } from "../limit/RequestCounter.ts"
import { COUNT_READERS } from "./ReaderTokenStatement.ts"
import { type ReaderTokenLimit, ReaderTokenStore } from "@data-cabinet/core/key/Authenticate"

interface ReaderRow extends Counted {
  readonly subject: string
  readonly role: Role
  readonly scope: string | null
}

export const scopeOf = (json: string | null): ReadScopeOrAll => {
  if (json === null) return null
  const { sources, objects } = JSON.parse(json) as {
    readonly sources: ReadonlyArray<number>
    readonly objects: ReadonlyArray<ListedObject>
  }
  return { sources: new Set(sources), objects }
}

/** `apiRate`: requests a minute of each token. */
export const layer = ({ apiRate }: { readonly apiRate: number }) =>
  Layer.effect(
    ReaderTokenStore,
    Effect.gen(function* () {
      const sql = yield* StatementClient
      const count = yield* coalescedCounts<ReaderRow>((requests) => {
        const fingerprints = byteaArray(Array.from(requests.keys(), (hex) => Buffer.from(hex, "hex")))
        return orUnavailable(
          Effect.map(
            sql.unsafe<ReaderRow>(COUNT_READERS, [fingerprints, int4Array([...requests.values()])]),
            (rows) => new Map(rows.map((row) => [row.subject, distribute(row, requests.get(row.subject)!)])),
          ),
        )
      })
      return ReaderTokenStore.of({
        count: async (fingerprint, deadline) =>
          Result.map(await count(Buffer.from(fingerprint).toString("hex"), deadline), (row): ReaderTokenLimit | null =>
            row === null ? null : { ...limitOf(apiRate, row), role: row.role, scope: scopeOf(row.scope) },
          ),
      })
    }),
  )
