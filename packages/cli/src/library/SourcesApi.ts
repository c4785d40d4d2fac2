/** The sources of a cabinet, with promises. */
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import type { LimitedCount } from "@data-cabinet/core/limit/LimitedRequests"
import type { Source, SourceWithSecret } from "@data-cabinet/core/source/Source"
import type { SourceEncoding } from "@data-cabinet/core/source/SourceSettings"
import { type NewSource, type RotateOptions, type SourceChange, Sources } from "@data-cabinet/core/source/Sources"
import type { FieldChange, FieldKind, PayloadField, SourceShape } from "@data-cabinet/core/payload/ShapeFields"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { Effect, Option } from "effect"
import type { KnownError } from "./CabinetError.ts"
import type { Run } from "./RunEffect.ts"

export type { FieldChange, FieldKind, PayloadField, SourceShape }
export type { LimitedCount, NewSource, RotateOptions, Source, SourceChange, SourceEncoding }

/** A source with its intake address. */
export interface SourceWithAddress extends Source {
  /** The secret address to send to. Anyone who has it may send, so share it only with the sender. */
  readonly intakeUrl: string
}

/** Operations on sources. A call about an unknown source rejects with `no_such_source`. */
export interface SourcesApi {
  /** Creates a source with its own intake address and table. */
  readonly create: (source: NewSource) => Promise<SourceWithAddress>
  /** The sources by id, including archived ones. Without `limit` all of them. */
  readonly list: (query?: {
    /** Only sources with a higher id. */
    readonly after?: number
    readonly limit?: number
  }) => Promise<ReadonlyArray<Source>>
  /** One source; null if unknown. */
  readonly get: (id: number) => Promise<Source | null>
  /** One source with its intake address. */
  readonly reveal: (id: number) => Promise<SourceWithAddress>
  /** Changes its name or its settings; its table keeps its name. */
  readonly change: (id: number, change: SourceChange) => Promise<Source>
  /** Switches a source off: its intake address responds with 404. */
  readonly archive: (id: number) => Promise<Source>
  /** Switches a source on again, with the same intake address. */
  readonly restore: (id: number) => Promise<Source>
  /** Deletes a source permanently. Its events stay in the feed, and its table stays unless `dropTable` is true. */
  readonly remove: (id: number, options?: { readonly dropTable?: boolean }) => Promise<void>
  /** What its payloads look like: the fields, their kinds and shares, and what changed in the last week. */
  readonly shape: (id: number) => Promise<SourceShape>
  /** JSON Schema 2020-12 of its payloads, as JSON text. */
  readonly schema: (id: number) => Promise<string>
  /** A declaration in TypeScript of its payloads; without an id, those of all sources. */
  readonly types: (id?: number) => Promise<string>
  /** An AsyncAPI 3.0 document of what the cabinet sends, as JSON text: deliveries and the feed, with a message for each source. */
  readonly asyncApi: () => Promise<string>
  /** Creates a new intake address. The old one responds with 404 from then on, or after `keepOldSeconds`. */
  readonly rotateSecret: (id: number, options?: RotateOptions) => Promise<SourceWithAddress>
}

/** Builds the methods of `cabinet.sources`. */
export const sourcesApi = (run: Run, baseUrl: string): SourcesApi => {
  const addressed = ({ intakeSecret, ...source }: SourceWithSecret): SourceWithAddress => ({
    ...source,
    intakeUrl: `${baseUrl}/webhook/${intakeSecret}`,
  })
  const call = <A, E extends KnownError>(work: (sources: Sources["Service"]) => Effect.Effect<A, E>) =>
    run(Sources.use(work))
  return {
    create: (source) => call((sources) => Effect.map(sources.create(source), addressed)),
    list: ({ after = 0, limit } = {}) =>
      call(({ page }) => (limit === undefined ? allItems(page, after) : page({ after, limit }))),
    get: (id) => call((sources) => Effect.map(sources.get(id), Option.getOrNull)),
    reveal: (id) => call((sources) => Effect.map(sources.reveal(id), addressed)),
    change: (id, change) => call((sources) => sources.change(id, change)),
    archive: (id) => call((sources) => sources.archive(id)),
    restore: (id) => call((sources) => sources.restore(id)),
    remove: (id, options) => call((sources) => sources.remove(id, options?.dropTable === true ? "drop" : "keep")),
    shape: (id) => run(Shapes.use((shapes) => shapes.fields(id))),
    schema: (id) => run(Shapes.use((shapes) => shapes.schema(id))),
    types: (id) => run(Shapes.use((shapes) => (id === undefined ? shapes.allTypes : shapes.types(id)))),
    asyncApi: () => run(Shapes.use((shapes) => shapes.asyncApi(baseUrl))),
    rotateSecret: (id, options) => call((sources) => Effect.map(sources.rotateSecret(id, options), addressed)),
  }
}
