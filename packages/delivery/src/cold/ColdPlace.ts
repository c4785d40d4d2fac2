/** A place for files of cold history, and the format of the files, as the adapters see them. */
import type { ColdEvent, ColdGroup } from "@data-cabinet/core/cold/ColdFiles"

/** A file of which parts can be read. */
export interface Readable {
  readonly byteLength: number
  readonly slice: (start: number, end?: number) => Promise<ArrayBuffer>
}

/** Writes and reads the format. */
export interface ColdFormat {
  readonly encode: () => Promise<{
    readonly add: (events: ReadonlyArray<ColdEvent>) => Uint8Array
    readonly finish: () => Uint8Array
  }>
  readonly open: (file: Readable) => Promise<{
    readonly groups: ReadonlyArray<ColdGroup>
    readonly read: (group: number) => Promise<ReadonlyArray<ColdEvent>>
  }>
}

/** A file that is being written: it appears whole, or not at all. */
export interface PlaceWriter {
  readonly append: (bytes: Uint8Array) => Promise<void>
  readonly finish: () => Promise<void>
  /** After `finish` it does nothing. */
  readonly abandon: () => Promise<void>
}

/** A directory, or a bucket. It throws its failures: `MissingFile` for a file that is missing, `UnreachablePlace` for a service that does not respond. */
export interface ColdPlace {
  readonly location: string
  readonly create: (name: string) => Promise<PlaceWriter>
  readonly open: (name: string) => Promise<Readable>
  readonly names: (prefix: string) => Promise<ReadonlyArray<string>>
  readonly remove: (name: string) => Promise<void>
}

export class MissingFile extends Error {}

export class UnreachablePlace extends Error {}
