import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Sources } from "@data-cabinet/core/source/Sources"
import { type IntakeCabinet, intakeCabinet, payloadText } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
})
afterAll(() => cabinet.close())

const JSON_TYPE = { "content-type": "application/json" }
const FORM = { "content-type": "application/x-www-form-urlencoded" }

const post = async (url: string, body: string | Uint8Array | FormData | null, headers: Record<string, string> = {}) => {
  const response = await fetch(url, { method: "POST", body: body as never, headers, redirect: "manual" })
  return { status: response.status, ...((await response.json()) as Record<string, any>) } as Record<string, any>
}

const rowsOf = (source: { readonly table: { readonly name: string } | null }) =>
  database.run(`SELECT row_to_json(t)::text AS row FROM sources."${source.table!.name}" t ORDER BY _event_id`)

describe("a submission", () => {
  it("is in the feed, the table and the originals as sent when the response arrives", async () => {
    const source = await cabinet.source("As sent")
    const body = '{"z":1.0,"a":12345678901234567890,"7":{"b":0.10,"a":[1e400]},"a b":"я","__proto__":null}'
    const answer = await post(cabinet.address(source), body, {
      ...JSON_TYPE,
      referer: "https://shop.example/a",
      cookie: "private=1",
      authorization: "Bearer private",
    })
    assert.deepInclude(answer, { status: 200, ok: true, duplicate: false, empty: false })
    const [item] = await cabinet.feed(source.id)
    assert.strictEqual(payloadText(item!), body)
    assert.match(
      item!,
      new RegExp(`^{"id":${answer["id"]},"source":{"id":${source.id},"name":"As sent"},"channel":"webhook"`),
    )
    const [row] = (await rowsOf(source)) as [{ readonly row: string }]
    assert.include(row.row, `"_event_id":${answer["id"]}`)
    assert.include(row.row, "12345678901234567890")
    const [original] = await database.run(
      `SELECT convert_from(body, 'UTF8') AS body, body_bytes, content_type, ip, referer, to_jsonb(o)::text AS everything
       FROM cabinet.original_request o WHERE source_id = ${source.id}`,
    )
    assert.deepInclude(original, {
      body,
      content_type: "application/json",
      ip: "127.0.0.1",
      referer: "https://shop.example/a",
    })
    assert.notInclude(String(original!["everything"]), "private")
  })

  it("shares one original with the other events of its batch", async () => {
    const source = await cabinet.source("Batch")
    const answer = await post(cabinet.address(source), '[{"a":1},{"a":2},{}]', JSON_TYPE)
    assert.deepInclude(answer, { status: 200, count: 3 })
    assert.deepStrictEqual(
      answer["results"].map((result: any) => [result.duplicate, result.empty]),
      [
        [false, false],
        [false, false],
        [false, true],
      ],
    )
    const [counts] = await database.run(
      `SELECT count(DISTINCT original_request_id)::int AS originals, count(*)::int AS events FROM cabinet.event WHERE source_id = ${source.id}`,
    )
    assert.deepStrictEqual(counts, { originals: 1, events: 3 })
    assert.strictEqual((await rowsOf(source)).length, 3)
  })

  it("is a repeat when the fields are the same, in any order and form", async () => {
    const source = await cabinet.source("Repeats")
    const url = cabinet.address(source)
    const first = await post(url, '{"a":"1","b":"2"}', JSON_TYPE)
    for (const again of [
      await post(url, ' { "b" : "2", "a" : "1" } ', JSON_TYPE),
      await post(url, "b=2&a=1", FORM),
      await post(`${url}?a=1`, "b=2", FORM),
    ]) {
      assert.deepInclude(again, { status: 200, duplicate: true })
    }
    assert.deepInclude(await post(url, '{"a":1,"b":"2"}', JSON_TYPE), { duplicate: false })
    const feed = (await cabinet.feed(source.id)).map(
      (item) => JSON.parse(item) as { readonly repeat_of: number | null },
    )
    assert.deepStrictEqual(
      feed.map((event) => event.repeat_of),
      [null, first["id"], first["id"], first["id"], null],
    )
    assert.strictEqual((await rowsOf(source)).length, 2)
  })

  it("is not a repeat five minutes after the first, even with others in between", async () => {
    const source = await cabinet.source("Window")
    const send = () => post(cabinet.address(source), '{"a":1}', JSON_TYPE)
    const shift = (by: string) => database.run(`UPDATE cabinet.clock SET shift = shift + interval '${by}'`)
    const first = await send()
    await shift("4 minutes 50 seconds")
    assert.deepInclude(await send(), { duplicate: true })
    await shift("20 seconds")
    const second = await send()
    assert.deepInclude(second, { duplicate: false })
    assert.notStrictEqual(second["id"], first["id"])
    assert.deepInclude(await send(), { duplicate: true })
  })

  it("is kept with the reason if it does not parse, and can repeat by its text", async () => {
    const source = await cabinet.source("Broken")
    const answer = await post(cabinet.address(source), '{"a":1,\n"b":oops}', JSON_TYPE)
    assert.deepInclude(answer, { status: 400, ok: false, error: "bad_json" })
    assert.match(answer["detail"], /line 2/)
    const [item] = await cabinet.feed(source.id)
    const event = JSON.parse(item!) as { readonly id: number; readonly payload: Record<string, string> }
    assert.strictEqual(event.id, answer["id"])
    assert.strictEqual(event.payload["_raw"], '{"a":1,\n"b":oops}')
    assert.strictEqual(event.payload["_parse_error"], answer["detail"])
    assert.strictEqual((await rowsOf(source)).length, 1)
  })

  it("is saved empty if it is refused, and the fields of its URL stay in the event", async () => {
    const source = await cabinet.source("Refused")
    for (const [body, headers, error] of [
      ['{"a":', JSON_TYPE, "bad_json"],
      ["[1]", JSON_TYPE, "not_an_object"],
      ["no gzip", { ...JSON_TYPE, "content-encoding": "gzip" }, "bad_encoding"],
    ] as const) {
      const answer = await post(`${cabinet.address(source)}?from=shop`, body, headers)
      assert.deepInclude(answer, { status: 400, ok: false, error, empty: true })
      const [event] = await database.run(
        `SELECT empty, payload->>'from' AS from FROM cabinet.event WHERE id = ${answer["id"]}`,
      )
      assert.deepStrictEqual(event, { empty: true, from: "shop" })
    }
  })

  it("reads a zero byte in a string of JSON as U+FFFD", async () => {
    const source = await cabinet.source("Zero")
    const answer = await post(cabinet.address(source), Buffer.from('{"a":"x\0y"}'), JSON_TYPE)
    assert.deepInclude(answer, { status: 200, ok: true, empty: false })
    assert.strictEqual(payloadText((await cabinet.feed(source.id))[0]!), '{"a":"x\uFFFDy"}')
  })

  it("is accepted only at the new address after the secret was changed", async () => {
    const source = await cabinet.source("Rotated")
    assert.strictEqual((await post(cabinet.address(source), "{}", JSON_TYPE))["status"], 200)
    const fresh = await cabinet.run(Sources.use((sources) => sources.rotateSecret(source.id)))
    assert.deepInclude(await post(cabinet.address(source), "{}", JSON_TYPE), { status: 404, error: "not_found" })
    assert.strictEqual((await post(cabinet.address(fresh), "{}", JSON_TYPE))["status"], 200)
  })

  it("is refused by a switched-off source, even by a server that has cached it, and accepted again afterwards", async () => {
    const other = await intakeCabinet(database.url)
    const source = await cabinet.source("Switched off")
    const urls = [cabinet.address(source), other.address(source)]
    const statuses = async () => [
      (await post(urls[0]!, "{}", JSON_TYPE))["status"],
      (await post(urls[1]!, "{}", JSON_TYPE))["status"],
    ]
    assert.deepStrictEqual(await statuses(), [200, 200])
    await cabinet.run(Sources.use((sources) => sources.archive(source.id)))
    assert.deepStrictEqual(await statuses(), [404, 404])
    await cabinet.run(Sources.use((sources) => sources.restore(source.id)))
    assert.deepStrictEqual(await statuses(), [200, 200])
    await cabinet.run(Sources.use((sources) => sources.remove(source.id, "keep")))
    assert.deepStrictEqual(await statuses(), [404, 404])
    await other.close()
  })

  it("is read in the source's encoding as soon as it is set, even by a server that has cached the old one", async () => {
    const other = await intakeCabinet(database.url)
    const source = await cabinet.source("Encoding", { encoding: "utf-8" })
    const body = Buffer.of(0x61, 0x3d, 0xcf, 0xf0, 0xe8)
    await post(other.address(source), body, FORM)
    await cabinet.run(Sources.use((sources) => sources.change(source.id, { encoding: "windows-1251" })))
    await post(other.address(source), body, FORM)
    assert.deepStrictEqual((await cabinet.feed(source.id)).map(payloadText), [
      '{"a":"\uFFFD\uFFFD\uFFFD"}',
      '{"a":"При"}',
    ])
    await other.close()
  })
})

describe("the rate", () => {
  it("admits sixty requests a minute for a source and for a client, over two servers", async () => {
    const rated = { intakeRate: 60, proxies: ["127.0.0.0/8"] }
    const servers = [await intakeCabinet(database.url, rated), await intakeCabinet(database.url, rated)]
    const send = async (url: string, ip: string) => {
      const response = await fetch(url, {
        method: "POST",
        body: "{}",
        headers: { ...JSON_TYPE, "x-forwarded-for": ip },
      })
      await response.arrayBuffer()
      return [response.status, response.headers.get("retry-after")] as const
    }
    // Starts at the beginning of a minute, so that all requests are in the same one.
    await database.run(
      `UPDATE cabinet.clock SET shift = date_trunc('minute', clock_timestamp(), 'UTC') + interval '1 second' - clock_timestamp()`,
    )
    const busy = await cabinet.source("Busy")
    const bySource = await Promise.all(
      Array.from({ length: 80 }, (_, n) => send(servers[n % 2]!.address(busy), `192.0.2.${n}`)),
    )
    assert.strictEqual(bySource.filter(([status]) => status === 200).length, 60)
    const late = bySource.filter(([status]) => status === 429)
    assert.strictEqual(late.length, 20)
    for (const [, retryAfter] of late) assert.isTrue(Number(retryAfter) >= 1 && Number(retryAfter) <= 60)

    const quiet = await Promise.all(Array.from({ length: 4 }, (_, n) => cabinet.source(`Quiet ${n}`)))
    const byClient = await Promise.all(
      Array.from({ length: 80 }, (_, n) => send(servers[n % 2]!.address(quiet[n % 4]!), `2001:db8::${n.toString(16)}`)),
    )
    assert.strictEqual(byClient.filter(([status]) => status === 200).length, 60)
    assert.strictEqual((await send(servers[0]!.address(quiet[0]!), "2001:db8:0:1::1"))[0], 200)
    for (const server of servers) await server.close()
  })
})
