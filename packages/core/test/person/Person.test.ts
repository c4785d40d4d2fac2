import { type Session, linkUrl, personShape, sessionShape } from "@data-cabinet/core/person/Person"
import { expect, it } from "vitest"
import { ADA } from "./examplePerson.ts"

const SESSION: Session = {
  id: 8,
  personId: 3,
  personName: "Ada",
  method: "link",
  createdAt: "2026-11-26T09:00:00Z",
  lastSeenAt: "2026-11-26T10:00:00Z",
  expiresAt: "2026-12-26T09:00:00Z",
  client: "203.0.113.9",
  userAgent: null,
}

it("personShape and sessionShape contain all declared fields, and no others", () => {
  const shown = { ...ADA, password: "SECRET" }
  expect(personShape.json(shown)).toEqual({
    id: 3,
    name: "Ada",
    role: "owner",
    issuer: null,
    has_password: true,
    created_at: ADA.createdAt,
    signed_in_at: null,
    link_expires_at: null,
    removed_at: null,
  })
  const started = { ...SESSION, secret: "SECRET" }
  expect(sessionShape.json(started)).toEqual({
    id: 8,
    person: { id: 3, name: "Ada" },
    method: "link",
    created_at: SESSION.createdAt,
    last_seen_at: SESSION.lastSeenAt,
    expires_at: SESSION.expiresAt,
    client: "203.0.113.9",
    user_agent: null,
  })
})

it("linkUrl puts the secret where no browser sends it", () => {
  const url = new URL(linkUrl("https://data.example", "dcl_secret"))
  expect(url.hash).toBe("#dcl_secret")
  expect(url.href.replace(url.hash, "")).toBe("https://data.example/console/welcome")
})
