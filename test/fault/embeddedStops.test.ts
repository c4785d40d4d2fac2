/** An embedded PostgreSQL that ends and cannot be restarted: /readyz, the log and the API name the reason in its log. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { endAll, newHome } from "../support/cabinetProcess.ts"

const home = newHome()
afterAll(() => endAll())

it("/readyz, the log once and the API report damaged data, and the server recovers when the data are whole again", async () => {
  const server = await home.serve([], { LOG_FORMAT: "json" })
  const pgdata = join(home.dataDir, "pgdata")
  const control = join(pgdata, "global", "pg_control")
  const kept = join(home.dir, "pg_control")
  copyFileSync(control, kept)
  const postmaster = Number(readFileSync(join(pgdata, "postmaster.pid"), "utf8").split("\n")[0])
  const damaged = readFileSync(control)
  damaged.fill(0x55, 100, 200)
  // A running PostgreSQL does not read it: damaged afterwards, it might already have been read by the next one.
  writeFileSync(control, damaged)
  process.kill(postmaster, "SIGKILL")
  const ready = async () => {
    const answer = await fetch(`${server.baseUrl}/readyz`)
    return { status: answer.status, ...((await answer.json()) as object) }
  }
  const headers = { authorization: `Bearer ${server.welcome.key!.key}` }
  const feed = async () => (await fetch(`${server.baseUrl}/api/v1/events`, { headers })).json()
  await expect
    .poll(ready, { timeout: 100_000 })
    .toEqual({ status: 503, ok: false, error: "the database cannot be used: its data are damaged: restore a backup" })
  const message = "The database cannot be used: its data are damaged: restore a backup."
  await expect.poll(feed, { timeout: 100_000 }).toMatchObject({ error: { code: "reader_off", message } })
  await expect.poll(() => server.log(), { timeout: 100_000 }).toMatch(/did not start: its data are damaged/)
  expect(server.log().match(/has stopped; restarting it/g)).toHaveLength(1)
  writeFileSync(control, readFileSync(kept))
  await expect.poll(ready, { timeout: 100_000 }).toEqual({ status: 200, ok: true })
  // The log's line may come later, because /readyz asks the database itself.
  await expect.poll(() => server.log(), { timeout: 100_000 }).toMatch(/is running again/)
  expect(await server.stop("SIGINT")).toBe(0)
  for (const line of server.log().trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) })
})
