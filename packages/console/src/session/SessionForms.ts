/** The forms of the screens of a session. They work without a script, which only spares pasting a link. */
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import { filledForm } from "../screen/FilledForm.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"

/** `retryAfter`: whole seconds, after too many attempts; null otherwise. */
interface RefusedSignIn {
  readonly retryAfter: number | null
}

interface Refusal {
  readonly refused: RefusedSignIn | null
  /** The message, unless there were too many attempts. */
  readonly text: string
  /** The address of the form, below `/console/`. */
  readonly path: string
  /** The field at fault; absent for a wrong name or password, because the message must not reveal which is wrong. */
  readonly field?: string
}

/** Adds the refusal to the screen's form. The form has its values already, without secrets. */
const withRefusal = (frame: Frame, screen: Screen, { refused, text, path, field }: Refusal): Screen => {
  const { errors, session } = frame.words
  if (refused === null) return screen
  const html = markup`${refused.retryAfter === null ? text : session.tooOften(refused.retryAfter)}`.text
  const message = { fields: field === undefined ? [] : [field], html, language: frame.language }
  const typed = { action: consolePath(frame, path), pairs: [], isFilled: true } as const
  const main = filledForm(screen.main.text, typed, message) ?? screen.main.text
  return { ...screen, title: `${errors.title}: ${screen.title}`, main: new Html(main) }
}

interface SignInForm {
  readonly name: string
  readonly to: string
  /** The host of the provider that also signs people in; null without one. */
  readonly provider: string | null
  /** The provider refused the sign-in. */
  readonly byProvider?: boolean
  /** A form arrived after its session had ended: whether it was kept. */
  readonly ended?: "kept" | "lost" | null
}

export const signInScreen = (
  frame: Frame,
  refused: RefusedSignIn | null,
  { name, to, provider, byProvider = false, ended = null }: SignInForm,
): Screen => {
  const { session } = frame.words
  const screen: Screen = {
    title: session.signIn,
    section: null,
    main: markup`<h1>${session.signIn}</h1>
${ended !== null && markup`<div class="box" role="status"><p>${ended === "kept" ? session.ended : session.endedWithout}</p></div>`}
${provider !== null && markup`<p><a class="button main" href="${consolePath(frame, "sign-in/provider")}?to=${encodeURIComponent(to)}">${session.signInWith(provider)}</a></p>`}
<form method="post" action="${consolePath(frame, "sign-in")}" class="card form">
<input type="hidden" name="to" value="${to}">
<label for="name">${session.name}<input id="name" name="name" value="${name}" autocomplete="username" required maxlength="100" autocapitalize="none"></label>
<label for="password">${session.password}<input id="password" name="password" type="password" autocomplete="current-password" required></label>
<button class="main">${session.signIn}</button>
</form>
<p class="soft">${session.linkHint} <code>npx cabinet console</code> · <a href="${consolePath(frame, "welcome")}${to !== "" && `?to=${encodeURIComponent(to)}`}">${session.useLink}</a></p>`,
  }
  const text = byProvider ? session.notProvided : session.notSignedIn
  return withRefusal(frame, screen, { refused, text, path: "sign-in" })
}

export const welcomeScreen = (frame: Frame, refused: RefusedSignIn | null, to: string): Screen => {
  const { session } = frame.words
  const screen: Screen = {
    title: session.welcome,
    section: null,
    main: markup`<h1>${session.welcome}</h1>
<form method="post" action="${consolePath(frame, "welcome")}" class="card form" data-claim>
<input type="hidden" name="to" value="${to}">
<label for="link">${session.link}<input id="link" name="link" autocomplete="off" spellcheck="false" required maxlength="2000"></label>
<button class="main">${session.signIn}</button>
</form>
<p><a href="${consolePath(frame, "sign-in")}">${session.usePassword}</a></p>`,
  }
  return withRefusal(frame, screen, { refused, text: session.notClaimed, path: "welcome", field: "link" })
}

export const signOutScreen = (frame: Frame): Screen => {
  const { session } = frame.words
  return {
    title: session.signOut,
    section: null,
    main: markup`<h1>${session.signOut}</h1>
<form method="post" action="${consolePath(frame, "sign-out")}" class="card">
<button name="everywhere" value="no">${session.signOutHere}</button>
<button name="everywhere" value="yes">${session.signOutEverywhere}</button>
</form>`,
  }
}

export const passwordScreen = (frame: Frame): Screen => {
  const { session, save } = frame.words
  return {
    title: session.newPassword,
    section: null,
    main: markup`<h1>${session.newPassword}</h1>
<form method="post" action="${consolePath(frame, "password")}" class="card form">
<label for="current">${session.currentPassword}<input id="current" name="current" type="password" autocomplete="current-password" aria-describedby="current-hint"></label>
<p class="soft" id="current-hint">${session.currentHint}</p>
<label for="password">${session.password}<input id="password" name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="200" aria-describedby="password-hint"></label>
<p class="soft" id="password-hint">${session.passwordHint}</p>
<button class="main">${save}</button>
</form>`,
  }
}
