/**
 * Fills a form of a rendered screen with the values that a person sent: after a refusal, with the message at its field, and after a
 * sign-in. It works on the screen's markup, so that it holds for every form, present and future. Secrets are not filled in.
 */
import { SECRET_SETTINGS } from "@data-cabinet/core/delivery/ClientIdentity"
import { type AnyNamed, partsOf } from "@data-cabinet/core/json/Setting"
import { CREDENTIAL_FIELDS } from "./CredentialFields.ts"
import type { Pairs } from "./ConsoleScreen.ts"
import { FORM_AT, FORM_ID, FORM_SHOWN } from "../html/PostForm.ts"
import { type Change, changed, type Tag, tagsOf, withAttributes } from "../html/MarkupTags.ts"
import { escapeHtml, unescapeHtml } from "@data-cabinet/http-node/html/Html"

export interface TypedForm {
  /** The path that it is sent to. */
  readonly action: string
  readonly pairs: Pairs
  /** Set if the screen has filled the form itself. */
  readonly isFilled?: true
}

export interface FormMessage {
  /** The fields it may be about; the first that the form has is marked. */
  readonly fields: ReadonlyArray<string>
  /** Inline markup. */
  readonly html: string
}

const secretNames = (named: AnyNamed): ReadonlyArray<string> => [
  ...(named.setting.input.kind === "text" && named.setting.input.secret === true ? [named.name] : []),
  ...partsOf(named).flatMap(secretNames),
]

/** Fields whose values are never shown again and never kept: each `type="password"`, and settings declared secret. */
export const SECRET_FIELDS: ReadonlySet<string> = new Set([
  ...(SECRET_SETTINGS.all as ReadonlyArray<AnyNamed>).flatMap(secretNames),
  ...CREDENTIAL_FIELDS,
  "current",
  "header_value",
  "link",
  "password",
  "secret",
])

const OWN_FIELDS: ReadonlySet<string> = new Set([FORM_ID, FORM_AT, FORM_SHOWN])

const CONTROLS: ReadonlySet<string> = new Set(["input", "select", "textarea", "button"])
const UNFILLED: ReadonlySet<string> = new Set(["hidden", "password", "file", "submit", "button"])

const typeOf = ({ name, attributes }: Tag): string =>
  name === "input" ? (attributes.get("type") ?? "text") : name === "button" ? "submit" : name

const nameOf = ({ attributes }: Tag): string => attributes.get("name") ?? ""

interface Form {
  readonly tag: Tag
  readonly controls: ReadonlyArray<Tag>
}

/** A control belongs to the form around it, or to the one whose id it names. */
const formsOf = (tags: ReadonlyArray<Tag>): ReadonlyArray<Form> => {
  const forms = tags.filter(({ name, closes }) => name === "form" && !closes)
  const byId = new Map(forms.flatMap((tag) => (tag.attributes.has("id") ? [[tag.attributes.get("id"), tag]] : [])))
  const formOf = (tag: Tag): Tag | undefined => {
    const named = tag.attributes.get("form")
    if (named !== undefined) return byId.get(named)
    const at = tag.around.findLast((one) => tags[one]!.name === "form")
    return at === undefined ? undefined : tags[at]
  }
  const controls = tags.filter(({ name, closes }) => CONTROLS.has(name) && !closes)
  const its = Map.groupBy(controls, formOf)
  return forms.map((tag) => ({ tag, controls: its.get(tag) ?? [] }))
}

const isSentTo = ({ tag, controls }: Form, action: string): boolean =>
  [tag.attributes.get("action"), ...controls.map(({ attributes }) => attributes.get("formaction"))].includes(action)

/**
 * How many of a form's fields were sent. Among forms with the same address, such as those of a list, it identifies the
 * one that was sent.
 */
const resemblanceTo = ({ pairs, isFilled }: TypedForm): ((form: Form) => number) => {
  if (isFilled === true) return () => 0
  // Once for all forms: a person can send a hundred thousand pairs.
  const names = new Set(pairs.map(([name]) => name))
  const sent = new Set(pairs.map(([name, value]) => `${name}\0${value}`))
  const points = (control: Tag): number => {
    const name = nameOf(control)
    if (OWN_FIELDS.has(name) || name === "") return 0
    if (typeOf(control) !== "hidden") return names.has(name) ? 1 : 0
    return sent.has(`${name}\0${control.attributes.get("value") ?? ""}`) ? 1 : -100
  }
  return ({ controls }) => controls.reduce((sum, control) => sum + points(control), 0)
}

const isField = (control: Tag): boolean =>
  typeOf(control) !== "hidden" && control.name !== "button" && nameOf(control) !== ""

const isChoice = (control: Tag): boolean => /^(?:checkbox|radio)$/.test(typeOf(control))

/** The sent value of each control: controls of the same name take its values in order. */
const valuesOf = ({ controls }: Form, pairs: Pairs): ReadonlyMap<Tag, string> => {
  const sent = Map.groupBy(pairs, ([name]) => name)
  const values = new Map<Tag, string>()
  for (const [name, its] of Map.groupBy(controls, nameOf)) {
    const given = (sent.get(name) ?? []).map(([, value]) => value)
    const fields = its.filter((one) => !isChoice(one))
    for (const [at, value] of given.slice(0, fields.length).entries()) values.set(fields[at]!, value)
    const chosen = new Set(given)
    for (const one of its.filter(isChoice)) {
      const value = one.attributes.get("value") ?? "on"
      if (chosen.has(value)) values.set(one, value)
    }
  }
  return values
}

const filled = (
  html: string,
  tags: ReadonlyArray<Tag>,
  { controls }: Form,
  values: ReadonlyMap<Tag, string>,
): Map<Tag, Change> => {
  const changes = new Map<Tag, Change>()
  for (const control of controls) {
    const type = typeOf(control)
    const isUnfilled = UNFILLED.has(type) && nameOf(control) !== FORM_SHOWN
    if (nameOf(control) === "" || isUnfilled || SECRET_FIELDS.has(nameOf(control))) continue
    const value = values.get(control)
    if (isChoice(control)) {
      changes.set(control, withAttributes(html, control, { checked: value === undefined ? null : "" }))
    } else if (value !== undefined && type === "select") {
      choose(html, tags, control, value, changes)
    } else if (value !== undefined && type === "textarea") {
      const closing = tags[control.closedBy]!
      const text = `\n${escapeHtml(value.replaceAll("\r\n", "\n"))}`
      changes.set(closing, { from: control.end, to: closing.start, text })
    } else if (value !== undefined) {
      changes.set(control, withAttributes(html, control, { value }))
    }
  }
  return changes
}

const choose = (
  html: string,
  tags: ReadonlyArray<Tag>,
  select: Tag,
  value: string,
  changes: Map<Tag, Change>,
): void => {
  const options = tags.filter(
    (tag) => tag.name === "option" && !tag.closes && tag.around.some((one) => tags[one] === select),
  )
  const valueOf = ({ attributes, end, closedBy }: Tag) =>
    attributes.get("value") ?? unescapeHtml(html.slice(end, tags[closedBy]!.start)).trim()
  if (!options.some((option) => valueOf(option) === value)) return
  for (const option of options) {
    changes.set(option, withAttributes(html, option, { selected: valueOf(option) === value ? "" : null }))
  }
}

/** Opens whatever hides the element: a `<details>`, or a menu, which becomes part of the page. */
const unfolded = (html: string, tags: ReadonlyArray<Tag>, inside: Tag): ReadonlyArray<readonly [Tag, Change]> =>
  inside.around.flatMap((at) => {
    const tag = tags[at]!
    if (tag.name === "details") return [[tag, withAttributes(html, tag, { open: "" })] as const]
    return tag.attributes.has("popover") ? [[tag, withAttributes(html, tag, { popover: null })] as const] : []
  })

const MESSAGE_ID = "wrong"

const messageOf = ({ html }: FormMessage): string => `<p class="wrong" id="${MESSAGE_ID}" role="alert">${html}</p>`

/** After the field and its label; for a choice, at the end of its group, or at the beginning of its form. */
const placeOf = (tags: ReadonlyArray<Tag>, { tag }: Form, field: Tag): number => {
  const around = (name: string) => field.around.map((at) => tags[at]!).findLast((one) => one.name === name)
  if (isChoice(field)) {
    const group = around("fieldset")
    return group === undefined ? tag.end : tags[group.closedBy]!.start
  }
  const last = around("label") ?? field
  return tags[last.closedBy]!.end
}

/** The field that a message is about: the last filled one, if several have its name. */
const fieldOf = (
  fields: ReadonlyArray<Tag>,
  values: ReadonlyMap<Tag, string>,
  { fields: names }: FormMessage,
): Tag | undefined =>
  names
    .map((name) => fields.filter((one) => nameOf(one) === name))
    .filter((its) => its.length > 0)
    .map((its) => its.findLast((one) => !isChoice(one) && (values.get(one) ?? "") !== "") ?? its[0]!)[0]

/** Its tags are found in one piece of the event loop, which a longer screen would hold for too long. */
const MAX_MARKUP = 4_000_000

/** The form as it was filled; null if the screen has no such form with a field, or is too long to look for it. */
export const filledForm = (html: string, typed: TypedForm, message: FormMessage | null): string | null => {
  if (html.length > MAX_MARKUP) return null
  const tags = tagsOf(html)
  const alikeTo = resemblanceTo(typed)
  const [found] = formsOf(tags)
    .filter((one) => isSentTo(one, typed.action) && one.controls.some(isField))
    .map((form) => ({ form, alike: alikeTo(form) }))
    .filter(({ alike }) => alike >= 0)
    .sort((one, other) => other.alike - one.alike)
  if (found === undefined) return null
  const { form } = found
  const values = valuesOf(form, typed.pairs)
  const changes = typed.isFilled === true ? new Map<Tag, Change>() : filled(html, tags, form, values)
  const fields = form.controls.filter(isField)
  const wrong = message === null ? undefined : fieldOf(fields, values, message)
  for (const one of wrong === undefined ? [form.tag, ...fields] : [form.tag, wrong]) {
    for (const [tag, change] of unfolded(html, tags, one)) changes.set(tag, change)
  }
  const focused = wrong ?? fields[0]!
  const begin = changes.get(focused)?.text ?? html.slice(focused.start, focused.end)
  const marks = {
    autofocus: "",
    ...(message === null ? {} : { "aria-describedby": describedBy(focused) }),
    ...(wrong === undefined ? {} : { "aria-invalid": "true" }),
  }
  changes.set(focused, {
    ...withAttributes(begin, tagsOf(begin)[0]!, marks),
    from: focused.start,
    to: focused.end,
  })
  if (message === null) return changed(html, [...changes.values()])
  const at = wrong === undefined ? form.tag.end : placeOf(tags, form, wrong)
  return changed(html, [{ from: at, to: at, text: messageOf(message) }, ...changes.values()])
}

const describedBy = ({ attributes }: Tag): string =>
  [attributes.get("aria-describedby"), MESSAGE_ID].filter((id) => id !== undefined).join(" ")
