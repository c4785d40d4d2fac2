/** A source as JSON, for the API and the command line. */
import type { Source } from "./Source.ts"

/** For readers: without its secret and its settings. */
export const sourceJson = ({ id, name, archived, table, createdAt }: Source) => ({
  id,
  name,
  archived,
  table: table === null ? null : { schema: table.schema, name: table.name },
  created_at: createdAt,
})

/** For its owner: with its settings. */
export const ownSourceJson = (source: Source) => ({
  ...sourceJson(source),
  encoding: source.encoding,
  thanks_url: source.thanksUrl,
})
