/**
 * Changes the character of `text` at `at`, whatever it is; a constant might equal the character that it replaces. Do not change
 * the last character of base64url, because some of its bits may be unused.
 */
export const forged = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1)
