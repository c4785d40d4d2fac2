/** The forms of the screens of a session. They work without a script, which only spares pasting a link. */
import { markup } from "@data-cabinet/http-node/html/Html"
import { ICONS } from "../html/Icons.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"

/** `retryAfter`: whole seconds, where it was too often. */
interface RefusedSignIn {
  readonly retryAfter: number | null
}

const box = ({ words: { session } }: Frame, refused: RefusedSignIn | null, refusal: string) =>
  refused !== null &&
  markup`<div class="box error" role="alert">${ICONS.alert}
<p>${refused.retryAfter === null ? refusal : session.tooOften(refused.retryAfter)}</p>
</div>`

const entered = (frame: Frame, refused: RefusedSignIn | null, title: string) =>
  refused === null ? title : `${frame.words.errors.title}: ${title}`

interface SignInForm {
  readonly name: string
  readonly to: string
  /** The host of the provider that also signs people in; null without one. */
  readonly provider: string | null
  /** The provider refused the sign-in. */
  readonly byProvider?: boolean
}

export const signInScreen = (
  frame: Frame,
  refused: RefusedSignIn | null,
  { name, to, provider, byProvider = false }: SignInForm,
): Screen => {
  const { session } = frame.words
  return {
    title: entered(frame, refused, session.signIn),
    section: null,
    main: markup`<h1>${session.signIn}</h1>
${box(frame, refused, byProvider ? session.notProvided : session.notSignedIn)}
${provider !== null && markup`<p><a class="button main" href="${consolePath(frame, "sign-in/provider")}?to=${encodeURIComponent(to)}">${session.signInWith(provider)}</a></p>`}
<form method="post" action="${consolePath(frame, "sign-in")}" class="card form">
<input type="hidden" name="to" value="${to}">
<label for="name">${session.name}<input id="name" name="name" value="${name}" autocomplete="username" required maxlength="100" autocapitalize="none"></label>
<label for="password">${session.password}<input id="password" name="password" type="password" autocomplete="current-password" required></label>
<button class="main">${session.signIn}</button>
</form>
<p class="soft">${session.linkHint} <code>npx cabinet console</code> · <a href="${consolePath(frame, "welcome")}">${session.useLink}</a></p>`,
  }
}

export const welcomeScreen = (frame: Frame, refused: RefusedSignIn | null): Screen => {
  const { session } = frame.words
  return {
    title: entered(frame, refused, session.welcome),
    section: null,
    main: markup`<h1>${session.welcome}</h1>
${box(frame, refused, session.notClaimed)}
<form method="post" action="${consolePath(frame, "welcome")}" class="card form" data-claim>
<label for="link">${session.link}<input id="link" name="link" autocomplete="off" spellcheck="false" required maxlength="2000"></label>
<button class="main">${session.signIn}</button>
</form>
<p><a href="${consolePath(frame, "sign-in")}">${session.usePassword}</a></p>`,
  }
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
