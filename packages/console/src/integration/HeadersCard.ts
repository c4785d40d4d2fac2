/** The headers of an address, one by one: their names, for each a way to remove it, and a line that adds or replaces one. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { HeaderChange } from "@data-cabinet/core/delivery/HeaderChange"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import { fieldOf } from "../screen/Act.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"

/** Replaces every value, whatever its length. */
const MASK = "••••••••"

export const headersCard = (frame: Frame, { id, headerNames }: Pick<Address, "id" | "headerNames">): HtmlValue => {
  const { integration: words, poll, table } = frame.words
  if (!may(frame, "address.change")) return null
  const path = consolePath(frame, `addresses/${id}/headers`)
  const lines = headerNames.map((name) =>
    postForm({
      path,
      kind: "row wrap",
      body: markup`<input type="hidden" name="remove" value="${name}" autocomplete="off"><bdi class="mono">${name}</bdi> <span class="soft" title="${words.headerHidden}">${MASK}</span> <button aria-label="${table.remove}: ${name}">${table.remove}</button>`,
    }),
  )
  const added = postForm({
    path,
    kind: "row wrap ends",
    body: markup`<label>${poll.header}<input name="header_name" maxlength="100" required placeholder="Authorization" autocomplete="off"></label><label>${poll.headerValue}<input name="header_value" type="password" maxlength="4096" autocomplete="off"></label><button>${words.addHeader}</button>`,
  })
  return markup`<section class="card" aria-labelledby="headers"><h2 id="headers">${words.headers}</h2>${lines}${added}<p class="soft">${words.addHeaderHint}</p></section>`
}

/** The input of one of its forms. */
export const headerChangeOf = (call: FormCall): HeaderChange => {
  const removed = fieldOf(call, "remove")
  if (removed !== "") return { removeHeaders: [removed] }
  return { setHeaders: [[fieldOf(call, "header_name"), fieldOf(call, "header_value")]] }
}
