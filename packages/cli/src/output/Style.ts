/** Colours, only on a terminal that supports and allows them. */

type Paint = (text: string) => string

export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
}

const paint =
  (on: boolean, begin: number, end: number): Paint =>
  (text) =>
    on ? `\u001b[${begin}m${text}\u001b[${end}m` : text

/** https://no-color.org: any value of NO_COLOR means none. */
export const wantsColor = (stream: { readonly isTTY?: boolean | undefined }): boolean =>
  stream.isTTY === true && (process.env["NO_COLOR"] ?? "") === "" && process.env["TERM"] !== "dumb"

export const styleFor = (stream: { readonly isTTY?: boolean | undefined }): Style => {
  const on = wantsColor(stream)
  return {
    bold: paint(on, 1, 22),
    dim: paint(on, 2, 22),
    red: paint(on, 31, 39),
    green: paint(on, 32, 39),
    yellow: paint(on, 33, 39),
    cyan: paint(on, 36, 39),
  }
}
