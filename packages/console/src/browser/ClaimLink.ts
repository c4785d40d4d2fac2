/** Sends the secret of a one-time link, which is in the address's fragment, and removes it from the address immediately. */

export const claimLink = (): void => {
  claim()
  // The link opened in a tab that shows this screen changes only the fragment.
  addEventListener("hashchange", claim)
}

const claim = (): void => {
  const form = document.querySelector<HTMLFormElement>("form[data-claim]")
  const input = form?.querySelector<HTMLInputElement>("input[name=link]")
  const secret = location.hash.slice(1)
  if (!form || !input || !/^dcl_[\w-]{43}$/.test(secret)) return
  history.replaceState(null, "", location.pathname)
  input.value = secret
  form.requestSubmit()
}
