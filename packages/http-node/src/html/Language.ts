/** The languages of the service's own pages, and the choice among them. */

export type Language = "en" | "ru"

const LANGUAGES: ReadonlyArray<Language> = ["en", "ru"]

/**
 * The best of our languages for an `Accept-Language` header: by quality, then by order; a region (`ru-BY`) counts as its
 * language. English if none matches, and without a header.
 */
export const chooseLanguage = (header: string | undefined): Language => {
  let best: Language = "en"
  let bestQuality = 0
  for (const range of (header ?? "").split(",")) {
    const [tag = "", ...parameters] = range.split(";")
    const primary = tag.trim().toLowerCase().split("-")[0]
    const language = LANGUAGES.find((known) => known === primary)
    const quality = qualityOf(parameters)
    if (language !== undefined && quality > bestQuality) {
      best = language
      bestQuality = quality
    }
  }
  return best
}

/** Whether an `Accept` header names HTML, as browsers do when a person follows a link or sends a form. */
export const acceptsHtml = (header: string | undefined): boolean =>
  (header ?? "").split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";")
    const name = type.trim().toLowerCase()
    return (name === "text/html" || name === "application/xhtml+xml") && qualityOf(parameters) > 0
  })

export const qualityOf = (parameters: ReadonlyArray<string>): number => {
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=")
    if (name.trim().toLowerCase() === "q") {
      const quality = Number(value.trim())
      return Number.isFinite(quality) ? quality : 0
    }
  }
  return 1
}
