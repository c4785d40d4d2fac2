/** A refusal as a screen: a heading, the use case's own message, and its code. */
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { unturned } from "../words/IsolatedWords.ts"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { ICONS } from "../html/Icons.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import type { Words } from "../words/Words.ts"
import { MANAGE_CODES } from "@data-cabinet/http-node/manage/ManageRefusals"

const titleOf = (status: number, { errors }: Words): string => {
  if (status === 401) return errors.signIn
  if (status === 403) return errors.forbidden
  if (status === 404) return errors.notFound
  if (status === 429) return errors.tooMany
  if (status === 409) return errors.busy
  return status >= 500 ? errors.away : errors.refused
}

export const statusOf = ({ code }: Pick<ManageError, "code">): number => MANAGE_CODES[code].status

const codeOf = ({ words }: Frame, { code, param }: ManageError): Html =>
  markup`${words.errors.code} <code>${code}</code>${typeof param === "string" && markup` · <code>${param}</code>`}`

/** A refusal in one line: in the visitor's language, with the message itself, which alone names the details. */
export const refusalLine = (frame: Frame, error: ManageError): Html => {
  const sentence = frame.words.errors.sentence(error.code)
  const code = markup`<small>${codeOf(frame, error)}</small>`
  return sentence === null
    ? markup`${unturned(error.message)} ${code}`
    : markup`${sentence} <small lang="en">${unturned(error.message)}</small> ${code}`
}

/** A refusal in one box, for screens that show it next to the form. */
export const refusalBox = (frame: Frame, error: ManageError): Html => {
  const sentence = frame.words.errors.sentence(error.code)
  return markup`<div class="box error" role="alert">${ICONS.alert}
<div>${sentence !== null && markup`<p>${sentence}</p>`}<p lang="en"${sentence !== null && markup` class="soft"`}>${unturned(error.message)}</p>
<p class="soft">${codeOf(frame, error)}</p></div>
</div>`
}

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
