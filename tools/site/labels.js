"use strict";
// Draws the pictures of all reports with gnuplot, as they are and with the longest names of variants
// in the place of their own, and prints a line for each fault that a browser sees: two labels that
// cover each other, a label that leaves its picture, and a line of the data through the middle of a
// label, in the pictures of narrow windows, too. A label's box turns with its text.

const fs = require("fs");
const os = require("os");
const path = require("path");
const { execFileSync } = require("child_process");
const { chromium } = require("playwright-core");

const PATIENCE_MS = 60_000;
// Boxes hold the room of letters that a label has not; covering less than this is none.
const SLACK_PX = 2;

/** The checkout and where pictures go; ends the program where the command line is wrong. */
function parsed([root, ...rest]) {
  if (!root || (rest.length !== 0 && !(rest.length === 2 && rest[0] === "--shots"))) {
    console.error("usage: tools/proof labels [--shots DIR]");
    process.exit(2);
  }
  if (rest[1]) fs.mkdirSync(rest[1], { recursive: true });
  return { root: path.resolve(root), shots: rest[1] };
}

/** The gnuplot script of each picture, by the picture's file name. */
function scripts_of(root) {
  const folder = path.join(root, "plots");
  const all = fs.readdirSync(folder).map(name => {
    const file = path.join(folder, name);
    return [fs.readFileSync(file, "utf8").match(/^set output ARG2\."\/(.*)"$/m)?.[1], file];
  });
  return new Map(all.filter(([picture]) => picture));
}

/** The names of a report's variants, as its record has them. */
function variants_of(report) {
  const record = path.join(report, "run.json");
  if (!fs.existsSync(record)) return [];
  return JSON.parse(fs.readFileSync(record, "utf8")).variants.map(({ variant }) => variant);
}

/** All tables of a report, most of which are not committed. */
function tables_of(report, root, scratch) {
  const to = fs.mkdtempSync(path.join(scratch, "tables-"));
  const lab = process.env.LAB ?? path.join(root, "target/release/lab");
  execFileSync(lab, ["report", report, "--format", "tsv", "--out", to], { stdio: ["ignore", "ignore", "pipe"] });
  return to;
}

/** A copy of a report's tables in which its k-th variant has the name of the k-th longest. */
function renamed(report, own, longest, to) {
  const names = new Map(variants_of(report).map((name, place) => [name, longest[place]]));
  for (const file of fs.readdirSync(own).filter(name => name.endsWith(".tsv"))) {
    const [header, ...rows] = fs.readFileSync(path.join(own, file), "utf8").split("\n");
    // A name may stand first of several words.
    const cell = value => value.replace(/^\w+/, word => names.get(word) ?? word);
    const after = rows.map(row => row.split("\t").map(cell).join("\t"));
    fs.writeFileSync(path.join(to, file), [header, ...after].join("\n"));
  }
}

/** What is wrong with the labels of the picture on the page. */
async function faults_of(page, slack) {
  return page.evaluate(slack => {
    const svg = document.querySelector("svg");
    const texts = [...svg.querySelectorAll("text")].filter(one => one.textContent.trim() !== "");
    const boxes = texts.map(one => {
      const { x, y, width, height } = one.getBBox();
      const turn = one.getScreenCTM();
      const corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
        .map(([x, y]) => new DOMPoint(x, y).matrixTransform(turn)).map(({ x, y }) => [x, y]);
      return { says: one.textContent.trim(), corners };
    });
    // Two turned boxes are apart where a side of one of them separates them.
    const sides = ({ corners }) => [0, 1].map(place => {
      const [[ax, ay], [bx, by]] = [corners[place], corners[place + 1]];
      const length = Math.hypot(bx - ax, by - ay) || 1;
      return [(bx - ax) / length, (by - ay) / length];
    });
    const reach = ({ corners }, [x, y]) => {
      const along = corners.map(corner => corner[0] * x + corner[1] * y);
      return [Math.min(...along), Math.max(...along)];
    };
    const covers = (a, b) => [...sides(a), ...sides(b)].every(side => {
      const [[from, to], [begin, end]] = [reach(a, side), reach(b, side)];
      return Math.min(to, end) - Math.max(from, begin) > slack;
    });
    // A line of the data is drawn on no fill and is no line of the grid.
    const lines = [...svg.querySelectorAll("path")].filter(one => one.closest(".gridline") === null
      && getComputedStyle(one).fill === "none" && getComputedStyle(one).stroke !== "none" && one.getTotalLength() > 60);
    const points = lines.flatMap(one => {
      const turn = one.getScreenCTM();
      const steps = Math.min(4000, Math.ceil(one.getTotalLength() / 2));
      return Array.from({ length: steps + 1 }, (_, step) =>
        one.getPointAtLength(step * one.getTotalLength() / steps).matrixTransform(turn)).map(({ x, y }) => [x, y]);
    });
    const crossed = box => points.some(point => sides(box).every(side => {
      const [from, to] = reach(box, side);
      const along = point[0] * side[0] + point[1] * side[1];
      return along > from + (to - from) / 4 && along < to - (to - from) / 4;
    }));
    const edge = svg.getBoundingClientRect();
    const leaves = ({ corners }) => corners.some(([x, y]) =>
      x < edge.left - slack || x > edge.right + slack || y < edge.top - slack || y > edge.bottom + slack);
    const faults = boxes.filter(leaves).map(({ says }) => `"${says}" leaves the picture`);
    boxes.forEach((a, place) => boxes.slice(place + 1).filter(b => covers(a, b))
      .forEach(b => faults.push(`"${a.says}" and "${b.says}" cover each other`)));
    boxes.filter(crossed).forEach(({ says }) => faults.push(`a line of the data runs through "${says}"`));
    return [texts.length, [...new Set(faults)]];
  }, slack);
}

async function main() {
  const { root, shots } = parsed(process.argv.slice(2));
  const scripts = scripts_of(root);
  const reports = fs.readdirSync(path.join(root, "reports")).map(name => path.join(root, "reports", name))
    .filter(report => fs.existsSync(path.join(report, "run.json")));
  const longest = [...new Set(reports.flatMap(variants_of))].sort((a, b) => b.length - a.length);
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "lab-labels-"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM, headless: true, chromiumSandbox: false, timeout: PATIENCE_MS,
    args: ["--disable-gpu", "--no-first-run"], env: { ...process.env, HOME: scratch },
  });
  const page = await browser.newPage({ viewport: { width: 1600, height: 1400 } });
  let [pictures, labels, faults] = [0, 0, 0];
  for (const report of reports) {
    const long = fs.mkdtempSync(path.join(scratch, "tables-"));
    const own = tables_of(report, root, scratch);
    renamed(report, own, longest, long);
    for (const picture of fs.readdirSync(report).filter(name => scripts.has(name))) {
      for (const [tables, names, ...form] of [[own, "own names"], [long, "longest names"],
        [own, "own names narrow", "narrow"], [long, "longest names narrow", "narrow"]]) {
        execFileSync("gnuplot", ["-c", scripts.get(picture), tables, scratch, ...form],
          { timeout: PATIENCE_MS, stdio: ["ignore", "ignore", "pipe"] });
        const svg = fs.readFileSync(path.join(scratch, picture), "utf8");
        await page.setContent(`<body style="margin:0">${svg.slice(svg.indexOf("<svg"))}`);
        const [count, found] = await faults_of(page, SLACK_PX);
        const name = `${path.basename(report)}/${picture}`;
        if (shots) await page.screenshot({ path: path.join(shots, `${name.replace("/", "-")}-${names.replaceAll(" ", "-")}.png`) });
        [pictures, labels, faults] = [pictures + 1, labels + count, faults + found.length];
        found.forEach(fault => console.log(`${name}, ${names}: ${fault}`));
      }
    }
  }
  await browser.close();
  fs.rmSync(scratch, { recursive: true, force: true });
  console.log(`${pictures} pictures, ${labels} labels, ${faults} faults`);
  process.exitCode = faults === 0 && labels > 0 ? 0 : 1;
}

main().catch(error => {
  console.error(error.message);
  process.exit(70);
});
