/** A source: one sender's way in, with an intake address and a table of its own. */

/** An explicit charset of a source's forms; it overrides any guess. `latin-1` is windows-1252, as the web reads it. */
export type SourceEncoding = "utf-8" | "windows-1251" | "latin-1"

export const SOURCE_ENCODINGS: ReadonlyArray<SourceEncoding> = ["utf-8", "windows-1251", "latin-1"]

/** A source as the API shows it, and what its owner may see besides. Times are RFC 3339 in UTC. */
export interface Source {
  readonly id: number
  readonly name: string
  /** Switched off: its intake address answers 404. */
  readonly archived: boolean
  /** Null once the table was dropped. */
  readonly table: { readonly schema: string; readonly name: string } | null
  readonly createdAt: string
  readonly encoding: SourceEncoding | null
  readonly thanksUrl: string | null
}

/** A source with the secret part of its intake address. Shown to its owner only, never logged. */
export interface SourceWithSecret extends Source {
  readonly intakeSecret: string
}

/** What intake needs to know of a source; `version` voids a submission parsed before a change. */
export interface IntakeSource {
  readonly id: number
  readonly version: number
  readonly encoding: SourceEncoding | null
  readonly thanksUrl: string | null
}
