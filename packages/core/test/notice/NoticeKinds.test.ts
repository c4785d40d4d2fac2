/** When each kind of notice is sent, what it is about, and when it may be sent again after its cause ended. */
import { FENCE_SECONDS } from "@data-cabinet/core/feed/FenceHolder"
import type { NoticeKey } from "@data-cabinet/core/notice/Notice"
import type { NoticeFacts } from "@data-cabinet/core/notice/NoticeFacts"
import { noticesOf } from "@data-cabinet/core/notice/NoticesOf"
import { expect, it } from "vitest"
import { NO_FACTS } from "./noFacts.ts"

const SINCE = "2026-11-26T06:00:00Z"
const ADDRESS = { id: 7, url: "https://example.com/hook?token=secret", carries: false }
const SOURCE = { sourceId: 5, sourceName: "Orders" }
const ADDRESS_FIELDS = { address_id: 7, url: "https://example.com/hook?…" }
const SOURCE_FIELDS = { source_id: 5, source_name: "Orders" }

const told = (facts: Partial<NoticeFacts>) => noticesOf({ ...NO_FACTS, ...facts }).notices
const payloadOf = (facts: Partial<NoticeFacts>) => {
  const notices = told(facts)
  expect(notices.length).toBeLessThan(2)
  return notices[0]?.payload
}
const causeOf = (facts: Partial<NoticeFacts>) => told(facts)[0]?.cause

it("a failing address causes a notice after an hour, with the reason", () => {
  const failing = (seconds: number, failure: string | null = "no response") =>
    payloadOf({ failing: [{ ...ADDRESS, since: SINCE, seconds, status: 500, failure }] })
  expect(failing(3_599.9)).toBeUndefined()
  expect(failing(3_600.5)).toMatchObject({ ...ADDRESS_FIELDS, stage: "1h", seconds: 3_600, status: 500 })
  expect([3_600, 86_399, 86_400, 431_999, 432_000].map((seconds) => failing(seconds)?.["stage"])).toEqual(
    "1h 1h 1d 1d 5d".split(" "),
  )
  expect(failing(3_600)?.message).toMatch(/: no response\.$/)
  expect(failing(3_600, "a redirect!")?.message).toMatch(/: a redirect!$/)
  expect(failing(3_600, null)?.message).toMatch(/an hour\.$/)
})

it("a recovered address gives one notice for each failure", () => {
  const recovered = [{ ...ADDRESS, since: SINCE, at: "2026-11-26T08:00:00Z" }]
  expect(payloadOf({ recovered })).toMatchObject({ ...ADDRESS_FIELDS, recovered_at: "2026-11-26T08:00:00Z" })
  expect(causeOf({ recovered })).toEqual({
    kind: "address.recovered",
    subject: 7,
    instance: SINCE,
    since: SINCE,
    ends: false,
    aboutAddress: 7,
  })
})

it("a paused address gives a notice that names the person, or the reason of an automatic pause", () => {
  const paused = (reason: "gone" | "failing" | null, by: string | null) =>
    payloadOf({ paused: [{ ...ADDRESS, since: SINCE, reason, by }] })
  expect(paused(null, "Ada")).toMatchObject({
    reason: "person",
    by: "Ada",
    message: expect.stringMatching(/by Ada\. /),
  })
  expect(paused(null, null)).toMatchObject({ reason: "person", message: expect.stringMatching(/by somebody\. /) })
  expect(paused("gone", null)).toMatchObject({ reason: "gone", message: expect.stringMatching(/410/) })
  expect(paused("failing", null)).toMatchObject({
    reason: "failing",
    message: expect.not.stringMatching(/410|somebody/),
  })
})

it("waiting deliveries give a notice if they are many, or have been due for ten minutes", () => {
  const waiting = (count: number, lateSeconds: number) =>
    payloadOf({ waiting: [{ ...ADDRESS, count, oldest: SINCE, lateSeconds }] })
  expect(waiting(999, 599)).toBeUndefined()
  expect(waiting(1, 600)).toMatchObject({
    reason: "not_sent",
    count: 1,
    message: expect.stringMatching(/^1 delivery .*over ten/),
  })
  expect(waiting(999, 600)?.message).toMatch(/^999 deliveries wait for delivery address 7 /)
  expect(waiting(1_000, 599)).toMatchObject({
    reason: "many",
    count: 1_000,
    message: expect.stringMatching(/^At least 1000 deliveries .* since 2026-11-26T06:00:00Z\.$/),
  })
  expect(causeOf({ waiting: [{ ...ADDRESS, count: 1_000, oldest: SINCE, lateSeconds: 0 }] })).toMatchObject({
    subject: 7,
    instance: "",
    since: SINCE,
    ends: true,
  })
})

it("the causes end when few deliveries wait and none is late, and when the disk has space", () => {
  const open: ReadonlyArray<NoticeKey> = [
    { kind: "deliveries.waiting", subject: 7, instance: "" },
    { kind: "disk.filling", subject: 0, instance: "" },
  ]
  const over = (count: number, lateSeconds: number, disk: number | null) =>
    noticesOf({
      ...NO_FACTS,
      open,
      waiting: [
        { ...ADDRESS, id: 6, count: 0, oldest: SINCE, lateSeconds: 0 },
        { ...ADDRESS, count, oldest: SINCE, lateSeconds },
      ],
      disk: disk === null ? null : { path: "/data", freeBytes: disk, totalBytes: 1_000 },
    }).over.map(({ kind }) => kind)
  expect(over(500, 0, 119)).toEqual([])
  expect(over(0, 600, null)).toEqual([])
  expect(over(499, 599, 119)).toEqual(["deliveries.waiting"])
  expect(over(500, 0, 120)).toEqual(["disk.filling"])
  expect(noticesOf({ ...NO_FACTS, open }).over.map(({ kind }) => kind)).toEqual(["deliveries.waiting"])
})

it("a disk with less than a tenth free causes a notice, and a disk of unknown size does not", () => {
  const disk = (freeBytes: number, totalBytes = 1_000) => payloadOf({ disk: { path: "/data", freeBytes, totalBytes } })
  expect(disk(100)).toBeUndefined()
  expect(disk(0, 0)).toBeUndefined()
  expect(disk(99)).toMatchObject({
    subject: "disk",
    path: "/data",
    free_bytes: 99,
    total_bytes: 1_000,
    free_percent: 9,
  })
  expect(causeOf({ disk: { path: "/data", freeBytes: 0, totalBytes: 1 } })).toMatchObject({
    subject: 0,
    instance: "",
    since: null,
    ends: true,
    aboutAddress: null,
  })
})

it("a certificate that expires within a day has 0 days left, and causes a notice until it has expired", () => {
  const facts = (seconds: number) => ({ certificates: [{ ...ADDRESS, endsAt: SINCE, seconds }] })
  expect(payloadOf(facts(0))).toMatchObject({ days_left: 0, message: expect.stringMatching(/ ends at .* 0 days\.$/) })
  expect(payloadOf(facts(86_400))).toMatchObject({ ends_at: SINCE, message: expect.stringMatching(/ 1 day\.$/) })
  expect(causeOf(facts(0))).toMatchObject({ instance: SINCE, since: null, ends: false })
})

it("each client certificate gives one notice, by its fingerprint", () => {
  const certificate = { subject: "CN=cabinet", issuer: "CN=clients", fingerprint: "AA:BB", endsAt: SINCE }
  const facts = (seconds: number) => ({ clientCertificates: [{ ...ADDRESS, endsAt: SINCE, seconds, certificate }] })
  expect(payloadOf(facts(14 * 86_400 + 1))).toBeUndefined()
  expect(payloadOf(facts(14 * 86_400))).toMatchObject({
    ...ADDRESS_FIELDS,
    certificate: "CN=cabinet",
    fingerprint: "AA:BB",
    ends_at: SINCE,
    days_left: 14,
  })
  expect(causeOf(facts(0))).toMatchObject({ kind: "client_certificate.ending", instance: "AA:BB" })
})

it("a session that holds the feed for long gives a notice, with its known details", () => {
  const held = (application: string, since: string | null, seconds = FENCE_SECONDS + 0.5) => ({
    holders: [{ pid: 77, application, since, seconds }],
  })
  expect(payloadOf(held("psql", SINCE, FENCE_SECONDS))).toBeUndefined()
  expect(payloadOf(held("psql", SINCE))).toMatchObject({
    subject: "feed",
    by: "psql",
    pid: 77,
    seconds: FENCE_SECONDS,
    message: expect.stringMatching(
      /process 77 of the database \(psql\) since 2026-11-26T06:00:00Z\. .*backend\(77\);$/,
    ),
  })
  expect(payloadOf(held("", null))).toMatchObject({
    by: null,
    since: null,
    message: expect.stringMatching(/process 77 of the database\. /),
  })
  expect(causeOf(held("psql", SINCE))).toMatchObject({ subject: 0, instance: `77 ${SINCE}`, aboutAddress: null })
  expect(causeOf(held("", null))).toMatchObject({ instance: "77 " })
})

it("a failing poll gives a notice with its source, its failures and the reason", () => {
  const poll = (failure: string | null) =>
    payloadOf({ polls: [{ id: 3, url: ADDRESS.url, ...SOURCE, since: SINCE, failures: 4, status: 500, failure }] })
  expect(poll("no response")).toMatchObject({
    ...SOURCE_FIELDS,
    subject: "poll 3",
    poll_id: 3,
    url: "https://example.com/hook?…",
    count: 4,
    status: 500,
    message: expect.stringMatching(/: no response\.$/),
  })
  expect(poll(null)?.message).toMatch(/06:00:00Z\.$/)
})

it("a failed import gives a notice with its progress", () => {
  const imported = (failure: string) =>
    payloadOf({ imports: [{ id: 4, name: "a.csv", ...SOURCE, at: SINCE, staged: 9, accepted: 2, failure }] })
  expect(imported("row 3")).toMatchObject({
    ...SOURCE_FIELDS,
    subject: "import 4",
    import_id: 4,
    name: "a.csv",
    count: 2,
    of: 9,
    since: SINCE,
    message: expect.stringMatching(/after 2 of 9 rows: row 3\.$/),
  })
  expect(imported("")?.message).toMatch(/ 9 rows\.$/)
  const cut = [{ id: 4, name: "a.csv", ...SOURCE, at: SINCE, staged: 9, accepted: 2, failure: "" }]
  expect(causeOf({ imports: cut })).toMatchObject({ subject: 4, instance: "", ends: false })
})

it("an event's new columns give one notice, separate from its columns for another type", () => {
  const column = (n: number, isSibling: boolean, eventId = 12, sourceId = 5) => ({
    ...SOURCE,
    sourceId,
    eventId,
    column: `c${n}`,
    field: `C${n}`,
    type: "text",
    isSibling,
    at: SINCE,
  })
  const notices = told({
    columns: [column(1, false), column(2, true), column(3, false), column(4, false, 13), column(5, false, 12, 6)],
  })
  expect(notices.map(({ cause, payload }) => [cause.kind, cause.subject, cause.instance, payload["columns"]])).toEqual([
    ["column.created", 5, "12", ["c1", "c3"]],
    ["type.created", 5, "12", ["c2"]],
    ["column.created", 5, "13", ["c4"]],
    ["column.created", 6, "12", ["c5"]],
  ])
  expect(notices[0]!.payload).toMatchObject({
    ...SOURCE_FIELDS,
    event_id: 12,
    column: "c1",
    field: "C1",
    type: "text",
    count: 2,
    message: expect.stringMatching(/2 new columns .*: c1 \(text\), c3 \(text\)\.$/),
  })
  expect(notices[1]!.payload.message).toMatch(/1 column for /)
  const many = payloadOf({ columns: Array.from({ length: 51 }, (_, n) => column(n, false)) })
  expect(many).toMatchObject({ count: 51, message: expect.stringMatching(/c49 \(text\), …\.$/) })
  expect(many?.["columns"]).toHaveLength(50)
  const fifty = payloadOf({ columns: Array.from({ length: 50 }, (_, n) => column(n, false)) })
  expect(fifty?.message).toMatch(/c49 \(text\)\.$/)
})

it("a source gives a notice when it is quiet for longer than usual", () => {
  const silent = (seconds: number) => ({
    silent: [{ ...SOURCE, silence: { since: SINCE, seconds, activeDays: 20, usualSeconds: 7_200.5 } }],
  })
  expect(payloadOf(silent(10_800))).toBeUndefined()
  expect(payloadOf(silent(10_801.5))).toMatchObject({
    ...SOURCE_FIELDS,
    subject: "source 5",
    seconds: 10_801,
    usual_seconds: 7_200,
    since: SINCE,
    message: expect.stringMatching(/ 2 hours\.$/),
  })
  expect(causeOf(silent(20_000))).toMatchObject({ subject: 5, instance: SINCE, ends: false })
})

it("all changes of what a source sends in a day are one notice, with the first fifty names", () => {
  const changed = (fields: number) => ({
    fields: [
      {
        ...SOURCE,
        day: "2026-11-26",
        changes: { new: Array.from({ length: fields }, (_, n) => `f${n}`), kind_changed: ["total"], missing: ["note"] },
      },
    ],
  })
  expect(payloadOf(changed(0))).toMatchObject({
    ...SOURCE_FIELDS,
    subject: "source 5",
    since: "2026-11-26T00:00:00Z",
    new: [],
    message: expect.stringMatching(
      /2026-11-26\. 1 field with a new kind of value: total; 1 field not seen for 7 days: note\.$/,
    ),
  })
  const many = payloadOf(changed(1_000))
  expect(many).toMatchObject({ count: 1_002, message: expect.stringMatching(/1000 new fields: f0, .*f49, …;/) })
  expect(many?.["new"]).toHaveLength(50)
  expect(causeOf(changed(1))).toMatchObject({ subject: 5, instance: "2026-11-26", ends: false })
})

it("no notice is about an address that receives notices", () => {
  const carrier = { ...ADDRESS, carries: true }
  const certificate = { subject: "CN=cabinet", issuer: "CN=clients", fingerprint: "AA:BB", endsAt: SINCE }
  expect(
    told({
      failing: [{ ...carrier, since: SINCE, seconds: 9e5, status: null, failure: null }],
      recovered: [{ ...carrier, since: SINCE, at: SINCE }],
      paused: [{ ...carrier, since: SINCE, reason: null, by: null }],
      waiting: [{ ...carrier, count: 1_000, oldest: SINCE, lateSeconds: 600 }],
      certificates: [{ ...carrier, endsAt: SINCE, seconds: 0 }],
      clientCertificates: [{ ...carrier, endsAt: SINCE, seconds: 0, certificate }],
    }),
  ).toEqual([])
})
