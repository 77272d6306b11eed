// Draws each chart from the table that stands below it, and again when the table has changed.
const HEIGHT = 190;
const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3]];
const drawn = new Map(); // figure -> {plot, text}
const css = getComputedStyle(document.documentElement);
const colour = (name) => css.getPropertyValue(name).trim();

// The plot has a table of its own, its legend.
const tableOf = (figure) => figure.querySelector("details table");

function readTable(figure) {
  const table = tableOf(figure);
  const heads = [...table.querySelectorAll("thead th")].slice(1);
  const rows = [...table.querySelectorAll("tbody tr")];
  const column = (place) =>
    rows.map((row) => {
      const text = row.cells[place].textContent;
      return text === "" ? null : Number(text);
    });
  return {
    lines: heads.map((head) => ({ label: head.textContent, mark: head.dataset.mark })),
    data: [column(0), ...heads.map((_, at) => column(at + 1))],
  };
}

function series(line, at) {
  const stroke = colour(`--line-${(at % 8) + 1}`);
  const shown = { label: line.label, stroke, width: 2, spanGaps: true };
  shown.value = (_, value) => (value === null || value === undefined ? "–" : String(value));
  if (line.mark === "points") {
    return { ...shown, width: 1, dash: [2, 4], points: { show: true, size: 8, fill: stroke } };
  }
  if (line.mark === "rule") {
    return { ...shown, stroke: colour("--muted"), width: 1.5, dash: [8, 5], points: { show: false } };
  }
  if (line.mark === "edge") {
    return { ...shown, stroke: colour("--line-1"), width: 0.5, points: { show: false } };
  }
  return { ...shown, dash: DASHES[Math.floor(at / 2) % DASHES.length], points: { show: line.alone } };
}

function options(figure, table) {
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false } };
  axis.font = "12px system-ui, sans-serif";
  const lines = table.lines.map((line, at) => {
    const count = table.data[at + 1].filter((value) => value !== null).length;
    return series({ ...line, alone: count < 2 }, at);
  });
  const edges = table.lines.flatMap((line, at) => (line.mark === "edge" ? [at + 1] : []));
  return {
    width: figure.querySelector(".plot").clientWidth,
    bands: edges.length === 2 ? [{ series: edges, fill: `${colour("--line-1")}26` }] : [],
    height: HEIGHT,
    scales: {
      x: { time: false, range: (_, low, high) => (low === high ? [low - 1, high + 1] : [low, high]) },
      y: { range: (_, low, high) => (low === high ? flat(low) : uPlot.rangeNum(low, high, 0.1, true)) },
    },
    axes: [
      { ...axis, size: 32, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] },
      { ...axis, size: 56, values: (_, marks) => marks.map(short) },
    ],
    series: [{ label: "step", value: (_, value) => (value === null ? "–" : String(value)) }, ...lines],
    legend: { show: true, live: true },
    cursor: { drag: { x: true, y: false } },
  };
}

function flat(value) {
  return value === 0 ? [0, 1] : [Math.min(0, 2 * value), Math.max(0, 2 * value)];
}

function short(value) {
  if (value === null) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(0);
  return String(Number(value.toPrecision(4)));
}

function draw(figure) {
  const text = tableOf(figure).textContent;
  const before = drawn.get(figure);
  if (before?.text === text) return;
  const table = readTable(figure);
  const isSame = before && before.plot.series.length === table.data.length;
  if (isSame) {
    before.plot.setData(table.data);
    before.text = text;
    return;
  }
  before?.plot.destroy();
  const place = figure.querySelector(".plot");
  place.replaceChildren();
  const plot = new uPlot(options(figure, table), table.data, place);
  drawn.set(figure, { plot, text });
  widths.observe(place);
}

const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const plot = drawn.get(target.closest("figure"))?.plot;
    if (plot && plot.width !== target.clientWidth) {
      plot.setSize({ width: target.clientWidth, height: HEIGHT });
    }
  }
});

function drawAll() {
  for (const [figure, { plot }] of drawn) {
    if (!figure.isConnected) {
      plot.destroy();
      drawn.delete(figure);
    }
  }
  document.querySelectorAll("figure.chart:not(.strip, .scatter)").forEach(draw);
}

function drawAnew() {
  for (const { plot } of drawn.values()) plot.destroy();
  drawn.clear();
  drawAll();
}

drawAll();
document.addEventListener("htmx:after:swap", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAnew);
