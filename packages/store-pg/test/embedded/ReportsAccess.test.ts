import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { once } from "node:events"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"
import { layer as lastWords, StoppedBecause } from "@data-cabinet/store-pg/embedded/LastWords"
import { Effect, type Scope } from "effect"
import { afterAll, expect, it } from "vitest"
import { freePorts } from "../../../../test/support/packed.ts"
import { query } from "./Holder.ts"

const dir = mkdtempSync(join(tmpdir(), "dc-reports-"))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const dataDir = join(dir, "data")

const LISTENS = "SELECT current_setting('listen_addresses') AS addresses, current_setting('port')::int AS port"

const listens = (
  open: Effect.Effect<EmbeddedPostgres.EmbeddedDatabase, unknown, Scope.Scope>,
): Promise<Record<string, unknown>> =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(open, ({ url }) => Effect.promise(() => query(url, LISTENS))))).then(
    ([row]) => row!,
  )

it("the server listens on the port last configured, and a command without one leaves it unchanged", async () => {
  const port = (await freePorts(1))[0]!
  const server = createServer().listen(port, "127.0.0.1")
  await once(server, "listening")
  await expect(listens(EmbeddedPostgres.serve({ dataDir, reportsPort: port }))).rejects.toMatchObject({
    code: "start_failed",
    message: expect.stringMatching(
      /did not start: its port is in use by another program: choose another in CABINET_POSTGRES_PORT \(/,
    ),
  })
  // What a running cabinet says when its server cannot be restarted.
  const why = await Effect.runPromise(Effect.flatten(StoppedBecause).pipe(Effect.provide(lastWords(dataDir))))
  expect(why).toMatch(/^its port is in use/)
  await new Promise((resolve) => server.close(resolve))
  const open = { addresses: "127.0.0.1", port }
  expect(await listens(EmbeddedPostgres.serve({ dataDir, reportsPort: port }))).toEqual(open)
  expect(await listens(EmbeddedPostgres.join({ dataDir }))).toEqual(open)
  expect(statSync(join(dataDir, "pgdata", "cabinet_hba.conf")).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(dataDir, "pgdata", "cabinet_hba.conf"), "utf8")).not.toMatch(/^host.*trust/m)
  expect(await listens(EmbeddedPostgres.serve({ dataDir, reportsPort: null }))).toEqual({ addresses: "", port: 5432 })
  expect(await listens(EmbeddedPostgres.join({ dataDir }))).toEqual({ addresses: "", port: 5432 })
})
