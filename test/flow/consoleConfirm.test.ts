/** Irreversible acts are confirmed in place: their buttons follow a sentence that says what will stop. */
import { type Tag, tagsOf } from "@data-cabinet/console/html/MarkupTags"
import { afterAll, assert, beforeAll, it } from "vitest"
import { CONFIRMED_ACTS } from "../browser/support/confirmedActs.ts"
import { fullCabinet } from "../browser/support/fullCabinet.ts"
import { SCREENS } from "../browser/support/screenList.ts"
import { visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: Awaited<ReturnType<typeof fullCabinet>>
beforeAll(async () => {
  cabinet = await fullCabinet(database)
})
afterAll(() => cabinet.close())

const patternOf = (action: string): string =>
  action
    .replace(/^.*?\/console\/?/, "")
    .replace(/^tables\/[^/]+\/[^/]+/, "tables/{schema}/{name}")
    .replace(/columns\/[^/]+/, "columns/{column}")
    .replace(/^([a-z]+)\/\d+/, "$1/{id}")

interface Asked {
  readonly pattern: string
  /** Whether the button stays hidden until a disclosure is opened, or a person types the name of the object. */
  readonly isAsked: boolean
  /** The sentences next to its button. */
  readonly says: string
}

const askedIn = (html: string): ReadonlyArray<Asked> => {
  const tags = tagsOf(html)
  const typed = new Set(
    tags.filter(({ attributes }) => attributes.get("name") === "confirm").map((tag) => formOf(tags, tag)),
  )
  const buttons = tags.filter(({ name, closes, attributes }) => name === "button" && !closes && isSent(attributes))
  return buttons.flatMap((button) => {
    const form = formOf(tags, button)
    const action = button.attributes.get("formaction") ?? form?.attributes.get("action")
    if (action === undefined) return []
    const around = button.around.map((at) => tags[at]!)
    const hidden = around.find(({ name, attributes }) => name === "details" || attributes.has("popover"))
    const within = hidden ?? form!
    return {
      pattern: patternOf(action),
      isAsked: hidden !== undefined || typed.has(form),
      says: [...html.slice(within.end, tags[within.closedBy]!.start).matchAll(/<p[^>]*>(.*?)<\/p>/gs)]
        .map(([, text]) => text!.replace(/<[^>]*>/g, ""))
        .join(" "),
    }
  })
}

const isSent = (attributes: Tag["attributes"]) => attributes.get("type") !== "button"

const formOf = (tags: ReadonlyArray<Tag>, { attributes, around }: Tag): Tag | undefined => {
  const named = attributes.get("form")
  return tags.find(
    (tag, at) =>
      tag.name === "form" &&
      !tag.closes &&
      (named === undefined ? around.includes(at) : tag.attributes.get("id") === named),
  )
}

/** Acts on no listed screen: they need a built index, a certificate, a running import or rebuild, or a login for reports. */
const NOT_LISTED: ReadonlyArray<string> = [
  "addresses/{id}/client-certificate/remove",
  "files/{id}/cancel",
  "report-login/revoke",
  "tables/{schema}/{name}/columns/{column}/index/drop",
  "tables/{schema}/{name}/indexes/drop",
  "tables/{schema}/{name}/indexes/search/drop",
  "tables/{schema}/{name}/rebuild/cancel",
]

it("a screen explains an action that cannot be undone before it shows its button", async () => {
  const owner = visitor(cabinet.base, cabinet.headers)
  // A signed-in person.
  const issued = await owner.post("/console/people/1/link", {})
  const link = /dcl_[\w-]{43}/.exec(issued.text)![0]
  assert.strictEqual((await visitor(cabinet.base).post("/console/welcome", { link })).status, 303)
  const seen = new Set<string>()
  const revealed = await owner.post("/console/sources/1/reveal", {})
  const texts = [revealed.text]
  for (const path of SCREENS) texts.push((await owner.get(`/console/${path}`)).text)
  for (const { pattern, isAsked, says } of texts.flatMap(askedIn)) {
    if (!CONFIRMED_ACTS.includes(pattern)) continue
    seen.add(pattern)
    assert.isTrue(isAsked, `${pattern} is one click`)
    assert.match(says, /\w+ \w+ \w+/, `${pattern} does not say what it does`)
  }
  const missing = CONFIRMED_ACTS.filter((pattern) => !seen.has(pattern) && !NOT_LISTED.includes(pattern))
  assert.deepStrictEqual(missing, [])
})
