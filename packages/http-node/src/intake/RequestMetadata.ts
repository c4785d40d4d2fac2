/** The metadata kept of every request: five headers and the address. Sources may keep more. */
import type { Sender } from "@data-cabinet/core/intake/IntakeRequest"
import { headerText } from "@data-cabinet/core/text/HeaderText"
import type { Request } from "../server/Request.ts"

/** `ip` as resolved by the caller. */
export const requestMetadata = (headers: Request["headers"], ip: string | null): Sender => ({
  contentType: textOf(headers["content-type"]),
  ip,
  referer: textOf(headers["referer"]) ?? null,
  origin: textOf(headers["origin"]) ?? null,
  userAgent: textOf(headers["user-agent"]) ?? null,
  acceptLanguage: textOf(headers["accept-language"]) ?? null,
})

const textOf = (value: string | undefined): string | undefined => (value === undefined ? undefined : headerText(value))
