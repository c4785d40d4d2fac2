/** Counts and looks up API keys, by fingerprint in hexadecimal. */
import { Effect } from "effect"
import { fingerprintArray, int4Array } from "../connection/ArrayParameter.ts"
import type { Statements } from "../connection/StatementPool.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { type Counted, rowsBySubject } from "./CoalescedCounts.ts"
import { COUNT_KEY, COUNT_KEYS, KEY_SUBJECT, LIVE_KEYS } from "./CountStatement.ts"

export interface FoundKey {
  readonly subject: string
  readonly id: string
}

type CountedKey = FoundKey & Counted

export const countKeys = (sql: Statements, requests: ReadonlyMap<string, number>) => {
  const [only] = requests
  if (requests.size === 1 && only !== undefined) return countOneKey(sql, only[0], only[1])
  const values = [fingerprintArray(requests.keys()), int4Array([...requests.values()])]
  return orUnavailable(Effect.map(sql.unsafe<CountedKey>(COUNT_KEYS, values), rowsBySubject))
}

/** The subject of its row is that of the window. */
const countOneKey = (sql: Statements, hex: string, asked: number) =>
  orUnavailable(
    Effect.map(
      sql.unsafe<Counted & { readonly subject: string }>(COUNT_KEY, [Buffer.from(hex, "hex"), asked]),
      (rows) => new Map(rows.map((row) => [hex, { ...row, id: row.subject.slice(KEY_SUBJECT.length) }])),
    ),
  )

export const findKeys = (sql: Statements, fingerprints: ReadonlyArray<string>) =>
  orUnavailable(Effect.map(sql.unsafe<FoundKey>(LIVE_KEYS, [fingerprintArray(fingerprints)]), rowsBySubject))
