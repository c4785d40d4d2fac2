import type { Source } from "@data-cabinet/core/source/Source"
import { ownSourceShape, sourceShape, sourceWithAddressShape, withAddress } from "@data-cabinet/core/source/SourceShape"
import { expect, it } from "vitest"
import { HMAC } from "../verification/exampleVerification.ts"
import { SOURCE } from "./exampleSource.ts"

const FULL: Source = {
  ...SOURCE,
  honeypot: "website",
  verify: HMAC,
  challenge: { provider: "meta" },
  proof: { kind: "turnstile", siteKey: "0x4AAA" },
  limited: { count: 3, since: "2026-01-01T00:00:00Z", lastAt: "2026-01-01T01:00:00Z" },
}

const FOR_READERS = {
  id: 1,
  name: "Orders",
  archived: false,
  table: { schema: "sources", name: "orders" },
  created_at: "2026-01-01T00:00:00Z",
}

const withSecret = (source: Source) => ({ ...source, intakeSecret: "abc" })

it("sourceShape shows a reader neither settings nor intake address", () => {
  expect(sourceShape.json(withSecret(FULL))).toEqual(FOR_READERS)
  expect(sourceShape.json({ ...SOURCE, table: null })).toEqual({ ...FOR_READERS, table: null })
})

it("ownSourceShape shows every setting, but not the intake address", () => {
  expect(ownSourceShape.json(withSecret(SOURCE))).toEqual({
    ...FOR_READERS,
    encoding: null,
    thanks_url: null,
    keep_headers: [],
    header_fields: [],
    keep_query: false,
    nest_brackets: false,
    honeypot: null,
    allow_origins: [],
    inbox: null,
    inbox_name: null,
    inbox_email: null,
    inbox_subject: null,
    inbox_message: null,
    verify: null,
    challenge: null,
    proof: null,
    rate: null,
    schema: null,
    old_secret_until: null,
    limited: null,
  })
  expect(ownSourceShape.json(FULL)).toMatchObject({
    verify: {
      recipe: "hmac",
      mode: "mark",
      hmac: {
        header: "X-Sig",
        algorithm: "sha512",
        encoding: "base64",
        prefix: "v=",
        timestamp_header: "X-Time",
        tolerance_seconds: 60,
      },
      keeps_old_secret: true,
    },
    challenge: { provider: "meta" },
    proof: { kind: "turnstile", site_key: "0x4AAA" },
    limited: { count: 3, since: "2026-01-01T00:00:00Z", last_at: "2026-01-01T01:00:00Z" },
  })
  const github = { recipe: "github", mode: "reject", hmac: null, keepsOldSecret: false } as const
  expect(ownSourceShape.json({ ...SOURCE, verify: github }).verify).toEqual({
    recipe: "github",
    mode: "reject",
    hmac: null,
    keeps_old_secret: false,
  })
})

it("ownSourceShape never shows the secret of a challenge or of a proof, even if a store returns it", () => {
  const proof = { kind: "hcaptcha", siteKey: "1", secret: "shared" } as const
  expect(ownSourceShape.json({ ...SOURCE, proof }).proof).toEqual({ kind: "hcaptcha", site_key: "1" })
  const challenge = { provider: "meta", secret: "shared" } as const
  expect(ownSourceShape.json({ ...SOURCE, challenge }).challenge).toEqual({ provider: "meta" })
})

it("sourceWithAddressShape has the URLs of intake and rows below the base URL", () => {
  const base = { url: "https://cabinet.example", known: true }
  const revealed = sourceWithAddressShape.json(withAddress(withSecret(SOURCE), base))
  expect(revealed).toEqual({
    ...ownSourceShape.json(SOURCE),
    intake_url: "https://cabinet.example/webhook/abc",
    intake_path: "/webhook/abc",
    rows_url: "https://cabinet.example/api/v1/tables/sources/orders/rows",
    base_url_known: true,
  })
  expect(Object.keys(revealed).slice(0, 3)).toEqual(["id", "name", "intake_url"])
  const withoutTable = sourceWithAddressShape.json(
    withAddress(withSecret({ ...SOURCE, table: null }), { ...base, known: false }),
  )
  expect(withoutTable).toMatchObject({ table: null, rows_url: null, base_url_known: false })
})
