/** Questions that providers send to an address before events: only permitted callers get an answer. */
import { createHmac } from "node:crypto"
import type { ChallengeChange } from "@data-cabinet/core/verification/Challenge"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
import { beginMinute } from "../support/minute.ts"
import { withDatabase } from "../support/postgres.ts"
import { SIGNERS } from "../support/senderSignatures.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
})
afterAll(() => cabinet.close())

const now = () => Math.floor(Date.now() / 1000)

interface Answer {
  readonly status: number
  readonly type: string | null
  readonly sniff: string | null
  readonly open: string | null
  readonly text: string
}

const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  type: response.headers.get("content-type"),
  sniff: response.headers.get("x-content-type-options"),
  open: response.headers.get("access-control-allow-origin"),
  text: await response.text(),
})

const signed = async (source: SourceWithSecret, recipe: "slack" | "zoom", question: unknown, secret = "hush") => {
  const body = Buffer.from(typeof question === "string" ? question : JSON.stringify(question))
  const { headers } = SIGNERS[recipe].sign({ secret, body, time: now(), url: "" })
  const init = { method: "POST", body, headers: { "content-type": "application/json", ...headers } }
  return answerOf(await fetch(cabinet.address(source), init))
}

const isEvent = ({ status, text }: Answer) => status === 200 && typeof JSON.parse(text).id === "number"
const isRefused = ({ status, text }: Answer) => status === 401 && JSON.parse(text).error === "bad_signature"

const events = async (source: SourceWithSecret) => (await cabinet.feed(source.id)).length

const TEXT = { status: 200, type: "text/plain; charset=utf-8", sniff: "nosniff", open: "*" }
const JSON_TEXT = { ...TEXT, type: "application/json" }

it("Slack's url_verification is answered if Slack signed it, and is no event", async () => {
  const source = await cabinet.source("Slack", { verify: { recipe: "slack", secret: "hush" } })
  const challenge = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"
  const question = { token: "Jhj5dZrVaK7ZwHHjRyZWjbDl", challenge, type: "url_verification" }
  expect(await signed(source, "slack", question)).toEqual({ ...TEXT, text: challenge })
  expect(await signed(source, "slack", question, "wrong")).toSatisfy(isRefused)
  const unsigned = await fetch(cabinet.address(source), { method: "POST", body: JSON.stringify(question) })
  expect(await answerOf(unsigned)).toSatisfy(isRefused)
  expect(await events(source)).toBe(0)
  const others = [
    { ...question, type: "event_callback" },
    { ...question, challenge: "x".repeat(1025) },
    { ...question, challenge: "a\nb" },
    { ...question, challenge: "" },
    { ...question, challenge: { a: 1 } },
    { ...question, more: "x".repeat(8192) },
    // Another provider's question.
    { event: "endpoint.url_validation", payload: { plainToken: "abc" } },
  ]
  for (const other of others) expect(await signed(source, "slack", other)).toSatisfy(isEvent)
  expect(await events(source)).toBe(others.length)
})

it("Zoom's endpoint.url_validation is answered with its token, signed with the secret that signed the challenge", async () => {
  const source = await cabinet.source("Zoom", { verify: { recipe: "zoom", secret: "hush" } })
  const plainToken = "qgg8vlvZRS6UYooatFL8Aw"
  const question = { payload: { plainToken }, event_ts: 1_654_503_849_680, event: "endpoint.url_validation" }
  const answer = (secret: string) => ({
    ...JSON_TEXT,
    text: `{"plainToken":"${plainToken}","encryptedToken":"${createHmac("sha256", secret).update(plainToken).digest("hex")}"}\n`,
  })
  expect(await signed(source, "zoom", question)).toEqual(answer("hush"))
  await cabinet.run(
    Sources.use((sources) => sources.change(source.id, { verify: { secret: "new", keepOldSecret: true } })),
  )
  expect(await signed(source, "zoom", question, "new")).toEqual(answer("new"))
  expect(await signed(source, "zoom", question)).toEqual(answer("hush"))
  expect(await signed(source, "zoom", question, "wrong")).toSatisfy(isRefused)
  expect(await events(source)).toBe(0)
  // A text that could pass for a request is not signed.
  const tokens = ["", "v0:1:{}", '{"a":1}', "a b", "x".repeat(129), 1, null, undefined]
  for (const token of tokens) {
    expect(await signed(source, "zoom", { ...question, payload: { plainToken: token } })).toSatisfy(isEvent)
  }
  expect(await signed(source, "zoom", { ...question, payload: null })).toSatisfy(isEvent)
  expect(await events(source)).toBe(tokens.length + 1)
})

it("an unsigned challenge is an ordinary event in the mode mark", async () => {
  const source = await cabinet.source("Marked", { verify: { recipe: "slack", mode: "mark", secret: "hush" } })
  const question = { challenge: "abc", type: "url_verification" }
  expect(await signed(source, "slack", question, "wrong")).toSatisfy(isEvent)
  expect(await signed(source, "slack", question)).toEqual({ ...TEXT, text: "abc" })
  expect(await events(source)).toBe(1)
})

const get = async (source: SourceWithSecret | string, query: string) =>
  answerOf(
    await fetch(`${typeof source === "string" ? source : cabinet.address(source)}?${query}`, { redirect: "manual" }),
  )

const isUnknown = ({ status, text }: Answer) => status === 405 && JSON.parse(text).error === "method_not_allowed"

const META = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=meatyhamhock"
const CRC = "crc_token=3ca279bf-b9bb_AZ"

it("Meta's subscription is confirmed only with the verify token", async () => {
  const source = await cabinet.source("Meta", {
    challenge: { provider: "meta", secret: "meatyhamhock" },
    verify: { recipe: "github", secret: "app secret" },
  })
  expect(await get(source, META)).toEqual({ ...TEXT, text: "1158201444" })
  for (const query of [
    META.replace("meatyhamhock", "meatyhamhocks"),
    META.replace("meatyhamhock", ""),
    META.replace("subscribe", "unsubscribe"),
    "hub.challenge=1&hub.mode=subscribe",
    META.replace("1158201444", "x".repeat(1025)),
    META.replace("1158201444", "a%0D%0Ab"),
    META.replace("1158201444", ""),
    CRC,
    "challenge=a",
    "",
  ]) {
    expect(await get(source, query), query).toSatisfy(isUnknown)
  }
  const head = await fetch(`${cabinet.address(source)}?${META}`, { method: "HEAD" })
  expect([head.status, await head.text()]).toEqual([200, ""])
  expect(await events(source)).toBe(0)
})

it("X's CRC signs only tokens that could not pass for a signed body", async () => {
  const source = await cabinet.source("X", { challenge: { provider: "x", secret: "consumer" } })
  const digest = createHmac("sha256", "consumer").update("3ca279bf-b9bb_AZ").digest("base64")
  expect(await get(source, CRC)).toEqual({ ...JSON_TEXT, text: `{"response_token":"sha256=${digest}"}\n` })
  for (const token of ["", "%7B%7D", "a+b", "a.b", "x".repeat(129), "a%0A"]) {
    expect(await get(source, `crc_token=${token}`), token).toSatisfy(isUnknown)
  }
})

it("Microsoft Graph's and Dropbox's tokens are returned unchanged, and not stored", async () => {
  const graph = await cabinet.source("Graph", { challenge: { provider: "graph" } })
  const token = "Validation: Testing client application reachability for subscription Request-Id: 9"
  const post = async (query: string, body: string) => {
    const headers = { "content-type": "text/plain; charset=utf-8" }
    return answerOf(await fetch(`${cabinet.address(graph)}?${query}`, { method: "POST", body, headers }))
  }
  const asked = `validationToken=${encodeURIComponent(token)}`
  expect(await post(asked, "")).toEqual({ ...TEXT, text: token })
  expect(await events(graph)).toBe(0)
  expect(await post(asked, "x")).toSatisfy(isEvent)
  expect(await post(`validationToken=${"x".repeat(1025)}`, "")).toSatisfy(isEvent)
  expect(await get(graph, asked)).toSatisfy(isUnknown)

  const dropbox = await cabinet.source("Dropbox", { challenge: { provider: "dropbox" } })
  const markup = "<script>alert(1)</script>"
  expect(await get(dropbox, `challenge=${encodeURIComponent(markup)}`)).toEqual({ ...TEXT, text: markup })
  expect(await get(dropbox, `challenge=${"x".repeat(1025)}`)).toSatisfy(isUnknown)
  expect(await events(dropbox)).toBe(0)
})

it("every other address responds to a GET with 405, known or not, and so does one whose challenge was switched off", async () => {
  const source = await cabinet.source("Plain")
  const unknown = cabinet.address({ ...source, intakeSecret: "x".repeat(32) })
  const queries = [META, CRC, "challenge=a", "validationToken=a", "a=1"]
  for (const query of queries) {
    for (const one of [source, unknown]) expect(await get(one, query), query).toSatisfy(isUnknown)
  }
  const set = (challenge: ChallengeChange | null) =>
    cabinet.run(Sources.use((sources) => sources.change(source.id, { challenge })))
  // The answer does not depend on a source cached from earlier requests.
  await fetch(cabinet.address(source), { method: "POST", body: "a=1" })
  expect((await set({ provider: "x", secret: "consumer" })).challenge).toEqual({ provider: "x" })
  expect((await get(source, CRC)).status).toBe(200)
  await set({ provider: "x" })
  expect((await get(source, CRC)).text).toContain("response_token")
  await set({ provider: "graph" })
  await fetch(`${cabinet.address(source)}?validationToken=a`, { method: "POST" })
  expect(await events(source)).toBe(1)
  await set(null)
  expect(await get(source, CRC)).toSatisfy(isUnknown)
})

it("challenges count against the rates", async () => {
  const limited = await intakeCabinet(database.url, { intakeRate: 3 })
  try {
    const source = await limited.source("Limited", { challenge: { provider: "dropbox" } })
    await beginMinute(database)
    const statuses = []
    for (let n = 0; n < 5; n++) statuses.push((await get(limited.address(source), "challenge=a")).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    // Other requests get the same responses as before.
    expect((await get(limited.address(source), "a=1")).status).toBe(405)
  } finally {
    await limited.close()
  }
})
