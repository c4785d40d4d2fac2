/** Files of random cabinets, as their users might write them. */
import { type Random, randomOf } from "../../../../test/support/random.ts"

type Entry = Record<string, unknown>

const some = (random: Random, entry: Entry): Entry =>
  Object.fromEntries(Object.entries(entry).filter(() => random(3) === 0))

const several = <A>(random: Random, most: number, one: (n: number) => A): ReadonlyArray<A> =>
  Array.from({ length: random(most + 1) }, (_, n) => one(n))

const NAMES = ["Orders", "Заказы", "7", "no", "null", "a: b", "#1", "- x", "'q\" ", "{x}", "true", "2026-01-01"]

const VERIFY: ReadonlyArray<Entry> = [
  { recipe: "github", mode: "mark" },
  { recipe: "token", header: "X-Token" },
  { recipe: "token", field: "a.b" },
  { recipe: "hmac", hmac: { header: "X-Sig", encoding: "base64", prefix: "sha256=" } },
  { recipe: "hmac", hmac: { header: "X-Sig", value: "t={timestamp},v1={signature}", tolerance_seconds: 60 } },
  { recipe: "hmac", hmac: { field: "sig", signed: "{id}{body}", id_header: "X-Id", algorithm: "sha512" } },
]

const source = (random: Random, name: string): Entry => ({
  name,
  ...some(random, {
    encoding: randomOf(random, ["utf-8", "windows-1251", "latin-1", null]),
    thanks_url: "https://example.com/thanks?a=1#b",
    keep_headers: ["X-One", "X-Two-*"].slice(random(2)),
    header_fields: ["X-One"],
    keep_query: random(2) === 0,
    nest_brackets: random(2) === 0,
    rate: 1 + random(1_000_000),
    honeypot: randomOf(random, ["no", "web site", "12"]),
    allow_origins: ["https://B.example.com/", "https://a.example.com"],
    inbox: randomOf(random, ["on", "off"]),
    inbox_email: "e-mail",
    verify: { ...randomOf(random, VERIFY), secret: "env:RANDOM_SECRET" },
    challenge: randomOf<Entry>(random, [{ provider: "graph" }, { provider: "meta", secret: "env:RANDOM_SECRET" }]),
    proof: randomOf<Entry>(random, [
      { kind: "altcha" },
      { kind: "turnstile", site_key: "0x4", secret: "env:RANDOM_SECRET" },
    ]),
    archived: random(2) === 0,
  }),
})

const BODIES: ReadonlyArray<Entry> = [
  { kind: "standard" },
  { kind: "cloudevents" },
  { kind: "template", template: '{"a": "{{payload.name|no}}"}', method: "PUT", content_type: "application/x+json" },
]

const headers = (random: Random) => several(random, 2, (n) => ({ name: `X-H${n}`, value: "env:RANDOM_SECRET" }))

/** Two addresses of each cabinet have the same URL. */
const PLACES = ["twin", "twin", "a", "b", "c?token=1&b=%20", "Ж"]

const address = (random: Random, sources: ReadonlyArray<Entry>, place: string): Entry => ({
  url: `http://127.0.0.1:9/${place}`,
  ...some(random, {
    sources: randomOf(random, ["all", sources.filter(() => random(2) === 0).map(({ name }) => name)]),
    filters: several(random, 3, (n) => ({ fc: `f ${n}`, fo: randomOf(random, ["eq", "contains"]), fv: `${n}.50` })),
    headers: headers(random),
    rate: 1 + random(1000),
    timeout_seconds: 1 + random(15),
    give_up_after_seconds: 60 + random(9999),
    pause_on_gone: random(2) === 0,
    body: randomOf(random, BODIES),
    paused: random(2) === 0,
    ...(random(2) === 0 ? { order: "feed", batch: { max: 1 + random(100), wait: random(61) } } : {}),
  }),
})

const poll = (random: Random, sources: ReadonlyArray<Entry>, place: string): Entry => ({
  source: randomOf(random, sources)["name"],
  url: `http://127.0.0.1:9/${place}`,
  ...some(random, {
    every_seconds: 10 + random(9999),
    format: randomOf(random, ["json", null]),
    pointer: "/data/items",
    key_field: "id",
    headers: headers(random),
    paused: random(2) === 0,
  }),
})

const CREDENTIALS = { access_key_id: "env:RANDOM_SECRET", secret_access_key: "env:RANDOM_SECRET" }

/** Format and sources cannot change, and the sources of one cabinet are not those of the next. */
const destination = (random: Random, location: string): Entry => ({
  location,
  ...some(random, { paused: random(2) === 0, from: "now" }),
  ...(location.startsWith("s3:") ? { endpoint: "http://127.0.0.1:9/", credentials: CREDENTIALS } : {}),
  ...(location.startsWith("s3:") ? some(random, { region: "eu-west-1", url_style: "path" }) : { format: "parquet" }),
})

/** Only the file knows a batch without its order: one of the two may be missing. */
const orderly = (entry: Entry): Entry => {
  if (entry["order"] === "feed") return entry
  const { batch: _, ...rest } = entry
  return rest
}

/** Long enough for every test. */
const DAYS = { expires_in_seconds: 9 * 86_400 }

/** A file whose sections are all there, so that applying it with `--prune` makes any cabinet like it. */
export const randomFile = (random: Random) => {
  const sources = NAMES.filter(() => random(3) === 0).map((name) => source(random, name))
  const names = (of: string) => NAMES.filter(() => random(4) === 0).map((name) => `${of} ${name}`)
  const role = () => randomOf(random, ["owner", "editor", "viewer"])
  return {
    sources,
    addresses: PLACES.filter((place) => place === "twin" || random(2) === 0).map((place) =>
      orderly(address(random, sources, place)),
    ),
    polls: sources.length === 0 ? [] : ["p", "q?x=1"].slice(random(3)).map((place) => poll(random, sources, place)),
    destinations: ["s3://events", "s3://events/all", "events"]
      .filter(() => random(2) === 0)
      .map((location) => destination(random, location)),
    keys: names("key").map((name) => (random(2) === 0 ? { name } : { name: `${name} for days`, ...DAYS })),
    tokens: names("token").map((name) => {
      const of = role()
      return { name: `${name} ${of}`, role: of }
    }),
    people: [{ name: "Ada", role: "owner" }, ...names("person").map((name) => ({ name: `${name}.`, role: role() }))],
  }
}
