/** Any body: the feed returns what was sent, and nothing that can be sent causes a fault. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { type IntakeCabinet, intakeCabinet, payloadText } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Random, randomJsonObject, randomOf, seeded } from "../support/random.ts"
import { browserForm, curlFile, curlForm, githubPush, stripeEvent, telegramUpdate } from "../support/senders.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
})
afterAll(() => cabinet.close())

it("any JSON object is in the feed token for token and in the order of its keys", async () => {
  const random = seeded(20261121)
  const source = await cabinet.source("Any JSON")
  const objects = Array.from({ length: 300 }, (_, n) => randomJsonObject(random, n))
  for (let at = 0; at < objects.length; at += 50) {
    const response = await fetch(cabinet.address(source), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `[${objects.slice(at, at + 50).join(" ,\n")}]`,
    })
    assert.strictEqual(response.status, 200, await response.text())
  }
  assert.deepStrictEqual((await cabinet.feed(source.id)).map(payloadText), objects)
})

it.each(["utf-8", "windows-1251", "latin-1"] as const)(
  "any form in %s comes out of the feed as typed, if the source declares the charset",
  async (encoding) => {
    const random = seeded(7)
    const source = await cabinet.source(`Forms ${encoding}`, { encoding })
    const label = encoding === "latin-1" ? "windows-1252" : encoding
    const decoder = new TextDecoder(label)
    const letters = [...decoder.decode(Uint8Array.from({ length: 224 }, (_, n) => n + 32))].filter(
      (letter) => /[\p{L}\p{N}\p{P}\p{S} ]/u.test(letter) && letter !== "\uFFFD",
    )
    const bytes = new Map(letters.map((letter) => [letter, Buffer.of(codeOf(decoder, letter))]))
    const word = () => Array.from({ length: 1 + random(12) }, () => randomOf(random, letters)).join("")
    const encode = (text: string) =>
      encoding === "utf-8" ? Buffer.from(text) : Buffer.concat([...text].map((letter) => bytes.get(letter)!))
    const percent = (text: string) => encode(text).toString("hex").replaceAll(/../g, "%$&")
    const typed: Array<Record<string, string>> = []
    for (let n = 0; n < 60; n++) {
      const fields: Record<string, string> = { n: `${n}` }
      for (let count = random(5); count >= 0; count--) fields[`k${word()}`] = word()
      typed.push(fields)
      const body = Object.entries(fields).map(([name, value]) => `${percent(name)}=${percent(value)}`)
      const response = await fetch(cabinet.address(source), {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: body.join("&"),
      })
      assert.strictEqual(response.status, 200, await response.text())
    }
    assert.deepStrictEqual(
      (await cabinet.feed(source.id)).map((item) => JSON.parse(payloadText(item)) as Record<string, string>),
      typed,
    )
  },
)

const codeOf = (decoder: InstanceType<typeof TextDecoder>, letter: string): number => {
  for (let code = 32; code < 256; code++) if (decoder.decode(Uint8Array.of(code)) === letter) return code
  return 0x3f
}

it("every body of any type, encoding and query gets a response without a fault", async () => {
  const random = seeded(42)
  const source = await cabinet.source("Fuzz")
  const fields = [
    ["имя", "Анна"],
    ["a", "1"],
  ] as const
  const seeds = [
    stripeEvent.body,
    githubPush.body,
    telegramUpdate.body,
    curlForm.body,
    curlFile.body,
    browserForm("multipart/form-data", "windows-1251", fields).body,
    browserForm("application/x-www-form-urlencoded", "windows-1251", fields).body,
    '[{"a":1},{"a":"\\ud800"},{"\\u0000":1e400}]',
    "[".repeat(600),
    '{"a":'.repeat(600),
  ].map((body) => Buffer.from(body))
  const types = [
    "application/json",
    "application/json; charset=windows-1251",
    "application/vnd.api+json",
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=no-such",
    "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
    curlFile.headers["content-type"],
    "multipart/form-data",
    "text/plain",
    ";;=",
    undefined,
  ]
  const counts = new Map<number, number>()
  const one = async () => {
    const headers: Record<string, string> = {}
    const type = randomOf(random, types)
    if (type !== undefined) headers["content-type"] = type
    if (random(20) === 0) headers["content-encoding"] = randomOf(random, ["gzip", "br", "deflate", "zstd"])
    if (random(4) === 0) headers["accept"] = "text/html"
    const query = random(4) === 0 ? `?${mutated(random, Buffer.from("a=%D0%AF&b[]=1")).toString("latin1")}` : ""
    const response = await fetch(cabinet.address(source) + query.replaceAll(/[^!-~]|#/g, ""), {
      method: "POST",
      headers,
      body: new Uint8Array(mutated(random, randomOf(random, seeds))),
      redirect: "manual",
    })
    const text = await response.text()
    assert.include([200, 400, 413, 415], response.status, text)
    if (response.headers.get("content-type") === "application/json") JSON.parse(text)
    counts.set(response.status, (counts.get(response.status) ?? 0) + 1)
  }
  const caller = async (times: number) => {
    for (let n = 0; n < times; n++) await one()
  }
  await Promise.all(Array.from({ length: 8 }, () => caller(150)))
  const kept = (counts.get(200) ?? 0) + (counts.get(400) ?? 0)
  const feed = await cabinet.feed(source.id)
  assert.isTrue(feed.length >= kept)
  for (const item of feed) JSON.parse(item)
  const [rows] = await database.run(
    `SELECT (SELECT count(*) FROM sources."${source.table!.name}") + (SELECT count(*) FROM cabinet.deferred_row)
            = count(*) FILTER (WHERE repeat_of IS NULL) AS equal
     FROM cabinet.event WHERE source_id = ${source.id}`,
  )
  assert.isTrue(rows!["equal"])
})

/** A body with some of its bytes changed, cut out, doubled or put in. */
const mutated = (random: Random, body: Buffer): Buffer => {
  let bytes = body
  for (let times = random(6); times > 0; times--) {
    const at = random(bytes.length + 1)
    const end = Math.min(bytes.length, at + random(12))
    const noise = Buffer.from(Array.from({ length: random(6) }, () => random(256)))
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(end)]
    bytes = randomOf(random, [
      Buffer.concat([head, tail]),
      Buffer.concat([head, noise, tail]),
      Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]),
      head,
    ])
  }
  return bytes
}
