/** A refusal as a screen: a heading, the use case's own message, and its code. */
import { markup } from "@data-cabinet/http-node/html/Html"
import { MANAGE_CODES } from "@data-cabinet/http-node/manage/ManageCode"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { ICONS } from "../html/Icons.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import type { Words } from "../words/Words.ts"

const titleOf = (status: number, { errors }: Words): string => {
  if (status === 401) return errors.signIn
  if (status === 403) return errors.forbidden
  if (status === 404) return errors.notFound
  if (status === 429) return errors.tooMany
  if (status === 409) return errors.busy
  return status >= 500 ? errors.away : errors.refused
}

export const statusOf = ({ code }: Pick<ManageError, "code">): number => MANAGE_CODES[code].status

/** A refusal in one box, for screens that show it beside the form. */
export const refusalBox = ({ words }: Frame, error: ManageError) =>
  markup`<div class="box error" role="alert">${ICONS.alert}
<div><p lang="en">${error.message}</p>
<p class="soft">${words.errors.code} <code>${error.code}</code>${typeof error.param === "string" && markup` · <code>${error.param}</code>`}</p></div>
</div>`

/** `back`: the screen whose form was refused, below `/console/`. */
export const errorScreen = (frame: Frame, error: ManageError, back: string | null = null): Screen => {
  const { words } = frame
  const title = titleOf(statusOf(error), words)
  return {
    title: `${words.errors.title}: ${title}`,
    section: null,
    main: markup`<h1>${title}</h1>
${refusalBox(frame, error)}
<p><a class="button" href="${consolePath(frame, back ?? "tables")}">${back === null ? words.errors.toTables : words.errors.back}</a></p>`,
  }
}
