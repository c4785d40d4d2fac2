/** The states of the model of cold history, and what a reader makes of rows and a file. */

export const EVENTS = 2
/** The most files that are written, so that the model is finite. */
export const MAX_FILES = 3

/** `none`: it is not there. */
export type Version = "none" | "sent" | "erased"
export type Versions = readonly [Version, Version]

interface File {
  readonly holds: Versions
  readonly torn: boolean
}

export interface Archiver {
  readonly phase: "idle" | "read" | "written" | "checked"
  readonly read: Versions
  /** The file that was listed when it read; -1 for none, -2 once a row was deleted since. */
  readonly base: number
  readonly file: number
}

export interface Reader {
  readonly phase: "idle" | "listed" | "rows" | "done"
  readonly list: number
  readonly rows: Versions
  readonly seen: Versions
  /** Whether the erasure was complete before it began. */
  readonly late: boolean
}

export interface Eraser {
  readonly phase: "idle" | "reads" | "holds" | "done"
  /** What a copy says that is to be brought back. */
  readonly copy: Version
  readonly list: number
}

/** Brings the first event back for an act that changes nothing. */
export interface Bringer {
  readonly phase: "idle" | "reads"
  readonly copy: Version
  readonly list: number
}

interface Database {
  readonly rows: Versions
  readonly listed: number
  /** Whether rows of the listed file may be deleted, and files that it replaced. */
  readonly settled: boolean
}

export interface State extends Database {
  /** Null: removed. */
  readonly files: ReadonlyArray<File | null>
  readonly archivers: ReadonlyArray<Archiver>
  readonly reader: Reader
  readonly eraser: Eraser
  readonly bringer: Bringer
  /** What a restore brings back; null before the dump, and after the restore. */
  readonly dump: Database | null
  readonly dumps: number
}

/** Mistakes that a programmer could make. */
export type ColdFault =
  | "a file is not read back"
  | "a list that has changed is overwritten"
  | "rows that differ are deleted"
  | "deletion without a wait"
  | "files count before rows"
  | "rows are not held"
  | "brought back from an older file"
  | "a later file is not looked for"
  | "deletions do not count"

export const OUTDATED = -2
export const NONE: Versions = ["none", "none"]
export const IDLE: Archiver = { phase: "idle", read: NONE, base: -1, file: -1 }
export const RESTING: Reader = { phase: "idle", list: -1, rows: NONE, seen: NONE, late: false }
export const START: State = {
  rows: ["sent", "sent"],
  listed: -1,
  settled: true,
  files: [],
  archivers: [IDLE, IDLE],
  reader: RESTING,
  eraser: { phase: "idle", copy: "none", list: -1 },
  bringer: { phase: "idle", copy: "none", list: -1 },
  dump: null,
  dumps: 0,
}

export const set = (versions: Versions, event: number, version: Version): Versions =>
  versions.with(event, version) as unknown as Versions

/** The file of a list; null if it was replaced by a later one, and removed, before the list was restored. */
export const fileOf = ({ files }: State, list: number): File | null => (list < 0 ? null : files[list]!)

/** Whether the listed file is missing: then nobody acts until a later one of the same range is listed instead. */
export const isMissing = (state: State): boolean => state.listed >= 0 && fileOf(state, state.listed) === null

export const latestWhole = ({ files }: State): number => files.findLastIndex((file) => file !== null && !file.torn)

export const merged = (rows: Versions, file: File | null, fault: ColdFault | null): Versions => {
  const cold = file === null || file.torn ? NONE : file.holds
  const [first, second] = fault === "files count before rows" ? [cold, rows] : [rows, cold]
  return first.map((version, event) => (version === "none" ? second[event]! : version)) as unknown as Versions
}
