/** The definition of a setting: its names, its form, and its default. */
import type { Form } from "./SettingForm.ts"

export interface Setting<A> {
  readonly env: string
  /** Without its dashes. */
  readonly flag: string
  /** The placeholder of the value in help texts. */
  readonly value: string
  readonly form: Form<A>
  /** The default as a user would write it; null if being unset has a meaning of its own, which `about` then explains. */
  readonly fallback: string | null
  readonly about: string
  /** Taken from the environment alone: every user of the machine can read arguments. */
  readonly secret?: boolean
}

type Described = Omit<Setting<unknown>, "form" | "fallback">

export const setting = <A>(described: Described, form: Form<A>, fallback: string): Setting<A> => ({
  ...described,
  form,
  fallback,
})

export const optional = <A>(described: Described, form: Form<A>): Setting<A | null> => ({
  ...described,
  form,
  fallback: null,
})
