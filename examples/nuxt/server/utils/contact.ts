/** One cabinet per process, opened on first use, with the source of the contact form. The framework reloads modules during development; this stays open. */
import { openCabinet } from "data-cabinet"

const site = process.env["SITE"] ?? "http://127.0.0.1:3000"

const open = async () => {
  const cabinet = await openCabinet({
    databaseUrl: process.env["DATABASE_URL"], // without one: an embedded PostgreSQL in .cabinet
    baseUrl: `${site}/data`,
  })
  const known = (await cabinet.sources.list()).find(({ name }) => name === "Contact")
  const { intakeUrl } = known
    ? await cabinet.sources.reveal(known.id)
    : await cabinet.sources.create({ name: "Contact", thanksUrl: `${site}/` })
  // Finishes what is under way, and closes every connection.
  process.once("SIGTERM", () => void cabinet.close().then(() => process.exit(0)))
  return {
    cabinet,
    intakeUrl,
    /** The latest messages. Before the first one the table has no columns for them. */
    messages: async () =>
      (await cabinet.rows("sources.contact", { limit: 20 })).rows.map((row) => ({
        id: Number(row["_event_id"]),
        name: String(row["name"] ?? ""),
        message: String(row["message"] ?? ""),
      })),
  }
}

const kept = globalThis as { contact?: ReturnType<typeof open> }

export const contact = () => (kept.contact ??= open())
