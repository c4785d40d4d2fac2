/** A source: an intake address for one sender, with a table of its own. */
import type { FilteredAddress } from "../delivery/FilteredDeliveries.ts"
import type { OwnSchema } from "../schema/OwnSchema.ts"
import type { FormProof, IntakeProof } from "../proof/FormProof.ts"
import type { Challenge, IntakeChallenge } from "../verification/Challenge.ts"
import type { SourceEncoding, SourceSettings } from "./SourceSettings.ts"
import type { SpamRules } from "./SpamRules.ts"
import type { LimitedCount } from "../limit/LimitedRequests.ts"
import type { IntakeVerification, Verification } from "../verification/Verification.ts"

/** A source as the API shows it, plus fields for its owner alone. Times are RFC 3339 in UTC. */
export interface Source extends SourceSettings {
  readonly id: number
  readonly name: string
  /** Switched off: its intake address responds with 404. */
  readonly archived: boolean
  /** Null once the table was dropped. */
  readonly table: { readonly schema: string; readonly name: string } | null
  readonly createdAt: string
  /** How its sender is verified; null: anyone who has the intake address may send. */
  readonly verify: Verification | null
  /** The provider whose challenge is answered; null: only challenges of the recipe. */
  readonly challenge: Challenge | null
  /** The proof of a person that its form demands; null: none. */
  readonly proof: FormProof | null
  /** Until when the previous intake address is accepted after a rotation; null: it is not accepted. */
  readonly oldSecretUntil: string | null
  /** Its requests recently refused with 429; null if none within a day. */
  readonly limited: LimitedCount | null
}

/** A source with the secret part of its intake address. Shown only to its owner, never logged. */
export interface SourceWithSecret extends Source {
  readonly intakeSecret: string
}

/** The parts of a request that a source keeps in addition to those that all sources keep. */
export interface KeptSettings {
  readonly headers: ReadonlyArray<string>
  readonly fields: ReadonlyArray<string>
  readonly query: boolean
}

/** A source as intake needs it; a new `version` invalidates submissions that were parsed before the change. */
export interface IntakeSource {
  readonly id: number
  readonly version: number
  readonly encoding: SourceEncoding | null
  readonly thanksUrl: string | null
  /** Null for a source that keeps only what all sources keep. */
  readonly kept: KeptSettings | null
  /** Null for a source that accepts requests from anyone who has its address. */
  readonly verification: IntakeVerification | null
  /** Absent for a source that answers only its recipe's challenges. */
  readonly challenge?: IntakeChallenge
  /** The most requests a minute; absent: the common limits. */
  readonly rate?: number
  /** Absent for a source that does not nest the fields of forms. */
  readonly nestBrackets?: true
  /** Absent for a source without spam rules. */
  readonly spam?: SpamRules
  /** Absent for a source whose form demands no proof of a person. */
  readonly proof?: IntakeProof
  /** The owner's own schema; absent without one. */
  readonly schema?: OwnSchema
  /** The addresses of the source that have a filter; absent without any. */
  readonly filtered?: ReadonlyArray<FilteredAddress>
}
