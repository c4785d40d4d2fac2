/** Conditions for the fields of events, as `--where` writes them. */
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import { Effect } from "effect"
import { CommandError } from "../error/CommandError.ts"
import { whereFilters } from "./RowsFlags.ts"

export const filtersOf = (texts: ReadonlyArray<string>): Effect.Effect<FieldFilters, CommandError> =>
  Effect.mapError(
    Effect.fromResult(whereFilters(texts)),
    (message) => new CommandError({ code: "usage", message: `${message}.` }),
  )
