/**
 * Reads the items of one response of a poll, each of them once. A response is read completely or refused: only a list
 * of objects has items.
 *
 * Decision: docs/decisions/0039-responses-read-by-a-pointer.md
 */
import { Effect, type Scope, Stream } from "effect"
import { isEmptyPayload } from "../event/Payload.ts"
import { type Doubt, doubtOf } from "../file/Doubt.ts"
import { type FileError, fileError } from "../file/FileError.ts"
import { isLinesOfObjects } from "../file/FileFormat.ts"
import { type FileInspection, type FileOptions, inspectFile } from "../file/FileInspection.ts"
import { inPieces, turns } from "../file/Pieces.ts"
import { type ItemBatch, readItems } from "../file/ReadItems.ts"
import { SheetReader } from "../file/SheetReader.ts"
import type { NewRow } from "../file/StageBatches.ts"
import { jsonText, canonicalJsonText } from "../json/JsonText.ts"
import { charsetOf } from "../text/Charset.ts"
import { decodeJson, jsonCharset } from "../text/JsonCharset.ts"
import type { Poll } from "./Poll.ts"
import type { PollFormat } from "./PollSettings.ts"
import { MAX_POLL_BYTES } from "./PollFetch.ts"
import { hash } from "node:crypto"
import type { Json, JsonObject } from "../json/Json.ts"
import { atPointer } from "../file/PointedReader.ts"
import type { ArchiveReading } from "../file/ReadableFile.ts"

/**
 * 32 bytes: the hash of the key field's value if the item has one that is not null, otherwise of the whole content. A
 * number and a text with the same characters are two keys; so are `1` and `1.0`, as everywhere else.
 */
export const itemKey = (item: JsonObject, keyField: string | null): Uint8Array => {
  const value = keyValue(item, keyField)
  const text = value === null ? `content ${canonicalJsonText(item)}` : `key ${canonicalJsonText(value)}`
  return hash("sha256", text, "buffer")
}

/** The value of the key field; null if the whole content counts. */
export const keyValue = (item: JsonObject, keyField: string | null): Json => {
  if (keyField === null) return null
  return (keyField.startsWith("/") ? atPointer(item, keyField) : item.get(keyField)) ?? null
}

/** The cost of a repeated item, whose text is not written, in characters. */
const REPEATED_ITEM_COST = 8_192

/** The most items passed on at a time: as many keys as one statement looks up. */
const LOOKUP_KEYS = 5000

/** The settings that decide how a response is read. */
export type PollReading = Pick<Poll, "url" | "format" | "pointer" | "keyField">

/** An item with the key by which it is recognized. */
export type PollItem = NewRow & { readonly key: Uint8Array }

type Use<E> = (items: ReadonlyArray<PollItem>, look: FileInspection) => Effect.Effect<void, E>

export class PollItems {
  readonly #poll: PollReading
  readonly #archives: ArchiveReading
  /** The keys of this response so far. */
  readonly #keys = new Set<string>()
  readonly #turn = turns()
  #count = 0
  #doubts: ReadonlyArray<Doubt> = []

  constructor(poll: PollReading, archives: ArchiveReading) {
    this.#poll = poll
    this.#archives = archives
  }

  /** The number of items, including those with the key of an earlier item. */
  get count(): number {
    return this.#count
  }

  /** Parts that were read, but deserve a look; complete once the response is read. */
  get doubts(): ReadonlyArray<Doubt> {
    return this.#doubts
  }

  read<E>(
    response: Uint8Array,
    contentType: string | null,
    use: Use<E>,
  ): Effect.Effect<FileInspection, E | FileError, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      const { file, body } = yield* this.#opened(response)
      const options = optionsOf(this.#poll, contentType, body)
      // A login or gateway page can also have status 200 and any type; read as CSV, it would become events.
      if (options.format === undefined ? isPage(body) : isMarkup(body)) {
        return yield* fileError("unreadable", "this is HTML or XML, not JSON, NDJSON or CSV")
      }
      const look = yield* inspectFile(file, options, { refusesForeign: true, readsPages: false })
      const reading = yield* Effect.provideService(readItems(file, look, undefined), SheetReader, NO_SHEETS)
      yield* Stream.runForEach(reading.batches, (batch) => this.#useBatch(batch, look, use))
      if (look.csv !== null && this.#count === 0 && isWords(body)) {
        return yield* fileError("unreadable", "this is one line of words, not a table")
      }
      const isTied = (look.csv?.readings.length ?? 0) > 1
      this.#doubts = [
        ...(isTied ? [doubtOf("delimiter_unclear", [{ line: 1, column: null }])] : []),
        ...reading.doubts(),
      ]
      return look
    })
  }

  /** The response, or the file inside if it is an archive. */
  #opened(response: Uint8Array) {
    return Effect.gen({ self: this }, function* () {
      const file = { name: nameOf(this.#poll.url), size: response.length, bytes: inPieces(response) }
      const opened = yield* this.#archives.open(file, MAX_POLL_BYTES)
      if (opened === file) return { file, body: response }
      const body = Buffer.concat(yield* Stream.runCollect(opened.bytes))
      return { file: { ...opened, bytes: inPieces(body) }, body }
    })
  }

  #useBatch<E>(batch: ItemBatch, look: FileInspection, use: Use<E>): Effect.Effect<void, E | FileError> {
    return Effect.gen({ self: this }, function* () {
      const [refusal] = batch.refusals
      if (refusal !== undefined) {
        const place =
          refusal.column === null ? `line ${refusal.line}` : `line ${refusal.line}, column ${refusal.column}`
        return yield* fileError("unreadable", `${refusal.reason}, at ${place}`)
      }
      this.#count += batch.items.length
      const items = yield* this.#distinct(batch)
      for (let from = 0; from < items.length; from += LOOKUP_KEYS)
        yield* use(items.slice(from, from + LOOKUP_KEYS), look)
    })
  }

  /** The items whose keys have not occurred in this response yet. */
  #distinct(batch: ItemBatch): Effect.Effect<ReadonlyArray<PollItem>> {
    return Effect.gen({ self: this }, function* () {
      const items: Array<PollItem> = []
      for (const { payload } of batch.items) {
        const key = itemKey(payload, this.#poll.keyField)
        const keyText = Buffer.from(key).toString("base64")
        if (this.#keys.has(keyText)) {
          yield* this.#turn(REPEATED_ITEM_COST)
          continue
        }
        this.#keys.add(keyText)
        const written = jsonText(payload)
        items.push({ payload: written, empty: isEmptyPayload(payload), key })
        yield* this.#turn(written.length)
      }
      return items
    })
  }
}

const NO_SHEETS: SheetReader["Service"] = {
  open: () =>
    Effect.fail(fileError("unreadable", "a workbook or a document cannot be polled: use JSON, NDJSON or CSV")),
}

/** The name of an import of its items. */
export const nameOf = (url: string): string => {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`.slice(0, 500)
}

/** The text of the first bytes, without a byte order mark; letters beyond ASCII may be wrong. */
const beginOf = (body: Uint8Array, bytes: number): string => {
  const begin = Buffer.from(body.subarray(0, bytes))
  return decodeJson(begin, jsonCharset(begin, null)).text.replace(/^\uFEFF/, "")
}

/** Markup begins within these bytes. */
const MARKUP_BYTES = 256

const isPage = (body: Uint8Array): boolean => beginOf(body, MARKUP_BYTES).trimStart().startsWith("<")

/** Where the format is known, a column may be named like a tag: `<a>,<b>`. */
const isMarkup = (body: Uint8Array): boolean => {
  const begin = beginOf(body, MARKUP_BYTES).trimStart()
  return /^<[a-z!?]/i.test(begin) && !/^<[^<>\s]*>"? ?[,;\t|]/.test(begin)
}

/**
 * A longer body is not merely a message. A message such as "Rate limit exceeded, try again later" would become the
 * header of an empty table.
 */
const MESSAGE_BYTES = 4096

/** Names of columns are separated; a comma followed by a space separates words. */
const isWords = (body: Uint8Array): boolean => {
  const line = Buffer.from(body.subarray(0, MESSAGE_BYTES)).toString("latin1").trim()
  return body.length <= MESSAGE_BYTES && line !== "" && !/[\r\n;\t|]|,(?! )/.test(line)
}

/** The settings of the poll take precedence over the header of the response; the rest is detected. */
const optionsOf = (poll: PollReading, contentType: string | null, body: Uint8Array): FileOptions => {
  const [type = "", ...parameters] = (contentType ?? "").toLowerCase().split(";")
  const charset = parameters.map((part) => /^\s*charset="?([^"]+)"?\s*$/.exec(part)?.[1]).find((label) => label)
  const encoding = charset !== undefined && charsetOf(charset) !== null ? charset : undefined
  const stated = poll.pointer === "" ? formatOfType(type.trim()) : "json"
  // Lines of objects are often sent as JSON.
  const areLines = stated === "json" && poll.pointer === "" && isLinesOfObjects(beginOf(body, SAMPLE_BYTES))
  const format = poll.format ?? (areLines ? "ndjson" : stated)
  return { format, encoding, pointer: poll.pointer }
}

const SAMPLE_BYTES = 65_536

const formatOfType = (type: string): PollFormat | undefined => {
  if (/^(?:application|text)\/(?:x-)?(?:ndjson|jsonl|json-?lines|jsonlines)$/.test(type)) return "ndjson"
  if (type === "text/csv") return "csv"
  return /^(?:application|text)\/(?:[^;]*\+)?json$/.test(type) ? "json" : undefined
}
