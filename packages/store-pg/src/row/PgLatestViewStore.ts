/** Creates views of the latest rows, as the author. */
import { LatestViewStore, ViewFailed } from "@data-cabinet/core/row/LatestViewStore"
import { Effect, Layer } from "effect"
import { runScript } from "../connection/AuthorSession.ts"
import { unavailable } from "../connection/StoreFailure.ts"
import type { RoleLogin } from "../migrations/PgRoles.ts"
import { latestViewStatement, readNothing } from "./LatestViewStatement.ts"

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
