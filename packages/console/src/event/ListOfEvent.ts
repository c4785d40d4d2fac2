/**
 * The list that an event was opened from: its address below `/console/`, in the event's own address, so that the way back keeps
 * the filter and the page, also without a script.
 */
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { valueOf, withQuery } from "../table/SelectionLinks.ts"

const PARAM = "list"

/** A list of events, and nothing else of the console. */
const LIST = /^(?:events|trash)(?:\?[\x21-\x7e]*)?$/

/** The address of an event's screen, below `/console/`. The plain list of events needs no mention. */
export const eventAddress = (id: string, list: string): string =>
  withQuery(`events/${id}`, list === "events" ? [] : [[PARAM, list]])

export const listIn = (pairs: Pairs): string => {
  const named = valueOf(pairs, PARAM) ?? ""
  return LIST.test(named) ? named : "events"
}
