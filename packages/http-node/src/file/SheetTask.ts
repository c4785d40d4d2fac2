/** What the thread that parses a workbook is told, and what it answers. */
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"

export interface SheetTask {
  /** The archive, whole. */
  readonly bytes: Uint8Array
  /** Its place in the workbook, from 0. */
  readonly sheet: number
  /** How many batches may be sent; shared, so that the thread can wait for more. */
  readonly credit: Int32Array
}

export type SheetAnswer =
  | { readonly rows: ReadonlyArray<SheetRow> }
  | { readonly end: true }
  | { readonly failure: string }
