// A page that nobody looks at asks for nothing.
document.addEventListener("htmx:config:request", (event) => {
  if (document.hidden) event.preventDefault();
});
