/**
 * An act is a form that redirects back to the screen that it was sent from, so that a reload sends nothing again; an
 * act that shows a secret responds with its own screen. A GET of its address redirects to that screen.
 */
import type { Action } from "@data-cabinet/core/key/Role"
import { addressOf } from "@data-cabinet/http-node/server/Route"
import { Effect } from "effect"
import { FORM_AT } from "../html/PostForm.ts"
import { consolePath } from "../html/Shell.ts"
import { isConsoleAddress } from "./FormAgain.ts"
import type { ConsoleRefusal, ConsoleScreen, FormCall, Repeat, ScreenResult } from "./ConsoleScreen.ts"

interface Act {
  readonly path: ConsoleScreen["path"]
  readonly action: Action
  /** Where it leads, below `/console/`. */
  readonly home: (path: ReadonlyArray<string>) => string
  /**
   * The screens, below `/console/`, to which it returns with their query if it was sent from them: lists with their
   * filters.
   */
  readonly stays?: (path: ReadonlyArray<string>) => ReadonlyArray<string>
  readonly repeat: Repeat | ((call: FormCall) => Repeat)
  /** Empty for an act that leads to the overview. */
  readonly respond: (call: FormCall) => Effect.Effect<ScreenResult | null, ConsoleRefusal>
}

const homeOf = ({ home, stays }: Act, call: FormCall): string => {
  const at = call.form.find(([name]) => name === FORM_AT)?.[1] ?? ""
  const kept = stays?.(call.path) ?? []
  const isKept = isConsoleAddress(at) && kept.some((one) => addressOf(at).path === `/console/${one}`)
  return isKept ? call.frame.base + at : consolePath(call.frame, home(call.path))
}

export const act = (one: Act): ConsoleScreen => {
  const { path, action, home, repeat, respond } = one
  return {
    path,
    action,
    back: home,
    get: (call) => Effect.succeed({ location: consolePath(call.frame, home(call.path)) }),
    post: {
      action,
      repeat,
      respond: (call) => Effect.map(respond(call), (result) => result ?? { location: homeOf(one, call) }),
    },
  }
}

export const fieldOf = ({ form }: FormCall, name: string): string =>
  form.find(([other]) => other === name)?.[1].trim() ?? ""

/** Every value of a field that may be chosen several times. */
export const fieldsOf = ({ form }: FormCall, name: string): ReadonlyArray<string> =>
  form.flatMap(([other, value]) => (other === name ? [value] : []))

/** An id in the path; 0, which nothing has, if invalid. */
export const idOf = (text: string | undefined): number => (/^[1-9]\d{0,14}$/.test(text ?? "") ? Number(text) : 0)
