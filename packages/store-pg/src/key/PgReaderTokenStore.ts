/** The tokens that the read API is sent, found and counted by one statement for all requests that come meanwhile. */
import type { ReaderTokenLimit } from "@data-cabinet/core/key/ReaderTokenStore"
import { ReaderTokenStore } from "@data-cabinet/core/key/ReaderTokenStore"
import type { ReadScopeOrAll, ScopedObject } from "@data-cabinet/core/key/ReadScope"
import type { Role } from "@data-cabinet/core/key/Role"
import { Effect, Layer, Result } from "effect"
import { fingerprintArray, int4Array } from "../connection/ArrayParameter.ts"
import { StatementClient } from "../connection/OwnerClient.ts"
import type { Statements } from "../connection/StatementPool.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { type Counted, rowsBySubject } from "../limit/CoalescedCounts.ts"
import { leasedCounts } from "../limit/LeasedCounts.ts"
import { limitOf } from "../limit/RequestCounter.ts"
import { COUNT_READERS, LIVE_READERS } from "./ReaderTokenStatement.ts"

export interface FoundReader {
  readonly subject: string
  readonly role: Role
  readonly scope: string | null
}

export const scopeOf = (json: string | null): ReadScopeOrAll => {
  if (json === null) return null
  const { sources, objects } = JSON.parse(json) as {
    readonly sources: ReadonlyArray<number>
    readonly objects: ReadonlyArray<ScopedObject>
  }
  return { sources: new Set(sources), objects }
}

/** The live tokens of these fingerprints in hexadecimal, with their lists. */
export const findReaders = (sql: Statements, fingerprints: ReadonlyArray<string>) =>
  orUnavailable(Effect.map(sql.unsafe<FoundReader>(LIVE_READERS, [fingerprintArray(fingerprints)]), rowsBySubject))

/** `apiRate`: requests a minute of each token. */
export const layer = ({ apiRate }: { readonly apiRate: number }) =>
  Layer.effect(
    ReaderTokenStore,
    Effect.gen(function* () {
      const sql = yield* StatementClient
      const count = yield* leasedCounts<FoundReader>({
        limit: apiRate,
        count: (requests) => {
          const values = [fingerprintArray(requests.keys()), int4Array([...requests.values()])]
          return orUnavailable(Effect.map(sql.unsafe<FoundReader & Counted>(COUNT_READERS, values), rowsBySubject))
        },
        find: (fingerprints) => findReaders(sql, fingerprints),
      })
      return ReaderTokenStore.of({
        count: async (fingerprint, deadline) =>
          Result.map(await count(Buffer.from(fingerprint).toString("hex"), deadline), (row): ReaderTokenLimit | null =>
            row === null ? null : { ...limitOf(apiRate, row), role: row.role, scope: scopeOf(row.scope) },
          ),
      })
    }),
  )
