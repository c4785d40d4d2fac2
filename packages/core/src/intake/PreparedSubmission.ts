/**
 * Prepares what is appended for a request: its body parsed, its events and original request, and the function that turns
 * the receipts into a result.
 */
import { Result } from "effect"
import type { TimerWheel } from "../runtime/TimerWheel.ts"
import { decideEvents, decides } from "./DecideEvents.ts"
import { inTurns } from "../runtime/InTurns.ts"
import type { AcceptRequest, Original, Receipt } from "../event/EventLog.ts"
import { type StoreUnavailable, storeTimedOut } from "../error/StoreUnavailable.ts"
import type { Json, JsonObject } from "../json/Json.ts"
import { PROOF_FIELDS } from "../proof/FormProof.ts"
import type { IntakeSource } from "../source/Source.ts"
import type { EventVerdict } from "../verification/Verification.ts"
import { IntakeError } from "./IntakeError.ts"
import type { IntakeResult, IntakeRequest } from "./IntakeRequest.ts"
import { headerFields, headerFieldsLength, keptParts } from "./KeptHeaders.ts"
import { type MemoryShares, memoryFull } from "../limit/MemoryBudget.ts"
import { jsonPieces, LONG_BODY_BYTES, LONG_QUERY_LENGTH, type ReadAhead, submissionPieces } from "./LongBody.ts"
import { markedSpam } from "./SpamCheck.ts"
import { parseSubmission } from "./ParseSubmission.ts"
import type { ParsedSubmission, Submission } from "./Submission.ts"
import { undecodableEvent } from "./UndecodableBody.ts"

/** The most bytes of a body that the original request keeps. */
const ORIGINAL_BYTES = 65_536

export interface PreparedSubmission<A> {
  readonly request: AcceptRequest
  /** That of its only event, if the source demands one. */
  readonly proof?: Json
  readonly resultOf: (receipts: ReadonlyArray<Receipt>) => A
}

/** The channel of submissions. */
export const WEBHOOK = { channel: "webhook", history: false } as const

/** A prepared submission, or why it is refused. */
export type Parsed = Result.Result<PreparedSubmission<IntakeResult>, IntakeError | StoreUnavailable>

/** Parses submissions, and decides about their events by the settings of the source. */
export const submissionParser = (memory: MemoryShares, wheel: Pick<TimerWheel, "watch">) => {
  const parse = bodyParser(memory, wheel)
  return async (request: IntakeRequest, source: IntakeSource, verdict?: EventVerdict): Promise<Parsed> => {
    const parsed = await parse(request, source, verdict)
    if (!decides(source) || Result.isFailure(parsed)) return parsed
    const decided = await decideEvents(parsed.success.request, source, { deadline: request.deadline, wheel })
    return decided === undefined ? NOT_IN_TIME : Result.succeed({ ...parsed.success, request: decided })
  }
}

/**
 * A long submission is parsed in pieces, interleaved with other work, and only until its deadline. A fault rejects the promise
 * of the submission that caused it, and no other.
 */
const bodyParser = (memory: MemoryShares, wheel: Pick<TimerWheel, "watch">) => {
  const takeTurns = inTurns(setImmediate)
  return async (request: IntakeRequest, source: IntakeSource, verdict?: EventVerdict): Promise<Parsed> => {
    if (isShort(request, source)) return prepared(request, source, verdict)
    const { deadline, sender } = request
    const release = memory.hold(source.id, sender.ip, request.body.byteLength)
    if (release === undefined) return Result.fail(memoryFull())
    return new Promise<Parsed>((resolve, reject) => {
      let parse: (() => Parsed | undefined) | undefined = longParse(request, source, verdict)
      const end = () => {
        parse = undefined
        stopWatch()
        release()
      }
      const stopWatch = wheel.watch({
        deadline,
        expire: () => {
          end()
          resolve(NOT_IN_TIME)
        },
      })
      takeTurns(() => {
        try {
          const parsed = parse?.()
          if (parsed === undefined) return parse === undefined
          end()
          resolve(parsed)
        } catch (fault) {
          end()
          reject(fault)
        }
        return true
      }, `${source.id} ${sender.ip}`)
    })
  }
}

/** Whether parsing can take long: every object of a batch gets the fields of the query string and of headers. */
const isShort = (request: IntakeRequest, { kept }: IntakeSource): boolean =>
  request.body.byteLength <= LONG_BODY_BYTES &&
  request.query.length <= LONG_QUERY_LENGTH &&
  (kept === null || headerFieldsLength(request.headers, kept) <= LONG_QUERY_LENGTH)

const NOT_IN_TIME: Parsed = Result.fail(storeTimedOut(false))

/** Each call does a piece of the work. */
const longParse = (
  request: IntakeRequest,
  source: IntakeSource,
  verdict: EventVerdict | undefined,
): (() => Parsed | undefined) => {
  let read: (() => ReadAhead | undefined) | null | undefined
  let parse: (() => ParsedSubmission | undefined) | undefined
  return () => {
    if (request.undecodable !== null) return prepared(request, source, verdict)
    if (parse === undefined) {
      const submission = submissionOf(request, source)
      read ??= request.body.byteLength > LONG_BODY_BYTES ? jsonPieces(submission) : null
      const ahead = read?.()
      if (read !== null && ahead === undefined) return undefined
      parse = submissionPieces({ ...submission, ...ahead })
      if (ahead !== undefined) return undefined
    }
    const parsed = parse()
    return parsed === undefined ? undefined : preparedAs(request, source, verdict, parsed)
  }
}

const submissionOf = (request: IntakeRequest, { encoding, kept, nestBrackets, proof }: IntakeSource): Submission => {
  const { body, query, headers, sender } = request
  const submission = {
    body,
    contentType: sender.contentType,
    query,
    encoding,
    ...(nestBrackets === true ? { nestBrackets } : {}),
    ...(proof === undefined ? {} : { proofFields: PROOF_FIELDS[proof.kind] }),
  }
  const fields = kept === null ? NO_HEADER_FIELDS : headerFields(headers, kept)
  return fields.size === 0 ? submission : { ...submission, headerFields: fields }
}

const NO_HEADER_FIELDS: JsonObject = new Map()

/** What to append for a request to this version of its source, and how its receipts become a result. */
const prepared = (request: IntakeRequest, source: IntakeSource, verdict: EventVerdict | undefined): Parsed => {
  const submission = submissionOf(request, source)
  const { undecodable } = request
  if (undecodable !== null) {
    const events = [undecodableEvent(submission, undecodable)]
    const charset = { name: "utf-8", decidedBy: "content_encoding", replaced: 0 }
    return Result.succeed({
      request: accepted(request, source, verdict, {
        events,
        original: original(request, source, charset),
        memory: request.body.byteLength * 4,
      }),
      resultOf: (receipts) => ({
        kind: "refused",
        error: "bad_encoding",
        detail: undecodable,
        receipt: firstOf(receipts),
      }),
    })
  }
  return preparedAs(request, source, verdict, parseSubmission(submission))
}

const preparedAs = (
  request: IntakeRequest,
  source: IntakeSource,
  verdict: EventVerdict | undefined,
  parsed: ParsedSubmission,
): Parsed => {
  if (parsed.tooMany !== null) return Result.fail(tooMany(parsed.tooMany))
  const { refusal } = parsed
  return Result.succeed({
    request: accepted(request, source, verdict, {
      events: parsed.events,
      original: original(request, source, parsed.charset),
      memory: request.body.byteLength + parsed.memory,
    }),
    ...(parsed.proof === undefined ? {} : { proof: parsed.proof }),
    resultOf: (receipts) =>
      refusal !== null
        ? { kind: "refused", error: refusal.error, detail: refusal.detail, receipt: firstOf(receipts) }
        : parsed.shape === "batch"
          ? { kind: "batch", receipts }
          : { kind: "object", receipt: firstOf(receipts), thanksUrl: source.thanksUrl },
  })
}

interface Accepted extends Pick<AcceptRequest, "events"> {
  readonly original: Original
  readonly memory: number
}

const accepted = (
  { sender }: IntakeRequest,
  source: IntakeSource,
  verdict: EventVerdict | undefined,
  { events: parsed, original: kept, memory }: Accepted,
): AcceptRequest => {
  const events = source.spam === undefined ? parsed : markedSpam(source.spam, sender, parsed)
  const { id: sourceId, version: sourceVersion } = source
  const request: AcceptRequest = { ...WEBHOOK, sourceId, sourceVersion, events, original: kept, memory }
  return verdict === undefined ? request : judged(request, verdict)
}

/** A forgery sent first must not make the genuine event a repeat, so it takes no part in the detection of repeats. */
const judged = (request: AcceptRequest, verdict: EventVerdict): AcceptRequest =>
  verdict.refusal === null
    ? { ...request, verdict }
    : { ...request, verdict, events: request.events.map((event) => ({ ...event, fingerprint: null })) }

type ReadCharset = Omit<ParsedSubmission["charset"], "decidedBy"> & { readonly decidedBy: string }

const original = (request: IntakeRequest, { kept }: IntakeSource, charset: ReadCharset): Original => {
  const metadata = requestOf(request, charset)
  return kept === null ? metadata : { ...metadata, kept: keptParts(request.headers, request.query, kept) }
}

const requestOf = ({ body, sender }: IntakeRequest, charset: ReadCharset): Original => ({
  body: body.byteLength > ORIGINAL_BYTES ? body.subarray(0, ORIGINAL_BYTES) : body,
  bodyBytes: body.byteLength,
  contentType: sender.contentType ?? null,
  ip: sender.ip,
  referer: sender.referer,
  origin: sender.origin,
  userAgent: sender.userAgent,
  acceptLanguage: sender.acceptLanguage,
  charset: charset.name,
  charsetFrom: charset.decidedBy,
  replaced: charset.replaced,
  ...(charset.others === undefined ? {} : { others: charset.others }),
})

/** The receipt of a request's first event. */
export const firstOf = (receipts: ReadonlyArray<Receipt>): Receipt => {
  const [receipt] = receipts
  if (receipt === undefined) throw new Error("The log gave no receipt for an appended event")
  return receipt
}

const tooMany = ({ count, limit }: { readonly count: number; readonly limit: number }) =>
  new IntakeError({
    code: "too_many_items",
    message: `A batch may contain at most ${limit} objects, but this one contains ${count}; nothing was saved`,
    count,
    limit,
  })
