/** JSON as the body of an answer: it ends its line, so that what follows it on a terminal begins on the next. */
export const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`
