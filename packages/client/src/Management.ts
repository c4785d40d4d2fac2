/** The management API, typed by its own description: `manage.call("addSource", { body: { name: "Orders" } })`. */
import { parseJson, writeJson } from "./Json.ts"
import { OPERATIONS, type Operations } from "./generated/Operations.ts"
import { type Fetch, textOf, withoutSlash } from "./Requests.ts"

/** Where a cabinet is, and the access token to manage it with. */
export interface ManageOptions {
  readonly baseUrl: string
  /** An access token. */
  readonly token: string
  readonly fetch?: Fetch
}

/** Options of every operation, besides its own input. */
interface Common {
  /**
   * For operations that create or send something: a repeat with the same key within a day does nothing, and returns the
   * first result, without its secrets.
   */
  readonly idempotencyKey?: string
}

interface Given extends Common {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

type Name = keyof Operations
/** An operation's input: optional if nothing in it is required. */
type Input<N extends Name> = {} extends Operations[N]["input"]
  ? [(Operations[N]["input"] & Common)?]
  : [Operations[N]["input"] & Common]

/** Manages a cabinet. Failures are thrown as `CabinetError`. */
export class Management {
  readonly #base: string
  readonly #token: string
  readonly #fetch: Fetch

  constructor(options: ManageOptions) {
    const { baseUrl, token, fetch: fetcher = fetch } = options
    this.#base = withoutSlash(baseUrl)
    this.#token = token
    this.#fetch = (url, init) => fetcher(url, init)
  }

  /**
   * Calls one operation by its id. Nothing is retried: the caller decides by an `idempotencyKey` whether it may be
   * repeated.
   */
  async call<N extends Name>(name: N, ...given: Input<N>): Promise<Operations[N]["output"]> {
    const [method, template] = OPERATIONS[name].split(" ") as [string, string]
    const { path = {}, query = {}, body, idempotencyKey } = (given[0] ?? {}) as Given
    const place = template.replace(/\{(\w+)\}/g, (_, segment: string) => encodeURIComponent(String(path[segment])))
    const search = new URLSearchParams()
    for (const [parameter, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined) search.append(parameter, String(one))
      }
    }
    const text = await textOf(this.#fetch, `${this.#base}/manage/v1/${place}${search.size === 0 ? "" : `?${search}`}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: writeJson(body) }),
    })
    return (text === "" ? undefined : parseJson(text)) as Operations[N]["output"]
  }
}
