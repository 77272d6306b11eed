// Shows the plan of a choice that was made before htmx listened to the form: on a slow machine the
// knobs can be moved while the scripts load, and a browser may restore them when it loads a page
// again. This script comes before htmx, which tells every element that it begins to listen to.
const moved = (field) =>
  field instanceof HTMLSelectElement
    ? [...field.options].some((option) => option.selected !== option.defaultSelected)
    : field.type !== "hidden" && "defaultValue" in field && field.value !== field.defaultValue;

document.addEventListener("htmx:after:init", ({ target }) => {
  if (target.matches("form.knobs") && [...target.elements].some(moved))
    target.dispatchEvent(new Event("change", { bubbles: true }));
});
