/**
 * `text` with its character at `at` changed, whatever it is: a constant in its place may be what stands there. The last
 * character of base64url is none to change, since some of its bits may belong to no byte.
 */
export const forged = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1)
