/** The SSRF table: every special-purpose block, its edges, embedded and mapped forms, odd spellings. */
import { readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { describe, expect } from "vitest"
import { contains, parseIp, parseNetwork } from "@data-cabinet/core/network/IpAddress"
import { parseNetworks } from "@data-cabinet/core/network/IpAddress"
import { whyNotPublic } from "@data-cabinet/delivery/outgoing/PublicAddress"
import { SPECIAL_NETWORKS, type SpecialNetwork } from "@data-cabinet/delivery/outgoing/SpecialNetworks"

const hex = (value: bigint) => {
  const digits = value.toString(16).padStart(32, "0")
  return digits.match(/.{4}/g)!.join(":")
}
const dotted = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".")
const spell = (family: 4 | 6, value: bigint) => (family === 4 ? dotted(value) : hex(value))
const last = (network: SpecialNetwork) =>
  network.base + (1n << BigInt((network.family === 4 ? 32 : 128) - network.prefix)) - 1n

describe("whyNotPublic", () => {
  it.each(SPECIAL_NETWORKS.filter(({ reachable }) => !reachable).map((network) => [network.text, network] as const))(
    "refuses %s from its first address to its last",
    (_text, network) => {
      for (const value of [network.base, last(network)]) {
        expect(whyNotPublic(spell(network.family, value), [])).toMatch(/^it is in /)
      }
    },
  )

  it.each(
    SPECIAL_NETWORKS.filter(({ reachable, text }) => reachable && text !== "64:ff9b::/96").map(
      (n) => [n.text, n] as const,
    ),
  )("allows %s, which the registry calls globally reachable", (_text, network) => {
    expect(whyNotPublic(spell(network.family, network.base), [])).toBeNull()
    expect(whyNotPublic(spell(network.family, last(network)), [])).toBeNull()
  })

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450::1",
    "2001:4860:4860::8888",
    "2001:200::",
    "64:ff9b::808:808",
    "64:ff9b::8.8.8.8",
  ])("allows %s", (address) => {
    expect(whyNotPublic(address, [])).toBeNull()
  })

  it.each([
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::8.8.8.8",
    "2002:7f00:1::",
    "2002:808:808::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "::ffff:0:127.0.0.1",
    "4000::1",
    "1::1",
    "fe80::1%eth0",
    "nonsense",
    "",
    "0x7f.1",
    "2130706433",
  ])("refuses %s", (address) => {
    expect(whyNotPublic(address, [])).not.toBeNull()
  })

  it("allows an allowed network and nothing else", () => {
    const allowed = parseNetworks("127.0.0.0/8, fd00::/8")
    assert(typeof allowed !== "string")
    expect(whyNotPublic("127.9.9.9", allowed)).toBeNull()
    expect(whyNotPublic("fd12::1", allowed)).toBeNull()
    expect(whyNotPublic("10.0.0.1", allowed)).not.toBeNull()
    expect(whyNotPublic("::ffff:127.0.0.1", allowed)).not.toBeNull()
    expect(parseNetworks("10.0.0.0/8 10.0.0.0/33")).toBe("10.0.0.0/33")
  })
})

describe("the URL parser, before the check", () => {
  it.each([
    "http://0x7f.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://[::1]/",
    "http://[::ffff:7f00:1]/",
    "http://①②⑦.⓪.⓪.①/",
    "http://0/",
    "http://169.254.169.254/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://0xa9fea9fe/",
  ])("turns %s into a refused address", (text) => {
    expect(whyNotPublic(new URL(text).hostname, [])).toMatch(/^it is in /)
  })
})

describe("IpAddress", () => {
  const word = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65535 }))
  const eight = Schema.Tuple([word, word, word, word, word, word, word, word])
  it.prop(
    "parseIp reads every spelling of an IPv6 address alike",
    [eight],
    ([words]) => {
      const full = words.map((part) => part.toString(16)).join(":")
      const short = new URL(`http://[${full}]/`).hostname
      const mixed = `${words
        .slice(0, 6)
        .map((part) => part.toString(16))
        .join(":")}:${words
        .slice(6)
        .flatMap((part) => [part >> 8, part & 255])
        .join(".")}`
      const value = words.reduce((sum, part) => sum * 65536n + BigInt(part), 0n)
      for (const spelling of [full, short, mixed, full.toUpperCase()])
        assert.deepStrictEqual(parseIp(spelling), { family: 6, value })
    },
    { arbitrary: { runs: 200 } },
  )

  it("contains includes its base address, but not the one before", () => {
    const network = parseNetwork("10.20.0.0/14")!
    expect(contains(network, parseIp("10.20.0.0")!)).toBe(true)
    expect(contains(network, parseIp("10.23.255.255")!)).toBe(true)
    expect(contains(network, parseIp("10.24.0.0")!)).toBe(false)
    expect(contains(network, parseIp("10.19.255.255")!)).toBe(false)
  })
})

it("SECURITY.md shows the table that the check uses", () => {
  const rows = SPECIAL_NETWORKS.map(
    ({ text, name, reachable }) => `| \`${text}\` | ${name} | ${reachable ? "sent to" : "refused"} |`,
  )
  const shown = readFileSync(new URL("../../../../SECURITY.md", import.meta.url), "utf8")
  expect(shown.split("\n").filter((line) => /^\| `[0-9a-f.:]+\/\d+` \|/.test(line))).toEqual(rows)
})
