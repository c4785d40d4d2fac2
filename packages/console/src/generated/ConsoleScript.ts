/** Bundled from src/browser by test/ConsoleScript.test.ts. */
export const CONSOLE_SCRIPT = "(()=>{for(let e of document.querySelectorAll(`input[data-find]`))e.addEventListener(`input`,()=>{let t=e.value.trim().toLowerCase(),n=document.getElementById(e.dataset.find??``);for(let e of n?.querySelectorAll(`tbody tr`)??[])e.hidden=!(e.textContent??``).toLowerCase().includes(t)})})();"
