/** Session cookies as a browser keeps them, beside what another host of the domain could plant. */
import type { LiveSession } from "@data-cabinet/core/person/Person"
import { attemptCookie, sessionCookie } from "@data-cabinet/http-node/session/SessionCookie"
import { expect, it } from "vitest"

const session = (secret: string) =>
  ({
    secret,
    createdAt: "2026-11-27T10:00:00Z",
    expiresAt: "2026-12-27T10:00:00Z",
  }) as LiveSession & { readonly secret: string }

const pairOf = (set: string) => set.slice(0, set.indexOf(";"))
const sent = (...sets: ReadonlyArray<string>) => ({ cookie: sets.map(pairOf).join("; ") })

it.each([
  ["http://127.0.0.1:8080", ["cabinet"]],
  ["http://127.0.0.1:8080/team", ["cabinet"]],
  ["https://cabinet.example", ["__Host-cabinet"]],
  ["https://cabinet.example/team", ["__Secure-cabinet", "__Host-cabinet-L3RlYW0v"]],
])("sessionCookie reads what it set at %s, and nothing after it was cleared", (baseUrl, names) => {
  const cookie = sessionCookie(baseUrl)
  const sets = cookie.set(session("dcs_own"))
  expect(sets.map((set) => set.slice(0, set.indexOf("=")))).toEqual(names)
  for (const set of sets) expect(set).toMatch(/; Max-Age=2592000; Path=\/.*; HttpOnly; SameSite=Lax/)
  expect(cookie.read(sent(...sets))).toBe("dcs_own")
  expect(cookie.clear.map((set) => set.slice(0, set.indexOf("=")))).toEqual(names)
  for (const set of cookie.clear) expect(set).toContain("=; Max-Age=0; Path=/")
  expect(cookie.read({})).toBeNull()
})

it("sessionCookie ignores a session below a path that another host of the domain planted", () => {
  const cookie = sessionCookie("https://cabinet.example/team")
  const [own, digest] = cookie.set(session("dcs_own"))
  const [planted] = cookie.set(session("dcs_planted"))
  const elsewhere = sessionCookie("https://cabinet.example/other").set(session("dcs_planted"))
  expect(cookie.read(sent(planted!))).toBeNull()
  expect(cookie.read(sent(planted!, digest!))).toBeNull()
  expect(cookie.read(sent(...elsewhere))).toBeNull()
  // It takes the place of the own one in no order.
  expect(cookie.read(sent(planted!, own!, digest!))).toBe("dcs_own")
  expect(cookie.read(sent(own!, planted!, digest!))).toBe("dcs_own")
  // A browser accepts this prefix only from the host itself: with TLS, the path / and no domain.
  expect(digest).toMatch(/^__Host-[^;]*; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
  // Other programs of the host receive the digest, and no secret.
  expect(own).toContain("; Path=/team/;")
  expect(digest).not.toContain("dcs_own")
})

it("cookies that only the host can set have a name for each path", () => {
  const names = ["/a/b", "/a-b", "/a_b", "/a", ""].flatMap((path) => {
    const baseUrl = `https://cabinet.example${path}`
    return [...sessionCookie(baseUrl).clear, attemptCookie(baseUrl).clear].map((set) => set.slice(0, set.indexOf("=")))
  })
  const ofHost = names.filter((name) => name.startsWith("__Host-"))
  expect(ofHost.length).toBe(10)
  expect(new Set(ofHost).size).toBe(10)
})
