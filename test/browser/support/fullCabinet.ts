/** A cabinet with something on every screen of `screenList.ts`, and the headers of its owner. */
import { assert } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "./consoleCabinet.ts"

interface Database {
  readonly url: string
  readonly run: (sql: string) => Promise<unknown>
}

type Manage = (path: string, body: unknown, method?: string) => Promise<void>

/** Markup, an override of the direction of text, control characters and a joined emoji. */
const HOSTILE = "<img src=x onerror=alert(1)>\"'>\u202Egnp.exe\u2066\u0001\u200B\uFFFE\u{1F469}\u200D\u{1F4BB}"
const WORD = "W".repeat(100_000)

/** Source 3, a form with a hostile name, and its messages 303 to 305; address 2 has a hostile template. */
const hostileForm = async ({ base, cabinet }: ConsoleCabinet, manage: Manage) => {
  const { id, intakeUrl } = await cabinet.sources.create({ name: `${HOSTILE}${"w".repeat(140)}` })
  const template = JSON.stringify({ [`${HOSTILE}${"t".repeat(3_000)}`]: "{{payload}}" })
  const body = { kind: "template", template, content_type: "application/json" }
  await manage("addresses", { url: `${base}/${"p".repeat(1_500)}?<b>`, sources: [id], body })
  const messages = [
    { name: HOSTILE, email: "a@b.example", subject: HOSTILE, message: HOSTILE.repeat(20) },
    { name: WORD, email: `${WORD}@example.com`, subject: WORD, message: WORD },
    {
      [`<b>\u202E${"f".repeat(5_000)}`]: HOSTILE,
      name: "\u202E\u202Eמ",
      email: "x\u202E@y.example",
      message: "\0\b\u001b[31mred",
    },
  ]
  for (const message of messages) {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(message) }
    await (await fetch(intakeUrl, init)).text()
  }
  // From now on a message without a proof is spam.
  const proof = { kind: "turnstile", site_key: "k".repeat(200), secret: "s" }
  await manage(`sources/${id}`, { inbox: "on", proof }, "PATCH")
}

export const fullCabinet = async (
  database: Database,
): Promise<ConsoleCabinet & { readonly headers: Readonly<Record<string, string>> }> => {
  const cabinet = await consoleCabinet(database.url, 300)
  const headers = await cabinet.as("owner")
  const manage: Manage = async (path, body, method = "POST") => {
    const init = {
      method,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    }
    const answer = await fetch(`${cabinet.base}/manage/v1/${path}`, init)
    assert.isTrue(answer.ok, await answer.clone().text())
  }
  await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/hook`, sources: "all" })
  await manage("people", { name: "Ada Lovelace <b>", role: "editor" })
  const letters = await cabinet.cabinet.sources.create({ name: "Letters" })
  for (const text of ["first", "second"]) {
    await (await fetch(letters.intakeUrl, { method: "POST", body: new URLSearchParams({ text }) })).text()
  }
  await manage("events/trash", { source_id: letters.id, events: [301, 302] })
  await manage("addresses/1/ping", {})
  await manage("views", { title: "Unpaid <b>", schema: "sources", name: "orders", query: "fc=paid&fo=eq&fv=false" })
  await database.run("CREATE VIEW public.the_monthly_totals_of_each_customer AS SELECT 1 AS one")
  await database.run("GRANT SELECT ON public.the_monthly_totals_of_each_customer TO PUBLIC")
  const only = ["sources.orders", "sources.letters", "public.the_monthly_totals_of_each_customer"]
  await manage("tokens", { name: "Accountant", role: "reader", only, expires_in_seconds: 86_400 })
  await manage("destinations", {
    location: "s3://a-bucket-with-a-long-name/events/of/orders",
    endpoint: "http://127.0.0.1:9",
    credentials: { access_key_id: "key", secret_access_key: "secret" },
  })
  await manage("polls", { source_id: 1, url: `${cabinet.base}/console/?${"q".repeat(1_000)}=%3Cb%3E` })
  const bytes = Buffer.from("customer,an_import_of_a_column_with_a_long_name\n<b>Ada,1\n")
  await cabinet.cabinet.imports.file(1, { name: "a list of customers with a long name.csv", bytes })
  await hostileForm(cabinet, manage)
  return { ...cabinet, headers }
}
