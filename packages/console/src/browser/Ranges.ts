/**
 * A drag over the bars of a chart selects their range: from the filter of the first one to that of the last one. With a finger a
 * drag scrolls, as everywhere, and a tap selects one bar.
 */

const CHARTS = ".bars,.stacks"

const addressOf = (bar: Element) => new URL(bar.getAttribute("href")!, location.href)

/** The conditions that a bar adds: two, or one for a single value. */
const boundsOf = (params: URLSearchParams) => {
  const [operators, values] = [params.getAll("fo"), params.getAll("fv")]
  const isOne = operators.at(-1) === "eq"
  return { count: isOne ? 1 : 2, isOne, low: values.at(isOne ? -1 : -2)!, high: values.at(-1)! }
}

/** The address that selects what both bars and all between them do. */
export const rangeAddress = (first: URL, last: URL): string => {
  const { searchParams: params } = first
  if (params.get("fo") === null) {
    params.set("to", last.searchParams.get("to") ?? "")
    return first.href
  }
  const [low, high] = [boundsOf(params), boundsOf(last.searchParams)]
  const column = params.getAll("fc").at(-1)!
  const added: Record<string, ReadonlyArray<string>> = {
    fc: [column, column],
    fo: ["ge", high.isOne ? "le" : "lt"],
    fv: [low.low, high.high],
  }
  for (const [name, two] of Object.entries(added)) {
    const kept = params.getAll(name).slice(0, -low.count)
    params.delete(name)
    for (const value of [...kept, ...two]) params.append(name, value)
  }
  return first.href
}

export const rangeDrags = (): void => {
  let chart: Element | null = null
  let bars: ReadonlyArray<Element> = []
  let [first, last] = [0, 0]
  let caption: HTMLElement | null = null
  let said = ""

  const barAt = (x: number) => {
    const at = bars.findLastIndex((bar) => bar.getBoundingClientRect().left <= x)
    return Math.max(0, at)
  }
  const links = () => {
    const [from, to] = [Math.min(first, last), Math.max(first, last)]
    return bars.slice(from, to + 1).filter((bar) => bar.hasAttribute("href"))
  }
  const titleOf = (bar: Element | undefined) =>
    bar?.getAttribute("title") ?? bar?.querySelector("title")?.textContent ?? ""

  const draw = () => {
    const [from, to] = [Math.min(first, last), Math.max(first, last)]
    for (const [at, bar] of bars.entries()) bar.classList.toggle("in", from !== to && at >= from && at <= to)
    const chosen = links()
    const [low] = titleOf(chosen[0]).split(/ … |: | · /)
    const high = titleOf(chosen.at(-1))
      .split(/: | · /)[0]!
      .replace(/^.* … /, "")
    if (caption !== null) caption.textContent = from === to ? said : `${low} … ${high}`
  }
  const end = () => {
    last = first
    draw()
    chart = null
  }

  document.addEventListener("pointerdown", ({ target, button, pointerType, clientX }) => {
    chart = target instanceof Element && button === 0 && pointerType !== "touch" ? target.closest(CHARTS) : null
    if (chart === null) return
    bars = [...chart.children]
    first = last = barAt(clientX)
    caption = chart.parentElement!.querySelector(".caption")
    said = caption?.textContent ?? ""
  })
  // A link would be dragged itself.
  document.addEventListener("dragstart", (event) => {
    if (chart !== null) event.preventDefault()
  })
  document.addEventListener("pointermove", ({ clientX }) => {
    if (chart === null || last === barAt(clientX)) return
    last = barAt(clientX)
    draw()
  })
  document.addEventListener("pointerup", () => {
    if (chart === null) return
    const chosen = links()
    const isRange = first !== last && chosen.length > 0
    if (isRange) location.assign(rangeAddress(addressOf(chosen[0]!), addressOf(chosen.at(-1)!)))
    chart = isRange ? null : chart
    if (!isRange) end()
  })
  document.addEventListener("pointercancel", () => chart !== null && end())
  document.addEventListener("keydown", ({ key }) => key === "Escape" && chart !== null && end())
}
