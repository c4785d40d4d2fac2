/** Calendar days as text. */

const DAY = /^(?!0000)\d{4}-\d{2}-\d{2}$/

/** True for an existing day from 0001-01-01 to 9999-12-31; false for `2026-02-30`. */
export const isCalendarDay = (text: string): boolean => {
  if (!DAY.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}
