/** The declaration of a screen: its address, who may see it, and its responses to GET and to a form. */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { Action } from "@data-cabinet/core/key/Role"
import type { LiveSession } from "@data-cabinet/core/person/Person"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import type { Response, Request } from "@data-cabinet/http-node/server/Request"
import type { Effect } from "effect"
import type { Frame, Screen } from "../html/Shell.ts"

/** Parameters in their order, decoded. */
export type Pairs = ReadonlyArray<readonly [name: string, value: string]>

export interface ScreenCall {
  readonly frame: Frame
  /** Null only on a screen without an action. */
  readonly actor: Actor | null
  /** Null for a program, and for a person who signs in elsewhere. */
  readonly session: LiveSession | null
  /** Its path after `/console/`, as sent. */
  readonly address: string
  /** The decoded segments in place of the pattern's `{name}`. */
  readonly path: ReadonlyArray<string>
  /** The query string as sent. */
  readonly query: string
  readonly pairs: Pairs
  readonly request: Request
  /** Whether the requester may still see this: for streams that outlive their first response. */
  readonly mayStill: Effect.Effect<boolean>
}

export interface FormCall extends ScreenCall {
  readonly form: Pairs
}

export type ScreenResult =
  | { readonly screen: Screen; readonly status?: number; readonly headers?: Readonly<Record<string, string>> }
  /** A piece of a screen, requested by the script. */
  | { readonly fragment: string; readonly headers?: Readonly<Record<string, string>> }
  /** Another address of the console, to be looked at by GET; `isUnknown` if it is unknown whether a form did its work. */
  | { readonly location: string; readonly cookies?: ReadonlyArray<string>; readonly isUnknown?: true }
  | { readonly answer: Response }

/** A refusal; `typed` has the fields of a form whose screen read them itself. */
export interface FormRefusal extends ManageError {
  readonly typed?: Pairs
}

export type ConsoleRefusal = FormRefusal | StoreUnavailable

/** Whether the script requests only the inside of a screen. */
export const wantsFragment = ({ request }: ScreenCall): boolean => request.headers["x-fragment"] !== undefined

/** Whether sending the same form again repeats its work: `once` for forms that create, send or replace something. */
export type Repeat = "once" | "allowed"

type Respond<Call> = (call: Call) => Effect.Effect<ScreenResult, ConsoleRefusal>

export interface ConsoleScreen {
  readonly path: `/console${string}`
  /** The action that the visitor must be allowed; null for a public screen, such as the sign-in page. */
  readonly action: Action | null
  readonly get: Respond<ScreenCall>
  readonly post?: {
    readonly action: Action | null
    readonly respond: Respond<FormCall>
    readonly repeat: Repeat | ((call: FormCall) => Repeat)
    /** It reads the request's body itself, such as a file; the form is empty. */
    readonly readsBody?: true
  }
  /** The address, from `/console/` on, of the screen whose form leads here by GET. */
  readonly formAt?: (call: ScreenCall) => string
  /** The path of its form below `/console/`, for the link back after a refusal. */
  readonly back?: (path: ReadonlyArray<string>) => string
}
