/** Clamps a duration to what an `int4` column holds: a clock set meanwhile can make it negative, or years long. */
export const storableMillis = (millis: number): number => Math.max(0, Math.min(Math.round(millis), 2 ** 31 - 1))
