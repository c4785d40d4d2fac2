/** What a setting is: its names, its form, and what it is when nobody sets it. */
import type { Form } from "./SettingForm.ts"

export interface Setting<A> {
  readonly env: string
  /** Without its dashes. */
  readonly flag: string
  /** What stands for the value in help texts. */
  readonly value: string
  readonly form: Form<A>
  /** As it would be written; null where being unset means something by itself, which `about` then says. */
  readonly fallback: string | null
  readonly about: string
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
