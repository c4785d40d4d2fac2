/** Counts requests in the database: those of keys, and those of senders. */
import { Effect } from "effect"
import { byteaArray, int4Array, textArray } from "../connection/Parameter.ts"
import type { Statements } from "../connection/StatementPool.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { COUNT_KEY, COUNT_KEYS, COUNT_SENDERS, KEY_SUBJECT } from "./CountStatement.ts"
import { type Counted, distribute } from "./CoalescedCounts.ts"
import type { SenderPair } from "./IntakeCounts.ts"
import type { Parts } from "./RequestCounter.ts"

interface CountedRow extends Counted {
  readonly subject: string
}

export interface KeyRow extends CountedRow {
  readonly id: string
}

/** By fingerprint in hexadecimal. */
export const countKeys = (sql: Statements, requests: ReadonlyMap<string, number>) => {
  const [only] = requests
  if (requests.size === 1 && only !== undefined) return countOneKey(sql, only[0], only[1])
  const fingerprints = byteaArray(Array.from(requests.keys(), (hex) => Buffer.from(hex, "hex")))
  return orUnavailable(
    Effect.map(
      sql.unsafe<KeyRow>(COUNT_KEYS, [fingerprints, int4Array([...requests.values()])]),
      (rows) => new Map(rows.map((row) => [row.subject, distribute(row, requests.get(row.subject)!)])),
    ),
  )
}

const countOneKey = (sql: Statements, hex: string, requests: number) =>
  orUnavailable(
    Effect.map(sql.unsafe<CountedRow>(COUNT_KEY, [Buffer.from(hex, "hex"), requests]), ([row]) => {
      if (row === undefined) return new Map<string, ReadonlyArray<KeyRow>>()
      return new Map([[hex, distribute({ ...row, id: row.subject.slice(KEY_SUBJECT.length) }, requests)]])
    }),
  )

export const countSenders = ({ sql, options }: Parts, senders: ReadonlyArray<SenderPair>) =>
  orUnavailable(
    Effect.map(
      sql.unsafe<CountedRow>(COUNT_SENDERS, [
        textArray(senders.map(({ client }) => client)),
        textArray(senders.map(({ source }) => source)),
        int4Array(senders.map(({ requests }) => requests)),
        options.intakeRate,
      ]),
      (rows) => new Map(rows.map((row) => [row.subject, row])),
    ),
  )
