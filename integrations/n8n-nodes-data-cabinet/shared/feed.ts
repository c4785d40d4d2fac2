/** The feed of a cabinet in batches, live or once a minute. A batch carries the cursor after it. */
import { type IDataObject, sleep } from "n8n-workflow"
import { parseExact } from "./json"
import { type Answer, ask, askJson, type Connection, type Query, refusal, request } from "./requests"

export interface Batch {
  readonly events: ReadonlyArray<IDataObject>
  readonly cursor: string
}

interface Page {
  readonly data: ReadonlyArray<IDataObject>
  readonly has_more: boolean
  readonly next_cursor: string
}

const EVENTS = "/api/v1/events"
const PAGE_SIZE = "1000"

/** A live server breaks its silence every 15 seconds. */
const SILENCE_MILLIS = 60_000
const CHECK_MILLIS = 5_000

const after = (cursor: string | null): Query => (cursor === null ? [] : [["cursor", cursor]])

/** A cursor of the management API, which takes tokens only; null with an API key or a token for some tables. */
const startCursor = async (cabinet: Connection, query: Query): Promise<string | null> => {
  const { statusCode, body } = await request<string>(cabinet, "/manage/v1/feed/start", query)
  if (statusCode < 400) return (JSON.parse(body) as { cursor: string }).cursor
  if (statusCode === 401 || statusCode === 403) return null
  throw refusal(cabinet.context, statusCode, body)
}

/** The end of the feed from a position on, and the last event before it. */
const endOfFeed = async (cabinet: Connection, filter: Query, start: string | null) => {
  let event: IDataObject | null = null
  for (let cursor = start; ;) {
    const page: Page = await askJson<Page>(cabinet, EVENTS, [...filter, ["limit", PAGE_SIZE], ...after(cursor)])
    cursor = page.next_cursor
    event = page.data.at(-1) ?? event
    if (!page.has_more) return { cursor, event }
  }
}

/** The position after all current events. */
export const newestCursor = async (cabinet: Connection, filter: Query): Promise<string> =>
  (await startCursor(cabinet, [...filter, ["from", "now"]])) ?? (await endOfFeed(cabinet, filter, null)).cursor

/** The newest event, or null if there are no events. */
export const newestEvent = async (cabinet: Connection, filter: Query): Promise<IDataObject | null> =>
  (await endOfFeed(cabinet, filter, await startCursor(cabinet, [...filter, ["last", "1"]]))).event

/** A position at or before the one that the cabinet keeps for a name; null for a new name, which begins with the first event. */
export const keptCursor = async (cabinet: Connection, follower: string, filter: Query): Promise<string | null> => {
  const query: Query = [...filter, ["limit", "1"]]
  const first = await askJson<Page>(cabinet, EVENTS, query)
  const next = await askJson<Page>(cabinet, EVENTS, [...query, ["follower", follower]])
  return first.data[0]?.id === next.data[0]?.id ? null : first.next_cursor
}

/** Moves the position that the cabinet keeps for a name, never back, and returns where it is then; null if it keeps no more. */
export const acknowledge = async (
  cabinet: Connection,
  follower: string,
  filter: Query,
  cursor: string,
): Promise<string | null> => {
  const query: Query = [["follower", follower], ["cursor", cursor], ...filter]
  const answer = await request<string>(cabinet, `${EVENTS}/ack`, query, { method: "POST" })
  if (answer.statusCode < 400) return (JSON.parse(answer.body) as { cursor: string }).cursor
  if (answer.statusCode === 409) return null
  throw refusal(cabinet.context, answer.statusCode, answer.body)
}

/** Pages until the end of the feed, then once a minute. */
export async function* polledBatches(
  cabinet: Connection,
  filter: Query,
  start: string | null,
  size: number,
  stop: AbortSignal,
): AsyncGenerator<Batch> {
  const stopped = new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve()))
  for (let cursor = start; !stop.aborted;) {
    const page: Page = await askJson<Page>(cabinet, EVENTS, [...filter, ["limit", String(size)], ...after(cursor)])
    cursor = page.next_cursor
    if (page.data.length > 0) yield { events: page.data, cursor }
    if (!page.has_more) await Promise.race([sleep(60_000), stopped])
  }
}

/** Events as the server streams them. Ends when the stream does. */
export async function* liveBatches(
  cabinet: Connection,
  filter: Query,
  start: string | null,
  size: number,
  stop: AbortSignal,
): AsyncGenerator<Batch> {
  const connection = new AbortController()
  const abort = () => connection.abort()
  stop.addEventListener("abort", abort)
  let heardAt = Date.now()
  let isReading = true
  const watch = async () => {
    while (!connection.signal.aborted) {
      await sleep(CHECK_MILLIS)
      // A connection that was lost without a sign would stay silent forever.
      if (isReading && Date.now() - heardAt > SILENCE_MILLIS) abort()
    }
  }
  try {
    const answer = await request<AsyncIterable<Uint8Array>>(cabinet, EVENTS, [...filter, ...after(start)], {
      headers: { Accept: "text/event-stream" },
      encoding: "stream",
      abortSignal: connection.signal,
    })
    if (answer.statusCode >= 400) throw await streamRefusal(cabinet, answer)
    void watch()
    for await (const batches of messages(answer.body, size)) {
      isReading = false
      yield* batches
      heardAt = Date.now()
      isReading = true
    }
  } finally {
    stop.removeEventListener("abort", abort)
    abort()
  }
}

const streamRefusal = async (cabinet: Connection, { statusCode, body }: Answer<AsyncIterable<Uint8Array>>) => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
  return refusal(cabinet.context, statusCode, text)
}

/** The events of each piece that arrives, in batches; none for a comment that breaks a silence. */
async function* messages(body: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<ReadonlyArray<Batch>> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n")
    rest = blocks.pop()!
    const read = blocks.flatMap((block) => {
      const lines = block.split("\n")
      const values = (field: string) =>
        lines.flatMap((line) => (line.startsWith(field) ? [line.slice(field.length)] : []))
      const [cursor] = values("id: ")
      return cursor === undefined ? [] : [{ cursor, event: parseExact(values("data: ").join("\n")) as IDataObject }]
    })
    const batches: Array<Batch> = []
    for (let from = 0; from < read.length; from += size) {
      const part = read.slice(from, from + size)
      batches.push({ events: part.map(({ event }) => event), cursor: part.at(-1)!.cursor })
    }
    yield batches
  }
}

/** The items of a list of `ask`'s pages: follows `next_cursor` until the list or the limit ends. */
export async function* listPages<Item>(
  cabinet: Connection,
  path: string,
  query: Query,
  limit: number,
): AsyncGenerator<ReadonlyArray<Item>> {
  let cursor: string | null = null
  for (let left = limit; left > 0;) {
    const size = String(Math.min(left, Number(PAGE_SIZE)))
    const page: { data: Array<Item>; has_more: boolean; next_cursor: string } = await askJson(cabinet, path, [
      ...query,
      ["limit", size],
      ...after(cursor),
    ])
    yield page.data
    left -= page.data.length
    if (!page.has_more) return
    cursor = page.next_cursor
  }
}

/** The same list in another form, page by page, as the cabinet wrote it. */
export async function* formPages(
  cabinet: Connection,
  path: string,
  query: Query,
  accept: string,
): AsyncGenerator<string> {
  for (let address: Query = query; ;) {
    const { body, headers } = await ask(cabinet, path, [...address, ["limit", PAGE_SIZE]], {
      headers: { Accept: accept },
    })
    yield body
    const [, next] = /<\?([^>]*)>; rel="next"/.exec(headers.link ?? "") ?? []
    if (next === undefined) return
    address = [...new URLSearchParams(next)].filter(([name]) => name !== "limit")
  }
}
