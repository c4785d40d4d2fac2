/** Inboxes in PostgreSQL. */
import type { MessageMarks } from "@data-cabinet/core/inbox/InboxMessage"
import { type InboxDay, InboxStore } from "@data-cabinet/core/inbox/InboxStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { ColdActs } from "../cold/ColdActs.ts"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { foldCollation } from "../row/FoldCollation.ts"
import { fieldsStatement, FIGURES, LOCK_MESSAGES, MARKS, SET_MARKS } from "./InboxStatement.ts"

interface MarksRow extends MessageMarks {
  readonly id: number
}

interface FieldsRow {
  readonly source: number
  readonly fields: ReadonlyArray<string>
}

type DayRow = InboxDay & { readonly since: string | null }

export const layer = Layer.effect(
  InboxStore,
  Effect.map(Effect.all([PgClient.PgClient, ColdActs]), ([sql, cold]) => {
    const folding = foldCollation(sql)
    return InboxStore.of({
      marks: (events) =>
        Effect.map(
          sql.unsafe<MarksRow>(MARKS, [int8Array(events)]),
          (rows) => new Map(rows.map(({ id, read, done }) => [id, { read, done }])),
        ).pipe(orUnavailable),
      mark: (sourceId, events, { read = null, done = null }) =>
        cold.need(events).pipe(
          Effect.andThen(
            sql.withTransaction(
              Effect.gen(function* () {
                const found = yield* sql.unsafe<{ id: number }>(LOCK_MESSAGES, [int8Array(events), sourceId])
                const there = new Set(found.map(({ id }) => id))
                const missing = events.filter((id) => !there.has(id))
                if (missing.length > 0) return { changed: 0, missing }
                const [marked] = yield* sql.unsafe<{ changed: number }>(SET_MARKS, [int8Array(events), read, done])
                return { changed: marked!.changed, missing }
              }),
            ),
          ),
          orUnavailable,
        ),
      fields: Effect.fnUntraced(function* (names) {
        const isCovered = (name: string) => names.some((other) => other !== name && name.includes(other))
        const patterns = names.filter((name) => !isCovered(name)).map((name) => `%${name}%`)
        const rows = yield* sql.unsafe<FieldsRow>(fieldsStatement(yield* folding), [patterns])
        return new Map(rows.map(({ source, fields }) => [source, fields]))
      }, orUnavailable),
      figures: ({ sourceId, days, timeZone, most }) =>
        Effect.map(sql.unsafe<DayRow>(FIGURES, [sourceId, timeZone, days, most]), (rows) => ({
          days: rows.map(({ day, messages, unread, honeypot, origin, proof }) => ({
            day,
            messages,
            unread,
            honeypot,
            origin,
            proof,
          })),
          since: rows[0]?.since ?? null,
        })).pipe(orUnavailable),
    })
  }),
)
