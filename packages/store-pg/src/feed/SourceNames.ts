/**
 * The names of sources as the feed last read them, with the JSON that they are written as. They are never trusted: a
 * page that was written with them is compared with the names that are read after its events.
 */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { JsonFragment } from "../row/JsonWriter.ts"

/** Selects the names of sources, by id. */
export const SOURCE_NAMES = "SELECT id::float8, name FROM cabinet.source WHERE id = ANY ($1::int8[])"

export type NameRow = readonly [id: number, name: string]

/** The JSON fragment that describes an event's origin, by channel. */
export type SourceOrigins = ReadonlyArray<JsonFragment>

export interface KnownSource {
  readonly name: string
  readonly origins: SourceOrigins
}

/** Twice as many as a page can have. */
const MAX_NAMES = 2_000

export class SourceNames {
  readonly #known = new Map<number, KnownSource>()

  /** The currently known name: a page written at the same time may learn another one. */
  get(id: number): KnownSource | undefined {
    return this.#known.get(id)
  }

  /** The events of a source whose name was just read. */
  originsOfNamed(id: number, name: string): SourceOrigins {
    const known = this.#known.get(id)
    if (known?.name === name) return known.origins
    this.learn([[id, name]])
    return this.#known.get(id)!.origins
  }

  learn(rows: ReadonlyArray<NameRow>): void {
    const news = rows.filter(([id, name]) => this.#known.get(id)?.name !== name)
    if (this.#known.size + news.length > MAX_NAMES) this.#known.clear()
    for (const [id, name] of news) this.#known.set(id, { name, origins: originsOf(id, name) })
  }
}

const originsOf = (id: number, name: string): SourceOrigins => {
  const source = JSON.stringify({ id, name })
  return CHANNELS.map((channel) => new JsonFragment(`,"source":${source},"channel":"${channel}","received_at":`))
}
