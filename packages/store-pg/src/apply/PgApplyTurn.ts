/** The turn of `cabinet apply` in PostgreSQL. */
import { ApplyTurn, TURN_SECONDS } from "@data-cabinet/core/apply/ApplyTurn"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"

const TAKE = `
INSERT INTO cabinet.apply_turn AS t (holder, until) VALUES ($1, cabinet.now() + interval '${TURN_SECONDS} seconds')
ON CONFLICT (single) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE t.holder = excluded.holder OR t.until <= cabinet.now()
RETURNING true AS taken`

const END = `DELETE FROM cabinet.apply_turn WHERE holder = $1`

export const layer = Layer.effect(
  ApplyTurn,
  Effect.map(PgClient.PgClient, (sql) =>
    ApplyTurn.of({
      take: (holder) => orUnavailable(Effect.map(sql.unsafe(TAKE, [holder]), (rows) => rows.length > 0)),
      end: (holder) => orUnavailable(Effect.asVoid(sql.unsafe(END, [holder]))),
    }),
  ),
)
