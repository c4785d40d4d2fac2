import { createHash, createHmac } from "node:crypto"
import { isKnown, RECIPE_NAMES, type RecipeName, RECIPES, tokenRecipe } from "@data-cabinet/core/verification/Recipes"
import { hmacRecipe } from "@data-cabinet/core/verification/HmacSetting"
import { type SignedRequest, type Verdict, verifySender } from "@data-cabinet/core/verification/VerifySender"
import { expect, it } from "vitest"

const PASSED: Verdict = { verified: true }
const refused = (reason: string) => ({ verified: false, reason })

const request = (
  body: string | Uint8Array,
  headers: SignedRequest["headers"],
  url = "https://data.example/webhook/x",
) => ({
  headers,
  body: Buffer.from(body),
  url,
})

/** Examples from each sender's documentation or library, with secret and time. */
const mac = (algorithm: string, key: string | Buffer, text: string | Buffer, encoding: "hex" | "base64") =>
  createHmac(algorithm, key).update(text).digest(encoding)

const STRIPE_BODY = '{"id":"evt_1","object":"event"}'
const SLACK_BODY =
  "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"

const NOW = 1_614_265_330
const WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const standardSignature = mac("sha256", Buffer.from(WHSEC.slice(6), "base64"), `msg_1.${NOW}.{"test":1}`, "base64")

interface Example {
  readonly recipe: keyof typeof RECIPES
  readonly secret: string
  readonly now: number
  readonly request: SignedRequest
}

const EXAMPLES: ReadonlyArray<Example> = [
  {
    // docs.github.com, "Validating webhook deliveries".
    recipe: "github",
    secret: "It's a Secret to Everybody",
    now: NOW,
    request: request("Hello, World!", {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    }),
  },
  {
    // docs.slack.dev, "Verifying requests from Slack".
    recipe: "slack",
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    now: 1_531_420_618,
    request: request(SLACK_BODY, {
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
      "x-slack-request-timestamp": "1531420618",
    }),
  },
  {
    recipe: "stripe",
    secret: "whsec_test",
    now: NOW,
    request: request(STRIPE_BODY, {
      "stripe-signature": `t=${NOW},v1=${"0".repeat(64)},v1=${mac("sha256", "whsec_test", `${NOW}.${STRIPE_BODY}`, "hex")},v0=00`,
    }),
  },
  {
    // twilio.com/docs, "Webhooks security".
    recipe: "twilio",
    secret: "12345",
    now: NOW,
    request: request(
      "To=%2B18005551212&From=%2B12349013030&Digits=1234&Caller=%2B12349013030&CallSid=CA1234567890ABCDE",
      {
        "content-type": "application/x-www-form-urlencoded",
        "x-twilio-signature": "0/KCTR6DLpKmkAf8muzZqo1nDgQ=",
      },
      "https://mycompany.com/myapp.php?foo=1&bar=2",
    ),
  },
  {
    recipe: "shopify",
    secret: "hush",
    now: NOW,
    request: request('{"id":1}', { "x-shopify-hmac-sha256": mac("sha256", "hush", '{"id":1}', "base64") }),
  },
  {
    recipe: "woocommerce",
    secret: "hush",
    now: NOW,
    request: request('{"id":1}', { "x-wc-webhook-signature": mac("sha256", "hush", '{"id":1}', "base64") }),
  },
  {
    recipe: "standard-webhooks",
    secret: WHSEC,
    now: NOW,
    request: request('{"test":1}', {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(NOW),
      "webhook-signature": `v1a,other v1,AAAA v1,${standardSignature}`,
    }),
  },
  {
    recipe: "svix",
    secret: WHSEC,
    now: NOW,
    request: request('{"test":1}', {
      "svix-id": "msg_1",
      "svix-timestamp": String(NOW),
      "svix-signature": `v1,${standardSignature}`,
    }),
  },
  {
    recipe: "paddle",
    secret: "pdl_ntfset",
    now: NOW,
    request: request("{}", { "paddle-signature": `ts=${NOW};h1=${mac("sha256", "pdl_ntfset", `${NOW}:{}`, "hex")}` }),
  },
  {
    recipe: "square",
    secret: "hush",
    now: NOW,
    request: request("{}", {
      "x-square-hmacsha256-signature": mac("sha256", "hush", "https://data.example/webhook/x{}", "base64"),
    }),
  },
  {
    recipe: "zoom",
    secret: "hush",
    now: NOW,
    request: request("{}", {
      "x-zm-signature": `v0=${mac("sha256", "hush", `v0:${NOW}:{}`, "hex")}`,
      "x-zm-request-timestamp": String(NOW),
    }),
  },
  {
    // documentation.mailgun.com, "Securing webhooks".
    recipe: "mailgun",
    secret: "key-hush",
    now: NOW,
    request: request(
      JSON.stringify({
        signature: {
          timestamp: String(NOW),
          token: "a8ce0edb",
          signature: mac("sha256", "key-hush", `${NOW}a8ce0edb`, "hex"),
        },
        "event-data": { event: "opened" },
      }),
      { "content-type": "application/json" },
    ),
  },
  { recipe: "gitlab", secret: "hush", now: NOW, request: request("{}", { "x-gitlab-token": "hush" }) },
  { recipe: "bearer", secret: "hush", now: NOW, request: request("{}", { authorization: "Bearer hush" }) },
  {
    recipe: "basic",
    secret: "ada:hush",
    now: NOW,
    request: request("{}", { authorization: `Basic ${Buffer.from("ada:hush").toString("base64")}` }),
  },
]

const NAMES = new Set(EXAMPLES.map(({ recipe }) => recipe))

it("every recipe has an example", () => {
  expect([...NAMES].sort()).toEqual(Object.keys(RECIPES).sort())
})

it.each(EXAMPLES)("$recipe: accepts its own request, also with a second secret during a rotation", (example) => {
  const recipe = RECIPES[example.recipe]
  const { now, secret } = example
  expect(verifySender(recipe, example.request, { now, secrets: [secret] })).toEqual(PASSED)
  expect(verifySender(recipe, example.request, { now, secrets: ["whsec_b3RoZXI=", secret] })).toEqual(PASSED)
})

it.each(EXAMPLES)("$recipe: refuses with a wrong, missing or empty secret", (example) => {
  const recipe = RECIPES[example.recipe]
  const { now } = example
  for (const secrets of [[`${example.secret.slice(0, -4)}AAAA`], [], [""], ["whsec_"]]) {
    expect(verifySender(recipe, example.request, { now, secrets })).toEqual(refused("bad_signature"))
  }
})

it.each(EXAMPLES.filter(({ recipe }) => recipe !== "mailgun"))(
  "$recipe: a request without each of its headers is refused",
  (example) => {
    const recipe = RECIPES[example.recipe]
    const options = { now: example.now, secrets: [example.secret] }
    for (const name of Object.keys(example.request.headers)) {
      const { [name]: _, ...headers } = example.request.headers
      expect(verifySender(recipe, { ...example.request, headers }, options)).toMatchObject({ verified: false })
    }
  },
)

/** Mailgun does not sign the body, and accepts a time from hours ago. */
const SIGNED_BODIES = EXAMPLES.filter(({ recipe }) => RECIPES[recipe].kind === "hmac" && recipe !== "mailgun")

it.each(SIGNED_BODIES)("$recipe: a changed byte, another body and a broken signature are refused", (example) => {
  const recipe = RECIPES[example.recipe]
  const options = { now: example.now, secrets: [example.secret] }
  const { body, headers } = example.request
  const changed = Buffer.from(body)
  changed[changed.length - 1]! ^= 1
  expect(verifySender(recipe, { ...example.request, body: changed }, options)).toEqual(refused("bad_signature"))
  for (const broken of ["", "x", "v1=,t=", "v1,", "sha256=", "v0=", "\0"]) {
    for (const name of Object.keys(headers).filter((one) => one.includes("signature") || one.includes("hmac"))) {
      const verdict = verifySender(recipe, { ...example.request, headers: { ...headers, [name]: broken } }, options)
      expect(verdict.verified).toBe(false)
    }
  }
})

it.each(SIGNED_BODIES.filter(({ recipe }) => "timestamp" in RECIPES[recipe]))(
  "$recipe: a time of more than five minutes ago or ahead is refused, one of five minutes is not",
  (example) => {
    const at = (now: number) =>
      verifySender(RECIPES[example.recipe], example.request, { now, secrets: [example.secret] })
    for (const [off, verdict] of [
      [300, PASSED],
      [-300, PASSED],
      [301, refused("old_timestamp")],
      [-301, refused("old_timestamp")],
    ] as const) {
      expect(at(example.now + off)).toEqual(verdict)
    }
  },
)

it("twilio: a body that is not a form puts its hash into the signed address", () => {
  const body = '{"a":1}'
  const digest = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
  const url = `https://mycompany.com/in?bodySHA256=${digest}`
  const headers = { "content-type": "application/json", "x-twilio-signature": mac("sha1", "12345", url, "base64") }
  const options = { now: NOW, secrets: ["12345"] }
  expect(verifySender(RECIPES.twilio, request(body, headers, url), options)).toEqual(PASSED)
  expect(verifySender(RECIPES.twilio, request('{"a":2}', headers, url), options)).toEqual(refused("bad_signature"))
  const bare = { ...headers, "x-twilio-signature": mac("sha1", "12345", "https://mycompany.com/in", "base64") }
  expect(verifySender(RECIPES.twilio, request(body, bare, "https://mycompany.com/in"), options)).toEqual(
    refused("bad_signature"),
  )
})

/** How each sender signs arbitrary bytes, implemented without our recipes. */
/** The signatures of Mailgun and of Amazon SNS are in the body. */
type SignedOutside = Exclude<RecipeName, "mailgun" | "sns">

const SIGNERS: Readonly<
  Record<SignedOutside, (body: Buffer) => { readonly headers: SignedRequest["headers"]; readonly url?: string }>
> = {
  github: (body) => ({ headers: { "x-hub-signature-256": `sha256=${mac("sha256", "hush", body, "hex")}` } }),
  stripe: (body) => ({
    headers: { "stripe-signature": `t=${NOW},v1=${mac("sha256", "hush", joined(`${NOW}.`, body), "hex")}` },
  }),
  slack: (body) => ({
    headers: {
      "x-slack-request-timestamp": String(NOW),
      "x-slack-signature": `v0=${mac("sha256", "hush", joined(`v0:${NOW}:`, body), "hex")}`,
    },
  }),
  zoom: (body) => ({
    headers: {
      "x-zm-request-timestamp": String(NOW),
      "x-zm-signature": `v0=${mac("sha256", "hush", joined(`v0:${NOW}:`, body), "hex")}`,
    },
  }),
  shopify: (body) => ({ headers: { "x-shopify-hmac-sha256": mac("sha256", "hush", body, "base64") } }),
  woocommerce: (body) => ({ headers: { "x-wc-webhook-signature": mac("sha256", "hush", body, "base64") } }),
  "standard-webhooks": (body) => ({ headers: standardHeaders("webhook", body) }),
  svix: (body) => ({ headers: standardHeaders("svix", body) }),
  paddle: (body) => ({
    headers: { "paddle-signature": `ts=${NOW};h1=${mac("sha256", "hush", joined(`${NOW}:`, body), "hex")}` },
  }),
  square: (body) => ({
    headers: {
      "x-square-hmacsha256-signature": mac("sha256", "hush", joined("https://data.example/webhook/x", body), "base64"),
    },
  }),
  twilio: (body) => {
    const url = `https://data.example/webhook/x?bodySHA256=${createHash("sha256").update(body).digest("hex")}`
    return { url, headers: { "x-twilio-signature": mac("sha1", "hush", url, "base64") } }
  },
  hmac: (body) => ({
    headers: { "x-sig": `v=${mac("sha512", "hush", joined(`${NOW}.`, body), "base64")}`, "x-time": String(NOW) },
  }),
  token: () => ({ headers: {}, url: "https://data.example/webhook/x?a=1&token=hu%73h" }),
  gitlab: () => ({ headers: { "x-gitlab-token": "hush" } }),
  bearer: () => ({ headers: { authorization: "bearer  hush" } }),
  basic: () => ({ headers: { authorization: `BASIC ${Buffer.from("ключ:hush").toString("base64")}` } }),
}

const joined = (start: string, body: Buffer) => Buffer.concat([Buffer.from(start), body])

const standardHeaders = (family: string, body: Buffer) => ({
  [`${family}-id`]: "msg_1",
  [`${family}-timestamp`]: String(NOW),
  [`${family}-signature`]: `v1,${mac("sha256", Buffer.from(WHSEC.slice(6), "base64"), joined(`msg_1.${NOW}.`, body), "base64")}`,
})

const HMAC = hmacRecipe({
  header: "X-Sig",
  algorithm: "sha512",
  encoding: "base64",
  prefix: "v=",
  timestampHeader: "X-Time",
  toleranceSeconds: 10,
})

const SECRETS: Partial<Record<RecipeName, string>> = {
  "standard-webhooks": WHSEC,
  svix: WHSEC,
  basic: "ключ:hush",
}

const SIGNED_OUTSIDE = RECIPE_NAMES.filter((name): name is SignedOutside => name !== "mailgun" && name !== "sns")

it.each(SIGNED_OUTSIDE)("%s: accepts a batch, binary bytes and a megabyte, but not with one byte changed", (name) => {
  const recipe = isKnown(name) ? RECIPES[name] : name === "hmac" ? HMAC : tokenRecipe({ query: "token" })
  const options = { now: NOW, secrets: ["whsec_b3RoZXI=", SECRETS[name] ?? "hush"] }
  const bodies = [
    Buffer.from('[{"a":1},{"a":2}]'),
    Buffer.from([0x1f, 0x8b, 0, 0xff, 0xfe]),
    Buffer.alloc(1_048_576, "x"),
  ]
  for (const body of bodies) {
    const signed = SIGNERS[name](body)
    const sent = request(body, signed.headers, signed.url)
    expect(verifySender(recipe, sent, options)).toEqual(PASSED)
    if (recipe.kind === "plain") continue
    const changed = Buffer.from(body)
    changed[body.length >> 1]! ^= 1
    expect(verifySender(recipe, { ...sent, body: changed }, options)).toEqual(refused("bad_signature"))
    expect(verifySender(recipe, { ...sent, body: body.subarray(1) }, options)).toEqual(refused("bad_signature"))
    expect(verifySender(recipe, { ...sent, body: Buffer.alloc(0) }, options)).toEqual(refused("bad_signature"))
  }
})

it("hmac: the timestamp is signed, and checked after the signature", () => {
  const body = Buffer.from("{}")
  const { headers } = SIGNERS.hmac(body)
  const at = (now: number, more = {}) =>
    verifySender(HMAC, request(body, { ...headers, ...more }), { now, secrets: ["hush"] })
  expect([at(NOW + 10), at(NOW + 11), at(NOW - 11)]).toEqual([
    PASSED,
    refused("old_timestamp"),
    refused("old_timestamp"),
  ])
  expect(at(NOW + 11, { "x-time": String(NOW + 11) })).toEqual(refused("bad_signature"))
  for (const time of ["", "1e9", "-1", " 1614265330", "16142653301614265330", `${NOW}.0`]) {
    expect(at(NOW, { "x-time": time })).toMatchObject({ verified: false })
  }
  const bare = hmacRecipe({
    header: "X-Sig",
    algorithm: "sha1",
    encoding: "hex",
    prefix: "",
    timestampHeader: null,
    toleranceSeconds: 1,
  })
  const signed = request(body, { "x-sig": mac("sha1", "hush", body, "hex").toUpperCase() })
  expect(verifySender(bare, signed, { now: NOW, secrets: ["hush"] })).toEqual(PASSED)
})

it("twilio: a signature over another kind of body is not accepted for a form, nor without its body", () => {
  const options = { now: NOW, secrets: ["hush"] }
  const { headers, url } = SIGNERS.twilio(Buffer.from('{"a":1}'))
  const form = { ...headers, "content-type": "application/x-www-form-urlencoded" }
  for (const body of ["", "a=1", '{"a":2}']) {
    for (const sent of [headers, form]) {
      expect(verifySender(RECIPES.twilio, request(body, sent, url), options)).toEqual(refused("bad_signature"))
    }
  }
  const plain = "https://data.example/webhook/x"
  const signed = { "x-twilio-signature": mac("sha1", "hush", `${plain}a1`, "base64") }
  const sent = (type: string) => request("a=1", { ...signed, "content-type": type }, plain)
  expect(verifySender(RECIPES.twilio, sent("application/x-www-form-urlencoded;charset=UTF-8"), options)).toEqual(PASSED)
  for (const type of ["application/x-www-form-urlencodedness", "text/plain", "multipart/form-data"]) {
    expect(verifySender(RECIPES.twilio, sent(type), options)).toEqual(refused("bad_signature"))
  }
})
