/** A source in JSON: what the API and the command show of it. */
import type { Source } from "./Source.ts"

/** What a reader may see: nothing of its secret or its settings. */
export const sourceJson = ({ id, name, archived, table, createdAt }: Source) => ({
  id,
  name,
  archived,
  table: table === null ? null : { schema: table.schema, name: table.name },
  created_at: createdAt,
})

/** What its owner sees: its settings too. */
export const ownSourceJson = (source: Source) => ({
  ...sourceJson(source),
  encoding: source.encoding,
  thanks_url: source.thanksUrl,
})
