/**
 * Of a form of settings only what the person changed is written: the form carries the values that it was shown with. A change that
 * somebody else made meanwhile, in another tab, stays.
 */
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { FORM_SHOWN } from "../html/PostForm.ts"
import { fieldOf } from "./Act.ts"
import type { FormCall } from "./ConsoleScreen.ts"

/** The field with the values as they are shown. */
export const shownValues = (values: Readonly<Record<string, unknown>>): Html =>
  markup`<input type="hidden" name="${FORM_SHOWN}" value="${JSON.stringify(values)}" autocomplete="off">`

const recordIn = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The sent values that differ from the shown ones; all of them if the form does not say what it showed. */
export const changedValues = <T extends object>(call: FormCall, sent: T): Partial<T> => {
  const shown = recordIn(fieldOf(call, FORM_SHOWN))
  const isChanged = ([key, value]: [string, unknown]) =>
    !Object.hasOwn(shown, key) || JSON.stringify(shown[key]) !== JSON.stringify(value)
  return Object.fromEntries(Object.entries(sent).filter(isChanged)) as Partial<T>
}
