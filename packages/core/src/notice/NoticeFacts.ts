/** The facts that decide notices, as one round finds them. Times are RFC 3339 in UTC. */
import type { Silence } from "../activity/ActivityStore.ts"
import type { ClientCertificate } from "../delivery/ClientCertificate.ts"
import type { PauseReason } from "../delivery/Address.ts"
import type { FenceHolder } from "../feed/FenceHolder.ts"
import type { ShapeChanges } from "../payload/ShapeChanges.ts"
import type { NoticeKey } from "./Notice.ts"

/** A delivery address. */
export interface AddressFact {
  readonly id: number
  readonly url: string
  /** Whether it subscribes to the source of notices by name: then no notice is about it. */
  readonly carries: boolean
}

/** An address whose deliveries fail. */
export interface FailingAddress extends AddressFact {
  readonly since: string
  readonly seconds: number
  /** The status of the last failed attempt. */
  readonly status: number | null
  readonly failure: string | null
}

/** An address that was reported as failing, and has delivered since. */
export interface RecoveredAddress extends AddressFact {
  readonly since: string
  readonly at: string
}

/** An address that is paused. */
export interface PausedAddress extends AddressFact {
  readonly since: string
  /** Null: a person paused it. */
  readonly reason: PauseReason | null
  /** The person who paused it; null if unknown. */
  readonly by: string | null
}

/** An address with waiting deliveries. */
export interface WaitingAddress extends AddressFact {
  /** At most `MOST_WAITING` are counted. */
  readonly count: number
  readonly oldest: string
  /** How long the first of them has been due but not sent; 0 if it was sent or waits for a retry. */
  readonly lateSeconds: number
}

/** The certificate that an address presented last. */
export interface CertificateFact extends AddressFact {
  readonly endsAt: string
  /** Seconds until then; negative afterwards. */
  readonly seconds: number
}

/** The client certificate that an address's deliveries present. */
export interface ClientCertificateFact extends CertificateFact {
  readonly certificate: ClientCertificate
}

interface SourceFact {
  readonly sourceId: number
  readonly sourceName: string
}

/** A poll whose runs fail. */
export interface FailingPoll extends SourceFact {
  readonly id: number
  readonly url: string
  readonly since: string
  readonly failures: number
  readonly status: number | null
  readonly failure: string | null
}

/** An import that failed. */
export interface FailedImport extends SourceFact {
  readonly id: number
  readonly name: string
  readonly at: string
  readonly staged: number
  readonly accepted: number
  readonly failure: string
}

/** A column that an event created. */
export interface CreatedColumn extends SourceFact {
  readonly eventId: number
  readonly column: string
  readonly field: string
  readonly type: string
  /** Whether its field already had a column, for values of another type. */
  readonly isSibling: boolean
  readonly at: string
}

/** What a source sends has changed on a day. */
export interface ChangedFields extends SourceFact {
  /** In UTC, such as `2026-11-28`. */
  readonly day: string
  readonly changes: ShapeChanges
}

/** A source that is silent for longer than usual. */
export interface SilentSource extends SourceFact {
  readonly silence: Silence
}

/** The free space of the database's disk. */
export interface DiskFact {
  readonly path: string
  readonly freeBytes: number
  readonly totalBytes: number
}

/** The facts that the store finds. */
export interface StoredFacts {
  readonly failing: ReadonlyArray<FailingAddress>
  readonly recovered: ReadonlyArray<RecoveredAddress>
  readonly paused: ReadonlyArray<PausedAddress>
  readonly waiting: ReadonlyArray<WaitingAddress>
  readonly certificates: ReadonlyArray<CertificateFact>
  readonly clientCertificates: ReadonlyArray<ClientCertificateFact>
  readonly holders: ReadonlyArray<FenceHolder>
  readonly polls: ReadonlyArray<FailingPoll>
  readonly imports: ReadonlyArray<FailedImport>
  readonly columns: ReadonlyArray<CreatedColumn>
  /** Causes that can end, had a notice, and are not known to have ended. */
  readonly open: ReadonlyArray<NoticeKey>
}

export interface NoticeFacts extends StoredFacts {
  readonly silent: ReadonlyArray<SilentSource>
  readonly fields: ReadonlyArray<ChangedFields>
  /** Null if it cannot be measured. */
  readonly disk: DiskFact | null
}
