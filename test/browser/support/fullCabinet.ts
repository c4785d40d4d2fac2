/** A cabinet with something on every screen of `screenList.ts`, and the headers of its owner. */
import { assert } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "./consoleCabinet.ts"

interface Database {
  readonly url: string
  readonly run: (sql: string) => Promise<unknown>
}

export const fullCabinet = async (
  database: Database,
): Promise<ConsoleCabinet & { readonly headers: Readonly<Record<string, string>> }> => {
  const cabinet = await consoleCabinet(database.url, 300)
  const headers = await cabinet.as("owner")
  const manage = async (path: string, body: unknown) => {
    const init = {
      method: "POST",
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
  await manage("polls", { source_id: 1, url: `${cabinet.base}/console/` })
  const bytes = Buffer.from("customer,an_import_of_a_column_with_a_long_name\n<b>Ada,1\n")
  await cabinet.cabinet.imports.file(1, { name: "a list of customers with a long name.csv", bytes })
  return { ...cabinet, headers }
}
