/**
 * Every form of the console, filled with an invalid input in Chromium: it comes back as it was filled, without its secrets, with
 * the message at its field and the focus there.
 */
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { axeComplaints } from "./support/axe.ts"
import { type Chromium, startChromium, type Visit } from "./support/chromium.ts"
import { fullCabinet } from "./support/fullCabinet.ts"
import { SCREENS } from "./support/screenList.ts"
import { NEVER_REFUSED, WRONG_INPUTS, type WrongInput } from "./support/wrongInputs.ts"

const database = withDatabase()
let cabinet: Awaited<ReturnType<typeof fullCabinet>>
let chromium: Chromium
let visit: Visit
beforeAll(async () => {
  cabinet = await fullCabinet(database)
  chromium = await startChromium()
  const extraHTTPHeaders = { ...cabinet.headers }
  visit = await chromium.visit({ viewport: { width: 1280, height: 800 }, extraHTTPHeaders, locale: "en-US" })
  // Frames are drawn at any time before or after the load event, so the focus must not depend on them.
  await visit.page.addInitScript(() =>
    document.addEventListener("DOMContentLoaded", () => {
      document.documentElement.dataset["focusedAtOnce"] = (document.activeElement as any)?.name ?? ""
    }),
  )
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await cabinet.close()
})

/** An address of a form, with the names of its parts. */
const patternOf = (action: string): string =>
  new URL(action).pathname
    .replace(/^.*?\/console\/?/, "")
    .replace(/^tables\/[^/]+\/[^/]+/, "tables/{schema}/{name}")
    .replace(/columns\/[^/]+/, "columns/{column}")
    .replace(/^([a-z]+)\/\d+/, "$1/{id}")

/** The addresses that the forms of the page are sent to: each form that a person fills. */
const formsOn = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() =>
    [...document.forms].flatMap((form) => {
      const controls = [...form.elements] as Array<any>
      const isFilled = controls.some((one) => one.name !== "" && !/^(?:hidden|submit|button|fieldset)$/.test(one.type))
      const buttons = controls.filter((one) => one.hasAttribute("formaction")).map((one) => one.formAction as string)
      return isFilled ? [new URL(form.getAttribute("action")!, form.baseURI).href, ...buttons] : []
    }),
  )

/** Fills the form, sends it without the browser's own checks, and returns the typed values. */
const send = (page: Page, action: string, fields: WrongInput["fields"]): Promise<ReadonlyArray<string>> =>
  page.evaluate(
    ([to, wrong]) => {
      const controls = (form: HTMLFormElement) => [...form.elements] as Array<any>
      const form = [...document.forms].find(
        (one) =>
          (new URL(one.getAttribute("action")!, one.baseURI).href === to ||
            controls(one).some((each) => each.hasAttribute("formaction") && each.formAction === to)) &&
          controls(one).some((each) => each.name !== "" && !/^(?:hidden|submit|button|fieldset)$/.test(each.type)),
      )!
      const kinds: Record<string, string> = {
        url: "https://typed.example/",
        number: "1",
        "datetime-local": "2026-01-02T03:04:05",
      }
      for (const one of controls(form)) {
        const given = wrong[one.name]
        if (/^(?:hidden|submit|button|file|fieldset)$/.test(one.type) || one.name === "") continue
        if (one.type === "checkbox" || one.type === "radio") one.checked = given !== null
        else if (one.tagName === "SELECT") one.value = given ?? one.options[one.options.length - 1].value
        else one.value = given ?? kinds[one.type] ?? `typed ${one.name}`
      }
      const typed = controls(form)
        .filter((one) => !/^(?:hidden|submit|button|file|fieldset|password)$/.test(one.type) && one.name !== "")
        .map((one) =>
          [
            one.name,
            one.type,
            one.name === "client_identity_key" || one.name === "link" ? "" : one.value,
            one.checked ?? null,
          ].join(" | "),
        )
      form.noValidate = true
      form.setAttribute("action", to)
      form.submit()
      return typed
    },
    [action, fields] as const,
  )

interface Again {
  readonly typed: ReadonlyArray<string>
  readonly focused: string
  /** Before the first frame is drawn. */
  readonly focusedAtOnce: string
  readonly described: string
  readonly invalid: ReadonlyArray<string>
  readonly title: string
}

const again = (page: Page, action: string): Promise<Again> =>
  page.evaluate((to) => {
    const controls = (form: HTMLFormElement) => [...form.elements] as Array<any>
    const form = [...document.forms].find(
      (one) =>
        (new URL(one.getAttribute("action")!, one.baseURI).href === to ||
          controls(one).some((each) => each.hasAttribute("formaction") && each.formAction === to)) &&
        controls(one).some((each) => each.name !== "" && !/^(?:hidden|submit|button|fieldset)$/.test(each.type)),
    )
    const focus = document.activeElement as any
    const ids = (focus?.getAttribute("aria-describedby") ?? "").split(" ")
    const message = ids.includes("wrong") ? document.getElementById("wrong") : null
    return {
      typed: (form === undefined ? [] : controls(form))
        .filter((one) => !/^(?:hidden|submit|button|file|fieldset|password)$/.test(one.type) && one.name !== "")
        .map((one) => [one.name, one.type, one.value, one.checked ?? null].join(" | ")),
      focused: focus?.name ?? "",
      focusedAtOnce: document.documentElement.dataset["focusedAtOnce"] ?? "",
      described: message !== null && message.checkVisibility() && focus.checkVisibility() ? message.textContent! : "",
      invalid: [...document.querySelectorAll<any>("[aria-invalid]")].map((one) => one.name),
      title: document.title,
    }
  }, action)

/** A form with fields of every kind, one in a menu, one in a toolbar, and one open to every visitor. */
const INSPECTED: ReadonlySet<string> = new Set([
  "sources/{id}/change",
  "addresses",
  "tables/{schema}/{name}/select",
  "sign-in",
])

it("every form comes back as it was filled, with the message at its field, when it is refused", async () => {
  const { page } = visit
  const seen = new Set<string>()
  const unknown = new Set<string>()
  const wrong: Array<string> = []
  for (const path of SCREENS) {
    const address = `${cabinet.base}/console/${path}`
    await page.goto(address)
    for (const action of await formsOn(page)) {
      const pattern = patternOf(action)
      if (seen.has(pattern) || NEVER_REFUSED.has(pattern)) continue
      const input = WRONG_INPUTS[pattern]
      if (input === undefined) {
        unknown.add(`${path}: ${pattern}`)
        continue
      }
      if ((input.on ?? path) !== path) continue
      seen.add(pattern)
      await page.goto(address)
      const navigated = page.waitForNavigation()
      try {
        const typed = await send(page, action, input.fields)
        const status = (await navigated)?.status() ?? 0
        const text = (await page.locator(".wrong, .box").allTextContents()).join("\n")
        assert.isAtLeast(status, 400, `${pattern}: ${text}`)
        const { typed: found, focused, focusedAtOnce, described, invalid, title } = await again(page, action)
        // A filled filter is followed by an empty one.
        const lost = typed.filter((line) => !found.includes(line))
        assert.deepStrictEqual(
          lost,
          [],
          `${pattern}: ${text} ${lost.join("; ").slice(0, 300)} of ${found.join("; ").slice(0, 300)}`,
        )
        assert.strictEqual(focusedAtOnce, focused, pattern)
        assert.match(described, /\w+/, `${pattern}: ${text}`)
        assert.deepStrictEqual(invalid, input.at === null ? [] : [input.at], `${pattern}: ${text}`)
        if (input.at !== null) assert.strictEqual(focused, input.at, pattern)
        assert.match(title, /^Error: /, pattern)
        const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        assert.isAtMost(sideways, 0, `${pattern}: the page is wider than its window`)
        if (INSPECTED.has(pattern)) assert.deepStrictEqual(await axeComplaints(page), [], pattern)
      } catch (error) {
        wrong.push(String(error).slice(0, 3000))
      }
    }
  }
  assert.isEmpty(wrong, wrong.join("\n"))
  assert.deepStrictEqual([...unknown], [], "forms without a wrong input in wrongInputs.ts")
  assert.deepStrictEqual([...seen].sort(), Object.keys(WRONG_INPUTS).sort())
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
}, 900_000)
