/** The work of a request to our API for its key: one statement looks it up by fingerprint and counts the request. */
import { hash } from "node:crypto"
import type { FastifyRequest } from "fastify"
import type { Pool } from "pg"

/** Make its tables, with one key: `bench`. */
export const KEY_TABLES: ReadonlyArray<string> = [
  "CREATE TABLE api_key (id int PRIMARY KEY, fingerprint bytea NOT NULL UNIQUE, revoked_at timestamptz)",
  `CREATE UNLOGGED TABLE rate_window (
     subject text PRIMARY KEY, minute timestamptz NOT NULL, count int NOT NULL, last_at timestamptz NOT NULL)
     WITH (fillfactor = 50)`,
  `INSERT INTO api_key VALUES (1, '\\x${hash("sha256", "bench")}')`,
]

const COUNT = `
  INSERT INTO rate_window AS w (subject, minute, count, last_at)
  SELECT 'key:' || k.id, date_trunc('minute', now()), 1, now() FROM api_key k
  WHERE k.fingerprint = $1 AND k.revoked_at IS NULL
  ON CONFLICT (subject) DO UPDATE SET
    count = CASE WHEN w.minute = excluded.minute THEN w.count + 1 ELSE 1 END,
    minute = excluded.minute, last_at = excluded.last_at
  RETURNING count`

/** How many requests the key has made in this minute. */
export const countKey = async (db: Pool, request: FastifyRequest): Promise<number> => {
  const key = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1] ?? ""
  const values = [hash("sha256", key, "buffer")]
  const { rows } = await db.query<{ count: number }>({ name: "count", text: COUNT, values })
  if (rows[0] === undefined) throw Object.assign(new Error("no such key"), { statusCode: 401 })
  return rows[0].count
}
