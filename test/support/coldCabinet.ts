/** A cabinet with old events of every kind, and what is done with them in tests of cold history. */
import { moveEvents } from "@data-cabinet/core/cold/MoveEvents"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { CabinetOptions } from "../../packages/cli/src/compose/CabinetLayer.ts"
import { runSql } from "./postgresAdmin.ts"
import { testCabinet } from "./testCabinet.ts"

/** How many events there are; the last is young. */
export const OLD_EVENTS = 60

/** Files of twenty events in groups of six. */
export const COLD_LIMITS = { afterHours: 24 * 180, fileEvents: 20, groupEvents: 6 }

/** In transactions of three, in two epochs, out of the order of their numbers. */
const INSERT = `
INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, repeat_of, original_request_id, channel, history, empty, verified, spam, payload)
SELECT 1 + n / 40, 100 + n / 3 + CASE WHEN n % 3 = 1 THEN 1 ELSE 0 END, n, 1 + n % 2,
  CASE WHEN n = ${OLD_EVENTS} THEN cabinet.now() ELSE '2020-01-01T00:00:00.123456Z'::timestamptz + n * interval '1.000001 hour' END,
  CASE WHEN n % 10 = 7 THEN n - 2 END, n, (ARRAY['webhook', 'file', 'pull'])[1 + n % 3], n % 3 = 1, n % 11 = 0,
  CASE n % 5 WHEN 0 THEN true WHEN 1 THEN false END, CASE WHEN n % 13 = 0 THEN 'honeypot' END,
  ('{"n":' || n || '.00000000000000000000000000000000000001, "name":"Ännä ' || n || '","who":"p' || n / 10 || '@example.org", "b":"'
    || repeat('x', n * 7) || '","a":[1e400,{"k":null,"k":2}]}')::json
FROM generate_series(1, ${OLD_EVENTS}) n`

type Params = ReadonlyArray<readonly [string, string]>

/** `settings` say where its files are. */
export const coldCabinet = async (url: string, settings: Partial<CabinetOptions["settings"]>) => {
  const cabinet = testCabinet(url, { settings })
  const sql = (text: string) => runSql(url, text)
  for (const name of ["Orders", "Leads"]) await cabinet.runPromise(Sources.use((sources) => sources.create({ name })))
  await sql(`INSERT INTO cabinet.epoch (epoch, system_identifier, server_started)
    SELECT 2, system_identifier, pg_postmaster_start_time() FROM pg_control_system()`)
  await sql(INSERT)
  return {
    cabinet,
    sql,
    /** Every page of the feed as text, with the cursor after each event. */
    walk: async (limit: number, params: Params = [], from?: string) => {
      const pages: Array<{ readonly texts: ReadonlyArray<string>; readonly cursors: ReadonlyArray<string> }> = []
      let cursor = from
      for (let hasMore = true; hasMore;) {
        const place: Params = cursor === undefined ? [] : [["cursor", cursor]]
        const page = await cabinet.runPromise(
          Feed.use((feed) => feed.page([...params, ["limit", String(limit)], ...place])),
        )
        pages.push({ texts: page.items.texts(), cursors: page.cursors?.() ?? [] })
        cursor = page.nextCursor
        hasMore = page.hasMore
      }
      return pages
    },
    /** One round. */
    move: (look = false) => cabinet.runPromise(moveEvents(COLD_LIMITS, look)),
    /** Ends the wait after a file was listed. */
    settle: () => sql("UPDATE cabinet.cold_file SET listed_at = listed_at - interval '11 minutes'"),
    followersReach: (epoch: number) =>
      sql(`UPDATE cabinet.follower SET epoch = ${epoch}, xid = 1000000, event_id = 1000000 WHERE kind <> 'deliveries'`),
    rows: async () => Number((await sql("SELECT count(*)::int AS n FROM cabinet.event"))[0]!["n"]),
  }
}
