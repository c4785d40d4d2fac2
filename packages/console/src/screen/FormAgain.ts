/**
 * A refused form comes back as it was filled, on its own screen, with the refusal at its field. That holds for every form: the
 * screen is rendered as for a visit, and the form in it is filled (`screen/FilledForm.ts`).
 */
import { mayDo } from "@data-cabinet/core/key/Role"
import { decodeSegment, queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { addressOf, routeTable } from "@data-cabinet/http-node/server/Route"
import { Effect } from "effect"
import { filledForm, type FormMessage, type TypedForm } from "./FilledForm.ts"
import { FORM_AT } from "../html/PostForm.ts"
import type { Frame, Screen } from "../html/Shell.ts"
import { valuesOf } from "./SelectionLinks.ts"
import type { ConsoleScreen, FormRefusal, Pairs, ScreenCall, ScreenResult } from "./ConsoleScreen.ts"
import { refusalBox, refusalLine, statusOf } from "./ErrorScreen.ts"
import { fieldsOf } from "./FieldOfCode.ts"

/** An address of the console, from `/console/` on; nothing else is ever redirected to or rendered. */
const ADDRESS = /^\/console\/[\x21-\x5b\x5d-\x7e]*$/

export const isConsoleAddress = (text: string): boolean => ADDRESS.test(text)

interface Place {
  readonly screen: ConsoleScreen
  readonly path: ReadonlyArray<string>
  readonly query: string
}

export type PlaceOf = (address: string) => Place | null

export const placesOf = (screens: ReadonlyArray<ConsoleScreen>): PlaceOf => {
  const find = routeTable(screens)
  return (address) => {
    if (!isConsoleAddress(address)) return null
    const split = addressOf(address)
    const match = find(split)
    if (match === undefined) return null
    const path = match.params.map(decodeSegment)
    if (path.some((segment) => segment === undefined || segment.includes("\0"))) return null
    return { screen: match.route, path: path as ReadonlyArray<string>, query: split.query }
  }
}

/** The screen with its form as it was sent, and the refusal at its field, or above the screen if it has no such form. */
export const asTyped = (frame: Frame, screen: Screen, typed: TypedForm, error: ManageError): Screen => {
  const message = { fields: fieldsOf(error), html: refusalLine(frame, error).text }
  return (
    refusedAt(frame, screen, typed, message) ??
    refused(frame, screen, markup`${refusalBox(frame, error)}${screen.main}`)
  )
}

const refused = (frame: Frame, screen: Screen, main: Html): Screen => ({
  ...screen,
  title: `${frame.words.errors.title}: ${screen.title}`,
  main,
})

/** The same with any message; null if the screen has no such form. */
export const refusedAt = (frame: Frame, screen: Screen, typed: TypedForm, message: FormMessage): Screen | null => {
  const main = filledForm(screen.main.text, typed, message)
  return main === null ? null : refused(frame, screen, new Html(main))
}

/** The addresses to try: first the screen that the form names, then the one that it leads back to. */
const addressesOf = (call: ScreenCall, form: Pairs, { back, formAt }: ConsoleScreen): ReadonlyArray<string> => [
  ...valuesOf(form, FORM_AT),
  ...(formAt === undefined ? [] : [formAt(call)]),
  ...(back === undefined ? [] : [`/console/${back(call.path)}`]),
]

/** Renders a screen as for a visit; null if the visitor may not see it, or if the address leads elsewhere. */
export const rendered = Effect.fnUntraced(function* (placeOf: PlaceOf, call: ScreenCall, address: string) {
  const place = placeOf(address)
  const role = call.actor?.role
  if (place === null || place.screen.action === null || role === undefined) return null
  if (!mayDo(role, place.screen.action)) return null
  const { screen, path, query } = place
  const visit = { ...call, address: addressOf(address).path, path, query, pairs: queryPairs(query) }
  const result: ScreenResult | null = yield* Effect.orElseSucceed(screen.get(visit), () => null)
  return result !== null && "screen" in result ? result : null
})

/** The refused form on its screen; null if no screen has it. `form`: the pairs as sent. */
export const formAgain = Effect.fnUntraced(function* (
  placeOf: PlaceOf,
  call: ScreenCall,
  form: Pairs,
  screen: ConsoleScreen,
  error: FormRefusal,
) {
  for (const address of addressesOf(call, form, screen)) {
    const result = yield* rendered(placeOf, call, address)
    if (result === null) continue
    const sent = { action: call.frame.base + call.address, pairs: error.typed ?? form }
    const again = asTyped(call.frame, result.screen, sent, error)
    return { address, result: { ...result, screen: again, status: statusOf(error) } }
  }
  return null
})
