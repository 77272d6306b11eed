// Takes the secret of a sign-in link from the address into the form. It stands behind a #, so that
// it reaches no log; a person sends it, so that no preview of the link uses it up.
const link = new URLSearchParams(location.hash.slice(1)).get("link");
if (link) {
  const form = document.getElementById("sign-in");
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.link.value = link;
  form.elements.api_key.hidden = true;
  form.querySelector("label").textContent = "This link signs you in once.";
  form.querySelector("button").focus();
}
