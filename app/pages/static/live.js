// Renews the page of a job when its stream says that there is news, and every few seconds where no
// stream can be had. A hidden page asks for nothing, and has no stream: a browser
// opens only six connections to a host, over all its windows.
const QUIET_MS = 15000; // the position in the queue moves without an event
const POLL_MS = 3000;
const LEAST_MS = 1000; // between two renewals of a job that makes many steps a second
let source = null;
let timer = 0;
let renewed = 0;

const job = () => document.querySelector("[data-stream]");
const isOpen = () => source?.readyState === EventSource.OPEN;

function renew() {
  renewed = Date.now();
  job()?.dispatchEvent(new CustomEvent("news"));
  plan(isOpen() ? QUIET_MS : POLL_MS);
}

function plan(wait) {
  clearTimeout(timer);
  timer = job() && !document.hidden ? setTimeout(renew, wait) : 0;
}

function listen() {
  const shown = job();
  if (!shown || document.hidden || source) return;
  source = new EventSource(shown.dataset.stream);
  source.addEventListener("news", () => plan(Math.max(0, renewed + LEAST_MS - Date.now())));
  source.addEventListener("error", () => plan(POLL_MS));
  plan(POLL_MS);
}

function hush() {
  source?.close();
  source = null;
  clearTimeout(timer);
}

document.addEventListener("htmx:config:request", (event) => {
  if (document.hidden) event.preventDefault();
});
document.addEventListener("htmx:after:swap", () => job() || hush());
document.addEventListener("visibilitychange", () => (document.hidden ? hush() : listen()));
addEventListener("pagehide", hush);
addEventListener("pageshow", listen);
listen();
