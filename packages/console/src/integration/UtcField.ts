/** The value of a field for a time without a zone, as UTC. */
export const utc = (text: string): string =>
  /^[\dT:.-]+$/.test(text) ? `${text.length === 16 ? `${text}:00` : text}Z` : text
