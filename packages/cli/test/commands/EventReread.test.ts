/** `event reread` as its users call it: single events, a source, a count first, and refusals with a message. */
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { endAll, newHome } from "../../../../test/support/cabinetProcess.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { call } from "./call.ts"

const database = withDatabase()
let baseUrl: string
beforeAll(async () => {
  for (const [name, value] of Object.entries({ DATABASE_URL: database.url, BASE_URL: "", CABINET_TOKEN: "" })) {
    vi.stubEnv(name, value)
  }
  baseUrl = (await newHome().serve([], { DATABASE_URL: database.url })).baseUrl
  vi.stubEnv("BASE_URL", baseUrl)
  vi.stubEnv(
    "CABINET_TOKEN",
    JSON.parse((await call(["token", "add", "me", "--role", "editor", "--json"])).printed).token,
  )
})
afterAll(async () => {
  await endAll()
  vi.unstubAllEnvs()
})

const reread = (...words: ReadonlyArray<string>) => call(["event", "reread", ...words])

it("event reread shows what would change, changes it over a server, and refuses with a message", async () => {
  const added = JSON.parse((await call(["source", "add", "Forms", "--encoding", "latin-1", "--json"])).printed)
  const headers = { "content-type": "application/x-www-form-urlencoded" }
  for (const body of ["name=%C0%ED%ED%E0", "name=%CF%B8%F2%F0", "name=Bob"]) {
    expect((await fetch(added.intake_url, { method: "POST", headers, body })).status).toBe(200)
  }
  const json = { method: "POST", headers: { "content-type": "application/json" }, body: `{"name":"Ada"}` }
  expect((await fetch(added.intake_url, json)).status).toBe(200)
  const preview = await reread("Forms", "--encoding", "windows-1251", "--dry-run")
  expect(preview).toMatchObject({ code: 0, said: "" })
  expect(preview.printed).toBe(
    [
      "4 events examined.",
      "  would change: 2",
      "  not read again: its original has only ASCII, which every charset reads alike: 1",
      "  without an original that is not JSON: 1",
      "Event 1 would change:",
      "  name: Àííà → Анна",
      "Nothing was changed.",
      "",
    ].join("\n"),
  )
  const one = await reread("1", "--encoding", "windows-1251", "--server", baseUrl)
  expect(one.printed).toMatch(/1 +changed *\n/)
  const words = ["--source", "Forms", "--encoding", "windows-1251", "--redeliver", "--json"]
  const all = JSON.parse((await reread(...words, "--server", baseUrl)).printed)
  expect(all).toMatchObject({
    seen: 4,
    outcomes: { changed: 1, unchanged: 1, "refused: no_text": 1 },
    deliveries: 0,
    example: { event: 2 },
  })
  expect(await reread("3", "--encoding", "koi8-r")).toMatchObject({
    code: 1,
    said: "Event 3 cannot be read again: its original has only ASCII, which every charset reads alike.\n",
  })
  expect((await reread("1", "--encoding", "klingon")).said).toMatch(
    /^The charset "klingon" is unknown\. Known are: utf-8,/,
  )
  expect(await reread("--encoding", "koi8-r")).toMatchObject({ code: 2 })
  expect(await reread("1", "--source", "Forms", "--encoding", "koi8-r")).toMatchObject({ code: 2 })
})
