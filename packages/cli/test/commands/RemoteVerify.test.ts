/**
 * `event verify --source S --server URL` continues through every page, with the same effect as on the cabinet's
 * machine.
 */
import { createHmac } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MAX_VERIFY_EVENTS } from "@data-cabinet/core/event/LateVerification"
import { afterAll, assert, beforeAll, it, vi } from "vitest"
import { endAll, newHome } from "../../../../test/support/cabinetProcess.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { call } from "./call.ts"

const database = withDatabase()
let dir: string
let baseUrl: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "dc-verify-"))
  for (const [name, value] of Object.entries({ DATABASE_URL: database.url, BASE_URL: "", CABINET_TOKEN: "" })) {
    vi.stubEnv(name, value)
  }
  baseUrl = (await newHome().serve([], { DATABASE_URL: database.url })).baseUrl
  vi.stubEnv("BASE_URL", baseUrl)
  vi.stubEnv("CABINET_TOKEN", (await said("token", "add", "me", "--role", "editor")).token)
})
afterAll(async () => {
  await endAll()
  vi.unstubAllEnvs()
  rmSync(dir, { recursive: true })
})

const said = async (...words: ReadonlyArray<string>) => {
  const { code, printed, said: refusal } = await call([...words, "--json"])
  assert.strictEqual(code, 0, refusal)
  return JSON.parse(printed)
}

const SECRET = "It's a Secret to Everybody"
const secretFile = (secret: string) => {
  const file = join(dir, "secret")
  writeFileSync(file, secret)
  return file
}

const BATCH = 100
const BATCHES = MAX_VERIFY_EVENTS / BATCH + 2

/** All but the last are signed with the secret that the source gets later on. */
const sendAll = async (url: string) => {
  for (let batch = 1; batch <= BATCHES; batch++) {
    const body = JSON.stringify(Array.from({ length: BATCH }, (_, n) => ({ batch, n })))
    const signature = createHmac("sha256", batch === BATCHES ? "another" : SECRET)
      .update(body)
      .digest("hex")
    const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` }
    const response = await fetch(url, { method: "POST", headers, body })
    assert.strictEqual(response.status, 200, await response.text())
  }
}

it("event verify over a server goes page by page, and a later call skips what was verified", async () => {
  const recipe = ["--verify", "github", "--verify-mode", "mark", "--keep-headers", "X-Hub-Signature-256"]
  const source = await said("source", "add", "Hub", ...recipe, "--verify-secret-file", secretFile("of before"))
  await sendAll(source.intake_url)
  await said("source", "set", "Hub", "--verify-secret-file", secretFile(SECRET))
  const sent = BATCHES * BATCH
  const words = ["event", "verify", "--source", "Hub"]
  const [verified, refused] = [sent - BATCH, BATCH]
  const first = {
    source_id: source.id,
    dry_run: false,
    seen: sent,
    outcomes: { "refused: bad_signature": refused, verified },
    deliveries: 0,
  }
  assert.deepStrictEqual(await said(...words, "--dry-run", "--server", baseUrl), { ...first, dry_run: true })
  assert.deepStrictEqual(await said(...words, "--server", baseUrl), first)
  const again = { ...first, outcomes: { "refused: bad_signature": refused } }
  assert.deepStrictEqual(await said(...words), again)
  assert.deepStrictEqual(await said(...words, "--server", baseUrl), again)
})

it.each([[[]], [["--server"]]] as const)(
  "source set %j places a token, moves it, and shows where it is",
  async (where) => {
    const server = where.length === 0 ? [] : ["--server", baseUrl]
    const name = `Token${where.length}`
    const given = ["--verify", "token", "--verify-secret-file", secretFile("hush")]
    const source = await said("source", "add", name, ...given, "--verify-header", "X-Token", ...server)
    const token = { recipe: "token", mode: "reject", hmac: null, keeps_old_secret: false }
    assert.deepStrictEqual(source.verify, { ...token, header: "X-Token" })
    const set = async (...flags: ReadonlyArray<string>) =>
      (await said("source", "set", name, ...flags, ...server)).verify
    assert.deepStrictEqual(await set("--verify-field", "auth.key"), { ...token, field: "auth.key" })
    assert.deepStrictEqual(await set("--verify-query", "key"), { ...token, query: "key" })
    assert.deepStrictEqual(await set("--verify-header", "X-Key"), { ...token, header: "X-Key" })
    assert.isTrue((await said("source", "set", name, "--nest-brackets", "on", ...server)).nest_brackets)
    const shown = await call(["source", "show", name, ...server])
    assert.match(shown.printed, /Form fields +nested by their brackets\n/)
    assert.match(shown.printed, /Verified by +token in the header X-Key\n/)
    const refused = await call(["source", "set", name, "--verify-header", "X", "--verify-prefix", "v=", ...server])
    assert.match(refused.said, /only the recipe hmac has parameters/)
    const hmac = await set("--verify", "hmac", "--verify-secret-file", secretFile("hush"), "--verify-header", "X-Sig")
    assert.strictEqual(hmac.hmac.header, "X-Sig")
    assert.strictEqual((await set("--verify-header", "X-New")).hmac.header, "X-New")
    const described = ["--verify-value", "t={timestamp},v1={signature}", "--verify-signed", "{timestamp}.{body}"]
    assert.deepInclude((await set(...described)).hmac, { value: described[1], signed: described[3], header: "X-New" })
    const fields = ["--verify-field", "sig", "--verify-value", "none", "--verify-timestamp-field", "at"]
    assert.deepStrictEqual((await set(...fields)).hmac, {
      header: null,
      algorithm: "sha256",
      encoding: "hex",
      prefix: "",
      timestamp_header: null,
      tolerance_seconds: 300,
      field: "sig",
      signed: "{timestamp}.{body}",
      timestamp_field: "at",
    })
    const ended = await call(["source", "set", name, "--verify", "none", "--verify-query", "key", ...server])
    assert.match(ended.said, /--verify none ends the verification/)
    const topic = await call(["source", "set", name, "--verify", "sns", ...server])
    assert.match(topic.said, /--verify needs the ARN of the topic: pass --verify-secret-file FILE/)
  },
)
