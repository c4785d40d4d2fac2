/**
 * Reads the rows of a spreadsheet: each cell's value, or why it cannot be read. An archive can be crafted to unpack to any
 * size, so an implementation limits bytes, time and memory, and fails with `too_large` or `unreadable`.
 */
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { FileError } from "./FileError.ts"
import type { ReadableFile } from "./ReadableFile.ts"

/** A number that a double cannot hold, as JSON writes it. */
export interface LongNumber {
  readonly digits: string
}

/**
 * A date is text: `2024-03-01`, or `2024-03-01T09:30:00` if it has a time; a time of day is `09:00:00`, a duration `36:00:00`.
 * A formula is its last computed value.
 */
export type SheetCell = string | number | boolean | null | LongNumber

/** A row of a sheet. */
export interface SheetRow {
  /** The row's number as the sheet shows it, from 1. */
  readonly line: number
  readonly cells: ReadonlyArray<SheetCell>
  /** Its texts exceed the size of an item; its cells are omitted. */
  readonly tooLong?: true
  /** A row with an unreadable cell, which is omitted whole. The column counts from 1. */
  readonly refusal?: { readonly column: number; readonly reason: string } | undefined
}

/** A sheet being read. */
export interface OpenSheet {
  readonly name: string
  /** The number of visible sheets before it that are empty, unless the caller chose it. */
  readonly emptyBefore: number
  readonly rows: Stream.Stream<ReadonlyArray<SheetRow>, FileError>
}

export class SheetReader extends Context.Service<
  SheetReader,
  {
    /** `sheet`: a name, or a number from 1; undefined for the first visible sheet with rows. */
    readonly open: (file: ReadableFile, sheet: string | undefined) => Effect.Effect<OpenSheet, FileError, Scope.Scope>
  }
>()("@data-cabinet/core/file/SheetReader") {}
