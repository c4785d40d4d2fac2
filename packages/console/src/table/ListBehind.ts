/**
 * The list that a thing was opened from: its address below `/console/`, in the thing's own address, so that the way back keeps the
 * filter and the page, also without a script.
 */
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { valueOf, withQuery } from "../screen/SelectionLinks.ts"

const PARAM = "list"

/** `lists`: patterns of the lists' addresses below `/console/`; the first is the plain one, which needs no mention. */
export const listBehind = (lists: readonly [string, ...ReadonlyArray<string>]) => {
  const [plain] = lists
  // These lists, and nothing else of the console.
  const known = new RegExp(`^(?:${lists.join("|")})(?:\\?[\\x21-\\x7e]*)?$`)
  return {
    /** The address of a thing of the list. */
    within: (address: string, list: string, pairs: Pairs = []): string =>
      withQuery(address, list === plain ? pairs : [...pairs, [PARAM, list]]),
    in: (pairs: Pairs): string => {
      const named = valueOf(pairs, PARAM) ?? ""
      return known.test(named) ? named : plain
    },
  }
}

export const eventLists = listBehind(["events", "trash"])
export const deliveryLists = listBehind(["deliveries", "events/\\d+"])
export const inboxLists = listBehind(["inbox", "inbox/\\d+"])
