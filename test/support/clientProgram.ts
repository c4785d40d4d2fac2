/** Uses every part of the client with only what all runtimes have, so that it runs in pages, workers, Deno and Bun. */
import { Cabinet, CabinetError, Management, sendToIntake, verifyDelivery } from "@data-cabinet/client"

export interface ClientTask {
  readonly baseUrl: string
  readonly key: string
  readonly token: string
  readonly intakeUrl: string
  /** The schema and name of the table that the intake fills. */
  readonly table: readonly [schema: string, name: string]
  readonly delivery: { readonly body: string; readonly header: string; readonly secret: string }
}

/** Serializes what happened, with every `bigint` as text, because JSON has none. */
export const useClient = async (task: ClientTask): Promise<ReadonlyArray<string>> => {
  const { baseUrl, key, token, intakeUrl, table, delivery } = task
  const cabinet = new Cabinet({ baseUrl, key, numbers: "bigint" })
  const manage = new Management({ baseUrl, token })
  const said: Array<string> = []
  try {
    const sent = await sendToIntake(intakeUrl, { digits: "x", who: "Ada" })
    said.push(`sent ${typeof sent.id} ${sent.duplicate}`)
    for await (const row of cabinet.rows(...table, { sort: "_event_id" })) {
      const digits = row["digits"]
      said.push(`row ${typeof digits} ${String(digits)}`)
      break
    }
    const last = await cabinet.page(...table, { sort: "_event_id", dir: "desc", limit: 1 })
    said.push(`last ${String(last.data[0]!["who"])}`)
    let events = 0
    for await (const page of cabinet.feedPages({ follow: false })) events += page.events.length
    said.push(`events ${events > 1}`)
    const made = await manage.call("addSource", { body: { name: "By a program" } })
    await manage.call("deleteSource", { path: { id: made.id }, query: { table: "drop" } })
    said.push(`made ${made.name}`)
    const { body, header, secret } = delivery
    said.push(
      `verified ${await verifyDelivery(body, header, secret)} ${await verifyDelivery(`${body} `, header, secret)}`,
    )
    await new Cabinet({ baseUrl, key: `${key}x` }).sources()
  } catch (error) {
    said.push(error instanceof CabinetError ? `${error.code} ${String(error.status)}` : String(error))
  }
  return said
}

/** The expected outcome. */
export const WELL = [
  "sent number false",
  "row bigint 1234567890123456789012345",
  "last Ada",
  "events true",
  "made By a program",
  "verified true false",
  "invalid_key 401",
]
