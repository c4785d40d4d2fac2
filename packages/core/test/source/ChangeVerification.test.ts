import { changedVerification } from "@data-cabinet/core/source/ChangeVerification"
import { RECIPE_NAMES } from "@data-cabinet/core/verification/Recipes"
import type { Verification, VerificationChange } from "@data-cabinet/core/verification/Verification"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { HMAC } from "../verification/exampleVerification.ts"

const GITHUB: Verification = { recipe: "github", mode: "reject", hmac: null, keepsOldSecret: false }
const TOKEN: Verification = {
  recipe: "token",
  mode: "reject",
  hmac: null,
  header: "X-Token",
  keepsOldSecret: false,
}
const changed = (current: Verification | null, change: VerificationChange) =>
  Effect.runSync(changedVerification(current, change))
const refused = (current: Verification | null, change: VerificationChange) =>
  Effect.runSync(Effect.flip(changedVerification(current, change)))

it("changedVerification requires the secret of a new recipe, and keeps absent fields", () => {
  const github = { recipe: "github", mode: "reject", hmac: null }
  expect(changed(null, { recipe: "github", secret: "s" })).toEqual({ ...github, secret: "s", keepOldSecret: false })
  expect(changed(GITHUB, { secret: "s" })).toEqual({ ...github, secret: "s", keepOldSecret: false })
  expect(changed(GITHUB, { secret: "s", keepOldSecret: true })).toEqual({ ...github, secret: "s", keepOldSecret: true })
  expect(changed(GITHUB, { keepOldSecret: false })).toEqual({ ...github, secret: undefined, keepOldSecret: false })
  expect(changed(GITHUB, { recipe: "github" })).toEqual({ ...github, secret: undefined, keepOldSecret: true })
})

it("changedVerification defaults the mode to reject, and keeps it when the recipe changes", () => {
  expect(changed(null, { recipe: "github", secret: "s" }).mode).toBe("reject")
  expect(changed(null, { recipe: "github", secret: "s", mode: "mark" }).mode).toBe("mark")
  expect(changed(GITHUB, { mode: "mark" })).toMatchObject({ mode: "mark", secret: undefined, keepOldSecret: true })
  expect(changed(HMAC, { recipe: "github", secret: "s" }).mode).toBe("mark")
  expect(changed(HMAC, { mode: "reject" }).mode).toBe("reject")
})

it("changedVerification accepts parameters only for hmac, with defaults for all but the header", () => {
  expect(changed(null, { recipe: "hmac", secret: "s", hmac: { header: "X-Sig" } }).hmac).toEqual({
    header: "X-Sig",
    algorithm: "sha256",
    encoding: "hex",
    prefix: "",
    timestampHeader: null,
    toleranceSeconds: 300,
  })
  expect(changed(HMAC, { hmac: { timestampHeader: null } }).hmac).toEqual({ ...HMAC.hmac, timestampHeader: null })
  expect(changed(HMAC, { recipe: "github", secret: "s" }).hmac).toBeNull()
})

it("a token keeps its place until another replaces it", () => {
  const place = (change: VerificationChange, current: Verification | null = TOKEN) => {
    const { header, query, field } = changed(current, change)
    return { header, query, field }
  }
  const none = { header: undefined, query: undefined, field: undefined }
  expect(place({ mode: "mark" })).toEqual({ ...none, header: "X-Token" })
  expect(place({ query: "key" })).toEqual({ ...none, query: "key" })
  expect(place({ field: "auth.key" })).toEqual({ ...none, field: "auth.key" })
  expect(place({ recipe: "bearer", secret: "s" })).toEqual(none)
  expect(place({ recipe: "token", secret: "s", field: "ключ" }, null)).toEqual({ ...none, field: "ключ" })
})

it("a header given as the place is the signature header for the recipe hmac", () => {
  expect(changed(HMAC, { header: "X-New" })).toMatchObject({ hmac: { ...HMAC.hmac, header: "X-New" } })
  expect(changed(HMAC, { header: "X-New" }).header).toBeUndefined()
})

it.each<[Verification | null, VerificationChange, string, RegExp]>([
  [null, {}, "bad_verify", /has no recipe yet; name one of stripe, .*hmac, token, sns\.$/],
  [null, { recipe: "gitbub" as never, secret: "s" }, "bad_verify", /the recipe must be one of stripe/],
  [null, { recipe: "toString" as never, secret: "s" }, "bad_verify", /the recipe must be one of/],
  [null, { recipe: "github" }, "bad_verify_secret", /github needs the secret/],
  [GITHUB, { recipe: "gitlab" }, "bad_verify_secret", /gitlab needs the secret/],
  [
    GITHUB,
    { recipe: "gitlab", secret: "s", keepOldSecret: true },
    "bad_verify_secret",
    /this recipe has no earlier secret/,
  ],
  [GITHUB, { mode: "ignore" as never }, "bad_verify", /the mode must be one of reject, mark/],
  [GITHUB, { hmac: { header: "X" } }, "bad_verify", /only the recipe hmac has parameters/],
  [null, { recipe: "hmac", secret: "s" }, "bad_verify", /needs the header/],
  [GITHUB, { header: "X" }, "bad_verify", /only the recipe token takes the place/],
  [HMAC, { query: "sig" }, "bad_verify", /only the recipe token takes the place/],
  [null, { recipe: "token", header: "X-Token" }, "bad_verify_secret", /token needs the secret/],
  [null, { recipe: "token", secret: "s" }, "bad_verify", /needs the place of the token/],
  [null, { recipe: "token", secret: "s", header: "X", field: "a" }, "bad_verify", /is in one place/],
  [null, { recipe: "token", secret: "s", header: "X Token" }, "bad_verify", /"X Token" is not a header's name/],
  [null, { recipe: "token", secret: "s", header: "User-Agent" }, "bad_verify", /User-Agent is kept with each request/],
  [null, { recipe: "token", secret: "s", query: "" }, "bad_verify", /1 to 200 characters/],
  [null, { recipe: "token", secret: "s", field: "a\nb" }, "bad_verify", /no control characters/],
  [null, { recipe: "token", secret: "s", field: "x".repeat(201) }, "bad_verify", /1 to 200 characters/],
  [null, { recipe: "token", secret: "s", field: "a.b.c.d.e.f.g.h.i" }, "bad_verify", /at most 8 steps/],
  [TOKEN, { hmac: { header: "X" } }, "bad_verify", /only the recipe hmac has parameters/],
  [HMAC, { hmac: { header: "X Sig" } }, "bad_verify", /"X Sig" is not a header's name/],
  [HMAC, { hmac: { timestampHeader: "X:" } }, "bad_verify", /"X:" is not a header's name/],
  [HMAC, { hmac: { algorithm: "md5" as never } }, "bad_verify", /must be one of sha1, sha256, sha512/],
  [HMAC, { hmac: { encoding: "utf8" as never } }, "bad_verify", /must be one of hex, base64/],
  [HMAC, { hmac: { prefix: "v1 =" } }, "bad_verify", /visible ASCII/],
  [HMAC, { hmac: { toleranceSeconds: 0 } }, "bad_verify", /1 to 86400 seconds/],
  [HMAC, { hmac: { toleranceSeconds: Number.NaN } }, "bad_verify", /1 to 86400 seconds/],
])("changedVerification refuses the change of %j by %j", (current, change, code, message) => {
  expect(refused(current, change)).toMatchObject({ code, message: expect.stringMatching(message) })
})

it("changedVerification refuses impossible and empty secrets, and never quotes them", () => {
  for (const recipe of RECIPE_NAMES) {
    for (const secret of ["", "enc.v1.00000000.AAAA", "a\nb", "a\0b", "\uD800", "x".repeat(1001)]) {
      const needed = recipe === "hmac" || recipe === "token" ? { header: "X" } : {}
      const error = refused(null, { recipe, secret, ...needed })
      expect(error.code).toBe("bad_verify_secret")
      if (secret !== "") expect(error.message).not.toContain(secret)
    }
  }
  for (const secret of ["hush-hush", "whsec_", "whsec_!!!!", "whsec_hush hush"]) {
    expect(refused(null, { recipe: "svix", secret })).toMatchObject({ code: "bad_verify_secret" })
    expect(refused(null, { recipe: "standard-webhooks", secret }).message).not.toContain("hush")
  }
  for (const secret of ["hush", "arn:aws:sqs:eu-central-1:123456789012:orders"])
    expect(refused(null, { recipe: "sns", secret }).message).toMatch(/the ARN of its topic/)
  expect(refused(null, { recipe: "basic", secret: "hush" }).message).toMatch(/a name, a colon and a password/)
  expect(changed(null, { recipe: "svix", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }).recipe).toBe("svix")
})
