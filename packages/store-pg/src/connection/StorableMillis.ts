/** A time that something took, as an `int4` column takes it: a clock that was set meanwhile makes it negative, or years. */
export const storableMillis = (millis: number): number => Math.max(0, Math.min(Math.round(millis), 2 ** 31 - 1))
