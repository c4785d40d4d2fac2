/** What Stryker leaves as it is; docs/mutation.md says why. */

/** Two words in lower case after one another, which no header, no SQL and no name of ours has. */
const WORDS = /[a-z,:;] [a-z]/

const textOf = (path) => {
  if (path.isStringLiteral()) return path.node.value
  return path.isTemplateLiteral() ? path.node.quasis.map(({ value }) => value.raw).join("…") : ""
}

const notChanged = {
  shouldIgnore: (path) => {
    if (path.isLabeledStatement()) return "A loop with a label."
    return WORDS.test(textOf(path)) ? "A text that people read." : undefined
  },
}

export const strykerPlugins = [{ kind: "Ignore", name: "notChanged", value: notChanged }]
