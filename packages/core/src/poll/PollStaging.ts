/**
 * Stages the new items of one response of a poll. The import that they form is begun with the first of them, so that a
 * response without new items leaves nothing behind. If anything fails, an import that was begun is given up.
 */
import { Effect, type Scope, Stream } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { isEmptyPayload } from "../event/Payload.ts"
import { type FileError, fileError } from "../file/FileError.ts"
import { type FileInspection, type FileOptions, inspectFile } from "../file/FileInspection.ts"
import { inPieces, turns } from "../file/Pieces.ts"
import { type ItemBatch, readItems } from "../file/ReadItems.ts"
import { SheetReader } from "../file/SheetReader.ts"
import type { HeldImport, LeaseLost, ImportStore } from "../file/ImportStore.ts"
import { type NewRow, type Staging, stageBatches } from "../file/StageBatches.ts"
import { jsonText } from "../json/JsonText.ts"
import { charsetOf } from "../text/Charset.ts"
import { itemKey } from "./ItemKey.ts"
import type { PollFormat } from "./Poll.ts"
import type { ClaimedPoll, PollStore, RunResult } from "./PollStore.ts"

/** The cost of a repeated item, whose text is not written, in characters. */
const REPEATED_ITEM_COST = 8_192

/** How many keys one statement looks up. */
const LOOKUP_KEYS = 5000

export interface Staged {
  readonly items: number
  readonly fresh: RunResult["fresh"]
}

interface Ports {
  readonly store: PollStore["Service"]
  readonly imports: ImportStore["Service"]
}

type Candidate = NewRow & { readonly key: Uint8Array }

type Failure = FileError | LeaseLost | StoreUnavailable

export class PollStaging {
  readonly #poll: ClaimedPoll
  readonly #ports: Ports
  /** Written by `#begin`. */
  #begun: { readonly held: HeldImport; readonly staging: Staging } | undefined
  /** The keys of this response so far. */
  readonly #keys = new Set<string>()
  readonly #turn = turns()
  #items = 0
  /** The items among them that were not seen before. */
  #rows = 0

  constructor(poll: ClaimedPoll, ports: Ports) {
    this.#poll = poll
    this.#ports = ports
  }

  stage(body: Uint8Array, contentType: string | null): Effect.Effect<Staged, Failure, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      const file = { name: nameOf(this.#poll.url), size: body.length, bytes: inPieces(body) }
      const options = optionsOf(this.#poll, contentType)
      // A login page, or the page of a gateway, can have status 200 too; read as CSV it would become events.
      if (options.format === undefined && isPage(body)) {
        return yield* fileError("unreadable", "this is HTML or XML, not JSON, NDJSON or CSV")
      }
      const look = yield* inspectFile(file, options)
      if (look.format === "xlsx") return yield* noWorkbook()
      const reading = yield* Effect.provideService(readItems(file, look, undefined), SheetReader, NO_SHEETS)
      yield* Stream.runForEach(reading.batches, (batch) => this.#addBatch(batch, look))
      if (this.#begun !== undefined) yield* this.#begun.staging.flush
      const fresh = this.#begun === undefined ? null : { held: this.#begun.held, rows: this.#rows }
      return { items: this.#items, fresh }
    })
  }

  /** Ends an import that was begun as failed. */
  giveUp(why: string): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.#begun === undefined ? Effect.void : Effect.ignore(this.#ports.imports.fail(this.#begun.held, why)),
    )
  }

  #addBatch(batch: ItemBatch, look: FileInspection): Effect.Effect<void, Failure> {
    return Effect.gen({ self: this }, function* () {
      const [refusal] = batch.refusals
      if (refusal !== undefined) {
        const place =
          refusal.column === null ? `line ${refusal.line}` : `line ${refusal.line}, column ${refusal.column}`
        return yield* fileError("unreadable", `${refusal.reason}, at ${place}`)
      }
      this.#items += batch.items.length
      const candidates = yield* this.#candidates(batch)
      for (let from = 0; from < candidates.length; from += LOOKUP_KEYS) {
        yield* this.#addUnseen(candidates.slice(from, from + LOOKUP_KEYS), look)
      }
    })
  }

  /** The items whose keys this response has not had yet. */
  #candidates(batch: ItemBatch): Effect.Effect<ReadonlyArray<Candidate>> {
    return Effect.gen({ self: this }, function* () {
      const candidates: Array<Candidate> = []
      for (const { payload } of batch.items) {
        const key = itemKey(payload, this.#poll.keyField)
        const keyText = Buffer.from(key).toString("base64")
        if (this.#keys.has(keyText)) {
          yield* this.#turn(REPEATED_ITEM_COST)
          continue
        }
        this.#keys.add(keyText)
        const written = jsonText(payload)
        candidates.push({ payload: written, empty: isEmptyPayload(payload), key })
        yield* this.#turn(written.length)
      }
      return candidates
    })
  }

  #addUnseen(
    candidates: ReadonlyArray<Candidate>,
    look: FileInspection,
  ): Effect.Effect<void, LeaseLost | StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const keys = candidates.map(({ key }) => key)
      const unseen = yield* this.#ports.store.unseen(this.#poll.id, keys)
      const fresh = candidates.filter((_, n) => unseen[n])
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

const noWorkbook = () => fileError("unreadable", "a workbook cannot be polled: use JSON, NDJSON or CSV")

const NO_SHEETS: SheetReader["Service"] = {
  open: () => Effect.fail(noWorkbook()),
}

const nameOf = (url: string): string => {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`.slice(0, 500)
}

const isPage = (body: Uint8Array): boolean =>
  /^(?:\u00ef\u00bb\u00bf)?\s*</.test(Buffer.from(body.subarray(0, 256)).toString("latin1"))

/** The settings of the poll take precedence over the header of the response; the rest is detected. */
const optionsOf = (poll: ClaimedPoll, contentType: string | null): FileOptions => {
  const [type = "", ...parameters] = (contentType ?? "").toLowerCase().split(";")
  const charset = parameters.map((part) => /^\s*charset="?([^"]+)"?\s*$/.exec(part)?.[1]).find((label) => label)
  const encoding = charset !== undefined && charsetOf(charset) !== null ? charset : undefined
  const format = poll.format ?? (poll.pointer !== "" ? "json" : formatOfType(type.trim()))
  return { format, encoding, pointer: poll.pointer }
}

const formatOfType = (type: string): PollFormat | undefined => {
  if (/^(?:application|text)\/(?:x-)?(?:ndjson|jsonl|json-?lines|jsonlines)$/.test(type)) return "ndjson"
  if (type === "text/csv") return "csv"
  return /^(?:application|text)\/(?:[^;]*\+)?json$/.test(type) ? "json" : undefined
}
