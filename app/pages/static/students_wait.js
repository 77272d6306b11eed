// Loads the page of a student again while the gate compares a version, unless nobody looks at it or
// somebody is about to send a form.
const WAIT_MS = 3000;

setInterval(() => {
  if (!document.querySelector("[data-wait]")) return;
  if (!document.hidden && !document.activeElement?.closest("form, details")) location.reload();
}, WAIT_MS);
