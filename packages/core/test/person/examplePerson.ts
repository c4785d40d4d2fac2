import type { Person } from "@data-cabinet/core/person/Person"

export const ADA: Person = {
  id: 3,
  name: "Ada",
  role: "owner",
  issuer: null,
  hasPassword: true,
  createdAt: "2026-11-26T09:00:00Z",
  signedInAt: null,
  linkExpiresAt: null,
  removedAt: null,
}
