/**
 * A browser in which a person has signed in before, as a text that it keeps: person and a random id, signed by the
 * cabinet's key. Its attempts are counted by the id, so that a flood of attempts from the same address, or at the same
 * account, does not lock the person out. It is not a credential: a password is still required.
 */
import { randomBytes, timingSafeEqual } from "node:crypto"
import type { CursorKey } from "../pagination/CursorKey.ts"

export interface KnownBrowser {
  readonly personId: number
  /** 128 random bits in base64url. */
  readonly id: string
}

const SHAPE = /^(\d{1,16})\.([\w-]{22})\.([\w-]{43})$/

/** Signs text that no cursor and no sealed sign-in can equal. */
const signature = (key: CursorKey, { personId, id }: KnownBrowser): Buffer =>
  key.sign(`\0known browser ${personId} ${id}`)

/** Creates a new id each time, which replaces the text kept before. */
export const rememberBrowser = (key: CursorKey, personId: number): string => {
  const browser: KnownBrowser = { personId, id: randomBytes(16).toString("base64url") }
  return `${personId}.${browser.id}.${signature(key, browser).toString("base64url")}`
}

/** Null for any text that was not signed with this key. */
export const readBrowser = (key: CursorKey, text: string): KnownBrowser | null => {
  const [, personId, id, sent] = SHAPE.exec(text) ?? []
  if (personId === undefined || id === undefined || sent === undefined) return null
  const browser: KnownBrowser = { personId: Number(personId), id }
  const expected = signature(key, browser)
  const given = Buffer.from(sent, "base64url")
  return given.length === expected.length && timingSafeEqual(given, expected) ? browser : null
}
