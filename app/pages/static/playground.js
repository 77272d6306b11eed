// Shows the answers of the playground while they are sampled. Without this script the form shows
// them when they are whole. What a model or a tool wrote is only ever set as text.
const form = document.querySelector("form[data-play]");
const answers = document.getElementById("answers");
const ask = form.querySelector("button.main");
const stop = form.querySelector("[data-stop]");
const LONGEST = Number(form.dataset.cutAt);
let playing = null;

function made(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const box = (label) => made("pre", { dir: "auto", tabindex: 0, role: "group", "aria-label": label });

function cut(text) {
  const more = text.length - LONGEST;
  return more > 0 ? `${text.slice(0, LONGEST)}… (${more.toLocaleString("en")} more characters)` : text;
}

class Side {
  constructor(model, label) {
    this.section = made("section", { "aria-label": label, "aria-busy": "true" });
    this.section.append(made("h3", { dir: "auto" }, model));
  }

  turn() {
    this.text = this.reasoning = null;
    this.waiting = [];
    this.here = made("div", { class: "turn assistant" });
    this.here.hidden = true;
    this.section.append(this.here);
  }

  write(kind, more) {
    this.here.hidden = false;
    if (!this[kind]) {
      this[kind] = made("pre", { class: "text", dir: "auto", tabindex: 0 });
      if (kind === "text") this.here.append(this.text);
      else this.here.prepend(made("details", {}, made("summary", {}, "Reasoning"), this.reasoning));
    }
    this[kind].append(more);
  }

  call(name, sent) {
    this.here.hidden = false;
    const title = made("h4", {}, made("code", {}, name));
    const call = made("div", { class: "call" }, title, box("Arguments"));
    call.lastChild.textContent = cut(sent);
    this.here.append(call);
    this.waiting.push(call);
  }

  reply(output) {
    const call = this.waiting.shift() ?? made("div", { class: "call failed" });
    if (!call.parentNode) this.here.append(call);
    call.append(box("Result"));
    call.lastChild.textContent = cut(output);
  }

  end(said, kind) {
    if (!this.section.hasAttribute("aria-busy")) return;
    this.section.removeAttribute("aria-busy");
    const attributes = kind === "error" ? { class: "notice error", role: "alert" } : { class: "hint" };
    this.section.append(made("p", { ...attributes, dir: "auto" }, said));
  }

  show(event) {
    if (event.kind === "turn") this.turn();
    else if (event.kind === "text" || event.kind === "reasoning") this.write(event.kind, event.text);
    else if (event.kind === "call") this.call(event.name, event.text);
    else if (event.kind === "reply") this.reply(event.text);
    else if (event.kind === "error") this.end(event.text, "error");
    else if (event.kind === "done") this.end(`${event.tokens ?? "–"} tokens${reasons[event.name] ?? ""}`);
  }
}

const reasons = { length: ", cut off at the limit", turns: ", ended at the last turn" };

async function read(reply, sides) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const sent = JSON.parse(event.slice("data: ".length));
      sides[sent.side].show(sent);
    }
  }
}

async function play() {
  const sent = new URLSearchParams(new FormData(form));
  const sides = [
    new Side(sent.get("first"), "Answer of the first model"),
    new Side(sent.get("second"), "Answer of the second model"),
  ];
  answers.replaceChildren(made("div", { class: "sides" }, ...sides.map((side) => side.section)));
  playing = new AbortController();
  ask.disabled = true;
  stop.hidden = false;
  let left = "The reply broke off.";
  try {
    const reply = await fetch(form.dataset.play, { method: "POST", body: sent, signal: playing.signal });
    if (reply.ok) await read(reply, sides);
    else left = (await reply.json()).error.message;
  } catch (error) {
    if (error.name === "AbortError") left = "Stopped.";
  }
  for (const side of sides) side.end(left, "error");
  ask.disabled = false;
  stop.hidden = true;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  play();
});
stop.addEventListener("click", () => playing?.abort());
