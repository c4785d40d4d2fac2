/** For the number of an event that does not exist. */
export const noSuchEvent = (id: number | string): string => `Event ${id} does not exist.`
