/**
 * Stages the new items of one response of a poll. Their import begins with the first new item, so that a response
 * without new items leaves no trace. If anything fails, a begun import is abandoned.
 */
import { Effect, type Scope } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { FileError } from "../file/FileError.ts"
import type { FileInspection } from "../file/FileInspection.ts"
import type { HeldImport, LeaseLost, ImportStore } from "../file/ImportStore.ts"
import { type Staging, stageBatches } from "../file/StageBatches.ts"
import { nameOf, type PollItem, PollItems } from "./PollItems.ts"
import type { ClaimedPoll, PollStore, RunResult } from "./PollStore.ts"
import type { ArchiveReading } from "../file/ReadableFile.ts"

/** The number of items in a response, and the new ones, staged. */
export interface Staged {
  readonly items: number
  readonly doubts: RunResult["doubts"]
  readonly fresh: RunResult["fresh"]
}

interface Ports {
  readonly store: PollStore["Service"]
  readonly imports: ImportStore["Service"]
  readonly archives: ArchiveReading
}

export class PollStaging {
  readonly #poll: ClaimedPoll
  readonly #ports: Ports
  /** Written by `#begin`. */
  #begun: { readonly held: HeldImport; readonly staging: Staging } | undefined
  /** The number of new items. */
  #rows = 0

  constructor(poll: ClaimedPoll, ports: Ports) {
    this.#poll = poll
    this.#ports = ports
  }

  stage(
    body: Uint8Array,
    contentType: string | null,
  ): Effect.Effect<Staged, FileError | LeaseLost | StoreUnavailable, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      const items = new PollItems(this.#poll, this.#ports.archives)
      yield* items.read(body, contentType, (some, look) => this.#addUnseen(some, look))
      if (this.#begun !== undefined) yield* this.#begun.staging.flush
      const fresh = this.#begun === undefined ? null : { held: this.#begun.held, rows: this.#rows }
      return { items: items.count, doubts: items.doubts, fresh }
    })
  }

  /** Ends a begun import as failed. */
  giveUp(why: string): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.#begun === undefined ? Effect.void : Effect.ignore(this.#ports.imports.fail(this.#begun.held, why)),
    )
  }

  #addUnseen(items: ReadonlyArray<PollItem>, look: FileInspection): Effect.Effect<void, LeaseLost | StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const keys = items.map(({ key }) => key)
      const unseen = yield* this.#ports.store.unseen(this.#poll.id, keys)
      const fresh = items.filter((_, n) => unseen[n])
      if (fresh.length === 0) return
      const { staging } = this.#begun ?? (yield* this.#begin(look))
      this.#rows += fresh.length
      yield* staging.add(fresh)
    })
  }

  #begin({ sha256, bytes }: FileInspection) {
    return Effect.gen({ self: this }, function* () {
      const { imports } = this.#ports
      const began = yield* imports.begin({
        sourceId: this.#poll.sourceId,
        channel: "pull",
        history: this.#poll.first,
        name: nameOf(this.#poll.url),
        sha256,
        bytes,
        once: false,
        pollId: this.#poll.id,
      })
      if ("same" in began)
        return yield* Effect.die(new Error("An import that may be repeated was refused as a duplicate."))
      return (this.#begun = { held: began.held, staging: stageBatches(imports, began.held) })
    })
  }
}
