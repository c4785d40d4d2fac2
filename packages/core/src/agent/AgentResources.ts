/**
 * Tables and views as resources, for clients that load what they know before the model calls a tool. A resource is what
 * `describe_table` returns, after the sentence that warns of data from outside.
 */
import { Effect } from "effect"
import { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { JsonObject } from "../json/Json.ts"
import { shown } from "../selection/SelectionParams.ts"
import { type AgentReader, UNTRUSTED } from "./AgentTools.ts"
import { howManyFit } from "./BoundedItems.ts"
import { badParams, type ProtocolError, protocolErrorOf, unavailable } from "./ProtocolError.ts"
import { describedTable } from "./TableDescription.ts"

interface Named {
  readonly schema: string
  readonly name: string
}

const uriOf = ({ schema, name }: Named): string =>
  `cabinet://tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}`

const URI = /^cabinet:\/\/tables\/([^/]+)\/([^/]+)$/

/** Undefined for a URI that no table can have. */
const namedBy = (uri: string): Named | undefined => {
  const [, schema, name] = URI.exec(uri) ?? []
  if (schema === undefined || name === undefined) return undefined
  try {
    return { schema: decodeURIComponent(schema), name: decodeURIComponent(name) }
  } catch {
    return undefined
  }
}

const JSON_TYPE = "application/json"

const resourceJson = (table: Named & { readonly kind: string }): string =>
  JSON.stringify({
    uri: uriOf(table),
    name: `${table.schema}.${table.name}`,
    description: `The columns of this ${table.kind}: name, type, label and comment.`,
    mimeType: JSON_TYPE,
  })

const TEMPLATES = JSON.stringify({
  resourceTemplates: [
    {
      uriTemplate: "cabinet://tables/{schema}/{name}",
      name: "table",
      title: "A table or view",
      description:
        "Its columns, primary key and about how many rows it has. A long list of columns is cut: describe_table continues it.",
      mimeType: JSON_TYPE,
    },
  ],
})

type Returns = Effect.Effect<string, ProtocolError>

/** The readable tables; the last one's URI is the cursor to continue from. */
const listText = (params: JsonObject, { tables }: AgentReader): Returns =>
  Effect.gen(function* () {
    const cursor = params.get("cursor") ?? null
    const all = yield* tables.list
    const at = cursor === null ? -1 : all.findIndex((table) => uriOf(table) === cursor)
    if (cursor !== null && at === -1) return yield* Effect.fail(startAgain)
    const texts = all.slice(at + 1).map(resourceJson)
    const count = howManyFit(texts)
    const next = count < texts.length ? `,"nextCursor":${JSON.stringify(uriOf(all[at + count]!))}` : ""
    return `{"resources":[${texts.slice(0, count).join(",")}]${next}}`
  }).pipe(Effect.mapError(protocolErrorOf))

const readText = (params: JsonObject, { tables }: AgentReader): Returns => {
  const uri = params.get("uri")
  if (typeof uri !== "string") return Effect.fail(badParams("uri must be a text."))
  const named = namedBy(uri)
  if (named === undefined) return Effect.fail(noSuchResource(uri))
  return describedTable(tables, named.schema, named.name).pipe(
    Effect.mapError((error) => (error instanceof StoreUnavailable ? unavailable : noSuchResource(uri))),
    Effect.map((text) =>
      JSON.stringify({
        contents: [
          { uri, mimeType: "text/plain", text: UNTRUSTED },
          { uri, mimeType: JSON_TYPE, text },
        ],
      }),
    ),
  )
}

const startAgain = badParams("cursor is no longer part of the list: begin again without it.")

/** A resource that this reader may not know is reported like one that does not exist. */
const noSuchResource = (uri: string): ProtocolError => ({
  kind: "resource",
  message: `There is no resource ${shown(uri)}. resources/list has those that can be read.`,
  data: { uri },
})

/** The result of a method for resources as JSON text; undefined for any other method. */
export const agentResources = (method: string, params: JsonObject, reader: AgentReader): Returns | undefined => {
  if (method === "resources/list") return listText(params, reader)
  if (method === "resources/read") return readText(params, reader)
  return method === "resources/templates/list" ? Effect.succeed(TEMPLATES) : undefined
}
