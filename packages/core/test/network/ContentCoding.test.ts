import { assert, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { describe } from "vitest"
import * as zlib from "node:zlib"
import { contentCodings } from "../../src/network/ContentCoding.ts"
import { Random, Seed } from "../intake/Random.ts"

const encoders = {
  gzip: zlib.gzipSync,
  "x-gzip": zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: zlib.brotliCompressSync,
  zstd: zlib.zstdCompressSync,
} satisfies Record<string, (bytes: Uint8Array) => Buffer>
const names = Object.keys(encoders) as ReadonlyArray<keyof typeof encoders>

const LIMIT = 4096

const decoded = async (header: string, body: Uint8Array, limit = LIMIT) => {
  let bytes = body
  for (const decode of contentCodings(header)!) {
    const result = await decode(bytes, limit)
    if (Result.isFailure(result)) return result.failure
    bytes = result.success
  }
  return Buffer.from(bytes)
}

const bytesOf = (random: Random) => {
  const unit = Buffer.from([random.below(256), random.below(256), random.below(3)])
  return Buffer.concat(Array.from({ length: random.below(400) }, () => unit.subarray(random.below(3))))
}

describe("contentCodings", () => {
  it.effect.prop(
    "contentCodings decodes a body with one or two codings in a row",
    [Seed],
    ([seed]) =>
      Effect.promise(async () => {
        const random = new Random(seed)
        const body = bytesOf(random)
        const chosen = Array.from({ length: 1 + random.below(2) }, () => random.pick(names))
        const sent = chosen.reduce<Buffer>((bytes, name) => encoders[name](bytes), body)
        const header = chosen.join(random.pick([",", ", ", " , utf-8, "]))
        assert.deepStrictEqual(await decoded(header, sent), body)
      }),
    { arbitrary: { runs: 200 } },
  )

  it.effect.prop(
    "contentCodings refuses a body that is cut off or followed by other data",
    [Seed],
    ([seed]) =>
      Effect.promise(async () => {
        const random = new Random(seed)
        const name = random.pick(names)
        const whole = encoders[name](bytesOf(random))
        // Brotli codes an empty body as a single byte, which cannot be cut.
        if (whole.length > 1) {
          const cut = whole.subarray(0, 1 + random.below(whole.length - 1))
          assert.deepInclude(await decoded(name, cut), { code: "corrupt" }, `${name} cut at ${cut.length}`)
        }
        const more = Buffer.concat([whole, Buffer.alloc(random.below(3)), Buffer.from("more")])
        assert.deepInclude(await decoded(name, more), { code: "corrupt" }, `${name} followed`)
      }),
    { arbitrary: { runs: 200 } },
  )

  it.each(names)("contentCodings ignores padding after %s", async (name) => {
    const body = Buffer.from("body")
    assert.deepStrictEqual(await decoded(name, Buffer.concat([encoders[name](body), Buffer.alloc(9)])), body)
  })

  it.each(["gzip", "zstd"] as const)("contentCodings reads all concatenated parts of %s", async (name) => {
    const parts = ["a", "", "b".repeat(200_000), "c"].map((text) => encoders[name](Buffer.from(text)))
    assert.deepStrictEqual(await decoded(name, Buffer.concat(parts), 200_002), Buffer.from(`a${"b".repeat(200_000)}c`))
    assert.deepStrictEqual(await decoded(name, Buffer.concat(parts), 200_001), { code: "too_large" })
  })

  it.each(["gzip", "zstd"])("contentCodings returns text that is not %s as it is", async (name) => {
    for (const text of ['{"a":1}', "\n[1]", '"a"', "a=1", "a%5B0%5D=1"]) {
      assert.strictEqual(String(await decoded(name, Buffer.from(text))), text)
    }
  })

  it("contentCodings skips skippable frames of zstd, up to a limit", async () => {
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    const body = Buffer.from("body")
    const sent = zlib.zstdCompressSync(body)
    assert.deepStrictEqual(await decoded("zstd", Buffer.concat([skippable, sent, skippable])), body)
    const many = Buffer.concat([...Array.from({ length: 1001 }, () => skippable), sent])
    assert.deepInclude(await decoded("zstd", many), { code: "corrupt" })
  })

  it("contentCodings refuses a zstd window over 8 MB", async () => {
    const stream = zlib.createZstdCompress({ params: { [zlib.constants.ZSTD_c_windowLog]: 24 } })
    const chunks: Array<Buffer> = []
    stream.on("data", (chunk: Buffer) => chunks.push(chunk))
    await new Promise((done) => stream.on("end", done).write("a", () => stream.end("b")))
    assert.deepInclude(await decoded("zstd", Buffer.concat(chunks)), { code: "corrupt" })
  })

  it.each([
    "",
    " ",
    ",",
    "identity",
    "Identity",
    "none",
    "NONE",
    "7bit",
    "8bit",
    "binary",
    "utf-8",
    "UTF-8",
    "utf8",
    '"utf-8"',
    "utf-8, identity",
    "charset=utf-8",
    "us-ascii",
    "iso-8859-1",
    "windows-1251",
    "koi8-r",
    "application/json",
    "text/plain",
    "application/cloudevents+json",
    "application/x-www-form-urlencoded",
  ])("contentCodings decodes nothing when the header is %j", (header) => {
    assert.deepStrictEqual(contentCodings(header), [])
  })

  it.each([
    "compress",
    "base64",
    "quoted-printable",
    "chunked",
    "aes128gcm",
    "lzma",
    "gzip utf-8",
    "utf-7x",
    "gzip;q=1",
    "gzip, compress",
    "utf-8, pack200-gzip",
    "gzip, gzip, gzip",
    "application/gzip",
    "dcb",
  ])("contentCodings refuses %j", (header) => {
    assert.isNull(contentCodings(header))
  })
})
