import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import type { IdQuery } from "@data-cabinet/core/pagination/IdPages"
import { Effect, Result } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let runtime: ReturnType<typeof testCabinet>

beforeAll(() => {
  runtime = testCabinet(database.url)
})
afterAll(() => runtime.dispose())

const keys = <A, E>(work: (keys: ApiKeys["Service"]) => Effect.Effect<A, E>) => runtime.runPromise(ApiKeys.use(work))
const found = async (id: number) =>
  (await keys(({ list }) => list({ after: 0, limit: 1_000 }))).find((key) => key.id === id)!
const DAY = 86_400_000
const lifetime = ({ createdAt, expiresAt }: { createdAt: string; expiresAt: string | null }) =>
  Math.round((Date.parse(expiresAt!) - Date.parse(createdAt)) / DAY)

const tokens = <A, E>(use: (all: AccessTokens["Service"]) => Effect.Effect<A, E>) =>
  runtime.runPromise(AccessTokens.use(use))

/** A whole list, and its second page of one. */
const walked = <A extends { readonly id: number }, E>(list: (query: IdQuery) => Effect.Effect<ReadonlyArray<A>, E>) =>
  Effect.gen(function* () {
    const whole = yield* list({ after: 0, limit: 1_000 })
    return { whole, second: yield* list({ after: whole[0]!.id, limit: 1 }) }
  })

it("rotate issues a key of the same name and lifetime, and ends the old one now", async () => {
  const old = await keys(({ issue }) => issue("reports", 90 * 86_400))
  const rotated = await keys(({ rotate }) => rotate(old.id))
  expect(rotated).toMatchObject({ name: "reports", revokedAt: null })
  expect(rotated.key).not.toBe(old.key)
  expect(lifetime(rotated)).toBe(90)
  expect((await found(old.id)).revokedAt).not.toBeNull()
})

it("rotate keeps the old key valid for the given time, but never beyond its own end", async () => {
  const endless = await keys(({ issue }) => issue("endless"))
  const rotated = await keys(({ rotate }) => rotate(endless.id, { keepOldSeconds: 86_400 }))
  expect(rotated.expiresAt).toBeNull()
  const kept = await found(endless.id)
  expect(kept.revokedAt).toBeNull()
  expect(Math.round((Date.parse(kept.expiresAt!) - Date.parse(rotated.createdAt)) / DAY)).toBe(1)
  const short = await keys(({ issue }) => issue("short", 3600))
  await keys(({ rotate }) => rotate(short.id, { keepOldSeconds: 86_400 }))
  expect((await found(short.id)).expiresAt).toBe(short.expiresAt)
})

it("rotate refuses a key that was revoked, has expired or does not exist", async () => {
  const revoked = await keys(({ issue }) => issue("revoked"))
  await keys(({ revoke }) => revoke(revoked.id))
  const expired = await keys(({ issue }) => issue("expired", 60))
  await database.run(`UPDATE cabinet.api_key SET expires_at = cabinet.now() WHERE id = ${expired.id}`)
  for (const id of [revoked.id, expired.id, 1_000_000]) {
    const refused = await keys(({ rotate }) => Effect.result(rotate(id)))
    expect(Result.getOrThrow(Result.flip(refused))).toMatchObject({ code: "no_such_key" })
  }
})

it("rotate creates one key when two callers rotate it at once", async () => {
  const old = await keys(({ issue }) => issue("raced"))
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, () => keys(({ rotate }) => Effect.result(rotate(old.id)))),
  )
  expect(outcomes.filter(Result.isSuccess)).toHaveLength(1)
})

it("keys and tokens are listed in pages by id, with those that were revoked", async () => {
  for (const name of ["A", "B", "C"]) {
    const { id } = await keys((all) => all.issue(name))
    if (name === "B") await keys((all) => all.revoke(id))
    await tokens((all) => all.issue({ name, role: "viewer", expiresInSeconds: null }))
  }
  for (const walk of [keys(({ list }) => walked(list)), tokens(({ list }) => walked(list))]) {
    const { whole, second } = await walk
    expect(second).toEqual([whole[1]])
    expect(whole.slice(-3).map(({ name }) => name)).toEqual(["A", "B", "C"])
  }
})
