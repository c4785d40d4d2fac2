/**
 * The names of sources as the feed last read them, with the JSON that they are written as. They are never taken for true: a
 * page that was written with them is compared with the names that are read after its events.
 */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { JsonFragment } from "../row/JsonWriter.ts"

/** Selects the names of sources, by id. */
export const SOURCE_NAMES = "SELECT id::float8, name FROM cabinet.source WHERE id = ANY ($1::int8[])"

export type NameRow = readonly [id: number, name: string]

/** The JSON fragment that describes an event's origin, by channel. */
export type SourceOrigins = ReadonlyArray<JsonFragment>

/** Twice as many as a page can have. */
const MOST = 2_000

export class SourceNames {
  readonly #known = new Map<number, { readonly name: string; readonly origins: SourceOrigins }>()

  originsOf(id: number): SourceOrigins | undefined {
    return this.#known.get(id)?.origins
  }

  /** Whether these names are the ones that are known; they are from now on. */
  learn(rows: ReadonlyArray<NameRow>): boolean {
    const news = rows.filter(([id, name]) => this.#known.get(id)?.name !== name)
    if (news.length === 0) return true
    if (this.#known.size + news.length > MOST) this.#known.clear()
    for (const [id, name] of rows) this.#known.set(id, { name, origins: originsOf(id, name) })
    return false
  }
}

const originsOf = (id: number, name: string): SourceOrigins => {
  const source = JSON.stringify({ id, name })
  return CHANNELS.map((channel) => new JsonFragment(`,"source":${source},"channel":"${channel}","received_at":`))
}
