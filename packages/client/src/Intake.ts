/** Sends to an intake address, with retries: a body that arrives again is recognised as a repeat of the first. */
import { CabinetError } from "./CabinetError.ts"
import { parseJson, writeJson } from "./Json.ts"
import { backoffMillis, type Fetch, pause, textOf } from "./Requests.ts"

/** The receipt for one accepted event. */
export interface IntakeReceipt {
  /** The event's number. */
  readonly id: number
  /** An equal body came within the last five minutes, perhaps by an earlier attempt of this very call. */
  readonly duplicate: boolean
  readonly empty: boolean
}

/** How to send to an intake address. */
export interface IntakeOptions {
  /** How long to try, in milliseconds: 60,000 by default, at most 240,000. 0: once. */
  readonly retryForMillis?: number
  readonly signal?: AbortSignal
  readonly fetch?: Fetch
}

/** Equal bodies are repeats for five minutes; a later attempt might become a second event. */
const MAX_RETRY_MILLIS = 240_000

/**
 * Sends one object. The same bytes are sent again if there is no response, or one that says to retry later; permanent
 * errors are thrown at once. If two equal objects must count as two, give them a field that differs.
 */
export const sendToIntake = async (
  intakeUrl: string,
  fields: Readonly<Record<string, unknown>>,
  options: IntakeOptions = {},
): Promise<IntakeReceipt> => {
  const { retryForMillis = 60_000, signal, fetch: fetcher = fetch } = options
  const init: RequestInit = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: writeJson(fields),
    ...(signal === undefined ? {} : { signal }),
  }
  const until = Date.now() + Math.min(retryForMillis, MAX_RETRY_MILLIS)
  for (let failures = 0; ; failures++) {
    try {
      return parseJson(await textOf(fetcher, intakeUrl, init)) as IntakeReceipt
    } catch (error) {
      if (!(error instanceof CabinetError) || !error.isTemporary) throw error
      const wait = backoffMillis(failures, error)
      if (Date.now() + wait > until) throw error
      await pause(wait, signal)
    }
  }
}
