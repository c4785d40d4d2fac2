import type { Original } from "@data-cabinet/core/event/EventLog"

/** The stored request with this body, from a sender that sent no other header. */
export const originalRequest = (body: string): Original => ({
  body: Buffer.from(body),
  bodyBytes: Buffer.byteLength(body),
  contentType: null,
  ip: null,
  referer: null,
  origin: null,
  userAgent: null,
  acceptLanguage: null,
  charset: "utf-8",
  charsetFrom: "json",
  replaced: 0,
})
