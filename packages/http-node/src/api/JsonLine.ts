/** JSON as the body of an answer. It ends with a newline, so that a terminal's prompt begins on the next line. */
export const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`
