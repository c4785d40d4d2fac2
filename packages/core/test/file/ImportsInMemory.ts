/**
 * Imports and the events that they become, in memory. Each call writes all or nothing, and any call can be made to
 * fail.
 */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { EventLog, type NewEvent, SourceChanged } from "@data-cabinet/core/event/EventLog"
import { AcceptStaged } from "@data-cabinet/core/file/AcceptStaged"
import {
  type HeldImport,
  type ReadFile,
  type ImportStatus,
  ImportStore,
  LeaseLost,
  type NewImport,
  type StagedRow,
} from "@data-cabinet/core/file/ImportStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Layer, Option, Result } from "effect"

interface Kept {
  readonly wanted: NewImport
  status: ImportStatus
  rows: Array<StagedRow>
  lease: string | null
  why: string | null
}

export interface AcceptedEvent extends Pick<NewEvent, "text" | "empty"> {
  readonly sourceId: number
  readonly channel: string
  readonly history: boolean
}

export const unavailable = new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: true })

export type StoreCall = keyof ImportStore["Service"] | "append" | "appended"

export class ImportsInMemory {
  readonly imports: Array<Kept> = []
  readonly events: Array<AcceptedEvent> = []
  /** `deleted`: there is no such source. */
  source: "on" | "off" | "deleted" = "on"
  sourceVersion = 1
  /** Called before each call, and after events were committed; `lost`: another process now holds the import. */
  fault: (call: StoreCall) => "unavailable" | "lost" | "defect" | undefined = () => undefined
  /** The number of rows in each requested slice. */
  readonly slices: Array<number> = []
  #leases = 0

  #call<A>(name: StoreCall, id: number, work: () => A): Effect.Effect<A, StoreUnavailable | LeaseLost> {
    return Effect.suspend((): Effect.Effect<A, StoreUnavailable | LeaseLost> => {
      const fault = this.fault(name)
      if (fault === "unavailable") return Effect.fail(unavailable)
      if (fault === "lost") return Effect.fail(new LeaseLost({ importId: id }))
      return fault === "defect" ? Effect.die(new Error(`a defect in ${name}`)) : Effect.sync(work)
    })
  }

  /** A call that needs no lease. */
  #free<A>(name: StoreCall, work: () => A): Effect.Effect<A, StoreUnavailable> {
    return Effect.catchTag(this.#call(name, 0, work), "LeaseLost", Effect.die)
  }

  #held<A>(name: StoreCall, { id, lease }: HeldImport, work: (kept: Kept) => A) {
    return Effect.flatten(
      this.#call(name, id, () => {
        const kept = this.imports[id - 1]!
        if (kept.lease !== lease) return Effect.fail(new LeaseLost({ importId: id }))
        return Effect.sync(() => work(kept))
      }),
    )
  }

  #set(kept: Kept, status: Partial<ImportStatus>): void {
    kept.status = { ...kept.status, ...status }
  }

  begin(wanted: NewImport): { readonly held: HeldImport } | { readonly same: ImportStatus } {
    const same = wanted.once ? this.same(wanted.sourceId, wanted.sha256) : undefined
    if (same !== undefined) return { same }
    const held = { id: this.imports.length + 1, lease: String(++this.#leases) }
    const { sourceId, channel, name, bytes } = wanted
    const status: ImportStatus = {
      id: held.id,
      sourceId,
      channel,
      name,
      bytes,
      state: "staging",
      staged: 0,
      accepted: 0,
      refused: 0,
      failure: null,
      createdAt: "2026-11-25T09:00:00Z",
      finishedAt: null,
      cancelledAt: null,
      doubts: [],
      undo: null,
    }
    this.imports.push({ wanted, status, rows: [], lease: held.lease, why: null })
    return { held }
  }

  same(sourceId: number, sha256: Uint8Array | null): ImportStatus | undefined {
    const found = this.imports.find(
      ({ wanted, status }) =>
        status.state !== "failed" &&
        wanted.sourceId === sourceId &&
        sha256 !== null &&
        Buffer.from(sha256).equals(wanted.sha256 ?? Buffer.of()),
    )
    return found?.status
  }

  /** Seals the staged rows, so that any process can claim them. */
  seal(held: HeldImport, counts: ReadFile): void {
    const kept = this.imports[held.id - 1]!
    if (kept.rows.length !== counts.staged) throw new Error("The count is not that of the staged rows.")
    if (kept.rows.some(({ n }, index) => n !== index)) throw new Error("The rows have gaps.")
    this.#set(kept, { ...counts, state: "accepting" })
    kept.lease = null
  }

  claim(id: number | null) {
    const waiting = this.imports.find(({ status, lease }) => status.state === "accepting" && lease === null)
    const found = id === null ? waiting : this.imports[id - 1]?.status.state === "accepting" ? waiting : undefined
    if (found === undefined) return Option.none()
    found.lease = String(++this.#leases)
    const { sourceId, channel, staged, accepted } = found.status
    return Option.some({
      id: found.status.id,
      lease: found.lease,
      history: found.wanted.history,
      sourceId,
      channel,
      staged,
      accepted,
    })
  }

  readonly store = ImportStore.of({
    begin: (wanted) => this.#free("begin", () => this.begin(wanted)),
    same: (sourceId, sha256) => Effect.sync(() => Option.fromUndefinedOr(this.same(sourceId, sha256))),
    stage: (held, rows) => this.#held("stage", held, (kept) => void kept.rows.push(...rows)),
    seal: (held, counts) => this.#held("seal", held, () => this.seal(held, counts)),
    fail: (held, failure) =>
      this.#held("fail", held, (kept) => {
        this.#set(kept, { state: "failed", failure })
        ;[kept.rows, kept.lease] = [[], null]
      }),
    claim: (id) => this.#free("claim", () => this.claim(id)),
    slice: (held, first, rows) =>
      this.#free("slice", () => {
        const found = this.imports[held.id - 1]!.rows.slice(first, first + rows)
        this.slices.push(found.length)
        return found
      }),
    renew: (held) => this.#held("renew", held, ({ status }) => status.accepted),
    release: (held, why) => this.#held("release", held, (kept) => void ([kept.lease, kept.why] = [null, why])),
    finish: (held) =>
      this.#held("finish", held, (kept) => {
        this.#set(kept, { state: "done" })
        ;[kept.rows, kept.lease] = [[], null]
      }),
    cancel: (id) =>
      this.#free("cancel", () => {
        const kept = this.imports[id - 1]
        if (kept === undefined) return "missing" as const
        if (kept.status.state === "done") return "done" as const
        this.#set(kept, { state: "failed", failure: "it was cancelled", cancelledAt: "2026-11-25T09:00:01Z" })
        ;[kept.rows, kept.lease] = [[], null]
        return "cancelled" as const
      }),
    status: (id) => Effect.sync(() => Option.fromUndefinedOr(this.imports[id - 1]?.status)),
    list: () => Effect.succeed([]),
    sweep: this.#free("sweep", () => 0),
  })

  readonly log = EventLog.of({
    append: async ({ staged, sourceId, sourceVersion, channel, history, events }) => {
      const kept = this.imports[staged!.importId - 1]!
      const fault = this.fault("append")
      if (fault === "defect") throw new Error("a defect in append")
      if (fault !== undefined) return Result.fail(unavailable)
      if (sourceVersion !== this.sourceVersion || this.source !== "on" || kept.status.accepted !== staged!.first)
        return Result.fail(new SourceChanged({ sourceId }))
      for (const { text, empty } of events) this.events.push({ sourceId, channel, history, text, empty })
      this.#set(kept, { accepted: staged!.last })
      // The connection is lost after the commit.
      if (this.fault("appended") !== undefined) return Result.fail(unavailable)
      return Result.succeed(events.map(({ empty }, id) => ({ id, repeatOf: null, empty })))
    },
  })

  readonly sources = {
    get: () => Effect.sync(() => (this.source === "deleted" ? Option.none() : Option.some({ id: 1 }))),
    forIntake: () =>
      Effect.sync(() => (this.source === "on" ? Option.some({ id: 1, version: this.sourceVersion }) : Option.none())),
  } as never as Sources["Service"]

  get layer() {
    return AcceptStaged.layer.pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          Layer.succeed(ImportStore, this.store),
          Layer.succeed(EventLog, this.log),
          Layer.succeed(Sources, this.sources),
        ),
      ),
    )
  }
}
