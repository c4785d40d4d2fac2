import { Items } from "@data-cabinet/core/pagination/Items"

/** These JSON texts as the items of a page. */
export const itemsOf = (...texts: ReadonlyArray<string>): Items => {
  const bytes = Buffer.from(texts.join(","))
  let end = -1
  return new Items(
    bytes,
    0,
    texts.map((text) => (end += Buffer.byteLength(text) + 1)),
  )
}

/** The items of all batches; `ended`: the error that ended them early. */
export const readAll = async (batches: AsyncIterable<Items>) => {
  const texts: Array<string> = []
  try {
    for await (const items of batches) texts.push(...items.texts())
    return { texts }
  } catch (ended) {
    return { texts, ended }
  }
}
