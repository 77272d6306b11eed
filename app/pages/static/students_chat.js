// Shows that an answer is on its way, with a button that hangs up: the service then ends the answer.
const form = document.querySelector("[data-chat]");
const stop = form.querySelector("[data-stop]");
const waiting = form.querySelector("[data-waiting]");

function show(isWaiting) {
  stop.hidden = waiting.hidden = !isWaiting;
}

form.addEventListener("submit", () => show(true));
stop.addEventListener("click", () => {
  window.stop();
  show(false);
});
addEventListener("pageshow", () => show(false));
