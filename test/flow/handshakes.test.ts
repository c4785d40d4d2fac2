/** What providers ask of an address before they send to it: answered to who may ask, and to nobody else. */
import { createHmac } from "node:crypto"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
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

it("Slack's url_verification is answered if Slack has signed it, and is no event", async () => {
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
    // A question of another provider.
    { event: "endpoint.url_validation", payload: { plainToken: "abc" } },
  ]
  for (const other of others) expect(await signed(source, "slack", other)).toSatisfy(isEvent)
  expect(await events(source)).toBe(others.length)
})

it("Zoom's endpoint.url_validation is answered with its token signed, by the secret that the question is signed with", async () => {
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
  // No text is signed that could be a signed request.
  const tokens = ["", "v0:1:{}", '{"a":1}', "a b", "x".repeat(129), 1, null, undefined]
  for (const token of tokens) {
    expect(await signed(source, "zoom", { ...question, payload: { plainToken: token } })).toSatisfy(isEvent)
  }
  expect(await signed(source, "zoom", { ...question, payload: null })).toSatisfy(isEvent)
  expect(await events(source)).toBe(tokens.length + 1)
})

it("a question that is not signed is an event like others where those are marked", async () => {
  const source = await cabinet.source("Marked", { verify: { recipe: "slack", mode: "mark", secret: "hush" } })
  const question = { challenge: "abc", type: "url_verification" }
  expect(await signed(source, "slack", question, "wrong")).toSatisfy(isEvent)
  expect(await signed(source, "slack", question)).toEqual({ ...TEXT, text: "abc" })
  expect(await events(source)).toBe(1)
})
