/** The contact form: the address that it is sent to, and what came in. */
import { cabinet, site } from "./cabinet"

const findOrCreate = async (): Promise<string> => {
  const { sources } = await cabinet()
  const known = (await sources.list()).find(({ name }) => name === "Contact")
  const { intakeUrl } = known
    ? await sources.reveal(known.id)
    : await sources.create({ name: "Contact", thanksUrl: `${site}/` })
  return intakeUrl
}

const kept = globalThis as { contact?: Promise<string> }

export const intakeUrl = (): Promise<string> => (kept.contact ??= findOrCreate())

/** The latest messages. Before the first one the table has no columns for them. */
export const messages = async () => {
  const { rows } = await (await cabinet()).rows("sources.contact", { limit: 20 })
  return rows.map((row) => ({
    id: Number(row["_event_id"]),
    name: String(row["name"] ?? ""),
    message: String(row["message"] ?? ""),
  }))
}
