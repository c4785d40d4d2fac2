/** The only place where text becomes elements: HTML from our own server, under the page's only Trusted Types policy. */

interface Policy {
  readonly createHTML: (text: string) => string
}
interface Factory {
  readonly createPolicy: (name: string, rules: { readonly createHTML: (text: string) => string }) => Policy
}

const factory = (globalThis as { readonly trustedTypes?: Factory }).trustedTypes
const policy: Policy = factory?.createPolicy("cabinet", { createHTML: (text) => text }) ?? {
  createHTML: (text) => text,
}

export const setHtml = (element: Element, text: string): void => {
  element.innerHTML = policy.createHTML(text)
}

/** The server's response for an address of this page's origin; a refusal is an error. */
export const fetchText = async (path: string, signal: AbortSignal | null = null): Promise<Response> => {
  const response = await fetch(path, { headers: { "x-fragment": "1" }, redirect: "error", signal })
  if (!response.ok) throw new Error(String(response.status))
  return response
}

/** Announces a message to screen readers and shows it briefly. */
export const say = (text: string): void => {
  const place = document.getElementById("said")
  if (place !== null) place.textContent = text
}

/** A row in place of those outside the view, which are not elements: it has their height. */
export const spacer = (columns: number): HTMLTableRowElement => {
  const row = document.createElement("tr")
  row.className = "gap"
  row.ariaHidden = "true"
  row.insertCell().colSpan = columns
  return row
}
