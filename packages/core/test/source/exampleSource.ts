import type { Source } from "@data-cabinet/core/source/Source"

/** As `create` returns it without settings. */
export const SOURCE: Source = {
  id: 1,
  name: "Orders",
  archived: false,
  table: { schema: "sources", name: "orders" },
  createdAt: "2026-01-01T00:00:00Z",
  encoding: null,
  thanksUrl: null,
  keepHeaders: [],
  headerFields: [],
  keepQuery: false,
  nestBrackets: false,
  honeypot: null,
  allowOrigins: [],
  inbox: null,
  inboxName: null,
  inboxEmail: null,
  inboxSubject: null,
  inboxMessage: null,
  verify: null,
  challenge: null,
  proof: null,
  rate: null,
  oldSecretUntil: null,
  limited: null,
}
