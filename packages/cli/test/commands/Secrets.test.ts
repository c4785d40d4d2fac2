/**
 * Secrets come in by files, standard input and the environment, and go out to terminals and programs, never by
 * arguments or logs.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseHeaders } from "data-cabinet/commands/HeadersFile"
import { runCommand } from "data-cabinet/commands/RunCommand"
import { dataDirFlag } from "data-cabinet/commands/StartupBanner"
import { Effect, Fiber } from "effect"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { testDatabase, withDatabase } from "../../../../test/support/postgres.ts"
import { call, leaves } from "./call.ts"

const database = withDatabase({ empty: true })
let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "dc-secrets-"))
  vi.stubEnv("DATABASE_URL", database.url)
  vi.stubEnv("BASE_URL", "")
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(dir, { recursive: true })
})

it.for([
  ["--database-url", "key list"],
  ["--database-url", "cabinets add shop"],
  ["--database-url", "serve"],
  ["--database-reader-url", "serve"],
  ["--database-author-url", "migrate"],
  ["--database-read-url", "doctor"],
])("%s with a password is refused for %s, and the password is not repeated", async ([flag, words]) => {
  for (const address of ["postgres://me:hush-hush@127.0.0.1/x", "postgres://127.0.0.1/x?user=me&password=hush-hush"]) {
    const { code, said } = await call([...words!.split(" "), flag!, address])
    expect(said).toMatch(new RegExp(`^${flag} holds a password, which every user of this machine can read .*\n$`))
    expect(said).not.toContain("hush-hush")
    expect(code).toBe(2)
  }
})

it("no command has a flag that takes a header, a password, a secret or a token", async () => {
  const flags = new Set<string>()
  for (const name of leaves) {
    const { printed } = await call([...name.split(" "), "--help"])
    for (const [flag] of printed.matchAll(/--[a-z][a-z-]*/g)) {
      // These say whether a file has a header, and in which row.
      if (!(name === "import" && /^--(?:(?:no-)?header|header-row)$/.test(flag))) flags.add(flag)
    }
  }
  expect(flags.size).toBeGreaterThan(40)
  const telling = [...flags].filter((flag) => /header|password|secret|token|credential|auth(?!or)/.test(flag))
  // Names of headers, not their values.
  const names = [
    "--console-proxy-header",
    "--keep-headers",
    "--header-fields",
    "--verify-header",
    "--remove-header",
    "--verify-timestamp-header",
    "--verify-id-header",
  ]
  expect(telling.filter((flag) => !flag.endsWith("-file") && !names.includes(flag))).toEqual([])
  expect(telling).toContain("--headers-file")
  // A private key is a secret; the other keys (of the API, of rows, of a poll's items) are names.
  expect([...flags].filter((flag) => flag.startsWith("--client-"))).toEqual([
    "--client-certificate-file",
    "--client-key-file",
  ])
})

it.for([
  [["--client-certificate-file", "FILE"], /^--client-certificate-file needs --client-key-file/],
  [["--client-key-file", "FILE"], /^--client-key-file needs --client-certificate-file/],
  [["--client-certificate-file", "FILE", "--client-key-file", "FILE", "--remove-client-certificate"], /not both/],
  [["--client-certificate-file", "-", "--client-key-file", "-"], /^Standard input can supply one of/],
  [["--client-certificate-file", "-", "--client-key-file", "FILE", "--set-headers-file", "-"], /^Standard input can/],
] as const)("address set %s is refused before anything is read", async ([flags, words]) => {
  const file = join(dir, "client.pem")
  writeFileSync(file, "hush-hush")
  const { code, said } = await call(["address", "set", "1", ...flags.map((flag) => (flag === "FILE" ? file : flag))])
  expect([code, said]).toEqual([2, expect.stringMatching(words)])
  expect(said).not.toContain("hush-hush")
})

it("poll add sends the headers of a file and shows no value of an invalid line", async () => {
  const asked: Array<string | undefined> = []
  const site = createServer((request, response) => {
    asked.push(request.headers["x-key"] as string | undefined)
    response.end("[]")
  })
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve))
  try {
    expect(await call(["source", "add", "Polled"])).toMatchObject({ code: 0 })
    const file = join(dir, "headers")
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
    const add = ["poll", "add", "1", url, "--allowed-networks", "127.0.0.0/8", "--headers-file", file]
    writeFileSync(file, "X-Other: 1\n\nhush-hush\n")
    expect(await call(add)).toMatchObject({
      code: 2,
      said: "--headers-file: line 3 does not have the form 'Name: value'.\n",
    })
    writeFileSync(file, "X-Key:  hush: hush \r\n\r\nAccept: application/json\r\n")
    expect(await call(add)).toMatchObject({ code: 0, said: "" })
    expect(await call(["poll", "run", "1", "--allowed-networks", "127.0.0.0/8"])).toMatchObject({ code: 0 })
    expect(asked).toEqual(["hush: hush"])
    const { printed } = await call(["poll", "list"])
    expect(printed).toMatch(/x-key/i)
    expect(printed).not.toContain("hush")
  } finally {
    site.close()
  }
  expect(await call(["poll", "add", "1", "http://example.com/", "--headers-file", join(dir, "none")])).toMatchObject({
    code: 1,
    said: expect.stringMatching(/^--headers-file .*none cannot be read: ENOENT/),
  })
})

it("every command that takes the URL of an address or a poll can read it from a file, because a URL may be a secret", async () => {
  const taking: Array<string> = []
  for (const name of leaves) {
    const { printed } = await call([...name.split(" "), "--help"])
    if (!/^\s+(?:URL\b|--url\s)/m.test(printed)) continue
    taking.push(name)
    expect(printed, name).toContain("--url-file")
  }
  expect(taking).toEqual(expect.arrayContaining(["address add", "address set", "poll add"]))
})

it("address and poll read a URL of one line from a file and never print an invalid one", async () => {
  const file = join(dir, "url")
  const allowed = ["--allowed-networks", "127.0.0.0/8", "--url-file", file]
  writeFileSync(file, "http://127.0.0.1:9/services/hush-hush\n")
  const added = await call(["address", "add", ...allowed, "--json"])
  expect(added).toMatchObject({ code: 0, said: "" })
  const { id, url } = JSON.parse(added.printed) as { readonly id: number; readonly url: string }
  expect(url).toBe("http://127.0.0.1:9/services/hush-hush")
  writeFileSync(file, "http://127.0.0.1:9/services/other")
  const changed = await call(["address", "set", String(id), ...allowed, "--get", "url"])
  expect(changed).toMatchObject({ code: 0, printed: "http://127.0.0.1:9/services/other\n" })
  const source = await call(["source", "add", "By file", "--get", "id"])
  const poll = await call(["poll", "add", source.printed.trim(), ...allowed, "--get", "url"])
  expect(poll).toMatchObject({ code: 0, printed: "http://127.0.0.1:9/services/other\n" })

  for (const wrong of ["ftp://127.0.0.1/hush-hush", "http://127.0.0.1/a\nhttp://127.0.0.1/hush-hush", "hush-hush"]) {
    writeFileSync(file, wrong)
    const refused = await call(["address", "add", ...allowed])
    expect([refused.code, refused.printed]).toEqual([1, ""])
    expect(refused.said).not.toContain("hush-hush")
  }
  for (const words of [
    ["address", "add"],
    ["poll", "add", "1"],
    ["address", "add", "http://127.0.0.1/", ...allowed],
    ["address", "set", "1", "--url", "http://127.0.0.1/", ...allowed],
  ]) {
    expect(await call(words), words.join(" ")).toMatchObject({ code: 2, said: expect.stringMatching(/--url-file/) })
  }
})

it.for([": value", "no colon", "  : x"])("parseHeaders refuses %j", async (line) => {
  await expect(Effect.runPromise(parseHeaders(line))).rejects.toThrow(/line 1 does not have the form/)
})

it("tenant add reads a database URL with a password from a file of one line", async () => {
  const file = join(dir, "address")
  const add = ["tenant", "add", "filed", "--database-url-file", file, "--json"]
  writeFileSync(file, "postgres://a/b\npostgres://c/d\n")
  expect(await call(add)).toMatchObject({
    code: 1,
    said: "The database URL must be a single line.\n",
  })
  writeFileSync(file, "mysql://me:hush-hush@host/db\n")
  const refused = await call(add)
  expect(refused).toMatchObject({
    code: 1,
    said: expect.stringMatching(/^The URL in --database-url-file must be /),
  })
  expect(refused.said).not.toContain("hush-hush")
  const other = await testDatabase({ empty: true })
  try {
    const address = new URL(other.url)
    address.password = "hush-hush"
    writeFileSync(file, `${address.href}\n`)
    const added = await call(add)
    expect(added).toMatchObject({ code: 0, said: "" })
    expect(JSON.parse(added.printed)).toMatchObject({ name: "filed" })
    expect(added.printed).not.toContain("hush-hush")
  } finally {
    await other.drop()
  }
})

/** The output of a server at its start, with or without a terminal. */
const firstWords = async (url: string, isTTY: boolean, args: ReadonlyArray<string> = []): Promise<string> => {
  const before = process.stdout.isTTY
  process.stdout.isTTY = isTTY
  vi.stubEnv("NO_COLOR", "1")
  let printed = ""
  let heard = () => {}
  const said = new Promise<void>((resolve) => (heard = resolve))
  const stdout = vi.spyOn(process.stdout, "write").mockImplementation((text, told) => {
    printed += String(text)
    if (typeof told === "function") (told as () => void)()
    heard()
    return true
  })
  try {
    const words = ["serve", "--port", "0", "--log-level", "none", "--database-url", url, ...args]
    const fiber = Effect.runFork(runCommand(words, "0.0.0"))
    await said
    await Effect.runPromise(Fiber.interrupt(fiber))
  } finally {
    stdout.mockRestore()
    process.stdout.isTTY = before
  }
  return printed
}

it("the first start prints the key and the intake address on a terminal only, and elsewhere how to get them", async () => {
  const seen = await testDatabase({ empty: true })
  const unseen = await testDatabase({ empty: true })
  try {
    const onTerminal = await firstWords(seen.url, true)
    expect(onTerminal).toMatch(/dck_[\w-]{43}/)
    expect(onTerminal).toMatch(/\/webhook\/[\w-]{32}/)
    const inLog = await firstWords(unseen.url, false)
    expect(inLog).not.toMatch(/dck_|webhook/)
    expect(inLog).toContain("npx cabinet source show 1")
    expect(inLog).toContain("npx cabinet key add NAME")
    // A key that nobody has seen would be of no use.
    expect(await unseen.run("SELECT FROM cabinet.api_key")).toEqual([])
  } finally {
    await seen.drop()
    await unseen.drop()
  }
})

it("the first words name the data directory to every command, unless commands look there by themselves", () => {
  expect([null, ".cabinet", "/tmp/data", "/tmp/Ada's data"].map(dataDirFlag)).toEqual([
    "",
    "",
    " --data-dir /tmp/data",
    " --data-dir '/tmp/Ada'\\''s data'",
  ])
})
