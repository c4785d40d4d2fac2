/** A running server uses a source's current settings, not those of the last request. */
import { Sources, type SourceChange } from "@data-cabinet/core/source/Sources"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
let other: IntakeCabinet
beforeAll(async () => {
  ;[cabinet, other] = await Promise.all([intakeCabinet(database.url), intakeCabinet(database.url)])
})
afterAll(() => Promise.all([cabinet.close(), other.close()]))

it("a browser is redirected to a thank-you page that is set while the server runs, and to ours once it is removed", async () => {
  const source = await cabinet.source("Form")
  const submit = async () => {
    const response = await fetch(cabinet.address(source), {
      method: "POST",
      redirect: "manual",
      headers: { accept: "text/html" },
      body: new URLSearchParams({ name: "Ann" }),
    })
    return [response.status, response.headers.get("location")]
  }
  // Another process makes the change, without notifying this one.
  const change = (settings: SourceChange) => other.run(Sources.use((sources) => sources.change(source.id, settings)))
  const ours = await submit()
  await change({ thanksUrl: "https://example.com/first" })
  expect(await submit()).toEqual([303, "https://example.com/first"])
  await change({ thanksUrl: "https://example.com/second" })
  expect(await submit()).toEqual([303, "https://example.com/second"])
  await change({ thanksUrl: null })
  expect(await submit()).toEqual(ours)
})
