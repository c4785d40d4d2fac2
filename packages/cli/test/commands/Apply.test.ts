/** `apply` and `export-config` as their users call them: here and over a server, twice, pruned, refused, in turn. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { endAll, newHome } from "../../../../test/support/cabinetProcess.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { call } from "./call.ts"

const database = withDatabase()
const SECRETS = {
  HOOK_SECRET: "github-hook-secret",
  HEADER_TOKEN: "Bearer header-token-value",
  FEED_TOKEN: "feed-token-value",
}
let dir: string
let server: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "dc-apply-"))
  const env = { DATABASE_URL: database.url, BASE_URL: "", CABINET_TOKEN: "", CABINET_ALLOWED_NETWORKS: "127.0.0.0/8" }
  for (const [name, value] of Object.entries({ ...env, ...SECRETS })) vi.stubEnv(name, value)
  const { CABINET_ALLOWED_NETWORKS, DATABASE_URL } = env
  server = (await newHome().serve([], { DATABASE_URL, CABINET_ALLOWED_NETWORKS })).baseUrl
  vi.stubEnv("CABINET_TOKEN", (await call(["token", "add", "me", "--role", "owner", "--get", "token"])).printed.trim())
})
afterAll(async () => {
  await endAll()
  vi.unstubAllEnvs()
  rmSync(dir, { recursive: true })
})

const fileOf = (name: string, text: string) => {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}

const SHOP = `
sources:
  - name: Orders
    encoding: windows-1251
    keep_headers: [X-Request-Id]
    rate: 600
  - name: Code
    from: github
    verify:
      secret: env:HOOK_SECRET
schemas:
  - name: reports
addresses:
  - url: http://127.0.0.1:9/in?token=in-the-url
    sources: [Orders, Code]
    filters:
      - {fc: total, fo: gt, fv: "100"}
    headers:
      - {name: Authorization, value: env:HEADER_TOKEN}
    order: feed
    batch: {max: 10, wait: 1}
polls:
  - source: Orders
    url: http://127.0.0.1:9/orders.json
    every_seconds: 3600
    headers:
      - {name: X-Token, value: env:FEED_TOKEN}
    paused: true
keys:
  - name: Reports
    expires_in_seconds: 7776000
    write_to: reports.key
  - name: Dashboard
people:
  - {name: Ada, role: owner}
`

const file = () => fileOf("shop.yaml", SHOP)

it("apply shows its plan without secrets, makes it, and finds nothing left to do, here and over a server", async () => {
  const planned = await call(["apply", file(), "--dry-run"])
  expect(planned).toMatchObject({ code: 0, said: "" })
  expect(planned.printed).toContain(
    [
      "+ create address http://127.0.0.1:9/in?…",
      '    sources: ["Code","Orders"]',
      '    filters: [{"fc":"total","fo":"gt","fv":"100"}]',
      "    order: feed",
      '    batch: {"max":10,"wait":1}',
      "    headers.Authorization: (secret)",
    ].join("\n"),
  )
  expect(planned.printed).toMatch(/8 to create, 0 to change, 0 to remove, 0 unchanged\.\n.*Nothing was changed\.\n$/s)
  const applied = await call(["apply", file(), "--server", server])
  expect(applied).toMatchObject({ code: 0, said: "" })
  expect(applied.printed).toMatch(/The key Reports was written to reports\.key\.\n/)
  const [, shown] = /The key Dashboard, which is not shown again: (dck_\S+)\nApplied\.\n$/.exec(applied.printed)!
  const written = readFileSync(join(dir, "reports.key"), "utf8").trim()
  expect(statSync(join(dir, "reports.key")).mode & 0o777).toBe(0o600)
  for (const key of [shown!, written]) {
    const response = await fetch(`${server}/api/v1/tables`, { headers: { authorization: `Bearer ${key}` } })
    expect(response.status).toBe(200)
  }
  const again = [await call(["apply", file()]), await call(["apply", file(), "--server", server])]
  for (const { code, printed } of again) {
    expect(printed).toMatch(/^0 to create, 0 to change, 0 to remove, 8 unchanged\./)
    expect(code).toBe(0)
  }
  const outputs = [planned, applied, ...again].map(({ printed, said }) => `${printed}${said}`).join("")
  for (const secret of [...Object.values(SECRETS), written, "in-the-url"]) expect(outputs).not.toContain(secret)
})

it("an exported cabinet has no secrets, and changes nothing", async () => {
  const path = join(dir, "exported.yaml")
  expect(await call(["export-config", "--to", path])).toMatchObject({ code: 0 })
  const text = readFileSync(path, "utf8")
  expect(text).toMatch(/^# yaml-language-server: \$schema=cabinet\.schema\.json\n/)
  for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret)
  expect(JSON.parse(readFileSync(join(dir, "cabinet.schema.json"), "utf8"))).toMatchObject({ type: "object" })
  const same = JSON.parse((await call(["apply", path, "--prune", "--json", "--server", server])).printed)
  expect(same).toMatchObject({ changes: [], unnamed: 0, applied: true, issued: [] })
})

it("prune removes what a section does not name, after asking, and leaves other sections alone", async () => {
  const pruned = fileOf("pruned.yaml", "sources:\n  - {name: Orders, rate: 6}\naddresses: []\npolls: []\n")
  const kept = await call(["apply", pruned, "--dry-run"])
  expect(kept.printed).toMatch(/\n\d objects are not in the file; --prune removes them\.\n/)
  const asked = await call(["apply", pruned, "--prune"])
  expect(asked.code).toBe(2)
  expect(asked.said).toMatch(
    /^Remove \d objects that the file does not name\? This cannot be undone: pass --yes to confirm\.\n$/,
  )
  const done = JSON.parse((await call(["apply", pruned, "--prune", "--yes", "--json"])).printed)
  const acts = done.changes.map(({ action, kind }: Record<string, string>) => `${action} ${kind}`)
  expect(acts).toEqual(["change source", "remove poll", "remove address", "remove source", "remove source"])
  expect(done.changes[0].fields).toContainEqual({ name: "rate", before: 600, after: 6 })
  expect(JSON.parse((await call(["key", "list", "--json"])).printed).length).toBeGreaterThan(1)
})

it("a key that was issued before a refused change is in the document of the failure", async () => {
  const failing = fileOf("failing.yaml", "keys:\n  - name: Before the refusal\npeople: []\n")
  const refused = await call(["apply", failing, "--prune", "--yes", "--json"])
  expect(refused.code).toBe(1)
  expect(refused.said).toMatch(/last owner/)
  const { applied, issued } = JSON.parse(refused.printed)
  expect(applied).toBe(false)
  expect(issued).toEqual([{ kind: "key", name: "Before the refusal", secret: expect.stringMatching(/^dck_/) }])
})
