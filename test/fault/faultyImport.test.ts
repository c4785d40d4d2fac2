/**
 * Faults of the program while a file or a polled response is staged and accepted: each ends with a message, and none is
 * retried forever.
 */
import { createServer, type Server } from "node:http"
import { ImportStore } from "@data-cabinet/core/file/ImportStore"
import { afterAll, assert, beforeAll, beforeEach, it, vi } from "vitest"
import { fileOf, importCabinet } from "../support/importCabinet.ts"
import { pollCabinet } from "../support/pollCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let imports: ReturnType<typeof importCabinet>
let polls: ReturnType<typeof pollCabinet>
let server: Server
let base: string
let answer = "[]"
beforeAll(async () => {
  imports = importCabinet(database.url, { loop: true })
  polls = pollCabinet(database.url)
  server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", etag: '"same"' })
    response.end(answer)
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  base = `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`
  // A staged row with the mark is replaced by JSON that is deeper than anything the program stages.
  await database.run(`
    CREATE FUNCTION public.spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.payload LIKE '%poison%' THEN NEW.payload := repeat('[', 700) || repeat(']', 700); END IF;
      IF NEW.payload LIKE '%dynamite%' THEN RAISE 'planted' USING ERRCODE = '22000'; END IF;
      RETURN NEW;
    END $$`)
  await database.run(
    `CREATE TRIGGER spoil BEFORE INSERT ON cabinet.staged_row FOR EACH ROW EXECUTE FUNCTION public.spoil()`,
  )
})
afterAll(async () => {
  await imports.close()
  await polls.close()
  server.close()
})
beforeEach(async () => {
  await database.run(`ALTER TABLE cabinet.staged_row ENABLE TRIGGER spoil`)
})

const UNTIL = { timeout: 100_000, interval: 100 }

/** Imports are accepted by the process that claims them first: the one that staged them, or the other's loop. */
const accepted = () =>
  vi.waitUntil(async () => {
    const [{ open } = {}] = await database.run(
      `SELECT count(*)::int AS open FROM cabinet.import WHERE state IN ('staging', 'accepting')`,
    )
    return open === 0
  }, UNTIL)

/** More rows than a slice has, so that some are accepted before the faulty one. */
const lines = (at: number, word: string) =>
  Array.from({ length: 1_200 }, (_, n) => JSON.stringify({ n, note: n === at ? word : "x" }))

it("an import whose slice fails with a fault ends as failed, with a message, and keeps its accepted rows", async () => {
  const source = await imports.source("faulty file")
  const report = await imports.file(source.id, fileOf("items.ndjson", lines(1_100, "poison").join("\n")))
  assert.deepInclude(report, { state: "failed", rows: 1_200, accepted: 1_000 })
  assert.match(report.failure!, /ended with an internal error: .*row 1101 does not parse/)
  assert.strictEqual((await imports.feed(source.id)).length, 1_000)
  const [failed] = (await imports.examine()).failedImports
  assert.deepInclude(failed, { sourceId: source.id, name: "items.ndjson", staged: 1_200, accepted: 1_000 })
  assert.strictEqual(failed!.failure, report.failure)
  // No process continues it.
  const claimed = await imports.run(ImportStore.use((staged) => staged.claim(failed!.id)))
  assert.strictEqual(claimed._tag, "None")

  await database.run(`ALTER TABLE cabinet.staged_row DISABLE TRIGGER spoil`)
  const again = await imports.file(source.id, fileOf("items.ndjson", lines(1_100, "poison").join("\n")))
  assert.deepInclude(again, { state: "done", accepted: 1_200 })
  assert.deepStrictEqual((await imports.examine()).failedImports, [])
})

it("a poll whose slice fails with a fault has a failed import, and its next run treats unaccepted items as new", async () => {
  const source = await polls.source("faulty poll")
  const poll = await polls.add({ sourceId: source.id, url: `${base}/items`, keyField: "n" })
  answer = `[${lines(700, "poison").join(",")}]`
  assert.deepInclude(await polls.run(poll.id), { outcome: "read", fresh: 1_200 })
  await accepted()
  assert.strictEqual((await polls.events(source.id)).length, 500)
  const { failedImports, failingPolls } = await imports.examine()
  assert.deepInclude(failedImports[0], { sourceId: source.id, staged: 1_200, accepted: 500 })
  assert.deepInclude(failingPolls[0], { id: poll.id, failures: 1 })
  const [due] = await database.run(
    `SELECT due_at > cabinet.now() + interval '65 seconds' AS later FROM cabinet.poll WHERE id = ${poll.id}`,
  )
  assert.deepStrictEqual(due, { later: true })

  await database.run(`ALTER TABLE cabinet.staged_row DISABLE TRIGGER spoil`)
  assert.deepInclude(await polls.run(poll.id), { outcome: "read", fresh: 700 })
  await accepted()
  const numbers = (await polls.events(source.id)).map(({ payload }) => payload.n)
  assert.deepStrictEqual(
    numbers.sort((a: number, b: number) => a - b),
    Array.from({ length: 1_000 }, (_, n) => n),
  )
  assert.deepStrictEqual((await imports.examine()).failedImports, [])
})

it("a poll whose response cannot be staged because of a fault has a failed run, with a message, and runs again later", async () => {
  const source = await polls.source("unstaged poll")
  const poll = await polls.add({ sourceId: source.id, url: `${base}/unstaged` })
  answer = `[${JSON.stringify({ n: "dynamite" })}]`
  const before = Date.now()
  const run = await polls.run(poll.id)
  assert.deepInclude(run, { outcome: "failed", importId: null })
  assert.match(run.failure!, /internal error/)
  assert.isAbove(Date.parse(run.nextAt!), before + 30_000)
  assert.deepInclude(
    (await imports.examine()).failingPolls.find(({ id }) => id === poll.id),
    { failures: 1 },
  )
  assert.deepStrictEqual(await polls.events(source.id), [])
})

it("an import whose file cannot be staged because of a fault imports nothing, and another file continues", async () => {
  const source = await imports.source("unstaged file")
  const fault = await imports.file(source.id, fileOf("bad.ndjson", '{"n":"dynamite"}\n')).then(() => null, String)
  assert.isNotNull(fault)
  assert.deepInclude(await imports.file(source.id, fileOf("good.ndjson", '{"n":1}\n')), { state: "done", accepted: 1 })
  await accepted()
})
