/** The diagnostics' facts about senders: refused requests, addresses, and lost characters. */
import type { DiagnosticsReport } from "@data-cabinet/core/diagnostics/Diagnostics"
import { lacksFieldsOf, providerOf } from "@data-cabinet/core/source/Providers"
import { ADDRESS_RECIPES } from "@data-cabinet/core/verification/Recipes"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { textArray } from "../connection/Parameter.ts"
import { LIMITED_LATELY } from "../limit/PgLimitedRequests.ts"
import { recordedBaseUrl } from "../source/RecordedBaseUrl.ts"
import { REFUSED_LATELY } from "../verification/PgRefusedSignatures.ts"
/** $1: the recipes of senders that sign the public address. */
const SIGNED_ADDRESSES = `
SELECT id::float8 AS "sourceId", name, verify->>'recipe' AS recipe FROM cabinet.source
WHERE (verify->>'recipe' = ANY ($1::text[]) OR strpos(verify->'hmac'->>'signed', '{url}') > 0) AND deleted_at IS NULL AND archived_at IS NULL ORDER BY id LIMIT 20`

/** The sender of each source's latest request, unless its original has been deleted. */
const LATEST_AGENTS = `
SELECT s.id::float8 AS "sourceId", s.name, s.keep_headers AS "keepHeaders", s.header_fields AS "headerFields", o.user_agent AS agent
FROM cabinet.source s
CROSS JOIN LATERAL (
  SELECT e.original_request_id, e.received_at FROM cabinet.event e WHERE e.source_id = s.id AND e.channel = 'webhook'
  ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT 1) e
JOIN cabinet.original_request o ON o.id = e.original_request_id AND o.received_at = e.received_at
WHERE s.deleted_at IS NULL AND s.archived_at IS NULL AND o.user_agent IS NOT NULL ORDER BY s.id LIMIT 1000`

/** From at most a thousand requests; see `DiagnosticsReport.soleClient`. */
const SOLE_CLIENT = `
SELECT min(ip) AS address, count(*)::int4 AS requests, count(DISTINCT user_agent)::int4 AS programs
FROM (SELECT ip, user_agent FROM cabinet.original_request
      WHERE received_at > cabinet.now() - interval '1 day' AND ip IS NOT NULL ORDER BY id DESC LIMIT 1000) lately
HAVING count(*) >= 100 AND min(ip) = max(ip) AND count(DISTINCT user_agent) >= 3`

/** How many events of one channel of a source are examined, and the maximum size of those. */
const LATEST_EVENTS = 10
const MAX_LATEST_BYTES = 16_384

/**
 * U+FFFD, and charsets that are only a guess, among the latest events of the newest sources. A request that is kept
 * whole can be read again, unless it is JSON whose bytes all had a meaning.
 */
const UNREADABLE_LATELY = `
SELECT s.id::float8 AS "sourceId", s.name, l.unclear, count(*)::int4 AS events, max(l.id)::float8 AS "eventId",
  bool_or(l.charset_from <> 'content_encoding' AND (l.charset_from <> 'json' OR l.replaced > 0) AND l.is_whole) IS TRUE AS rereadable
FROM (SELECT id, name FROM cabinet.source WHERE deleted_at IS NULL AND archived_at IS NULL ORDER BY id DESC LIMIT 200) s
CROSS JOIN unnest(ARRAY['webhook', 'file', 'pull']) AS c(channel)
CROSS JOIN LATERAL (
  SELECT e.id, e.original_request_id, e.received_at, e.deleted_at, e.bytes, e.payload FROM cabinet.event e
  WHERE e.source_id = s.id AND e.channel = c.channel
  ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT ${LATEST_EVENTS}) e
CROSS JOIN LATERAL (
  SELECT e.id, o.charset_from, o.replaced, o.body_bytes = octet_length(o.body) AS is_whole,
    CASE WHEN e.bytes <= ${MAX_LATEST_BYTES} THEN strpos(e.payload::text, U&'\\FFFD') > 0 END IS NOT TRUE AS unclear,
    o.charset_from = 'unclear' OR o.other_readings::jsonb @> '[{"decided_by": "unclear"}]' AS is_guess
  FROM (SELECT) one LEFT JOIN cabinet.original_request o ON o.id = e.original_request_id AND o.received_at = e.received_at
  WHERE e.deleted_at IS NULL) l
WHERE NOT l.unclear OR l.is_guess
GROUP BY s.id, s.name, l.unclear ORDER BY s.id, l.unclear LIMIT 20`

interface LatestAgent {
  readonly sourceId: number
  readonly name: string
  readonly keepHeaders: ReadonlyArray<string>
  readonly headerFields: ReadonlyArray<string>
  readonly agent: string
}

/** Reads only, as `PgDiagnostics` does. */
export const senderFacts = (sql: PgClient.PgClient) =>
  Effect.gen(function* () {
    const limitedRequests = yield* sql.unsafe<DiagnosticsReport["limitedRequests"][number]>(LIMITED_LATELY)
    const refusedSignatures = yield* sql.unsafe<DiagnosticsReport["refusedSignatures"][number]>(REFUSED_LATELY)
    const [soleClient = null] = yield* sql.unsafe<NonNullable<DiagnosticsReport["soleClient"]>>(SOLE_CLIENT)
    const signedAddresses = yield* sql.unsafe<DiagnosticsReport["signedAddresses"][number]>(SIGNED_ADDRESSES, [
      textArray(ADDRESS_RECIPES),
    ])
    const agents = yield* sql.unsafe<LatestAgent>(LATEST_AGENTS)
    const droppedHeaders = agents.flatMap(({ sourceId, name, agent, ...kept }) => {
      const provider = providerOf(agent)
      return provider !== null && lacksFieldsOf(provider, kept) ? [{ sourceId, name, provider }] : []
    })
    const unreadable = yield* sql.unsafe<DiagnosticsReport["unreadable"][number]>(UNREADABLE_LATELY)
    const baseUrl = yield* Effect.provideService(recordedBaseUrl, PgClient.PgClient, sql)
    return { limitedRequests, refusedSignatures, soleClient, signedAddresses, droppedHeaders, unreadable, baseUrl }
  })
