import { BlockList } from "node:net"
import { parseNetworks } from "@data-cabinet/core/network/IpAddress"
import {
  type TrustedProxies,
  plainAddress,
  resolveClient,
  trustedProxies,
} from "@data-cabinet/http-node/server/ClientAddress"
import { Headers } from "effect/http"
import { assert, describe, it } from "vitest"

const trust = (...networks: ReadonlyArray<string>): TrustedProxies => {
  const read = parseNetworks(networks.join())
  assert.ok(typeof read !== "string")
  return trustedProxies(read)
}

const client = (peer: string, headers: Record<string, string>, trusted: TrustedProxies) =>
  resolveClient(peer, Headers.fromInput(headers), trusted)

const inside = trust("10.0.0.0/8", "fd00::/8", "192.0.2.7")

describe("resolveClient", () => {
  it("trusts no header from an untrusted peer", () => {
    const headers = { "x-forwarded-for": "1.2.3.4", forwarded: "for=1.2.3.4" }
    assert.equal(client("203.0.113.9", headers, inside), "203.0.113.9")
    assert.equal(client("203.0.113.9", headers, trust()), "203.0.113.9")
  })

  it("reads from the right, past trusted proxies only", () => {
    const at = (list: string) => client("10.0.0.1", { "x-forwarded-for": list }, inside)
    assert.equal(at("6.6.6.6, 203.0.113.9"), "203.0.113.9")
    assert.equal(at("6.6.6.6, 203.0.113.9, 10.1.1.1 ,192.0.2.7"), "203.0.113.9")
    assert.equal(at("10.3.3.3, 10.1.1.1"), "10.3.3.3")
    assert.equal(at("2001:db8::1"), "2001:db8::1")
    assert.equal(at("::ffff:203.0.113.9"), "203.0.113.9")
  })

  it("stops at the last proxy when an entry is not an address", () => {
    const at = (list: string) => client("10.0.0.1", { "x-forwarded-for": list }, inside)
    assert.equal(at("203.0.113.9, unknown"), "10.0.0.1")
    assert.equal(at("203.0.113.9, , 10.2.2.2"), "10.2.2.2")
    assert.equal(at(""), "10.0.0.1")
  })

  it("reads Forwarded with its quotes, ports and other pairs", () => {
    const at = (forwarded: string) => client("10.0.0.1", { forwarded }, inside)
    assert.equal(at('for=6.6.6.6, For="[2001:db8:cafe::17]:4711";proto=https;by=10.0.0.9'), "2001:db8:cafe::17")
    assert.equal(at("proto=http; for=203.0.113.9:8080"), "203.0.113.9")
    assert.equal(at('by="a,for=6.6.6.6";for=203.0.113.9'), "203.0.113.9")
    assert.equal(at("for=_hidden"), "10.0.0.1")
  })

  it("uses the proxy's address when the two headers contradict each other", () => {
    assert.equal(
      client("10.0.0.1", { "x-forwarded-for": "203.0.113.9", forwarded: "for=203.0.113.9" }, inside),
      "203.0.113.9",
    )
    assert.equal(client("10.0.0.1", { "x-forwarded-for": "203.0.113.9", forwarded: "for=6.6.6.6" }, inside), "10.0.0.1")
  })
})

describe("plainAddress", () => {
  it("writes every spelling of an address in the same form", () => {
    for (const text of ["203.0.113.9", "203.0.113.9:80", " 203.0.113.9 ", "::ffff:203.0.113.9", "::FFFF:cb00:7109"]) {
      assert.equal(plainAddress(text), "203.0.113.9", text)
    }
    for (const text of [
      "2001:db8::1",
      "2001:0DB8:0:0:0:0:0:1",
      "[2001:db8::1]",
      "[2001:db8::1]:443",
      "2001:db8::1%eth0",
    ]) {
      assert.equal(plainAddress(text), "2001:db8::1", text)
    }
  })

  it("refuses invalid addresses", () => {
    for (const text of ["", "unknown", "1.2.3", "1.2.3.4.5", "[1.2.3.4", "localhost", "0x7f.1", "::1::"]) {
      assert.equal(plainAddress(text), undefined, text)
    }
  })
})

describe("trustedProxies", () => {
  it("matches IPv4 addresses in IPv6 networks as Node's own list does", () => {
    for (const [network, prefix] of [
      ["::", 0],
      ["::ffff:10.0.0.0", 104],
      ["::ffff:0:0", 96],
      ["::ffff:10.1.2.3", 128],
      ["fd00::", 8],
    ] as const) {
      const list = new BlockList()
      list.addSubnet(network, prefix, "ipv6")
      const trusted = trust(`${network}/${prefix}`)
      for (const address of ["10.1.2.3", "10.1.2.4", "192.0.2.1"]) {
        assert.strictEqual(trusted(address), list.check(address), `${address} in ${network}/${prefix}`)
      }
    }
  })

  it("reports the first entry that is neither an address nor a network", () => {
    for (const wrong of ["10.0.0.0/33", "10.0.0/8", "host", "::/129", "10.0.0.0/", "1.2.3.4/8/8", "10.0.0.0/-1"]) {
      assert.deepEqual(parseNetworks(`127.0.0.1, ${wrong}`), wrong)
    }
  })

  it("accepts IPv6 networks and single addresses", () => {
    const trusted = trust("2001:db8::/32", "127.0.0.1", "::1")
    assert.ok(trusted("2001:db8:1::2") && trusted("127.0.0.1") && trusted("::1"))
    assert.ok(!trusted("2001:db9::1") && !trusted("127.0.0.2"))
  })
})
