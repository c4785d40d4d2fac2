/** Where a destination may be: what looks like a place and is none is refused, with the part that is wrong and none of its text. */
import { checkPlace } from "@data-cabinet/core/destination/CheckDestination"
import { readBrokers } from "@data-cabinet/core/destination/NatsSettings"
import { S3_SETTINGS } from "@data-cabinet/core/destination/S3Settings"
import { Effect } from "effect"
import { assert, it } from "vitest"

const refusal = (endpoint: string) => S3_SETTINGS.refusal({ endpoint, region: null, urlStyle: null })?.message ?? null

it.each([
  ["nats://h\\:99999", 9, /no path/],
  ["nats://h/:4222", 9, /no path/],
  ["nats://h:99999", 10, /a port is/],
  ["nats://h:0", 10, /a port is/],
  ["nats://h:", 10, /a port is/],
  ["nats://h:4222x", 10, /a port is/],
  ["nats://", 8, /the host must be/],
  ["nats://a..b", 8, /the host must be/],
  ["nats://$(id)", 8, /the host must be/],
  ["nats://a\tb", 8, /the host must be/],
  ["nats://a\u0000b", 8, /the host must be/],
  ["nats://h%41", 8, /the host must be/],
  ["nats://::1", 8, /the host must be/],
  ["nats://[::1", 8, /the host must be/],
  ["nats://300.1.1.1", 8, /the host must be/],
  ["nats://secret:word@h", 19, /no user and no password/],
  ["nats://h?tls=no", 9, /no query/],
  ["nats://h#secret", 9, /no query and no fragment/],
  ["nats:/h", 1, /begin with nats:\/\/ or tls:\/\//],
  ["https://h\\x", 10, /no path/],
  ["https://h?", 10, /no query/],
  ["https://h#", 10, /no query and no fragment/],
  ["https://@h", 9, /no user and no password/],
  ["https://h:0", 11, /a port is/],
  ["https://exa\nmple.com", 9, /the host must be/],
  ["ftp://h", 1, /begin with https:\/\/ or http:\/\//],
])("the endpoint %j is refused from character %i", (endpoint, at, why) => {
  const message = refusal(endpoint)
  assert.match(message!, new RegExp(`^The endpoint is not valid from character ${at}: `))
  assert.match(message!, why)
  assert.notInclude(message!, "secret")
})

it("of several brokers, the one that is wrong is named", () => {
  assert.match(
    refusal("nats://a, nats://b:70000")!,
    /^Broker 2 of the endpoint is not valid from character 20: a port is/,
  )
  assert.match(refusal("nats://a,")!, /^Broker 2 of the endpoint is not valid from character 10: it must begin/)
  assert.match(refusal("nats://a,https://b")!, /^Broker 2 .* from character 10: it must begin/)
  assert.match(refusal(Array.from({ length: 10 }, () => "nats://a").join())!, /up to 9 brokers/)
})

it.each([
  ["nats://nats.example.com", "nats://nats.example.com:4222"],
  ["TLS://B\u00fccher.example:80/", "tls://xn--bcher-kva.example:80"],
  ["nats://[2001:DB8::1]:5000", "nats://[2001:db8::1]:5000"],
  ["nats://0x7f.1", "nats://127.0.0.1:4222"],
  ["nats://a , tls://my_broker.", "nats://a:4222,tls://my_broker.:4222"],
])("the brokers %j are stored as %s", (endpoint, stored) => {
  assert.isNull(refusal(endpoint))
  const brokers = readBrokers(endpoint)
  assert.strictEqual(Array.isArray(brokers) && brokers.map(({ text }) => text).join(), stored)
  assert.strictEqual(S3_SETTINGS.declared.endpoint.stored(endpoint), stored)
})

it.each([
  ["../events", /name 1 is not/],
  ["events/../../etc", /name 2 is not/],
  ["/etc", /name 1 is not/],
  ["events/", /name 2 is not/],
  ["events\u0000", /name 1 is not/],
  ["events\n", /name 1 is not/],
  ["\u0441\u043e\u0431\u044b\u0442\u0438\u044f", /name 1 is not/],
  ["events\\orders", /name 1 is not/],
  ["events/%2e%2e", /name 2 is not/],
  ["https://h/events", /name 1 is not/],
  ["a/b/c/d/e/f/g/h/i/j/k", /has 11 names/],
  ["s3://", /the bucket is not/],
  ["s3://ab..cd", /the bucket is not/],
  ["s3://b\u00fccher", /the bucket is not/],
  ["s3://secret:word@bucket/x", /user or a password/],
  ["s3://bucket/../x", /name 1 is not/],
  ["s3://bucket/x/", /name 2 is not/],
  ["s3://bucket/x?secret", /name 1 is not/],
  ["s3://bucket#secret", /the bucket is not/],
  ["nats://EVENTS/a*", /the stream or the subject/],
  ["nats://EVENTS:4222", /the stream or the subject/],
  ["nats://EVENTS/a/b", /the stream or the subject/],
  ["nats://secret@EVENTS", /user or a password/],
])("the location %j is refused", async (location, why) => {
  const check = { check: () => Effect.die("not reached") }
  const place = { location, format: "ndjson", ...S3_SETTINGS.defaults, credentials: null } as const
  const { code, message } = await Effect.runPromise(Effect.flip(checkPlace(check, place, null)))
  assert.strictEqual(code, "bad_location")
  assert.match(message, why)
  assert.notInclude(message, "secret")
})
