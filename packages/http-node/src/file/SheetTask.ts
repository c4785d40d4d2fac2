/** What the thread that parses a workbook is told, and what it answers. */
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import type { SheetLimits, SheetRefusal } from "./SheetLimits.ts"

export interface SheetTask {
  /** The archive, whole. */
  readonly bytes: Uint8Array
  /** The sheet's name, or its number from 1; undefined for the first that is shown. */
  readonly wanted: string | undefined
  readonly limits: SheetLimits
  /** Characters of one row: a longer one is named and not sent. */
  readonly rowCharacters: number
  /** How many batches may be sent; shared, so that the thread can wait for more. */
  readonly credit: Int32Array
}

/** First which sheet it is, then its rows. A refusal is the last answer. */
export type SheetAnswer =
  | { readonly sheet: string }
  | { readonly rows: ReadonlyArray<SheetRow> }
  | { readonly end: true }
  | SheetRefusal
