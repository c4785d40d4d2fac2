/**
 * A cabinet is as its file says: whatever it was before, whatever ended an apply on the way, and however often it is applied.
 * What is exported changes nothing.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ApplyTurn, inTurn } from "@data-cabinet/core/apply/ApplyTurn"
import { plannedFile, takeSteps } from "data-cabinet/config/ApplyFile"
import { cabinetState } from "data-cabinet/config/CabinetState"
import { fileText } from "data-cabinet/config/ExportFile"
import { SECTIONS } from "data-cabinet/config/FileSchema"
import { readFileText } from "data-cabinet/config/ReadFile"
import { CommandError } from "data-cabinet/error/CommandError"
import { parseNetwork } from "@data-cabinet/core/network/IpAddress"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { seeded } from "../../../../test/support/random.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { randomFile } from "./randomFile.ts"

/** How many random cabinets; more by hand. */
const CABINETS = Number(process.env["APPLY_CABINETS"] ?? 3)

const database = withDatabase()
let dir: string
let cabinet: ReturnType<typeof testCabinet>
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "dc-apply-file-"))
  vi.stubEnv("RANDOM_SECRET", "hush-hush")
  cabinet = testCabinet(database.url, {
    settings: { allowedNetworks: [parseNetwork("127.0.0.0/8")!], destinationRoot: dir },
  })
})
afterAll(async () => {
  await cabinet.dispose()
  vi.unstubAllEnvs()
  rmSync(dir, { recursive: true })
})

const planOf = (file: string | object, { prune = true, resend = false } = {}) => {
  const text = typeof file === "string" ? file : JSON.stringify(file)
  const options = { name: join(dir, "cabinet.yaml"), prune, sendSecrets: resend }
  return plannedFile(readFileText(text, "cabinet.yaml"), options)
}

/** Applies as many steps as are granted. */
const apply = (file: string | object, steps = Number.POSITIVE_INFINITY) =>
  cabinet.runPromise(
    Effect.gen(function* () {
      const { plan, sources } = yield* planOf(file)
      let left = steps
      const renew = Effect.suspend(() =>
        left-- > 0 ? Effect.void : Effect.fail(new CommandError({ code: "refused", message: "killed" })),
      )
      return yield* Effect.exit(takeSteps(plan, sources, { renew, onIssued: () => Effect.void }))
    }),
  )

const open = async (file: string | object, options = {}) =>
  cabinet.runPromise(
    Effect.map(planOf(file, options), ({ plan: { steps } }) =>
      steps.map(({ section, action, name, fields }) => ({ section, action, name, fields })),
    ),
  )

const exported = () => cabinet.runPromise(Effect.map(cabinetState(SECTIONS), fileText))

it(`whatever a cabinet was, it becomes as its file says, and its export changes nothing (${CABINETS} random ones)`, async () => {
  for (let seed = 1; seed <= CABINETS; seed++) {
    const file = randomFile(seeded(seed))
    expect(await apply(file), `seed ${seed}`).toMatchObject({ _tag: "Success" })
    expect(await open(file), `seed ${seed}`).toEqual([])
    const text = await exported()
    expect(await open(text), `seed ${seed}, exported`).toEqual([])
    expect(text).not.toContain("hush")
  }
})

it("an apply that is ended after each step and run again ends in the same state", async () => {
  await apply({ sources: [], addresses: [], polls: [], keys: [] })
  const file = randomFile(seeded(5))
  let ends = 0
  while ((await open(file)).length > 0) {
    await apply(file, 1)
    ends++
  }
  const state = await exported()
  expect(ends).toBeGreaterThan(5)
  await apply({ sources: [], addresses: [], polls: [], keys: [] })
  await apply(file)
  expect(await exported()).toBe(state)
})

const KEY = { keys: [{ name: "To a file", write_to: "one.key" }] }

it("a key is written to its file once, and issued again only where its writing was cut off", async () => {
  const [path, keys] = [
    join(dir, "one.key"),
    () =>
      database.run("SELECT count(*)::int4 AS n FROM cabinet.api_key WHERE name = 'To a file' AND revoked_at IS NULL"),
  ]
  await apply(KEY)
  const key = readFileSync(path, "utf8")
  expect(key).toMatch(/^dck_[A-Za-z0-9_-]{43}\n$/)
  expect(await open(KEY)).toEqual([])
  writeFileSync(path, "# cabinet apply is issuing this secret\n")
  await apply(KEY)
  expect(readFileSync(path, "utf8")).toMatch(/^dck_/)
  expect(readFileSync(path, "utf8")).not.toBe(key)
  expect(await keys()).toEqual([{ n: 1 }])
  await apply({ keys: [] })
  // Reserving it was cut off, and before that the writing of another secret.
  writeFileSync(path, "# cabinet")
  writeFileSync(join(dir, ".one.key.cabinet-new"), "dck_lost")
  await apply(KEY)
  expect(readFileSync(path, "utf8")).toMatch(/^dck_[A-Za-z0-9_-]{43}\n$/)
  expect(readdirSync(dir)).toEqual(["one.key"])
  await apply({ keys: [] })
  await expect(open(KEY)).rejects.toThrow("keys[0].write_to: The file exists already, and is not overwritten")
})

it("what cannot be changed in place is refused with its reason before anything is done", async () => {
  await apply({ sources: [{ name: "Kept" }], tokens: [{ name: "CI", role: "viewer" }], addresses: [], polls: [] })
  await apply({ destinations: [{ location: "fixed" }] })
  const wrong = [
    "sources:",
    "  - {name: New, rate: 0, verify: {recipe: github}}",
    "tokens:",
    "  - {name: CI, role: editor}",
    "addresses:",
    "  - {url: 'ftp://x', sources: [Nope]}",
    "polls:",
    "  - {source: Kept, url: 'https://a.example', headers: [{name: X-A}]}",
    "destinations:",
    "  - {location: fixed, format: parquet, sources: [Nope]}",
    "  - {location: 's3://events/x', endpoint: 'https://a/b'}",
    "  - {location: 's3://events/y', region: Mars!, credentials: {access_key_id: env:NOT_SET, secret_access_key: env:NOT_SET}}",
  ].join("\n")
  await expect(open(wrong)).rejects.toThrow("cabinet.yaml:2:17: sources[0].rate: Expected a value between")
  const error = await open(wrong.replace(", rate: 0", "")).catch(({ message }: Error) => message)
  expect(error).toEqual(
    [
      "Nothing was changed:",
      `${join(dir, "cabinet.yaml")}:2:17: sources[0].verify: github needs its secret, which the cabinet does not have: write secret: env:NAME or file:PATH.`,
      `${join(dir, "cabinet.yaml")}:4:16: tokens[0].role: fixed when a token is issued: give it another name, or revoke the old one first (cabinet token revoke).`,
      `${join(dir, "cabinet.yaml")}:6:6: addresses[0].url: The URL must begin with https:// or http://, not ftp://.`,
      `${join(dir, "cabinet.yaml")}:6:32: addresses[0].sources[0]: There is no source named "Nope", neither in the file nor in the cabinet.`,
      `${join(dir, "cabinet.yaml")}:8:6: polls[0].source: There is no source named "Kept", neither in the file nor in the cabinet.`,
      `${join(dir, "cabinet.yaml")}:8:56: polls[0].headers[0]: the header X-A needs its value, which the cabinet does not have: write value: env:NAME or file:PATH.`,
      `${join(dir, "cabinet.yaml")}:10:23: destinations[0].format: fixed when a destination is added: remove it first (cabinet destination remove fixed), and move its files elsewhere.`,
      `${join(dir, "cabinet.yaml")}:10:40: destinations[0].sources: fixed when a destination is added: remove it first (cabinet destination remove fixed), and move its files elsewhere.`,
      `${join(dir, "cabinet.yaml")}:10:50: destinations[0].sources[0]: There is no source named "Nope", neither in the file nor in the cabinet.`,
      `${join(dir, "cabinet.yaml")}:11:5: destinations[1].credentials: A bucket needs credentials: an access key and its secret key.`,
      `${join(dir, "cabinet.yaml")}:12:33: destinations[2].region: A region has only letters of a to z, digits and hyphens, as eu-central-1.`,
      `${join(dir, "cabinet.yaml")}:12:62: destinations[2].credentials.access_key_id: The environment has no NOT_SET.`,
      `${join(dir, "cabinet.yaml")}:12:90: destinations[2].credentials.secret_access_key: The environment has no NOT_SET.`,
    ].join("\n"),
  )
})

it("credentials of a destination are sent where the cabinet lacks them, for another endpoint, and again by --resend", async () => {
  const bucket = {
    location: "s3://events/keys",
    endpoint: "http://127.0.0.1:9",
    credentials: { access_key_id: "env:RANDOM_SECRET", secret_access_key: "env:RANDOM_SECRET" },
  }
  const secret = { name: "credentials", before: "(secret)", after: "(secret)" }
  await apply({ destinations: [bucket] })
  expect(await open({ destinations: [bucket] })).toEqual([])
  expect(await open({ destinations: [bucket] }, { resend: true })).toMatchObject([
    { action: "change", fields: [secret] },
  ])
  const { credentials: _, ...moved } = { ...bucket, endpoint: "http://127.0.0.1:10" }
  await expect(open({ destinations: [moved] })).rejects.toThrow(
    "destinations[0].credentials: The credentials were given",
  )
  expect(await open({ destinations: [{ ...bucket, ...moved }] })).toMatchObject([
    { fields: [{ name: "endpoint", after: "http://127.0.0.1:10" }, secret] },
  ])
  await apply({ destinations: [{ ...bucket, ...moved, region: "eu-west-1" }] })
  expect(await exported()).toContain("endpoint: http://127.0.0.1:10\n    region: eu-west-1\n")
  await expect(
    open({ destinations: [{ ...bucket, location: "s3://events/new", endpoint: "http://10.0.0.1" }] }),
  ).rejects.toThrow("destinations[0].endpoint: ")
  const stream = {
    location: "nats://EVENTS/cabinet",
    endpoint: "nats://127.0.0.1",
    credentials: { token: "env:RANDOM_SECRET" },
  }
  await apply({ destinations: [stream] })
  expect(await open({ destinations: [stream] })).toEqual([])
  expect(await exported()).toContain("endpoint: nats://127.0.0.1:4222\n")
  const mixed = { token: "env:RANDOM_SECRET", user: "env:RANDOM_SECRET" }
  await expect(open({ destinations: [{ ...stream, location: "nats://OTHER", credentials: mixed }] })).rejects.toThrow(
    "destinations[0].credentials: Give the credentials of one kind",
  )
  await apply({ destinations: [] })
  expect(await exported()).not.toContain("destinations:")
})

it("objects with one name are refused, and sections missing in the file are not pruned", async () => {
  await apply({
    sources: [{ name: "Twin" }],
    addresses: [{ url: "http://127.0.0.1:9/x" }, { url: "http://127.0.0.1:9/x", rate: 5 }],
  })
  await expect(open({ addresses: [{ url: "http://127.0.0.1:9/x" }] })).rejects.toThrow("is not guessed")
  expect(await open({ keys: [] })).toEqual([])
})

it("a turn is one process's until it ends it, or no longer renews it", async () => {
  const take = (holder: string) => cabinet.runPromise(ApplyTurn.use((turn) => turn.take(holder)))
  const end = (holder: string) => cabinet.runPromise(ApplyTurn.use((turn) => turn.end(holder)))
  expect([await take("one"), await take("two"), await take("one")]).toEqual([true, false, true])
  await end("two")
  expect(await take("two")).toBe(false)
  await end("one")
  expect([await take("two"), await take("one")]).toEqual([true, false])
  await database.run("UPDATE cabinet.clock SET shift = shift + interval '15 s'")
  expect([await take("one"), await take("two")]).toEqual([true, false])
  await end("one")
})

it("an apply waits, after saying so once, until another one has ended", async () => {
  const said: Array<string> = []
  const ending = Effect.andThen(
    Effect.sync(() => void said.push("waits")),
    Effect.ignore(ApplyTurn.use((turn) => turn.end("other"))),
  )
  await cabinet.runPromise(
    Effect.gen(function* () {
      const turn = yield* ApplyTurn
      expect(yield* turn.take("other")).toBe(true)
      yield* inTurn(
        (renew) =>
          Effect.andThen(
            renew,
            Effect.sync(() => void said.push("acts")),
          ),
        { onWait: Effect.provideService(ending, ApplyTurn, turn), lost: Effect.die("lost") },
      )
      expect(yield* turn.take("next")).toBe(true)
      yield* turn.end("next")
    }),
  )
  expect(said).toEqual(["waits", "acts"])
})
