/** The messages to and from the thread that parses a workbook. */
import type { FileError } from "@data-cabinet/core/file/FileError"
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import type { SheetLimits } from "../sheet/SheetLimits.ts"

export interface SheetTask {
  /** The whole archive. */
  readonly bytes: Uint8Array
  /** The sheet's name, or its number from 1; undefined for the first visible one with rows. */
  readonly wanted: string | undefined
  readonly limits: SheetLimits
  /** The most characters of a row: a longer row is reported and not sent. */
  readonly rowCharacters: number
  /** The number of batches that may be sent; in shared memory, so that the thread can wait for it. */
  readonly credit: Int32Array
}

/** The sheet's name and the number of empty ones before it, then its rows. A refusal is the last message. */
export type SheetResult =
  | { readonly sheet: string; readonly empty: number }
  | { readonly rows: ReadonlyArray<SheetRow> }
  | { readonly end: true }
  | { readonly refused: FileError["code"]; readonly message: string; readonly isChoice: boolean }
