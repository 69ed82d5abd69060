"use strict";
{
  // Every run as a dot. The numbers stand in #run-data, uPlot draws them.
  const REACH_PX = 24;
  const LOG_FROM = 30;
  // A factor that takes less of the spread away parts no clouds.
  const [PARTED, LEVELS_SAID] = [0.6, 4];
  const data = JSON.parse(document.getElementById("run-data").textContent);
  const root = document.getElementById("run-picture");
  // A factor's key begins with another sign, for a factor may have these names.
  const [VARIANT, TIME] = ["*variant", "*time"];
  const state = { quantity: 0, across: VARIANT, log: null, levels: {}, off: new Set() };
  let plot = null;
  let shown = [];
  let current = -1;

  const node = (name, attributes = {}, ...inside) => {
    const made = document.createElement(name);
    Object.assign(made, attributes);
    made.append(...inside);
    return made;
  };

  // Numbers for people.
  const STEPS = {
    ns: [[1e9, " s"], [1e6, " ms"], [1e3, " µs"], [1, " ns"]],
    bytes: [[1e9, " GB"], [1e6, " MB"], [1e3, " kB"], [1, " B"]],
    share: [[0.01, " %"]],
    per_second: [[1e9, " G/s"], [1e6, " M/s"], [1e3, " k/s"], [1, "/s"]],
    times: [[1, " ×"]],
    count: [[1, ""]],
  };
  const digits = (value, count) => Number(value.toPrecision(count)).toLocaleString("en", { maximumSignificantDigits: count });
  const written = (value, unit, count) => {
    const steps = STEPS[unit];
    const [scale, name] = steps.find(([scale]) => Math.abs(value) >= scale) ?? steps[steps.length - 1];
    return digits(value / scale, count) + name;
  };

  // What differs between runs, and so can be chosen.
  const factors = data.factors
    .map((name, place) => {
      const levels = [...new Set(data.cells.map(cell => cell[place]))];
      const numbers = levels.every(level => level !== "" && !Number.isNaN(Number(level)));
      levels.sort((a, b) => (numbers ? a - b : a.localeCompare(b)));
      return { name, place, levels };
    })
    .filter(factor => factor.levels.length > 1);
  const level = (run, factor) => data.cells[data.cell[run]][factor.place];
  const named = run => {
    const cell = factors.map(factor => `${factor.name} ${level(run, factor)}`).join(", ");
    const gated = data.gated[run] ? ", disturbed from outside" : "";
    const when = data.block[run] === null ? "in rounds" : `block ${data.block[run]}`;
    const name = data.variants[data.variant[run]];
    return `${name}${cell && ` · ${cell}`} · ${when}, run ${data.order[run]}${gated}`;
  };
  const values = () => data.quantities[state.quantity].values;
  const unit = () => data.quantities[state.quantity].unit;
  // As on white paper, like the other pictures: where the page is dark, the style turns all alike.
  const [INK, LINE] = ["#57606a", "#d0d7de"];
  const colour = variant => data.colours[variant] ?? "#666666";

  const chosen = () => {
    const wanted = factors.filter(factor => state.levels[factor.name] !== undefined);
    const all = [...data.order.keys()].filter(run =>
      values()[run] !== null && !state.off.has(data.variant[run]) &&
      wanted.every(factor => level(run, factor) === state.levels[factor.name]));
    return { all, drawn: is_log(all) ? all.filter(run => values()[run] > 0) : all };
  };
  const bounds = runs => runs.reduce(
    ([low, high], run) => [Math.min(low, values()[run]), Math.max(high, values()[run])], [Infinity, -Infinity]);
  const is_log = runs => {
    if (state.log !== null) return state.log;
    const [low, high] = bounds(runs);
    return low > 0 && high / low > LOG_FROM;
  };

  // What tells the dots of one variant apart: the share of the squares, of logarithms where they fit,
  // that the levels of one factor take away. Rounds and blocks are of no factor and are tried too.
  const median = numbers => numbers.sort((a, b) => a - b)[numbers.length >> 1];
  const parted = runs => {
    const of = run => (is_log(runs) ? Math.log(values()[run]) : values()[run]);
    const squares = some => {
      const mean = some.reduce((sum, run) => sum + of(run), 0) / some.length;
      return some.reduce((sum, run) => sum + (of(run) - mean) ** 2, 0);
    };
    const groups = (some, key) => {
      const found = new Map();
      for (const run of some) {
        const own = found.get(key(run));
        own ? own.push(run) : found.set(key(run), [run]);
      }
      return [...found];
    };
    const within = (some, key) => groups(some, key).reduce((sum, [, own]) => sum + squares(own), 0);
    const variant = run => data.variant[run];
    const all = within(runs, variant);
    const keys = [...factors.map(factor => [factor.name, run => level(run, factor)]),
      ["where it ran", run => (data.block[run] === null ? "in rounds" : "in the blocks")]];
    const tried = keys.map(([name, key]) => [name, key, within(runs, run => JSON.stringify([variant(run), key(run)]))]);
    // Von Neumann's ratio: half the squares of steps from run to run, which are in the order of time.
    const steps = ([, own]) => own.slice(1).reduce((sum, run, place) => sum + (of(run) - of(own[place])) ** 2 / 2, 0);
    tried.push(["when it ran", null, groups(runs, variant).reduce((sum, one) => sum + steps(one), 0)]);
    const [name, key, left] = tried.reduce((best, one) => (one[2] < best[2] ? one : best));
    if (!(all > 0) || left > (1 - PARTED) * all) return null;
    const share = `${Math.round(100 * (1 - left / all))} % of their spread`;
    if (!key) return `What parts the dots of a variant is mostly when it ran (show them over time): ${share}.`;
    const shares = groups(runs, key).sort(([, a], [, b]) => b.length - a.length).slice(0, LEVELS_SAID)
      .map(([level, own]) => `${level} ${written(median(own.map(run => values()[run])), unit(), 3)}`);
    return `What parts the dots of a variant is mostly ${name}: ${share} (medians: ${shares.join(", ")}).`;
  };

  // Where a run lies from left to right: after those before it, or in a column with some width.
  const columns = () => {
    if (state.across === TIME) return null;
    const factor = factors.find(one => `=${one.name}` === state.across);
    if (factor) return { names: factor.levels, of: run => factor.levels.indexOf(level(run, factor)) };
    const on = data.variants.map((_, variant) => variant).filter(variant => !state.off.has(variant));
    return { names: on.map(variant => data.variants[variant]), of: run => on.indexOf(data.variant[run]) };
  };
  // Steps of the golden ratio fill a column evenly, and the same run always lies at the same place.
  const place = (run, across) =>
    across ? across.of(run) + ((run * 0.6180339887) % 1 - 0.5) * 0.7 : run;

  const dots = (u, series) => {
    const [xs, ys] = u.data[series];
    const size = Math.max(3, Math.min(7, 900 / Math.sqrt(shown.length) / 6)) * devicePixelRatio;
    const { left, top, width, height } = u.bbox;
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(left, top, width, height);
    u.ctx.clip();
    u.ctx.fillStyle = colour(u.series[series].variant);
    u.ctx.globalAlpha = shown.length > 2000 ? 0.55 : 0.75;
    for (let one = 0; one < xs.length; one++) {
      const [x, y] = [u.valToPos(xs[one], "x", true), u.valToPos(ys[one], "y", true)];
      u.ctx.beginPath();
      u.ctx.arc(x, y, size / 2, 0, 2 * Math.PI);
      u.ctx.fill();
    }
    u.ctx.restore();
    return null;
  };

  // Names below columns stand upright where they do not fit beside each other.
  const below = (across, width) => {
    const ink = { stroke: INK, grid: { show: !across, stroke: LINE, width: 1 }, ticks: { show: false } };
    if (!across) return { ...ink, label: "runs, one after another", size: 34, labelSize: 22, labelFont: "13px system-ui", font: "12px system-ui" };
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = "12px system-ui";
    const widest = Math.max(...across.names.map(name => pen.measureText(name).width));
    const fits = widest + 12 < (width - 90) / across.names.length;
    return {
      ...ink, font: "12px system-ui", rotate: fits ? 0 : -90, size: fits ? 32 : Math.min(widest + 16, 220),
      splits: (u, axis, low, high) => [...across.names.keys()].filter(column => column >= low && column <= high),
      values: (u, splits) => splits.map(column => across.names[column]),
    };
  };

  const range = (runs, log) => {
    const [low, high] = bounds(runs);
    if (log) return uPlot.rangeLog(low, high === low ? high * 10 : high, 10, true);
    const room = (high - low || Math.abs(high) || 1) * 0.05;
    return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
  };

  const options = (across, log, width, part) => {
    const bottom = below(across, width);
    const ends = part?.x ?? (across ? [-0.6, across.names.length - 0.4] : [shown[0] - 1, shown[shown.length - 1] + 1]);
    const heights = part ? (log ? uPlot.rangeLog(...part.y, 10, false) : part.y) : range(shown, log);
    // Nine lines to a decade would be a wall.
    const is_labelled = value => !log || "125".includes(value.toExponential()[0]);
    return {
      mode: 2, width, height: 320 + (bottom.size ?? 50), legend: { show: false },
      cursor: { drag: { x: true, y: true, setScale: false }, points: { show: false }, x: false, y: false },
      scales: {
        x: { time: false, range: () => ends },
        y: { range: () => heights, distr: log ? 3 : 1 },
      },
      axes: [bottom, {
        stroke: INK, font: "12px system-ui", size: 72,
        grid: {
          stroke: LINE, width: 1,
          filter: (u, splits) => splits.map(value => (value !== null && is_labelled(value) ? value : null)),
        },
        ticks: { show: false },
        values: (u, splits) => splits.map(value => (value === null ? null : written(value, unit(), 3))),
      }],
      series: [{}, ...[...new Set(shown.map(run => data.variant[run]))].map(variant => ({
        variant, paths: dots, points: { show: false },
        facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }],
      }))],
      hooks: { setSelect: [enlarge] },
    };
  };

  // The part that was dragged over, alone.
  const enlarge = u => {
    const { left, top, width, height } = u.select;
    if (width < 8 || height < 8) return;
    const x = [left, left + width].map(at => u.posToVal(at, "x"));
    const y = [top + height, top].map(at => u.posToVal(at, "y"));
    draw({ x, y });
  };

  const draw = part => {
    const { all, drawn } = chosen();
    shown = drawn;
    plot?.destroy();
    plot = null;
    point(-1);
    const left_out = all.length - drawn.length;
    count.textContent = `${drawn.length} runs${left_out ? `; ${left_out} at or below 0 have no place on this scale` : ""}`;
    log.checked = is_log(all);
    if (!drawn.length) return;
    parting.textContent = parted(drawn) ?? "";
    const across = columns();
    const made = options(across, is_log(all), board.clientWidth, part);
    const lines = made.series.slice(1).map(({ variant }) => {
      const runs = drawn.filter(run => data.variant[run] === variant);
      return [runs.map(run => place(run, across)), runs.map(run => values()[run])];
    });
    plot = new uPlot(made, [null, ...lines], board);
  };

  // The run under the pointer, or the one that arrow keys came to.
  const point = run => {
    current = run;
    tip.hidden = mark.hidden = run < 0;
    if (run < 0 || !plot) return;
    const [x, y] = position(run);
    const value = written(values()[run], unit(), 4);
    tip.replaceChildren(node("strong", {}, value), node("br"), named(run));
    mark.style.left = `${x + plot.over.offsetLeft}px`;
    mark.style.top = `${y + plot.over.offsetTop}px`;
    const room = board.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(room, x + plot.over.offsetLeft - tip.offsetWidth / 2))}px`;
    const above = y + plot.over.offsetTop - tip.offsetHeight - 14;
    tip.style.top = `${above < 0 ? y + plot.over.offsetTop + 14 : above}px`;
  };
  const position = run => [plot.valToPos(place(run, columns()), "x"), plot.valToPos(values()[run], "y")];
  const nearest = event => {
    const box = plot.over.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, distance] = [-1, REACH_PX ** 2];
    const across = columns();
    for (const run of shown) {
      const squared = (plot.valToPos(place(run, across), "x") - x) ** 2 + (plot.valToPos(values()[run], "y") - y) ** 2;
      if (squared < distance) [best, distance] = [run, squared];
    }
    return best;
  };

  // What can be chosen.
  const choice = (label, options, value, change) => {
    const select = node("select");
    for (const [key, text] of options) select.append(node("option", { value: key, selected: key === value }, text));
    select.addEventListener("change", () => { change(select.value); draw(); });
    return node("label", {}, label, " ", select);
  };
  const log = node("input", { type: "checkbox" });
  log.addEventListener("change", () => { state.log = log.checked; draw(); });
  const parting = node("p", { className: "facts" });
  const count = node("span", { className: "facts" });
  count.setAttribute("role", "status");
  const quantities = data.quantities.map(({ noun }, number) => [String(number), noun]);
  const says = node("p", { className: "facts" });
  const levels = new Map(factors.map(factor => [factor.name,
    choice(factor.name, [["*", "all"], ...factor.levels.map(level => [`=${level}`, level])], "*", key => {
      state.levels[factor.name] = key === "*" ? undefined : key.slice(1);
    })]));
  // Each number is asked about in cells of its own: those are shown first.
  const begin = (quantity, asked) => {
    const { name, says: sentence } = data.quantities[quantity];
    const { chosen } = asked ?? data.quantities[quantity];
    Object.assign(state, { quantity, log: null, levels: {} });
    says.replaceChildren(node("code", {}, name), ": ", sentence);
    for (const factor of factors) {
      if (factor.levels.includes(chosen[factor.name])) state.levels[factor.name] = chosen[factor.name];
      const level = state.levels[factor.name];
      levels.get(factor.name).lastChild.value = level === undefined ? "*" : `=${level}`;
    }
  };
  const show = choice("Show", quantities, "0", key => begin(Number(key)));
  const over = choice("over", [[VARIANT, "variant"], ...factors.map(({ name }) => [`=${name}`, name]), [TIME, "time"]], VARIANT,
    key => { state.across = key; });
  const choices = node("div", { className: "choices" }, show, over,
    ...levels.values(), node("label", {}, log, " logarithmic"), count);

  const variants = node("div", { className: "variants" });
  const toggles = data.variants.map((name, variant) => {
    const dot = node("i");
    dot.style.background = colour(variant);
    const button = node("button", { type: "button" }, dot, name);
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      turn(variant, state.off.has(variant));
      draw();
    });
    variants.append(button);
    return button;
  });
  const turn = (variant, on) => {
    if (on) state.off.delete(variant);
    else state.off.add(variant);
    toggles[variant].setAttribute("aria-pressed", String(on));
  };
  // A number of a comparison leads to its runs: the variant's and the reference's, in its cells.
  document.addEventListener("click", event => {
    const link = event.target.closest?.("a[data-asked]");
    if (!link) return;
    const asked = data.asked[link.dataset.asked];
    const both = [link.dataset.variant, data.reference];
    data.variants.forEach((name, variant) => turn(variant, both.includes(name)));
    state.across = over.lastChild.value = VARIANT;
    show.lastChild.value = String(asked.quantity);
    begin(asked.quantity, asked);
    draw();
  });

  const tip = node("div", { className: "tip", hidden: true });
  tip.setAttribute("role", "status");
  const mark = node("div", { className: "mark", hidden: true });
  const board = node("div", { className: "plot", tabIndex: 0 }, tip, mark);
  board.setAttribute("role", "group");
  board.setAttribute("aria-label", "Picture of every run; arrow keys go from run to run");
  board.addEventListener("pointermove", event => plot && point(nearest(event)));
  board.addEventListener("pointerdown", event => plot && point(nearest(event)));
  board.addEventListener("pointerleave", () => point(-1));
  board.addEventListener("dblclick", () => draw());
  board.addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !shown.length) return;
    event.preventDefault();
    const at = current < 0 && step < 0 ? 0 : shown.indexOf(current);
    point(shown[(at + step + shown.length) % shown.length]);
  });

  begin(0);
  root.replaceChildren(choices, says, variants, board, parting);
  let width = board.clientWidth;
  draw();
  new ResizeObserver(() => {
    if (board.clientWidth === width) return;
    width = board.clientWidth;
    draw();
  }).observe(board);
}
