/** A destination in a bucket: the contract, its signatures, and what a service may refuse. */
import type { DestinationPlace } from "@data-cabinet/core/destination/Destination"
import { bucketUrl, S3_SETTINGS, type S3Credentials } from "@data-cabinet/core/destination/S3Settings"
import { FEED_START } from "@data-cabinet/core/feed/FeedStore"
import { parseNetwork } from "@data-cabinet/core/network/IpAddress"
import { s3Destination } from "@data-cabinet/delivery/destination/S3Destination"
import { signedHeaders, uriEncode } from "@data-cabinet/delivery/destination/SignatureV4"
import { type EncodeSlice, sliceName } from "@data-cabinet/delivery/destination/SliceName"
import { layer as names } from "@data-cabinet/delivery/outgoing/NameLookup"
import { layer as client, PinnedClient } from "@data-cabinet/delivery/outgoing/PinnedClient"
import aws4 from "aws4"
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, beforeEach, it } from "vitest"
import { destinationContract, place, sliceOf } from "../../../../test/support/destinationContract.ts"
import { randomOf, seeded } from "../../../../test/support/random.ts"
import { type Refusal, S3_KEYS, type S3Service, startS3 } from "../../../../test/support/s3Service.ts"

const lines: EncodeSlice = async function* ({ events }) {
  for (const items of events) for (const text of items.texts()) yield Buffer.from(`${text}\n`)
}

let service: S3Service
let pinned: PinnedClient["Service"]
const runtime = ManagedRuntime.make(
  client({ allowedNetworks: [parseNetwork("127.0.0.0/8")!] }).pipe(Layer.provide(names({ hostsFile: "/dev/null" }))),
)
beforeAll(async () => {
  service = await startS3()
  pinned = await runtime.runPromise(PinnedClient.use(Effect.succeed))
})
afterAll(async () => {
  await runtime.dispose()
  await service.close()
})
beforeEach(() => {
  service.objects.clear()
  service.refuse = () => null
  service.keys = S3_KEYS
  service.pageKeys = 1000
  service.requests.length = 0
})

const placeOf = (of: Partial<DestinationPlace> = {}): DestinationPlace => ({
  ...S3_SETTINGS.defaults,
  location: "s3://events/feed/orders",
  format: "ndjson",
  tag: "aaaaaaaa",
  credentials: S3_KEYS,
  endpoint: service.endpoint,
  ...of,
})
const openAt = (of: Partial<DestinationPlace> = {}, keys: S3Credentials = S3_KEYS) =>
  s3Destination(pinned, placeOf(of), keys, lines)
const run = <A, E>(work: Effect.Effect<A, E>) => Effect.runPromise(work)
const failureOf = async (of: Partial<DestinationPlace> = {}, keys?: S3Credentials) =>
  (await run(Effect.flip(openAt(of, keys).write(sliceOf(0, 1))))).message

destinationContract("A bucket", () => ({
  open: (tag, format) => openAt({ tag, format }),
  lines: () =>
    service.names("feed/orders/").flatMap((name) => service.objects.get(name)!.toString().split("\n").slice(0, -1)),
}))

it("A bucket's position is found among more objects than a page has, and those of others at either end of them", async () => {
  service.pageKeys = 2
  for (let id = 0; id < 9; id++) await run(openAt().write(sliceOf(id, id + 1)))
  assert.deepEqual(await run(openAt().position(FEED_START)), place(9))
  assert.deepEqual(await run(openAt().position(place(7))), place(9))
  assert.isNull(await run(openAt().position(place(9))))
  for (const tag of ["0aaaaaaa", "ffffffff"]) {
    const strange = `feed/orders/${sliceName({ tag, format: "ndjson" }, sliceOf(0, 1))}`
    service.objects.set(strange, Buffer.from(""))
    const { message } = await run(Effect.flip(openAt().position(place(9))))
    assert.include(message, `another destination, such as ${tag}_`)
    service.objects.delete(strange)
  }
  for (const name of ["feed/orders/README", "feed/orders/0/x", "feed/other"]) service.objects.set(name, Buffer.from(""))
  assert.deepEqual(await run(openAt().position(place(8))), place(9))
})

it("A known position costs one short list more, however many objects there are", async () => {
  for (let id = 0; id < 250; id++) {
    service.objects.set(
      `feed/orders/${sliceName({ tag: "aaaaaaaa", format: "ndjson" }, sliceOf(id, id + 1))}`,
      Buffer.of(),
    )
  }
  assert.isNull(await run(openAt().position(place(250))))
  assert.lengthOf(service.requests, 2)
})

it("A bucket without a prefix, and temporary credentials, are used as they are given", async () => {
  service.keys = { ...S3_KEYS, sessionToken: "token+/=" }
  const one = openAt({ location: "s3://events", format: "parquet" }, service.keys)
  await run(one.write(sliceOf(0, 1)))
  assert.deepEqual(service.names(""), [sliceName({ tag: "aaaaaaaa", format: "parquet" }, sliceOf(0, 1))])
  assert.deepEqual(await run(one.position(FEED_START)), place(1))
  assert.match(await failureOf({}, S3_KEYS), /SignatureDoesNotMatch/)
})

const DAY = 86_400_000
it.each<[string, Refusal, RegExp]>([
  [
    "slows down",
    { status: 503, code: "SlowDown", message: "Please reduce your request rate." },
    /^The bucket refused to write a file: 503 SlowDown: Please reduce your request rate\.$/,
  ],
  [
    "fails",
    { status: 500, code: "InternalError", message: "We encountered an internal error." },
    /: 500 InternalError: We encountered/,
  ],
  [
    "denies access",
    { status: 403, code: "AccessDenied", message: "Access Denied" },
    /: 403 AccessDenied: Access Denied\.$/,
  ],
  [
    "has expired credentials",
    { status: 400, code: "ExpiredToken", message: "The provided token has expired." },
    /ExpiredToken: .*credentials again/,
  ],
  [
    "is in another region",
    {
      status: 301,
      code: "PermanentRedirect",
      message: "Use another endpoint.",
      headers: { "x-amz-bucket-region": "eu-west-1" },
    },
    /The bucket is in the region eu-west-1/,
  ],
  [
    "responds without words",
    { status: 502, code: "", message: "", body: "<html>Bad Gateway</html>" },
    /: the response 502\.$/,
  ],
  [
    "finds the clock wrong",
    {
      status: 403,
      code: "RequestTimeTooSkewed",
      message: "Too large.",
      headers: { date: new Date(Date.now() + DAY).toUTCString() },
    },
    /The clock of this machine is 8\d{4} seconds slow/,
  ],
  [
    "repeats the secret",
    {
      status: 403,
      code: "SignatureDoesNotMatch",
      message: `<${S3_KEYS.secretAccessKey}>\u0007 and ${S3_KEYS.accessKeyId}`,
      headers: {},
    },
    /SignatureDoesNotMatch: <…> and …\. Give/,
  ],
])("A bucket that %s says so", async (_, refusal, words) => {
  service.refuse = ({ method }) => (method === "PUT" ? refusal : null)
  assert.match(await failureOf(), words)
  service.refuse = () => null
  await run(openAt().write(sliceOf(0, 1)))
})

it("A bucket that is not there, and a list that breaks off, are no empty place", async () => {
  assert.match(await failureOf({ location: "s3://others/feed" }), /404 NoSuchBucket: .* Create the bucket/)
  const body = "<ListBucketResult><IsTruncated>false</IsTruncated>"
  service.refuse = () => ({ status: 200, code: "", message: "", body })
  const { message } = await run(Effect.flip(openAt().position(FEED_START)))
  assert.match(message, /an incomplete list/)
})

it("A bucket whose service ignores where a list is to continue is given up", async () => {
  const cut = "<IsTruncated>true</IsTruncated><NextContinuationToken>2</NextContinuationToken>"
  const body = `<ListBucketResult>${cut}</ListBucketResult>`
  service.refuse = () => ({ status: 200, code: "", message: "", body })
  const { message } = await run(Effect.flip(Effect.timeout(openAt().position(FEED_START), "5 seconds")))
  assert.match(message, /same page of a list twice/)
})

it("A bucket at an address that is not public is not reached", async () => {
  assert.match(await failureOf({ endpoint: "http://10.1.2.3:9000" }), /10\.1\.2\.3 is not a public address/)
})

it("bucketUrl names the bucket where the style says, by default as the service does", () => {
  const { defaults } = S3_SETTINGS
  const own = { ...defaults, endpoint: "https://s3.example.com:9000" }
  assert.strictEqual(bucketUrl("events", defaults), "https://events.s3.us-east-1.amazonaws.com")
  assert.strictEqual(bucketUrl("a.b", { ...defaults, urlStyle: "path" }), "https://s3.us-east-1.amazonaws.com/a.b")
  assert.strictEqual(bucketUrl("events", own), "https://s3.example.com:9000/events")
  assert.strictEqual(bucketUrl("events", { ...own, urlStyle: "virtual-host" }), "https://events.s3.example.com:9000")
})

const EXAMPLE = {
  credentials: {
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    sessionToken: null,
  },
  region: "us-east-1",
  at: new Date("2013-05-24T00:00:00Z"),
}
const signatureOf = (authorization = "") => /Signature=([0-9a-f]+)$/.exec(authorization)?.[1]

it.each<[string, string, Record<string, string>, string, string]>([
  ["GET", "/test.txt", { range: "bytes=0-9" }, "", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"],
  [
    "PUT",
    "/test%24file.text",
    { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
    "Welcome to Amazon S3.",
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  ["GET", "/?lifecycle", {}, "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"],
  ["GET", "/?max-keys=2&prefix=J", {}, "", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"],
])("signedHeaders gives the signature that Amazon published: %s %s", (method, path, headers, text, signature) => {
  const url = new URL(`https://examplebucket.s3.amazonaws.com${path}`)
  const { authorization } = signedHeaders({ method, url, headers, body: Buffer.from(text) }, EXAMPLE)
  assert.strictEqual(signatureOf(authorization), signature)
})

it("signedHeaders signs any request as another program does", () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = seeded(seed)
    const word = () => Array.from({ length: 1 + random(6) }, () => randomOf(random, [..."aZ0-._~ +/&=*'()!ж"])).join("")
    const path = `/${Array.from({ length: random(4) }, () => uriEncode(word().replaceAll("/", ""))).join("/")}`
    const query = Array.from({ length: random(4) }, (_, n) => `${uriEncode(word())}${n}=${uriEncode(word())}`).join("&")
    const url = new URL(`https://bucket.example.com:8443${path}?${query}`)
    const body = Buffer.from(word())
    const credentials = { ...EXAMPLE.credentials, sessionToken: random(2) === 0 ? null : "a/b+c==" }
    const headers = signedHeaders(
      { method: "PUT", url, headers: { "content-type": "a/b;  c" }, body },
      { ...EXAMPLE, credentials },
    )
    const { authorization, ...sent } = headers
    const again = aws4.sign(
      {
        service: "s3",
        region: "us-east-1",
        host: url.host,
        method: "PUT",
        path: url.pathname + url.search,
        headers: sent,
        extraHeadersToIgnore: { "content-length": true },
      },
      { ...credentials, sessionToken: undefined },
    )
    assert.strictEqual(
      signatureOf(authorization),
      signatureOf(again.headers["Authorization"]),
      `seed ${seed}: ${url.href}`,
    )
  }
})
