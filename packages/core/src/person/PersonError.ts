/** The error for refused operations on people, their sessions and passwords. */
import { Schema } from "effect"

export class PersonError extends Schema.TaggedError<PersonError>()("PersonError", {
  code: Schema.Literals([
    "no_such_person",
    "no_such_session",
    "name_taken",
    "bad_name",
    "bad_role",
    "bad_password",
    "wrong_password",
    "last_owner",
    "foreign_person",
  ]),
  message: Schema.String,
}) {}

export const personError = (code: PersonError["code"], message: string): PersonError =>
  new PersonError({ code, message })

/** A password cannot be set for an access token, or for a person who signs in elsewhere. */
export const hasNoPassword = personError(
  "no_such_person",
  "Only people who sign in to this cabinet itself have a password: neither access tokens nor people of a proxy or provider do.",
)

/** A sign-in failed. The error is the same whether the link, the name or the password was wrong. */
export class SignInError extends Schema.TaggedError<SignInError>()("SignInError", {
  code: Schema.Literals(["not_signed_in", "rate_limited"]),
  message: Schema.String,
  /** Whole seconds; 0 for other errors. */
  retryAfter: Schema.Int,
}) {}

/** The error for a failed sign-in. */
export const notSignedIn = new SignInError({
  code: "not_signed_in",
  message: "Sign-in failed: the name, the password or the link is wrong, was used before, or is no longer valid.",
  retryAfter: 0,
})

/** The error for too many attempts to sign in. */
export const tooManySignIns = (retryAfter: number): SignInError =>
  new SignInError({
    code: "rate_limited",
    message: `Too many attempts to sign in. Try again in ${retryAfter} s, or use a one-time link.`,
    retryAfter,
  })
