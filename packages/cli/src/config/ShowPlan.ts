/** A plan as people and programs read it. Secrets are not in it. */
import { maskUrl } from "@data-cabinet/core/network/MaskedUrl"
import { counted } from "@data-cabinet/core/text/Counted"
import type { Style } from "../output/Style.ts"
import type { SectionName } from "./FileSchema.ts"
import type { Plan } from "./PlanFile.ts"
import type { FieldChange, Issued, Step } from "./Step.ts"

const KINDS: { readonly [S in SectionName]: string } = {
  sources: "source",
  schemas: "schema",
  addresses: "address",
  polls: "poll",
  destinations: "destination",
  keys: "key",
  tokens: "token",
  people: "person",
}

/** What kind of object a step is about, in a word. */
export const kindOf = ({ section }: Step): string => KINDS[section]

/** The URL in a name without what may be secret. */
export const shownName = ({ section, name }: Step): string =>
  section === "addresses" || section === "polls" ? name.replace(/https?:\/\/\S*$/, maskUrl) : name

const valueText = (value: unknown): string => {
  if (value === null || value === undefined) return "none"
  return typeof value === "string" ? value : JSON.stringify(value)
}

const fieldLine = ({ action }: Step, { name, before, after }: FieldChange): string =>
  action === "create" ? `    ${name}: ${valueText(after)}` : `    ${name}: ${valueText(before)} → ${valueText(after)}`

const stepLines = (step: Step, style: Style): ReadonlyArray<string> => {
  const { action, fields } = step
  const mark = { create: "+", change: "~", remove: "-" }[action]
  const head = `${mark} ${action} ${kindOf(step)} ${shownName(step)}`
  return [action === "remove" ? style.red(head) : style.bold(head), ...fields.map((field) => fieldLine(step, field))]
}

const countOf = (steps: ReadonlyArray<Step>, action: Step["action"]): number =>
  steps.filter((step) => step.action === action).length

/** `2 to create, 1 to change, 0 to remove`. */
const summary = ({ steps, unchanged }: Plan): string =>
  [
    `${countOf(steps, "create")} to create`,
    `${countOf(steps, "change")} to change`,
    `${countOf(steps, "remove")} to remove`,
    `${unchanged} unchanged`,
  ].join(", ")

/** The plan as text. */
export const planText = (plan: Plan, style: Style): string => {
  const { steps, unnamed } = plan
  const stays = unnamed - countOf(steps, "remove")
  return [
    ...steps.flatMap((step) => stepLines(step, style)),
    `${summary(plan)}.`,
    ...(stays > 0
      ? [
          `${counted(stays, "object is", "objects are")} not in the file; --prune removes ${stays === 1 ? "it" : "them"}.`,
        ]
      : []),
  ].join("\n")
}

/** The plan as JSON. */
export const planJson = ({ steps, unchanged, unnamed }: Plan) => ({
  changes: steps.map((step) => ({
    action: step.action,
    kind: kindOf(step),
    name: shownName(step),
    fields: step.fields.map(({ name, before = null, after }) => ({ name, before, after })),
  })),
  unchanged,
  unnamed,
})

/** The issued secrets, each at the only time at which it is shown. */
export const issuedText = (issued: ReadonlyArray<Issued>, style: Style): string =>
  issued
    .map(({ kind, name, secret, file }) =>
      file === null
        ? `The ${kind} ${name}, which is not shown again: ${style.bold(secret)}`
        : `The ${kind} ${name} was written to ${file}.`,
    )
    .join("\n")
