/**
 * Charts of counts: SVG rendered on the server in the page's colours, so that they need no script and no inline style.
 * A screen adds a table of the same numbers to each.
 */
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"

export interface Bar {
  /** Drawn from the baseline up; the second one in the colour of failures. */
  readonly values: readonly [number, number?]
  /** Its numbers in words, shown on hover. */
  readonly title: string
  /** A day begins here. */
  readonly begins?: boolean
}

const WIDTH = 10
const HEIGHT = 100
/** Makes a single event visible next to thousands. */
const LEAST = 3
const LEAST_OF_LINE = 8

const heightOf = (value: number, most: number): number =>
  value === 0 ? 0 : Math.max(LEAST, Math.round((value / most) * HEIGHT))

const highest = (values: ReadonlyArray<number>): number => values.reduce((most, value) => Math.max(most, value), 1)

const sum = ({ values: [one, other = 0] }: Bar): number => one + other

/** Stretched to the available width. `label` describes the whole chart. */
export const barChart = (bars: ReadonlyArray<Bar>, label: string): Html => {
  const most = highest(bars.map(sum))
  const drawn = bars.map((bar, at): HtmlValue => {
    const [one, other = 0] = bar.values
    const x = at * WIDTH
    const height = heightOf(one, most)
    const above = Math.min(heightOf(other, most), HEIGHT)
    const top = Math.max(0, HEIGHT - height - above)
    return markup`<g><title>${bar.title}</title><rect class="hit" x="${x}" y="0" width="${WIDTH}" height="${HEIGHT}"/>${bar.begins === true && markup`<path d="M${x} 0V${HEIGHT}"/>`}${height > 0 && markup`<rect x="${x + 1}" y="${HEIGHT - height}" width="${WIDTH - 2}" height="${height}"/>`}${above > 0 && markup`<rect class="bad" x="${x + 1}" y="${top}" width="${WIDTH - 2}" height="${above}"/>`}</g>`
  })
  return markup`<svg class="chart" viewBox="0 0 ${bars.length * WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${drawn}</svg>`
}

/** A bar of several counts, from the baseline up, each with the class of its colour. `href`: where a click leads. */
export interface StackedBar {
  readonly values: ReadonlyArray<readonly [value: number, tone: string]>
  readonly title: string
  readonly href: string
}

/** Bars whose parts have colours of their own, stretched to the available width. */
export const stackedChart = (bars: ReadonlyArray<StackedBar>, label: string): Html => {
  const most = highest(bars.map(({ values }) => values.reduce((all, [value]) => all + value, 0)))
  const drawn = bars.map(({ values, title, href }, at): HtmlValue => {
    const x = at * WIDTH
    let top = HEIGHT
    const parts = values.map(([value, tone]): HtmlValue => {
      const height = Math.min(heightOf(value, most), top)
      top -= height
      return (
        height > 0 && markup`<rect class="${tone}" x="${x + 1}" y="${top}" width="${WIDTH - 2}" height="${height}"/>`
      )
    })
    return markup`<a href="${href}" aria-label="${title}"><title>${title}</title><rect class="hit" x="${x}" y="0" width="${WIDTH}" height="${HEIGHT}"/>${parts}</a>`
  })
  return markup`<svg class="chart stacks" viewBox="0 0 ${bars.length * WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="group" aria-label="${label}">${drawn}</svg>`
}

/** A few bars in a line of text. */
export const sparkline = (values: ReadonlyArray<number>, label: string): Html => {
  const most = highest(values)
  const bar = (value: number, at: number): HtmlValue => {
    const height = Math.max(LEAST_OF_LINE, heightOf(value, most))
    return markup`<rect${value === 0 && markup` class="none"`} x="${at * WIDTH + 1}" y="${HEIGHT - height}" width="${WIDTH - 2}" height="${height}"/>`
  }
  return markup`<svg class="chart spark" viewBox="0 0 ${values.length * WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${values.map(bar)}</svg>`
}
