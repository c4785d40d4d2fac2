/** The read API end to end on a real PostgreSQL: rows, the feed, keys and rates. */
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { Sources } from "@data-cabinet/core/source/Sources"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { testDatabase, withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ApiCabinet
let key = ""
beforeAll(async () => {
  cabinet = await apiCabinet(database.url)
  key = await cabinet.key()
})
afterAll(() => cabinet.close())

const error = ({ status, json }: { readonly status: number; readonly json: any }) => [
  status,
  json.error.code,
  json.error.param,
]

describe("sources", () => {
  it("are listed and returned one by one, including archived but not deleted ones", async () => {
    const one = await cabinet.source("Заказы 1")
    const two = await cabinet.source("Two")
    await cabinet.run(Sources.use((sources) => sources.archive(two.id)))
    const told = await cabinet.ask(`sources/${two.id}`, key)
    assert.deepEqual([told.json.name, told.json.archived], ["Two", true])
    assert.equal((await cabinet.ask(`sources/${one.id}`, key)).json.table.schema, "sources")
    await cabinet.run(Sources.use((sources) => sources.remove(one.id, "drop")))
    assert.deepEqual(error(await cabinet.ask(`sources/${one.id}`, key)), [404, "no_such_source", "source_id"])
    const list = (await cabinet.ask("sources", key)).json
    assert.ok(list.data.some(({ id }: any) => id === two.id) && list.data.every(({ id }: any) => id !== one.id))
    assert.deepEqual([list.has_more, list.next_cursor], [false, null])
  })
})

describe("a submission over the API", () => {
  it("is immediately readable as a row, as the table's column and in the feed, to the last digit", async () => {
    const { id, intakeSecret } = await cabinet.source("Digits")
    const sent = `{"b":0.10,"a":12345678901234567890,"7":"семь","list":[1.0,{"z":null}]}`
    const receipt = await cabinet.send(intakeSecret, sent)
    const { table } = (await cabinet.ask(`sources/${id}`, key)).json
    const path = `tables/${table.schema}/${table.name}`
    const detail = (await cabinet.ask(path, key)).json
    assert.deepEqual(detail.key, ["_event_id"])
    assert.deepEqual(detail.source, { id, name: "Digits" })
    const rows = await cabinet.ask(`${path}/rows`, key)
    assert.equal(rows.json.data[0]._event_id, receipt.id)
    assert.match(rows.text, /"b":0\.10[,}]/)
    assert.match(rows.text, /12345678901234567890/)
    const feed = await cabinet.ask(`events?source_id=${id}`, key)
    assert.ok(feed.text.includes(`"payload":${sent},`), feed.text)
    assert.equal(feed.json.data[0].id, receipt.id)
    const tables = (await cabinet.ask("tables", key)).json.data
    assert.ok(tables.some((one: any) => one.name === table.name && one.source.id === id))
  })

  it("is readable as CSV and as lines of JSON, page after page by the address in Link", async () => {
    const { id, intakeSecret } = await cabinet.source("Forms")
    for (const total of ["0.10", "12345678901234567890", "1e2"]) {
      await cabinet.send(intakeSecret, `{"total":${total},"note":"a, \\"b\\"","none":""}`)
    }
    const { table } = (await cabinet.ask(`sources/${id}`, key)).json
    const rows = `${cabinet.base}/api/v1/tables/${table.schema}/${table.name}/rows`
    const ask = async (address: string, accept: string) => {
      const response = await fetch(address, { headers: { "x-api-key": key, accept } })
      const { headers, status } = response
      const next = /^<(\?[^>]*)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]
      return { status, type: headers.get("content-type"), vary: headers.get("vary"), next, text: await response.text() }
    }
    const walk = async (accept: string) => {
      const texts: Array<string> = []
      for (let at: string | undefined = "?limit=2&sort=_event_id&col=total&col=note&col=none"; at !== undefined;) {
        const page = await ask(rows + at, accept)
        assert.deepEqual([page.status, page.vary], [200, "Accept"])
        texts.push(page.text)
        at = page.next
      }
      return texts
    }
    const row = (total: string) => `${total},"a, ""b""",""\r\n`
    assert.deepEqual(await walk("application/json;q=0.5, text/csv"), [
      `total,note,none\r\n${row("0.10")}${row("12345678901234567890")}`,
      `total,note,none\r\n${row("100")}`,
    ])
    const line = (total: string) => `{"total":${total},"note":"a, \\"b\\"","none":""}\n`
    assert.deepEqual(await walk("application/x-ndjson"), [line("0.10") + line("12345678901234567890"), line("100")])
    for (const accept of ["*/*", "text/*", "text/csv;q=0, */*", "application/json, text/csv", "text/html"]) {
      const { type, vary, next, text } = await ask(`${rows}?limit=1`, accept)
      assert.deepEqual([type, vary, next], ["application/json", "Accept", undefined], accept)
      assert.equal(JSON.parse(text).data.length, 1)
    }
    const refused = await ask(`${rows}?limit=0`, "text/csv")
    assert.deepEqual([refused.status, refused.type], [400, "application/json"])
  })

  it("is CSV that runs no formulas in a spreadsheet when safe=spreadsheet is set", async () => {
    const { id, intakeSecret } = await cabinet.source("Formulas")
    for (const note of ["=1+1", "-5", "@SUM(A1)", "plain"]) {
      await cabinet.send(intakeSecret, JSON.stringify({ note, amount: -5 }))
    }
    const { table } = (await cabinet.ask(`sources/${id}`, key)).json
    const rows = `${cabinet.base}/api/v1/tables/${table.schema}/${table.name}/rows`
    const selected = "?sort=_event_id&col=note&col=amount"
    const ask = async (query: string, accept: string) => {
      const response = await fetch(rows + (query.startsWith("?") ? query : selected + query), {
        headers: { "x-api-key": key, accept },
      })
      const next = /^<(\?[^>]*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1]
      return { status: response.status, next, text: await response.text() }
    }
    const csv = (...notes: ReadonlyArray<string>) =>
      ["note,amount", ...notes.map((note) => `${note},-5`), ""].join("\r\n")
    assert.equal((await ask("", "text/csv")).text, csv("=1+1", "-5", "@SUM(A1)", "plain"))
    assert.equal((await ask("&safe=spreadsheet", "text/csv")).text, csv("'=1+1", "-5", "'@SUM(A1)", "plain"))
    const { next } = await ask("&safe=spreadsheet&limit=2", "text/csv")
    assert.match(next ?? "", /[?&]safe=spreadsheet&/)
    assert.equal((await ask(next ?? "", "text/csv")).text, csv("'@SUM(A1)", "plain"))
    const line = await ask("&safe=spreadsheet&limit=1", "application/x-ndjson")
    assert.equal(line.text, '{"note":"=1+1","amount":-5}\n')
    for (const query of ["&safe=excel", "&safe=", "&safe=spreadsheet&safe=spreadsheet"]) {
      const { status, text } = await ask(query, "text/csv")
      assert.deepEqual(error({ status, json: JSON.parse(text) }), [400, "bad_selection", "safe"])
    }
  })

  it("is read page by page from stored cursors, new events only", async () => {
    const { id, intakeSecret } = await cabinet.source("Walk")
    const ids: Array<number> = []
    const add = async (n: number) => ids.push((await cabinet.send(intakeSecret, JSON.stringify({ n }))).id)
    for (let n = 0; n < 7; n++) await add(n)
    const seen: Array<number> = []
    let cursor = ""
    const read = async () => {
      for (let more = true; more;) {
        const page = await cabinet.ask(`events?source_id=${id}&limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`, key)
        seen.push(...page.json.data.map((event: any) => event.id))
        cursor = page.json.next_cursor
        more = page.json.has_more
      }
    }
    await read()
    assert.deepEqual(seen, ids)
    await read()
    await add(7)
    await read()
    assert.deepEqual(seen, ids)
    assert.deepEqual(error(await cabinet.ask(`events?cursor=${cursor}`, key)), [400, "bad_cursor", "cursor"])
    assert.deepEqual(
      error(await cabinet.ask(`events?source_id=${id}&channel=file&cursor=${cursor}`, key)).slice(0, 2),
      [400, "bad_cursor"],
    )
  })

  it("stays in the feed when its source is deleted, although the source can no longer be selected", async () => {
    const { id, intakeSecret } = await cabinet.source("Gone")
    const receipt = await cabinet.send(intakeSecret, `{"a":1}`)
    await cabinet.run(Sources.use((sources) => sources.remove(id, "drop")))
    const feed = (await cabinet.ask("events?limit=1000", key)).json.data
    assert.ok(feed.some((event: any) => event.id === receipt.id && event.source.name === "Gone"))
    assert.deepEqual(error(await cabinet.ask(`events?source_id=${id}`, key)), [404, "no_such_source", "source_id"])
  })

  it("is marked as a repeat if it is one", async () => {
    const { id, intakeSecret } = await cabinet.source("Repeats")
    const first = await cabinet.send(intakeSecret, `{"a":1,"b":2}`)
    const again = await cabinet.send(intakeSecret, `{ "b":2, "a":1 }`)
    assert.ok(again.duplicate)
    const feed = (await cabinet.ask(`events?source_id=${id}`, key)).json.data
    assert.deepEqual(
      feed.map((event: any) => event.repeat_of),
      [null, first.id],
    )
  })

  it("ends a page of large events early, with has_more", async () => {
    const { id, intakeSecret } = await cabinet.source("Large")
    for (let n = 0; n < 10; n++) await cabinet.send(intakeSecret, JSON.stringify({ n, text: "ж".repeat(500_000) }))
    let cursor = ""
    const lengths: Array<number> = []
    for (let more = true; more;) {
      const page = await cabinet.ask(`events?source_id=${id}${cursor === "" ? "" : `&cursor=${cursor}`}`, key)
      lengths.push(page.json.data.length)
      cursor = page.json.next_cursor
      more = page.json.has_more
    }
    assert.equal(
      lengths.reduce((sum, length) => sum + length, 0),
      10,
    )
    assert.ok(lengths.length > 1, String(lengths))
  })
})

describe("intake", () => {
  it("responds as described to one event, a batch, repeats, an empty, a broken and too long a body, and a wrong secret", async () => {
    const { intakeSecret } = await cabinet.source("Described")
    const send = (body: string, type?: string) => cabinet.send(intakeSecret, body, type)
    assert.equal((await send(`{"a":1}`)).duplicate, false)
    assert.equal((await send(`{"a":1}`)).duplicate, true)
    assert.equal((await send(`[{"b":1},{"b":2}]`)).count, 2)
    assert.equal((await send("{}")).empty, true)
    assert.equal((await send("[1]")).error, "not_an_object")
    assert.equal((await send("{nope")).error, "bad_json")
    assert.equal((await send(`[${Array.from({ length: 101 }, () => "{}").join(",")}]`)).error, "too_many_items")
    assert.equal((await send("a=1&a=2", "application/x-www-form-urlencoded")).ok, true)
    assert.equal((await send("x".repeat(1_048_577), "text/plain")).error, "too_large")
    assert.equal((await cabinet.send("nobody", "{}")).error, "not_found")
  })
})

describe("keys", () => {
  it("are counted across two processes: of 121 requests exactly one is refused, and Remaining has no gap", async () => {
    const [one, two] = [
      await apiCabinet(database.url, { apiRate: 120 }),
      await apiCabinet(database.url, { apiRate: 120 }),
    ]
    try {
      const counted = await one.key("counted")
      // Stops the database's clock, so that all requests are in the same minute.
      await database.run(
        `UPDATE cabinet.clock SET shift = date_trunc('minute', clock_timestamp()) + interval '1 minute' - clock_timestamp()`,
      )
      const answers = await Promise.all(
        Array.from({ length: 121 }, (_, n) => (n % 2 === 0 ? one : two).ask("sources", counted)),
      )
      assert.deepEqual(
        answers.filter(({ status }) => status !== 200).map(({ status }) => status),
        [429],
      )
      const remaining = answers
        .filter(({ status }) => status === 200)
        .map(({ headers }) => Number(headers.get("x-ratelimit-remaining")))
      assert.deepEqual(
        remaining.toSorted((a, b) => a - b),
        Array.from({ length: 120 }, (_, n) => n),
      )
      const refused = answers.find(({ status }) => status === 429)!
      assert.ok(Number(refused.headers.get("retry-after")) >= 1 && Number(refused.headers.get("retry-after")) <= 60)
      assert.equal((await one.ask("sources", key)).status, 200)
    } finally {
      await database.run("UPDATE cabinet.clock SET shift = '0'")
      await one.close()
      await two.close()
    }
  })

  it("work everywhere until they are revoked, and then nowhere, without affecting others", async () => {
    const other = await apiCabinet(database.url)
    try {
      const issued = await cabinet.run(ApiKeys.use((keys) => keys.issue("short")))
      assert.equal((await other.ask("sources", issued.key)).status, 200)
      await cabinet.run(ApiKeys.use((keys) => keys.revoke(issued.id)))
      assert.deepEqual(error(await other.ask("sources", issued.key)), [401, "invalid_key", null])
      assert.deepEqual(error(await cabinet.ask("sources", issued.key)), [401, "invalid_key", null])
      assert.equal((await other.ask("sources", key)).status, 200)
    } finally {
      await other.close()
    }
  })
})

describe("selections and names over HTTP", () => {
  it("refuse each wrong parameter with its own code", async () => {
    const { intakeSecret, table } = await cabinet.source("Selections")
    await cabinet.send(intakeSecret, `{"total":5,"when":"x"}`)
    const rows = `tables/sources/${table!.name}/rows`
    for (const [query, code, param] of [
      ["page=2", "unknown_param", "page"],
      ["limit=0", "bad_limit", "limit"],
      ["limit=1001", "bad_limit", "limit"],
      ["cursor=x", "bad_cursor", "cursor"],
      ["fc=total", "bad_filter", "fo"],
      ["fc=total&fo=like&fv=1", "bad_fo", "fo"],
      ["fc=total&fo=eq&fv=abc", "bad_fv", "fv"],
      ["dir=up", "bad_dir", "dir"],
      ["from=2026-01-01", "bad_period", "from"],
      ["sort=nope", "unknown_column", "sort"],
      ["col=total&hide=when", "bad_columns", "hide"],
      ["q=a&q=b", "bad_selection", "q"],
    ] as const) {
      assert.deepEqual(error(await cabinet.ask(`${rows}?${query}`, key)), [400, code, param], query)
    }
    assert.equal(
      (await cabinet.ask(`${rows}?fc=total&fo=ge&fv=5&sort=total&dir=desc&col=total`, key)).text.includes(
        `"data":[{"total":5}]`,
      ),
      true,
    )
    assert.deepEqual(error(await cabinet.ask("tables/cabinet/event/rows", key)).slice(0, 2), [404, "no_such_table"])
    assert.deepEqual(error(await cabinet.ask("tables/pg_catalog/pg_class", key)).slice(0, 2), [404, "no_such_table"])
  })

  it("find names of 63 bytes in any script", async () => {
    const name = `${"ж".repeat(31)}x`
    await database.run(`CREATE TABLE public."${name}" (id int PRIMARY KEY, "два слова" text)`)
    await database.run(`INSERT INTO public."${name}" VALUES (1, '%_')`)
    await database.run(`GRANT SELECT ON public."${name}" TO PUBLIC`)
    const path = `tables/public/${encodeURIComponent(name)}`
    assert.equal((await cabinet.ask(path, key)).json.name, name)
    const column = encodeURIComponent("два слова")
    const rows = await cabinet.ask(`${path}/rows?fc=${column}&fo=contains&fv=%25_`, key)
    assert.equal(rows.json.data.length, 1)
  })
})

describe("without its database", () => {
  it("responds with 503 on every keyed endpoint, and recovers on its own", async () => {
    const shut = await testDatabase()
    const served = await apiCabinet(shut.url)
    try {
      const its = await served.key()
      assert.equal((await served.ask("sources", its)).status, 200)
      await database.run(`ALTER DATABASE ${shut.name} WITH ALLOW_CONNECTIONS false`)
      await database.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${shut.name}'`)
      for (const path of [
        "sources",
        "sources/1",
        "tables",
        "tables/a/b",
        "tables/a/b/rows",
        "events",
        "openapi.json",
      ]) {
        const answer = await served.ask(path, its)
        assert.deepEqual(error(answer), [503, "reader_off", null], path)
        assert.ok(Number(answer.headers.get("retry-after")) > 0)
      }
      await database.run(`ALTER DATABASE ${shut.name} WITH ALLOW_CONNECTIONS true`)
      const deadline = Date.now() + 60_000
      while ((await served.ask("sources", its)).status !== 200) assert.ok(Date.now() < deadline, "it did not come back")
    } finally {
      await served.close()
      await shut.drop()
    }
  })
})
