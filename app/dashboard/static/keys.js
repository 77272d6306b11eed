// j and k: through the rows of a list, or to the next and the previous sibling.
const links = [...document.querySelectorAll("[data-keys=rows] tbody th a")];

function inList(step) {
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
  links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key !== "j" && event.key !== "k") return;
  event.preventDefault();
  if (links.length) inList(event.key === "j" ? 1 : -1);
  else document.querySelector(event.key === "j" ? "a[rel=next]" : "a[rel=prev]")?.click();
});
