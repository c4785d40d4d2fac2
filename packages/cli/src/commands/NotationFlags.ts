/** The flags for the notation of numbers and days in a file or a text column. */
import {
  DATE_NOTATIONS,
  type DateNotation,
  type Notation,
  NUMBER_NOTATIONS,
  type NumberNotation,
} from "@data-cabinet/core/row/Notation"
import { Option } from "effect"
import { Flag } from "effect/cli"

export const notationFlags = (where: string) => ({
  numbers: Flag.Literals("numbers", NUMBER_NOTATIONS).pipe(
    Flag.withDescription(`How numbers are written in ${where}: comma (1.234,50) or dot (1,234.50)`),
    Flag.optional,
  ),
  dates: Flag.Literals("dates", DATE_NOTATIONS).pipe(
    Flag.withDescription(`The order of day, month and year in ${where}: dmy (02.03.2026), mdy or ymd`),
    Flag.optional,
  ),
})

export const notationOf = (input: {
  readonly numbers: Option.Option<NumberNotation>
  readonly dates: Option.Option<DateNotation>
}): Notation => ({ numbers: Option.getOrUndefined(input.numbers), dates: Option.getOrUndefined(input.dates) })
