/**
 * Which notices result from which facts: for any facts, none about a carrier, none twice, and no cause ends while it
 * lasts.
 */
import { readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"
import type { NoticeFacts } from "../../src/notice/NoticeFacts.ts"
import { NOTICE_KINDS, type NoticeKey } from "../../src/notice/Notice.ts"
import { noticesOf } from "../../src/notice/NoticesOf.ts"
import { Random, Seed } from "../intake/Random.ts"
import { NO_FACTS } from "./noFacts.ts"

const SINCE = "2026-11-26T06:00:00Z"
const HOOK = "https://user:word@example.com/hook?token=secret"

const factsOf = (random: Random): NoticeFacts => {
  const address = (id: number) => ({ id, url: HOOK, carries: random.below(3) === 0 })
  const some = <A>(make: (id: number) => A) => Array.from({ length: random.below(4) }, (_, n) => make(n + 1))
  const source = (id: number) => ({ sourceId: 1 + (id % 2), sourceName: random.pick(["Orders", "Письма", ""]) })
  const failure = () => random.pick([null, "no response", "a redirect."])
  const open: Array<NoticeKey> = some((subject) => ({ kind: "deliveries.waiting", subject, instance: "" }))
  return {
    failing: some((id) => ({
      ...address(id),
      since: SINCE,
      seconds: random.below(1_000_000),
      status: random.pick([null, 500]),
      failure: failure(),
    })),
    recovered: some((id) => ({ ...address(id), since: SINCE, at: SINCE })),
    paused: some((id) => ({
      ...address(id),
      since: SINCE,
      reason: random.pick([null, "gone", "failing"] as const),
      by: random.pick([null, "Ada"]),
    })),
    waiting: some((id) => ({
      ...address(id),
      count: random.below(1_001),
      oldest: SINCE,
      lateSeconds: random.below(1_200),
    })),
    certificates: some((id) => ({ ...address(id), endsAt: SINCE, seconds: random.below(3_000_000) - 500_000 })),
    clientCertificates: some((id) => ({
      ...address(id),
      endsAt: SINCE,
      seconds: random.below(3_000_000) - 500_000,
      certificate: { subject: "CN=cabinet", issuer: "CN=clients", fingerprint: `${id}:AA`, endsAt: SINCE },
    })),
    holders: some((pid) => ({
      pid,
      application: random.pick(["", "report"]),
      since: random.pick([null, SINCE]),
      seconds: random.below(20),
    })),
    polls: some((id) => ({
      id,
      url: HOOK,
      ...source(id),
      since: SINCE,
      failures: 1 + random.below(9),
      status: null,
      failure: failure(),
    })),
    imports: some((id) => ({
      id,
      name: "items.csv",
      ...source(id),
      at: SINCE,
      staged: 9,
      accepted: random.below(9),
      failure: failure() ?? "",
    })),
    columns: Array.from({ length: random.below(120) }, (_, n) => ({
      ...source(n),
      eventId: 1 + random.below(3),
      column: `c${n}`,
      field: `C${n}`,
      type: random.pick(["text", "numeric"]),
      isSibling: random.below(3) === 0,
      at: SINCE,
    })),
    silent: some((id) => ({
      ...source(id),
      sourceId: id,
      silence: {
        since: SINCE,
        seconds: random.below(400_000),
        activeDays: random.below(9),
        usualSeconds: random.pick([null, 3_600]),
      },
    })),
    fields: some((id) => ({
      ...source(id),
      sourceId: id,
      day: "2026-11-26",
      changes: { new: ["a", "b"].slice(random.below(3)), kind_changed: ["c"], missing: [] },
    })),
    disk: random.pick([null, { path: "/data", freeBytes: random.below(30), totalBytes: 100 }]),
    open: [...open, { kind: "disk.filling", subject: 0, instance: "" }],
  }
}

const textOf = ({ kind, subject, instance }: NoticeKey) => `${kind} ${subject} ${instance}`

it.prop(
  "noticesOf repeats no notice, gives none about a carrier, shows no secret, and ends no cause that it reports",
  [Seed],
  ([seed]) => {
    const facts = factsOf(new Random(seed))
    const { notices, over } = noticesOf(facts)
    assert.deepStrictEqual(noticesOf(facts), { notices, over })
    const keys = notices.map(({ cause }) => textOf(cause))
    assert.strictEqual(new Set(keys).size, keys.length)
    for (const key of over) assert.notInclude(keys, textOf(key))
    const lists = [
      facts.failing,
      facts.recovered,
      facts.paused,
      facts.waiting,
      facts.certificates,
      facts.clientCertificates,
    ]
    const kinds = [
      "address.failing",
      "address.recovered",
      "address.paused",
      "deliveries.waiting",
      "certificate.ending",
      "client_certificate.ending",
    ]
    for (const [n, list] of lists.entries()) {
      for (const { id, carries } of list) {
        if (carries)
          assert.notInclude(
            keys.map((key) => key.split(" ", 2).join(" ")),
            `${kinds[n]} ${id}`,
          )
      }
    }
    for (const { cause, payload } of notices) {
      assert.include(NOTICE_KINDS, payload.kind)
      assert.deepInclude(payload, { kind: cause.kind, version: 1, since: cause.since })
      assert.match(payload.message, /^[A-Z0-9].*[.;]$/s)
      assert.strictEqual(cause.aboutAddress === null, payload["address_id"] === undefined)
      for (const [name, value] of Object.entries(payload)) {
        assert.match(name, /^[a-z_]+$/)
        const isFlat = Array.isArray(value) ? value.every((one) => typeof one === "string") : typeof value !== "object"
        assert.isTrue(isFlat || value === null, name)
      }
      assert.notMatch(JSON.stringify(payload), /secret|user:word/)
    }
  },
  { arbitrary: { runs: 500 } },
)

it.prop(
  "a lastingly failing address gives three notices, each later than the previous one",
  [Seed],
  ([seed]) => {
    const random = new Random(seed)
    const told = new Set<string>()
    for (let seconds = 0; seconds < 2_000_000; seconds += random.below(90_000)) {
      const failing = [{ id: 1, url: HOOK, carries: false, since: SINCE, seconds, status: null, failure: null }]
      for (const { cause } of noticesOf({ ...NO_FACTS, failing }).notices) told.add(cause.instance)
      if (seconds < 3_600) assert.strictEqual(told.size, 0)
    }
    const order = ["1h", "1d", "5d"].map((stage) => `${SINCE} ${stage}`)
    assert.deepStrictEqual(
      [...told],
      order.filter((one) => told.has(one)),
    )
    assert.include([...told], order[2])
  },
  { arbitrary: { runs: 200 } },
)

it("a certificate causes a notice fourteen days before its end, and another after it", () => {
  const daysLeft = (seconds: number) =>
    noticesOf({
      ...NO_FACTS,
      certificates: [{ id: 1, url: HOOK, carries: false, endsAt: SINCE, seconds }],
    }).notices.map(({ payload }) => [payload["days_left"], payload.message])
  assert.deepStrictEqual(daysLeft(14 * 86_400 + 1), [])
  assert.deepStrictEqual(daysLeft(14 * 86_400), [
    [14, `The certificate of delivery address 1 (https://…@example.com/hook?…) ends at ${SINCE}, in 14 days.`],
  ])
  assert.deepStrictEqual(daysLeft(-1), [
    [-1, `The certificate of delivery address 1 (https://…@example.com/hook?…) ended at ${SINCE}.`],
  ])
})

it("the page on notices has a line for each kind, with all of its members", () => {
  const page = readFileSync(new URL("../../../../docs/notices.md", import.meta.url), "utf8")
  const lines = page.split("\n").filter((line) => line.startsWith("| `"))
  const lineOf = (kind: string) => lines.find((line) => line.startsWith(`| \`${kind}\` |`)) ?? ""
  const common = new Set(["kind", "version", "subject", "message", "since"])
  const seen = new Set<string>()
  for (let seed = 0; seen.size < NOTICE_KINDS.length; seed++) {
    for (const { payload } of noticesOf(factsOf(new Random(seed))).notices) {
      seen.add(payload.kind)
      const line = lineOf(payload.kind === "type.created" ? "column.created" : payload.kind)
      for (const name of Object.keys(payload)) {
        if (!common.has(name)) assert.include(line, `\`${name}\``, payload.kind)
      }
    }
  }
  assert.notStrictEqual(lineOf("type.created"), "")
  assert.lengthOf(lines, NOTICE_KINDS.length)
})
