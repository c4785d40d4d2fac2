/**
 * The fields that the sources of an address have sent. The lines of its filter suggest their names, and their paths are listed beside
 * its template, ready to be copied. The page also works without them.
 */
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { Json, JsonObject } from "@data-cabinet/core/json/Json"
import type { Shapes } from "@data-cabinet/core/payload/Shapes"
import type { Source } from "@data-cabinet/core/source/Source"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { Effect } from "effect"
import type { Frame } from "../html/Shell.ts"

/** Enough to choose from; a source may have 1,000 fields. */
const MOST = { sources: 10, places: 200, characters: 200 } as const

/** The id of the list that completes names. */
export const NAMES_LIST = "known-fields"

export interface KnownPaths {
  /** Of the fields of events. */
  readonly names: ReadonlyArray<string>
  /** As a template has them, such as `{{payload.items.0.sku}}`. */
  readonly places: ReadonlyArray<string>
}

const PLAIN = /^[^.|{}"\s](?:[^.|{}"]*[^.|{}"\s])?$/

const quoted = (name: string): string => (PLAIN.test(name) ? name : `"${name.replaceAll('"', '""')}"`)

const propertiesOf = (schema: Json | undefined): JsonObject => {
  const properties = schema instanceof Map ? (schema as JsonObject).get("properties") : undefined
  return properties instanceof Map ? properties : new Map<string, Json>()
}

/** Items of lists are shown by their first. */
function* placesIn(schema: Json | undefined, path: string): Generator<string> {
  for (const [name, inner] of propertiesOf(schema)) {
    const place = `${path}.${quoted(name)}`
    yield place
    yield* placesIn(inner, place)
    const items = inner instanceof Map ? (inner as JsonObject).get("items") : undefined
    if (items !== undefined) yield* placesIn(items, `${place}.0`)
  }
}

/** The paths in schemas. */
export const pathsIn = (schemas: Iterable<JsonObject>): KnownPaths => {
  const names = new Set<string>()
  const places = new Set<string>()
  for (const schema of schemas) {
    for (const name of propertiesOf(schema).keys()) if (name.length <= MOST.characters) names.add(name)
    for (const place of placesIn(schema, "payload")) if (place.length <= MOST.characters) places.add(`{{${place}}}`)
  }
  return { names: [...names].slice(0, MOST.places), places: [...places].slice(0, MOST.places) }
}

/** The paths of the first sources that an address subscribes to. */
export const knownPaths = (
  shapes: Shapes["Service"],
  sources: ReadonlyArray<Source>,
  { sources: subscribed }: Pick<Address, "sources">,
) => {
  const active = sources.filter(({ id, archived }) => !archived && (subscribed === "all" || subscribed.includes(id)))
  return Effect.map(shapes.schemas(active.slice(0, MOST.sources).map(({ id }) => id)), (found) =>
    pathsIn(found.values()),
  )
}

/** The names that the lines of a filter suggest. */
export const namesList = ({ names }: KnownPaths): HtmlValue =>
  names.length > 0 &&
  markup`<datalist id="${NAMES_LIST}">${names.map((name) => markup`<option value="${name}">`)}</datalist>`

/** The paths beside a template. */
export const placesList = ({ words: { integration: words } }: Frame, { places }: KnownPaths): HtmlValue =>
  places.length > 0 &&
  markup`<details class="templated"><summary>${words.knownPlaces}</summary><pre class="text" tabindex="0">
${places.join("\n")}</pre></details>`
