/** The read API of a cabinet, for holders of a key. */
import { type FeedEvent, type FeedOptions, type FeedPage, feedPages, type ReadFeed } from "./Feed.ts"
import { type Numbers, parseJson } from "./Json.ts"
import { type Fetch, textOf, withoutSlash } from "./Requests.ts"

/** Where a cabinet is, and how to read it. */
export interface CabinetOptions {
  /** The cabinet's address, such as `https://data.example.com`. */
  readonly baseUrl: string
  /** A key of the read API. */
  readonly key: string
  /** The type for a number that a double cannot hold: `string` by default. */
  readonly numbers?: Numbers
  readonly fetch?: Fetch
}

/** A source that the key may read. */
export interface Source {
  readonly id: number
  readonly name: string
  readonly archived: boolean
  readonly table: { readonly schema: string; readonly name: string } | null
  readonly created_at: string
}

/** A table or view that the key may read. */
export interface Table {
  readonly schema: string
  readonly name: string
  readonly kind: "table" | "view" | "matview"
  readonly source: { readonly id: number; readonly name: string } | null
  readonly comment: string | null
  readonly rows_estimate: number | null
}

/** One page of rows, and the cursor of the next one. */
export interface RowsPage {
  readonly data: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly columns: ReadonlyArray<{
    readonly name: string
    readonly type: string
    readonly label: string
    readonly comment: string | null
  }>
}

/**
 * The parameters of a table screen by their own names, such as `{ q: "Ada", sort: "total", col: ["name", "total"] }`. A list
 * sends a parameter several times, such as `{ sort: ["status", "total"], dir: ["asc", "desc"] }`.
 */
export type Selection = Readonly<Record<string, string | number | ReadonlyArray<string>>>

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

const pairsOf = (selection: Selection): Pairs =>
  Object.entries(selection).flatMap(([name, value]) =>
    typeof value === "object" ? value.map((one) => [name, one] as const) : [[name, String(value)] as const],
  )

const searchOf = (pairs: Pairs): string => {
  const search = new URLSearchParams()
  for (const [name, value] of pairs) search.append(name, value)
  return search.toString()
}

/** Reads a cabinet. Failures are thrown as `CabinetError`. */
export class Cabinet {
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #numbers: Numbers
  readonly #fetch: Fetch

  constructor(options: CabinetOptions) {
    const { baseUrl, key, numbers = "string", fetch: fetcher = fetch } = options
    this.#base = `${withoutSlash(baseUrl)}/api/v1`
    this.#headers = { authorization: `Bearer ${key}` }
    this.#numbers = numbers
    this.#fetch = (url, init) => fetcher(url, init)
  }

  async #get(path: string, query: Pairs = [], signal?: AbortSignal, waitSeconds = 0): Promise<unknown> {
    const search = query.length === 0 ? "" : `?${searchOf(query)}`
    const headers = waitSeconds > 0 ? { ...this.#headers, prefer: `wait=${waitSeconds}` } : this.#headers
    const init = { headers, ...(signal === undefined ? {} : { signal }) }
    return parseJson(await textOf(this.#fetch, `${this.#base}${path}${search}`, init), this.#numbers)
  }

  async #post(path: string, query: Pairs, signal?: AbortSignal): Promise<unknown> {
    const init = { method: "POST", headers: this.#headers, ...(signal === undefined ? {} : { signal }) }
    return parseJson(await textOf(this.#fetch, `${this.#base}${path}?${searchOf(query)}`, init), this.#numbers)
  }

  async sources(): Promise<ReadonlyArray<Source>> {
    return ((await this.#get("/sources")) as { readonly data: ReadonlyArray<Source> }).data
  }

  async tables(): Promise<ReadonlyArray<Table>> {
    return ((await this.#get("/tables")) as { readonly data: ReadonlyArray<Table> }).data
  }

  /** One page of rows. */
  async page(schema: string, name: string, selection: Selection = {}, signal?: AbortSignal): Promise<RowsPage> {
    const path = `/tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}/rows`
    return (await this.#get(path, pairsOf(selection), signal)) as RowsPage
  }

  /** All rows of a selection, page by page. */
  async *rows(
    schema: string,
    name: string,
    selection: Selection = {},
    signal?: AbortSignal,
  ): AsyncGenerator<Readonly<Record<string, unknown>>, void, void> {
    let cursor: string | null = null
    do {
      const at: Selection = cursor === null ? {} : { cursor }
      const page: RowsPage = await this.page(schema, name, { limit: 1000, ...selection, ...at }, signal)
      yield* page.data
      cursor = page.has_more ? page.next_cursor : null
    } while (cursor !== null)
  }

  /** The feed by pages: the cursor of each can be kept in the transaction that keeps its events. */
  feedPages(options: FeedOptions = {}): AsyncGenerator<FeedPage, void, void> {
    const read: ReadFeed = async (query, waitSeconds, signal) =>
      (await this.#get("/events", query, signal, waitSeconds)) as never
    return feedPages(read, (query, signal) => this.#post("/events/ack", query, signal), options)
  }

  /**
   * The feed by events. With `cursors` a page's cursor is saved when the event after its last is requested; with `follower`
   * it is acknowledged then.
   */
  async *feed(options: FeedOptions = {}): AsyncGenerator<FeedEvent, void, void> {
    for await (const { events } of this.feedPages(options)) yield* events
  }
}
