// j and k: through the rows of a list, or to the next and the previous sibling. [ and ]: to the same
// row at the step before and after.
const links = [...document.querySelectorAll("[data-keys=rows] tbody th a")];

function inList(step) {
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
  links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
}

const siblings = { j: "a[rel=next]", k: "a[rel=prev]" };

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea");
  // Some keyboards have [ and ] behind AltGr, which counts as two modifiers.
  const isCommand = event.ctrlKey || event.metaKey || event.altKey;
  if (isTyping || (isCommand && !event.getModifierState("AltGraph"))) return;
  const sibling = siblings[event.key];
  if (!sibling && event.key !== "[" && event.key !== "]") return;
  event.preventDefault();
  if (sibling && links.length) inList(event.key === "j" ? 1 : -1);
  else document.querySelector(sibling ?? `a[data-key="${event.key}"]`)?.click();
});
