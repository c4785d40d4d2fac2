/** An object's JSON never contains its secret, even if the program has it at hand. */
import { type IssuedKey, apiKeyShape } from "@data-cabinet/core/key/ApiKey"
import { accessTokenShape, type IssuedAccessToken } from "@data-cabinet/core/key/AccessToken"
import { type Poll, pollShape } from "@data-cabinet/core/poll/Poll"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { ownSourceShape, sourceShape } from "@data-cabinet/core/source/SourceShape"
import { assert, it } from "@effect/vitest"

const SECRET = "not to be shown"
const AT = "2026-01-02T03:04:05Z"

it("sourceShape omits the secret, and for a reader also the settings", () => {
  // A store's slip.
  const withSecret = { kind: "turnstile" as const, siteKey: "0x4AAA", secret: SECRET }
  const source: SourceWithSecret = {
    id: 1,
    name: "Orders",
    archived: false,
    table: { schema: "sources", name: "orders" },
    createdAt: AT,
    encoding: "windows-1251",
    thanksUrl: "https://example.com/thanks",
    keepHeaders: ["X-GitHub-*"],
    headerFields: ["X-GitHub-Event"],
    keepQuery: true,
    nestBrackets: true,
    verify: {
      recipe: "hmac",
      mode: "mark",
      hmac: {
        header: "X-Signature",
        algorithm: "sha1",
        encoding: "hex",
        prefix: "sha1=",
        timestampHeader: "X-Time",
        toleranceSeconds: 60,
      },
      keepsOldSecret: true,
    },
    challenge: { provider: "meta" as const },
    proof: withSecret,
    rate: 600,
    schema: "{}",
    honeypot: "website",
    allowOrigins: ["https://example.com"],
    inbox: "on",
    inboxName: "who",
    inboxEmail: "answer to",
    inboxSubject: "what",
    inboxMessage: "words",
    oldSecretUntil: AT,
    limited: { count: 3, since: AT, lastAt: AT },
    intakeSecret: SECRET,
  }
  assert.deepStrictEqual(sourceShape.json(source), {
    id: 1,
    name: "Orders",
    archived: false,
    table: { schema: "sources", name: "orders" },
    created_at: AT,
  })
  assert.deepStrictEqual(ownSourceShape.json(source), {
    ...sourceShape.json(source),
    encoding: "windows-1251",
    thanks_url: "https://example.com/thanks",
    keep_headers: ["X-GitHub-*"],
    header_fields: ["X-GitHub-Event"],
    keep_query: true,
    nest_brackets: true,
    verify: {
      recipe: "hmac",
      mode: "mark",
      hmac: {
        header: "X-Signature",
        algorithm: "sha1",
        encoding: "hex",
        prefix: "sha1=",
        timestamp_header: "X-Time",
        tolerance_seconds: 60,
      },
      keeps_old_secret: true,
    },
    challenge: { provider: "meta" },
    proof: { kind: "turnstile", site_key: "0x4AAA" },
    rate: 600,
    schema: "{}",
    honeypot: "website",
    allow_origins: ["https://example.com"],
    inbox: "on",
    inbox_name: "who",
    inbox_email: "answer to",
    inbox_subject: "what",
    inbox_message: "words",
    old_secret_until: AT,
    limited: { count: 3, since: AT, last_at: AT },
  })
})

it("keys, tokens and polls are shown without their secrets", () => {
  const common = { id: 1, name: "reader", prefix: "dck_abcdef", createdAt: AT, expiresAt: null, revokedAt: null }
  const key: IssuedKey = { ...common, lastRequestAt: null, key: SECRET }
  const token: IssuedAccessToken = { ...common, role: "viewer", only: null, lastUsedAt: null, token: SECRET }
  const poll: Poll & { readonly headers: string } = {
    id: 1,
    sourceId: 2,
    url: "https://example.com/items",
    everySeconds: 60,
    format: null,
    pointer: "",
    keyField: null,
    headerNames: ["Authorization"],
    createdAt: AT,
    paused: false,
    dueAt: AT,
    failures: 0,
    firstAt: null,
    headers: SECRET,
  }
  for (const shown of [apiKeyShape.json(key), accessTokenShape.json(token), pollShape.json(poll)]) {
    assert.notInclude(JSON.stringify(shown), SECRET)
    assert.isTrue(Object.keys(shown).every((name) => /^[a-z_]+$/.test(name)))
  }
})
