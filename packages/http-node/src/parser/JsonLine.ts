/** JSON as the body of a response. It ends with a newline, so that a terminal's prompt begins on the next line. */
export const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`
