/**
 * Pages byte for byte, and the positions in their cursors, compared with those recorded when rows were first written from
 * records: a client's cursor must stay valid, and its page the same, however values are sent.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { Result } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { type FrameConsumer, FrameReader } from "@data-cabinet/store-pg/connection/FrameReader"
import { openReading, type Reading, type TextPage } from "./reading.ts"

const RECORDED = new URL("./recordPages.jsonl", import.meta.url)

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  for (const statement of OBJECTS) await reading.run(statement)
})
afterAll(() => reading.close())

const OBJECTS = [
  `CREATE TYPE mood AS ENUM ('sad', 'glad')`,
  `CREATE TYPE pair AS (a int, b text)`,
  `CREATE DOMAIN share AS numeric(5, 2) CHECK (VALUE >= 0)`,
  `CREATE TABLE every (
     id int PRIMARY KEY, ok boolean, small int2, big int8, o oid, n numeric, f4 float4, f8 float8, t text COLLATE "C", v varchar(20) COLLATE "C",
     c char(4) COLLATE "C", d date, ts timestamp, tz timestamptz, j json, jb jsonb, bytes bytea, u uuid, ip inet, span interval, clock time,
     ints int4[], days date[], moments timestamptz[], m mood, p pair, s share, r int4range)`,
  `INSERT INTO every VALUES
     (1, true, -32768, -9223372036854775808, 0, -0.000100, 1.5, 1e300, '', 'v', 'c', '0044-03-15 BC', '0001-01-01 00:00:00 BC',
      '-infinity', '{"b":1, "a" : [ ]}', '{"b":1, "a" : [ ]}', '', '00000000-0000-4000-8000-000000000001', '::1', '1 mon -2 days',
      '24:00', '{}', '{infinity}', '{2026-01-02 03:04:05.6+02}', 'sad', '(1,)', 1.5, '[1,5)'),
     (2, false, 32767, 9223372036854775807, 4294967295, 'NaN', 'NaN', '-Infinity', E'"\\\\\\n\\x01é😀', 'ß', 'long', 'infinity',
      '294276-12-31 23:59:59.999999', 'infinity', '"text"', 'null', '\\x00ff10', '00000000-0000-4000-8000-000000000002',
      '10.0.0.0/8', '1 year', '00:00:00.000001', '{{1,NULL},{3,4}}', NULL, '{}', 'glad', '(,"a ""b""")', 999.99, 'empty'),
     (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      NULL, NULL, NULL, NULL, NULL, NULL, NULL),
     (4, true, 0, 9007199254740993, 1, 123456789012345678901234567890.1230, 0.1, 0.30000000000000004, 'ДЦ', '', '', '2026-02-28',
      '2026-02-28 12:00:00.5', '2026-02-28 12:00:00.000001+00', '[1.0, 1e5]', '[1.0, 1e5]', '\\xdeadbeef',
      '00000000-0000-4000-8000-000000000003', '192.168.0.1', '-00:00:01.5', '12:30', '[0:1]={7,8}', '{2026-01-01,NULL}', NULL,
      'glad', ROW(NULL, NULL), 0, '[,9)')`,
  `CREATE TABLE keyless AS SELECT n % 3 AS n, 'x' || n % 2 AS t FROM generate_series(1, 9) n`,
  `CREATE VIEW seen AS SELECT n, t FROM keyless`,
]

const SORTS = "ok,small,big,o,n,f4,f8,t,v,c,d,ts,tz,jb,bytes,u,ip,span,clock,ints,days,moments,m,p,s,r".split(",")

const WALKS: ReadonlyArray<readonly [name: string, params: ParamPairs]> = [
  ["every", [["limit", "9"]]],
  [
    "every",
    [
      ["dir", "desc"],
      ["col", "ok"],
    ],
  ],
  ...SORTS.flatMap((sort): ReadonlyArray<readonly [string, ParamPairs]> => [
    [
      "every",
      [
        ["sort", sort],
        ["col", "id"],
        ["col", sort],
      ],
    ],
    [
      "every",
      [
        ["sort", sort],
        ["dir", "desc"],
        ["col", "v"],
      ],
    ],
  ]),
  ["keyless", []],
  [
    "keyless",
    [
      ["sort", "n"],
      ["dir", "desc"],
    ],
  ],
  ["seen", []],
  [
    "seen",
    [
      ["sort", "t"],
      ["col", "n"],
    ],
  ],
]

/** The contents of a cursor, without its signature and the table's number, which differs in every database. */
const positionsIn = (cursor: string | null, oid: unknown): unknown =>
  cursor === null
    ? null
    : JSON.parse(Buffer.from(cursor, "base64url").toString("utf8", 17), (_, value) => (value === oid ? "oid" : value))

const walked = async (name: string, params: ParamPairs) => {
  const [table] = await reading.run(`SELECT 'keyless'::regclass::oid::text AS oid`)
  const pages: Array<unknown> = []
  let cursor: string | null = null
  do {
    const asked: ParamPairs = cursor === null ? params : [...params, ["cursor", cursor]]
    const limited: ParamPairs = asked.some(([param]) => param === "limit") ? asked : [...asked, ["limit", "1"]]
    const page: TextPage = Result.getOrThrow(await reading.page(name, limited))
    cursor = page.nextCursor
    pages.push([page.items, positionsIn(cursor, table?.["oid"])])
  } while (cursor !== null)
  return pages
}

it("is the same page, with the same position after it, for any selection", async () => {
  const found: Array<string> = []
  for (const [name, params] of WALKS) found.push(JSON.stringify([name, params, await walked(name, params)]))
  // To record new cursors. A changed line means that cursors held by clients have become invalid.
  if (process.env["RECORD"] !== undefined) writeFileSync(RECORDED, `${found.join("\n")}\n`)
  expect(found).toEqual(readFileSync(RECORDED, "utf8").trimEnd().split("\n"))
})

it("is the same page where every packet is cut at every byte", async () => {
  const push = Object.getOwnPropertyDescriptor(FrameReader.prototype, "push")!.value as FrameReader["push"]
  FrameReader.prototype.push = function (chunk, consumer) {
    let goesOn = true
    const watching: FrameConsumer = {
      mostBytes: (type) => consumer.mostBytes(type),
      skipped: (type) => consumer.skipped(type),
      read: (...message) => (goesOn = consumer.read(...message)),
    }
    let at = 0
    while (at < chunk.length && goesOn) at += push.call(this, chunk.subarray(at, at + 1), watching)
    return at
  }
  try {
    const recorded = readFileSync(RECORDED, "utf8").split("\n")
    for (const [index, [name, params]] of WALKS.slice(0, 6).entries()) {
      expect(JSON.stringify([name, params, await walked(name, params)])).toBe(recorded[index])
    }
  } finally {
    FrameReader.prototype.push = push
  }
})
