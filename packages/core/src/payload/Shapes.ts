/**
 * What the payloads of sources look like, as fields, as JSON Schema and as TypeScript types. Everything is read from what
 * a follower has learned (`LearnShapes`), so that it costs the same however many events there are.
 */
import { Array, Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import type { Source } from "../source/Source.ts"
import type { SourceError } from "../source/SourceError.ts"
import { noSuchSource, Sources } from "../source/Sources.ts"
import { asyncApi, type MessageSource, messageSchema } from "./AsyncApi.ts"
import { learnAhead } from "./LearnShapes.ts"
import { emptyShape } from "./PayloadShape.ts"
import { type SourceShape, shapeFields } from "./ShapeFields.ts"
import { shapeSchema } from "./ShapeSchema.ts"
import { shapeTypes, typeNames } from "./ShapeTypes.ts"
import { ShapeStore } from "./ShapeStore.ts"

/** The bounds of an AsyncAPI document; `length` is that of its schemas, in characters. */
const MESSAGES = { sources: 1_000, length: 4_000_000, atOnce: 20 } as const

type Returns<A> = Effect.Effect<A, SourceError | StoreUnavailable>

export class Shapes extends Context.Service<
  Shapes,
  {
    /** The fields of a source's payloads. Fails with `no_such_source`, as all of these do. */
    readonly fields: (sourceId: number) => Returns<SourceShape>
    /** JSON Schema 2020-12 of its payloads, as JSON text. */
    readonly schema: (sourceId: number) => Returns<string>
    /** The schemas of these sources, without those that no longer exist. */
    readonly schemas: (
      sourceIds: ReadonlyArray<number>,
    ) => Effect.Effect<ReadonlyMap<number, JsonObject>, StoreUnavailable>
    /** A declaration in TypeScript of its payloads. */
    readonly types: (sourceId: number) => Returns<string>
    /** The declarations of all sources, including archived ones. */
    readonly allTypes: Effect.Effect<string, StoreUnavailable>
    /**
     * An AsyncAPI document of what the cabinet sends, as JSON text: a message for each of the first 1,000 sources that are
     * not archived, with the schemas that fit into 4 MB. `baseUrl`: the cabinet's address.
     */
    readonly asyncApi: (baseUrl: string) => Effect.Effect<string, StoreUnavailable>
  }
>()("@data-cabinet/core/payload/Shapes") {
  static readonly layer = Layer.effect(
    Shapes,
    Effect.gen(function* () {
      const store = yield* ShapeStore
      const sources = yield* Sources
      const read = (all: ReadonlyArray<Source>) =>
        Effect.andThen(learnAhead(store), store.read(all.map(({ id }) => id)))
      const known = (id: number) =>
        Effect.flatMap(sources.get(id), Option.match({ onNone: () => noSuchSource(id), onSome: Effect.succeed }))
      const one = Effect.fnUntraced(function* (sourceId: number) {
        const source = yield* known(sourceId)
        const { shapes, now } = yield* read([source])
        return { source, now, shape: shapes.get(sourceId) ?? emptyShape() }
      })
      const typed = (all: ReadonlyArray<Source>) =>
        Effect.map(read(all), ({ shapes }) =>
          shapeTypes(
            all.map(({ id, name, table }) => ({
              id,
              name,
              table: table?.name ?? null,
              shape: shapes.get(id) ?? emptyShape(),
            })),
          ),
        )
      const schemas = Effect.fnUntraced(function* (ids: ReadonlyArray<number>) {
        const wanted = new Set(ids)
        const all = (yield* sources.list).filter(({ id }) => wanted.has(id))
        const { shapes } = yield* read(all)
        return new Map(all.map(({ id, name }) => [id, shapeSchema(shapes.get(id) ?? emptyShape(), name)]))
      })
      const messages = Effect.fnUntraced(function* (all: ReadonlyArray<Source>) {
        const names = typeNames(all.map(({ id, table }) => ({ id, table: table?.name ?? null })))
        const named = all.map(({ id, name, archived }, at) => ({ id, name, archived, typeName: names[at]! }))
        const active = named.filter(({ archived }) => !archived)
        const described: Array<MessageSource> = []
        yield* learnAhead(store)
        let room = MESSAGES.length
        for (const some of Array.chunksOf(active.slice(0, MESSAGES.sources), MESSAGES.atOnce)) {
          const { shapes } = room > 0 ? yield* store.read(some.map(({ id }) => id)) : { shapes: null }
          for (const { id, name, typeName } of some) {
            const schema = shapes === null ? null : messageSchema(shapes.get(id) ?? emptyShape(), name)
            if (schema !== null) room -= jsonText(schema).length
            described.push({ id, name, typeName, schema: room < 0 ? null : schema })
          }
        }
        return { sources: described, further: active.length - described.length }
      })
      return Shapes.of({
        asyncApi: (baseUrl) =>
          Effect.map(Effect.flatMap(sources.list, messages), (found) => jsonText(asyncApi({ baseUrl, ...found }))),
        schemas,
        fields: (id) => Effect.map(one(id), ({ shape, now }) => shapeFields(id, shape, now)),
        schema: (id) => Effect.map(one(id), ({ source, shape }) => jsonText(shapeSchema(shape, source.name))),
        types: (id) => Effect.flatMap(known(id), (source) => typed([source])),
        allTypes: Effect.flatMap(sources.list, typed),
      })
    }),
  )
}
