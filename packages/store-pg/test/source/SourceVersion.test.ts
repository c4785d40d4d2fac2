/** A source's version changes with every change of the source, so that no process keeps using an outdated copy. */
import type { SourceChange } from "@data-cabinet/core/source/SourceStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { StatementClient } from "@data-cabinet/store-pg/connection/OwnerClient"
import { SecretCipher } from "@data-cabinet/store-pg/key/SecretCipher"
import { intakeLookup } from "@data-cabinet/store-pg/source/IntakeLookup"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
beforeAll(() => {
  store = testCabinet(database.url)
})
afterAll(() => store.dispose())

const sources = <A, E>(use: (service: Sources["Service"]) => Effect.Effect<A, E>) => store.runPromise(Sources.use(use))
const versionOf = async (id: number) => Option.getOrThrow(await sources((all) => all.forIntake(id))).version

/** Another value of each type, whatever the column's current value. */
const OTHER: Record<string, string> = {
  text: "'another'",
  "text[]": "ARRAY['another']",
  bytea: "'\\x01'",
  json: `'{"a":1}'`,
  boolean: "true",
  integer: "17",
  "timestamp with time zone": "'2020-01-01 00:00Z'",
}

it("a source gets a new version when any column but bookkeeping changes", async () => {
  const { id } = await sources((all) => all.create({ name: "Columns" }))
  const checks = await database.run(
    "SELECT conname FROM pg_constraint WHERE conrelid = 'cabinet.source'::regclass AND contype = 'c'",
  )
  for (const { conname } of checks) await database.run(`ALTER TABLE cabinet.source DROP CONSTRAINT ${String(conname)}`)
  const columns = await database.run(
    `SELECT attname::text AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
     WHERE attrelid = 'cabinet.source'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
  )
  const unnoticed: Array<unknown> = []
  for (const { name, type } of columns) {
    if (name === "id" || name === "version") continue
    const [moved] = await database.run(
      `WITH before AS (SELECT version FROM cabinet.source WHERE id = ${id})
       UPDATE cabinet.source s SET ${String(name)} = ${OTHER[String(type)]!} FROM before
       WHERE s.id = ${id} RETURNING s.version - before.version AS steps`,
    )
    if (moved!["steps"] !== 1) unnoticed.push(name)
  }
  assert.deepStrictEqual(unnoticed, ["rows_deferred"])
})

/** Each setting with a value other than the default: a new setting does not compile until it is here. */
const SETTINGS: Required<Omit<SourceChange, "from">> = {
  name: "Renamed",
  encoding: "windows-1251",
  thanksUrl: "https://example.com/thanks",
  keepHeaders: ["X-One"],
  headerFields: ["X-Two"],
  keepQuery: true,
  nestBrackets: true,
  rate: 7,
  schema: "{}",
  honeypot: "website",
  allowOrigins: ["https://example.com"],
  inbox: "on",
  inboxName: "who",
  inboxEmail: "answer to",
  inboxSubject: "what",
  inboxMessage: "words",
  verify: { recipe: "stripe", secret: "whsec_abc" },
  challenge: { provider: "graph" },
  proof: { kind: "hcaptcha", siteKey: "10000000", secret: "0x0" },
}

it.each(Object.keys(SETTINGS) as ReadonlyArray<keyof typeof SETTINGS>)(
  "Sources.change raises the source's version when it sets %s, and again when it reverts it",
  async (setting) => {
    const { id } = await sources((all) => all.create({ name: "Setting" }))
    const first = await versionOf(id)
    const before = Option.getOrThrow(await sources((all) => all.get(id)))
    await sources((all) => all.change(id, { [setting]: SETTINGS[setting] }))
    assert.strictEqual(await versionOf(id), first + 1)
    await sources((all) => all.change(id, { [setting]: before[setting] }))
    assert.strictEqual(await versionOf(id), first + 2)
  },
)

it("Sources.change keeps the version when nothing changes", async () => {
  const { id } = await sources((all) => all.create({ name: "Same", thanksUrl: "https://example.com/" }))
  const before = await versionOf(id)
  await sources((all) => all.change(id, { thanksUrl: "https://example.com/" }))
  assert.strictEqual(await versionOf(id), before)
})

it("intakeLookup forgets a cached source after a minute", async () => {
  const { intakeSecret } = await sources((all) => all.create({ name: "Cached" }))
  const isCached = await store.runPromise(
    Effect.gen(function* () {
      const clock = yield* TestClock.make()
      const lookup = intakeLookup(yield* StatementClient, new SecretCipher([]), clock)
      const seen = [lookup.cached(intakeSecret) !== undefined]
      yield* lookup.bySecret(intakeSecret)
      seen.push(lookup.cached(intakeSecret) !== undefined)
      yield* clock.adjust("59 seconds")
      seen.push(lookup.cached(intakeSecret) !== undefined)
      yield* clock.adjust("1 second")
      return [...seen, lookup.cached(intakeSecret) !== undefined]
    }).pipe(Effect.scoped),
  )
  expect(isCached).toEqual([false, true, true, false])
})
