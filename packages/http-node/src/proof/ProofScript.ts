/**
 * The script that a page with a form includes: it solves the challenge of the form's intake address, and adds the solution to the
 * form. It needs neither a worker nor inline code nor styles, so a strict policy of the page need only name the cabinet, and it
 * runs on pages without TLS, where browsers have no `crypto.subtle`.
 *
 * Solving begins when a person enters the form, in pieces between which the page responds. A form is sent without a solution
 * rather than not at all: the event is then kept as spam.
 */
export const PROOF_SCRIPT = `(() => {
  "use strict"
  const own = document.currentScript.src.replace(/\\/proof\\.js(?:[?#].*)?$/, "")
  const LIFE = 50 * 60000
  const PIECE = 12

  const K = []
  const START = []
  for (let n = 2; K.length < 64; n++) {
    let prime = true
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false
    if (!prime) continue
    if (START.length < 8) START.push((Math.sqrt(n) * 4294967296) | 0)
    K.push((Math.cbrt(n) * 4294967296) | 0)
  }

  // SHA-256 of one block; W holds the block in its first 16 words.
  const W = new Int32Array(64)
  const digest = () => {
    for (let i = 16; i < 64; i++) {
      const a = W[i - 15], b = W[i - 2]
      W[i] = W[i - 16] + W[i - 7] + (((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3)) +
        (((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10))
    }
    let [a, b, c, d, e, f, g, h] = START
    for (let i = 0; i < 64; i++) {
      const t = (h + (((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))) +
        ((e & f) ^ (~e & g)) + K[i] + W[i]) | 0
      const u = ((((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))) +
        ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g; g = f; f = e; e = (d + t) | 0; d = c; c = b; b = a; a = (t + u) | 0
    }
    return [a, b, c, d, e, f, g, h].map((word, i) => (word + START[i]) >>> 0)
  }
  const hex = (words) => words.map((word) => word.toString(16).padStart(8, "0")).join("")

  const pause = () => new Promise((resolve) => setTimeout(resolve))
  const solve = async ({ salt, nonce, keyPrefix }) => {
    const block = (salt + nonce).match(/.{8}/g).map((word) => parseInt(word, 16))
    for (let counter = 0; ;) {
      const until = performance.now() + PIECE
      do {
        W.set(block)
        W.fill(0, 8, 16)
        W[8] = counter
        W[9] = -2147483648
        W[15] = 288
        const words = digest()
        // All prefixes of up to eight digits are in the first word; comparing it first spares the text.
        if (words[0].toString(16).padStart(8, "0").startsWith(keyPrefix)) return { counter, derivedKey: hex(words) }
        counter++
      } while (performance.now() < until)
      await pause()
    }
  }

  const proofFor = async (address) => {
    const response = await fetch(address + "/challenge", { credentials: "omit", cache: "no-store" })
    if (!response.ok) throw new Error("no challenge: " + response.status)
    const challenge = await response.json()
    return btoa(JSON.stringify({ challenge, solution: await solve(challenge.parameters) }))
  }

  const forms = new WeakMap()
  const isOurs = (form) => {
    if (form.hasAttribute("data-proof")) return true
    const action = new URL(form.getAttribute("action") || "", document.baseURI)
    return action.origin + action.pathname === own
  }
  const formOf = (event) => {
    const form = event.target instanceof Element ? event.target.closest("form") : null
    return form !== null && isOurs(form) ? form : null
  }
  const begin = (form) => {
    const held = forms.get(form)
    if (held !== undefined && Date.now() - held.at < LIFE) return held
    const begun = { at: Date.now(), value: null, done: null }
    begun.done = proofFor(own).then((value) => {
      begun.value = value
    }, (error) => {
      console.warn("The form is sent without a proof.", error)
      begun.value = ""
    })
    forms.set(form, begun)
    return begun
  }

  document.addEventListener("focusin", (event) => {
    const form = formOf(event)
    if (form !== null) begin(form)
  })
  document.addEventListener("submit", async (event) => {
    const form = formOf(event)
    if (form === null) return
    const held = begin(form)
    if (held.value !== null) {
      let field = form.querySelector('input[type="hidden"][name="altcha"]')
      if (field === null) {
        field = document.createElement("input")
        field.type = "hidden"
        field.name = "altcha"
        form.append(field)
      }
      field.value = held.value
      // Each proof is valid once.
      forms.delete(form)
      return
    }
    event.preventDefault()
    event.stopImmediatePropagation()
    const { submitter } = event
    if (held.waiting) return
    held.waiting = true
    await held.done
    form.requestSubmit(submitter !== null && submitter.form === form ? submitter : null)
  }, true)

  globalThis.cabinetProof = (address = own) => proofFor(address)
})()
`
