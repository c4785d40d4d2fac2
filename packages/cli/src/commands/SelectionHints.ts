/** Words refusals of a selection for the command line, with its flags and the table that was probably meant. */
import { SelectionError } from "@data-cabinet/core/selection/SelectionError"
import { Tables } from "@data-cabinet/core/row/Tables"
import { nearest } from "@data-cabinet/core/text/Nearest"
import { Effect } from "effect"
import { CommandError } from "../error/CommandError.ts"

/** The flags that a person writes, by the parameter that each becomes. */
const FRIENDLY_FLAGS: Readonly<Record<string, readonly [input: string, flag: string]>> = {
  fc: ["where", "--where"],
  fo: ["where", "--where"],
  fv: ["where", "--where"],
  per: ["period", "--period"],
  from: ["period", "--period"],
  to: ["period", "--period"],
  q: ["search", "--search"],
  col: ["columns", "--columns"],
}

const isUsed = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && "value" in Object(value)

const flagFor = (param: string, input: Readonly<Record<string, unknown>>): string => {
  const friendly = FRIENDLY_FLAGS[param]
  return friendly !== undefined && isUsed(input[friendly[0]]) ? friendly[1] : `--${param}`
}

/** Begins with the flag instead of the parameter. */
const inFlags = ({ message, param }: SelectionError, input: Readonly<Record<string, unknown>>): string =>
  param !== null && message.startsWith(`${param} `) ? `${flagFor(param, input)}${message.slice(param.length)}` : message

/** The readable table or view that is named most like this; without the list, how to get it. */
export const meantTable = (object: string) =>
  Tables.use((tables) => tables.list).pipe(
    Effect.map((all) =>
      nearest(
        object,
        all.map(({ schema, name }) => `${schema}.${name}`),
      ),
    ),
    Effect.orElseSucceed(() => null),
    Effect.map((meant) => (meant === null ? "See: cabinet table list" : `Did you mean ${meant}?`)),
  )

/** Rewords the refusals of `work`, which reads `object` by the flags of `input`. */
export const withSelectionHints =
  (object: string, input: Readonly<Record<string, unknown>>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.catchIf(
      work,
      (error): error is E & SelectionError => error instanceof SelectionError,
      (error) =>
        Effect.gen(function* () {
          const hint = error.code === "no_such_table" ? ` ${yield* meantTable(object)}` : ""
          return yield* new CommandError({ code: "refused", message: `${inFlags(error, input)}${hint}` })
        }),
    )
