/**
 * The command `cabinet serve` with a subscriber, and the results of one submission: the event in the feed, its row and its
 * delivery. Nothing is looked up by the event's number, because a browser does not get it.
 */
import { assert } from "vitest"
import { endAll, newHome } from "../../support/cabinetProcess.ts"
import { startReceiver } from "../../support/receiver.ts"

const SETTINGS = { CABINET_ALLOWED_NETWORKS: "127.0.0.0/8", CABINET_INTAKE_RATE: "0" }

export interface Arrived {
  /** The payload's text in the feed, token for token. */
  readonly payload: string
  /** The row's filled columns by the name of their field, parsed from the API's response. */
  readonly row: Readonly<Record<string, unknown>>
}

interface Column {
  readonly name: string
  readonly label: string
}

export const serveCabinet = async () => {
  const home = newHome()
  const receiver = await startReceiver()
  const server = await home.serve([], SETTINGS)
  const added = await home.cabinet(["address", "add", receiver.url, "--json"], SETTINGS)
  assert.strictEqual(added.code, 0, added.stderr)
  const { source, key } = server.welcome

  const read = async (path: string): Promise<string> => {
    const response = await fetch(`${server.baseUrl}/api/v1/${path}`, { headers: { "x-api-key": key!.key } })
    const text = await response.text()
    assert.strictEqual(response.status, 200, text)
    return text
  }
  let cursor = ""
  /** The only new event in the feed since the last call. */
  const newEvent = async () => {
    const feed = await read(`events${cursor}`)
    const { data, next_cursor } = JSON.parse(feed) as { data: ReadonlyArray<{ id: number }>; next_cursor: string }
    cursor = `?cursor=${encodeURIComponent(next_cursor)}`
    assert.strictEqual(data.length, 1, feed)
    const text = feed.slice(feed.indexOf("[") + 1, feed.lastIndexOf("]"))
    const payload = text.slice(text.indexOf('"payload":') + '"payload":'.length, text.lastIndexOf(',"repeat_of":'))
    return { id: data[0]!.id, text, payload }
  }

  return {
    baseUrl: server.baseUrl,
    intake: source!.intake_url,
    /** Runs work that sends one event, waits for its delivery, and reads the feed and the row. */
    arrival: async (send: () => Promise<unknown>): Promise<Arrived> => {
      const before = receiver.received.length
      await send()
      await receiver.until(({ length }) => length > before)
      const event = await newEvent()
      assert.strictEqual(receiver.received.at(-1)!.body.toString().split('"data":')[1], `${event.text}}`)
      const rows = await read(`tables/sources/first_source/rows?fc=_event_id&fo=eq&fv=${event.id}`)
      const table = JSON.parse(rows) as { data: ReadonlyArray<Record<string, unknown>>; columns: ReadonlyArray<Column> }
      assert.strictEqual(table.data.length, 1, rows)
      const filled = table.columns
        .filter(({ name }) => name !== "_event_id" && name !== "_received_at" && table.data[0]![name] !== null)
        .map(({ name, label }) => [label, table.data[0]![name]])
      return { payload: event.payload, row: Object.fromEntries(filled) as Arrived["row"] }
    },
    close: async () => {
      await endAll()
      await receiver.close()
    },
  }
}

export type ServedCabinet = Awaited<ReturnType<typeof serveCabinet>>
