/**
 * One run of a poll: requests the URL, reads the response, filters out the items seen before, stages the rest, and accepts
 * them. A response is accepted completely or not at all: if one item is not an object, the run fails and nothing of it is
 * stored. A fault in the program is a failed run too: the poll slows down and doctor reports it, instead of retrying at
 * once and for ever.
 */
import { background } from "../runtime/Background.ts"
import { Clock, Context, Effect, Layer, Option, type Scope, Stream } from "effect"
import { faultInWords, faultName } from "../error/Fault.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { jsonText } from "../json/JsonText.ts"
import { isEmptyPayload } from "../event/Payload.ts"
import { AcceptStaged } from "../file/AcceptStaged.ts"
import { type FileError, fileError } from "../file/FileError.ts"
import { type FileOptions, inspectFile } from "../file/FileInspection.ts"
import { inPieces, turns } from "../file/Pieces.ts"
import { readItems } from "../file/ReadItems.ts"
import { SheetReader } from "../file/SheetReader.ts"
import { type HeldImport, type LeaseLost, StagedImports } from "../file/StagedImports.ts"
import { type NewRow, type Staging, stageBatches } from "../file/StageBatches.ts"
import { charsetOf } from "../text/Charset.ts"
import { itemKey } from "./ItemKey.ts"
import type { PollFormat, PollRun } from "./Poll.ts"
import { type ClaimedPoll, PollStore, type RunResult } from "./PollStore.ts"
import { type PollAnswer, PollFetch } from "./PollFetch.ts"
import { nextSeconds } from "./PollSchedule.ts"

/** Covers the request, reading and staging. */
const DEADLINE = "10 minutes"

export class RunPoll extends Context.Service<
  RunPoll,
  {
    /** None if the poll was removed, or claimed by another process, in the meantime. */
    readonly run: (poll: ClaimedPoll) => Effect.Effect<Option.Option<PollRun>, StoreUnavailable>
  }
>()("@data-cabinet/core/poll/RunPoll") {
  static readonly layer = Layer.effect(
    RunPoll,
    Effect.gen(function* () {
      const book = yield* PollStore
      const { fetch } = yield* PollFetch
      const imports = yield* StagedImports
      const accept = yield* AcceptStaged

      /** Stages the new items of a response. If anything fails, an import that was begun is abandoned. */
      const stage = Effect.fnUntraced(function* (
        poll: ClaimedPoll,
        answer: PollAnswer & { readonly body: Uint8Array },
        hold: (held: HeldImport) => void,
      ): Effect.fn.Return<Staged, FileError | LeaseLost | StoreUnavailable, Scope.Scope> {
        const { body } = answer
        const file = { name: nameOf(poll.url), size: body.length, bytes: inPieces(body) }
        const options = optionsOf(poll, answer.contentType)
        // A login page, or the page of a gateway, can have status 200 too; read as CSV it would become events.
        if (options.format === undefined && isPage(body)) {
          return yield* fileError("unreadable", "this is a page or XML, not JSON, NDJSON or CSV")
        }
        const look = yield* inspectFile(file, options)
        if (look.format === "xlsx")
          return yield* fileError("unreadable", "a workbook cannot be polled: JSON, NDJSON or CSV")
        const reading = yield* Effect.provideService(readItems(file, look, undefined), SheetReader, NO_SHEETS)
        const seenHere = new Set<string>()
        const turn = turns()
        let items = 0
        let rows = 0
        let begun: { readonly held: HeldImport; readonly staging: Staging } | undefined
        yield* Stream.runForEach(
          reading.batches,
          Effect.fnUntraced(function* (batch) {
            const [refusal] = batch.refusals
            if (refusal !== undefined) {
              const place =
                refusal.column === null ? `line ${refusal.line}` : `line ${refusal.line}, column ${refusal.column}`
              return yield* fileError("unreadable", `${refusal.reason}, at ${place}`)
            }
            items += batch.items.length
            const candidates: Array<NewRow & { readonly key: Uint8Array }> = []
            for (const { payload } of batch.items) {
              const key = itemKey(payload, poll.keyField)
              const text = Buffer.from(key).toString("base64")
              if (seenHere.has(text)) {
                yield* turn(REPEATED)
                continue
              }
              seenHere.add(text)
              const written = jsonText(payload)
              candidates.push({ payload: written, empty: isEmptyPayload(payload), key })
              yield* turn(written.length)
            }
            for (let from = 0; from < candidates.length; from += LOOKUP) {
              const part = candidates.slice(from, from + LOOKUP)
              const unseen = yield* book.unseen(
                poll.id,
                part.map(({ key }) => key),
              )
              const fresh = part.filter((_, n) => unseen[n])
              if (fresh.length === 0) continue
              if (begun === undefined) {
                const wanted = {
                  sourceId: poll.sourceId,
                  channel: "pull" as const,
                  history: poll.first,
                  name: nameOf(poll.url),
                  sha256: look.sha256,
                  bytes: look.bytes,
                  once: false,
                  pollId: poll.id,
                }
                const began = yield* imports.begin(wanted)
                if ("same" in began) return yield* Effect.die(new Error("An import that may be repeated was refused."))
                hold(began.held)
                begun = { held: began.held, staging: stageBatches(imports, began.held) }
              }
              rows += fresh.length
              yield* begun.staging.add(fresh)
            }
          }),
        )
        if (begun !== undefined) yield* begun.staging.flush
        return { items, fresh: begun === undefined ? null : { held: begun.held, rows } }
      })

      const attempt = Effect.fnUntraced(function* (poll: ClaimedPoll, hold: (held: HeldImport) => void) {
        const { url, headers, etag, lastModified } = poll
        const answer = yield* fetch({ url, headers, etag, lastModified })
        const { status, peer, body } = answer
        const common = { status, peer, bytes: body?.length ?? 0, items: 0, fresh: null, etag, lastModified }
        const failed = (failure: string): Ended => ({
          ...common,
          outcome: "failed",
          failure,
          nextSeconds: nextSeconds(poll.everySeconds, poll.failures + 1, answer.retryAfter),
        })
        const good = { failure: null, nextSeconds: nextSeconds(poll.everySeconds, 0, null) }
        if (answer.failure !== null) return failed(answer.failure)
        if (body === null) return { ...common, ...good, outcome: "unchanged" } satisfies Ended
        const marks = { etag: answer.etag, lastModified: answer.lastModified }
        return yield* Effect.scoped(stage(poll, { ...answer, body }, hold)).pipe(
          Effect.map((staged): Ended => ({ ...common, ...good, ...staged, ...marks, outcome: "read" })),
          Effect.catchTag("FileError", (error) => Effect.succeed(failed(error.message))),
          Effect.timeoutOrElse({
            duration: DEADLINE,
            orElse: () => Effect.succeed(failed(`the answer was not read within ${DEADLINE}`)),
          }),
        )
      })

      return RunPoll.of({
        run: (poll) =>
          Effect.gen(function* () {
            const started = yield* Clock.currentTimeMillis
            let held: HeldImport | null = null
            const giveUp = (why: string) =>
              Effect.suspend(() => (held === null ? Effect.void : Effect.ignore(imports.fail(held, why))))
            yield* background("poll lease renewal", "20 seconds", book.renew(poll), { quiet: true })
            const settled = yield* attempt(poll, (begun) => {
              held = begun
            }).pipe(
              Effect.catchDefect((fault) =>
                Effect.as(
                  Effect.logError(`a run of poll ${poll.id} failed by a fault: ${faultName(fault)}`),
                  faulty(poll, fault),
                ),
              ),
              Effect.flatMap(
                Effect.fnUntraced(function* (ended) {
                  if (ended.outcome === "failed") yield* giveUp("the poll's answer could not be read to its end")
                  const durationMs = (yield* Clock.currentTimeMillis) - started
                  return yield* book.settle(poll, { ...ended, durationMs })
                }),
              ),
              Effect.catchTag("LeaseLost", () => Effect.succeedNone),
              Effect.onError(() => giveUp("the poll was interrupted")),
            )
            if (Option.isNone(settled)) yield* giveUp("the poll was removed, or run by another process, meanwhile")
            else if (settled.value.importId !== null) {
              const claimed = yield* imports.claim(settled.value.importId)
              if (Option.isSome(claimed)) {
                yield* accept.run(claimed.value).pipe(
                  Effect.onInterrupt(() => Effect.ignore(imports.release(claimed.value, null))),
                  Effect.catchTag("LeaseLost", () => Effect.void),
                )
              }
            }
            return settled
          }).pipe(Effect.scoped),
      })
    }),
  )
}

const faulty = (poll: ClaimedPoll, fault: unknown): Ended => ({
  outcome: "failed",
  failure: `a fault of this program: ${faultInWords(fault)}`,
  status: null,
  peer: null,
  bytes: 0,
  items: 0,
  fresh: null,
  etag: poll.etag,
  lastModified: poll.lastModified,
  nextSeconds: nextSeconds(poll.everySeconds, poll.failures + 1, null),
})

/** The cost of a repeated item, whose text is not written, in characters. */
const REPEATED = 8_192

/** How many keys one statement looks up. */
const LOOKUP = 5000

type Ended = Omit<RunResult, "durationMs">

interface Staged {
  readonly items: number
  readonly fresh: RunResult["fresh"]
}

const NO_SHEETS: SheetReader["Service"] = {
  open: () => Effect.fail(fileError("unreadable", "a workbook cannot be polled: JSON, NDJSON or CSV")),
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
