/** Every recipe with valid and invalid requests of every kind, over HTTP. */
import { gzipSync } from "node:zlib"
import { RECIPE_NAMES } from "@data-cabinet/core/verification/Recipes"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { SIGNERS, type SignedHeaders, type SignedOutside } from "../support/senderSignatures.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
})
afterAll(() => cabinet.close())

const now = () => Math.floor(Date.now() / 1000)

const post = async (source: SourceWithSecret, body: Uint8Array, { headers, query }: SignedHeaders) => {
  const response = await fetch(`${cabinet.address(source)}${query === undefined ? "" : `?${query}`}`, {
    method: "POST",
    body: new Uint8Array(body),
    headers: { "content-type": "application/json", ...headers },
  })
  const { error = null } = (await response.json()) as { readonly error?: string }
  return { status: response.status, error }
}

const ACCEPTED = { status: 200, error: null }
const REFUSED = { status: 401, error: "bad_signature" }

const HMAC = {
  header: "X-Sig",
  algorithm: "sha512",
  encoding: "base64",
  prefix: "v=",
  timestampHeader: "X-Time",
} as const

const OUTSIDE = RECIPE_NAMES.filter((name): name is SignedOutside => name !== "mailgun" && name !== "sns")

describe.each(OUTSIDE)("%s", (recipe) => {
  const { sign, secrets, signs } = SIGNERS[recipe]
  const [ours, another] = secrets
  let source: SourceWithSecret
  let count = 0

  beforeAll(async () => {
    const described = { hmac: { hmac: HMAC }, token: { header: "X-Token" } }
    const settings = recipe === "hmac" || recipe === "token" ? described[recipe] : {}
    const verify = { recipe, secret: ours, ...settings }
    source = await cabinet.source(recipe, { verify })
  })

  const json = () => Buffer.from(`{"n":${++count}}`)
  const signed = (body: Uint8Array, change: { readonly secret?: string; readonly time?: number } = {}) => {
    const url = `http://cabinet.test/webhook/${source.intakeSecret}`
    return sign({ secret: ours, time: now(), body, url, ...change })
  }

  it("accepts a valid request, and none signed with another secret", async () => {
    const body = json()
    expect(await post(source, body, signed(body, { secret: another }))).toEqual(REFUSED)
    expect(await post(source, body, signed(body))).toEqual(ACCEPTED)
  })

  it(`${signs.body ? "refuses" : "cannot see"} a changed byte`, async () => {
    const body = json()
    const changed = Buffer.from(body)
    changed[2] = "m".charCodeAt(0)
    expect(await post(source, changed, signed(body))).toEqual(signs.body ? REFUSED : ACCEPTED)
  })

  if (signs.time)
    it("refuses a request signed six minutes ago, or in the future", async () => {
      for (const time of [now() - 360, now() + 360]) {
        const body = json()
        expect(await post(source, body, signed(body, { time }))).toEqual(REFUSED)
      }
    })

  it("refuses a request without any of the headers", async () => {
    const body = json()
    const { headers, ...rest } = signed(body)
    for (const name of Object.keys(headers)) {
      const { [name]: _, ...others } = headers
      expect(await post(source, body, { ...rest, headers: others }), name).toEqual(REFUSED)
    }
  })

  it("accepts a batch, a body of 1 MB, and a compressed one, which is signed as it was before", async () => {
    for (const body of [Buffer.from('[{"b":1},{"b":2}]'), Buffer.from(`{"long":"${"x".repeat(1_048_576 - 11)}"}`)]) {
      expect(await post(source, body, signed(body))).toEqual(ACCEPTED)
    }
    const body = json()
    const { headers, ...rest } = signed(body)
    const coded = { ...rest, headers: { ...headers, "content-encoding": "gzip" } }
    expect(await post(source, gzipSync(body), coded)).toEqual(ACCEPTED)
    if (!signs.body) return
    const zipped = gzipSync(json())
    const wrong = signed(zipped)
    const headersOfZipped = { ...wrong.headers, "content-encoding": "gzip" }
    expect(await post(source, zipped, { ...wrong, headers: headersOfZipped })).toEqual(REFUSED)
  })

  it("accepts either of two secrets during a rotation, and one of them before and after it", async () => {
    const change = (verify: object) => cabinet.run(Sources.use((sources) => sources.change(source.id, { verify })))
    const both = async () => {
      const answers = []
      for (const secret of secrets) {
        const body = json()
        answers.push((await post(source, body, signed(body, { secret }))).status)
      }
      return answers
    }
    expect(await both()).toEqual([200, 401])
    await change({ secret: another, keepOldSecret: true })
    expect(await both()).toEqual([200, 200])
    await change({ keepOldSecret: false })
    expect(await both()).toEqual([401, 200])
  })
})
