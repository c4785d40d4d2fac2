/** Creates views of the latest rows, as the author. */
import { LatestViewStore, ViewFailed, type LatestViewPlan } from "@data-cabinet/core/row/LatestViewStore"
import { Effect, Layer } from "effect"
import { runScript } from "../connection/AuthorSession.ts"
import { unavailable } from "../connection/StoreFailure.ts"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { RoleLogin } from "../migrations/RoleLogins.ts"

export const layer = (author: RoleLogin) =>
  Layer.succeed(LatestViewStore, {
    statement: latestViewStatement,
    create: (plan) => {
      if (!author.there) return Effect.fail(new ViewFailed({ code: "no_author", detail: author.reason }))
      const script = [latestViewStatement(plan), readNothing(plan)].join(";\n")
      return runScript({ ...author, script, transaction: true, ours: true }).pipe(
        Effect.asVoid,
        Effect.catchTag("ScriptError", ({ message, number }) =>
          Effect.fail(number === 0 ? unavailable(message) : new ViewFailed({ code: "view_failed", detail: message })),
        ),
      )
    },
  })

/** Columns added to the table later appear in the view when it is replaced. */
const latestViewStatement = ({ of, keys, order, view, replace }: LatestViewPlan): string => {
  const names = keys.map(quoteName)
  const latest = order.map(({ column, mayBeEmpty }) => `${quoteName(column)} DESC${mayBeEmpty ? " NULLS LAST" : ""}`)
  return `CREATE ${replace ? "OR REPLACE " : ""}VIEW ${quoteQualified(view.schema, view.name)} AS
  SELECT DISTINCT ON (${names.join(", ")}) *
  FROM ${quoteQualified(of.schema, of.name)}
  WHERE ${names.map((name) => `${name} IS NOT NULL`).join(" AND ")}
  ORDER BY ${[...names, ...latest].join(", ")}`
}

/** A query without rows that fails if the view cannot be read, for example because it reads itself. */
const readNothing = ({ view }: LatestViewPlan): string =>
  `SELECT FROM ${quoteQualified(view.schema, view.name)} LIMIT 0`
