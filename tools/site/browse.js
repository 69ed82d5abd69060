"use strict";
// Opens every page of a folder from the disk, narrow and wide, light and dark, and prints a line for
// each fault: messages of the console, requests that leave the disk, links that lead nowhere, pages
// wider than the window, serious violations that axe finds, tables that do not sort, and a picture
// of runs that is not drawn, does not say which run is under the pointer, has two choices that are the
// same one, or does not show the runs of a number that was clicked.

const fs = require("fs");
const os = require("os");
const path = require("path");
const { pathToFileURL } = require("url");
const { chromium } = require("playwright-core");
const AXE = require.resolve("axe-core/axe.min.js");

const WIDTHS = [390, 1440];
const SCHEMES = ["light", "dark"];
// One page takes seconds; one that takes this long hangs.
const PATIENCE_MS = 60_000;
const ARGUMENTS = [
  "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-default-apps",
];

/** The folder and where pictures go; ends the program where the command line is wrong. */
function parsed([folder, ...rest]) {
  const wrong = rest.length !== 0 && !(rest.length === 2 && rest[0] === "--shots");
  if (wrong || !fs.existsSync(path.join(folder, "index.html"))) {
    console.error(wrong ? "usage: tools/proof browse FOLDER [--shots DIR]"
      : `${folder} holds no index.html; write it with lab site ${folder}`);
    process.exit(2);
  }
  if (rest[1]) fs.mkdirSync(rest[1], { recursive: true });
  return { folder: path.resolve(folder), shots: rest[1] };
}

/** What the console says and what is asked of the network, as it happens. */
function listen(page, faults) {
  page.on("pageerror", error => faults.push(`error: ${error.message}`));
  page.on("console", message => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("request", request => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(`asks the network: ${request.url()}`);
  });
}

/** Links whose page, or whose place on it, is not there. */
async function lost_links(page, folder, ids) {
  const links = await page.$$eval("a[href]", all => all.map(one => one.getAttribute("href")));
  const is_lost = link => {
    if (/^https?:/.test(link)) return false;
    const [file, place] = link.split("#").map(decodeURIComponent);
    const target = file || path.basename(new URL(page.url()).pathname);
    if (!fs.existsSync(path.join(folder, target))) return true;
    return Boolean(place) && !ids(target).has(place);
  };
  return [...new Set(links.filter(is_lost))].map(link => `the link ${link} leads nowhere`);
}

/** How much wider than its window the page is, and what sticks out. */
async function overflow(page) {
  return page.evaluate(() => {
    const room = document.documentElement.clientWidth;
    const extra = document.documentElement.scrollWidth - room;
    if (extra <= 0) return [];
    const scrolls = one => one.closest(".wide, pre, svg");
    const wide = [...document.querySelectorAll("main *")]
      .filter(one => one.getBoundingClientRect().right > room + 1 && !scrolls(one))
      .slice(-3).map(one => `${one.tagName.toLowerCase()}.${one.className}`);
    return [`${extra} px wider than the window: ${wide.join(", ")}`];
  });
}

/** What axe calls serious or critical, with everything unfolded. */
async function violations(page) {
  // Not as a part of the page, whose policy forbids scripts that are not its own.
  const tools = await page.context().newCDPSession(page);
  await tools.send("Runtime.evaluate", { expression: fs.readFileSync(AXE, "utf8") });
  const found = await page.evaluate(async () => {
    // One rule on hundreds of rows says no more than on the first ones.
    for (const body of document.querySelectorAll(".data tbody")) [...body.rows].slice(20).forEach(row => row.remove());
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, impact, nodes }) => ({ id, impact, at: nodes[0].html.slice(0, 120), count: nodes.length,
      why: nodes[0].failureSummary.split("\n").slice(1, 2).join(" ").trim().slice(0, 160) }));
  });
  return found.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, impact, at, count, why }) => `axe: ${impact} ${id}, ${count} times: ${at} (${why})`);
}

/** Whether a click on a column's head puts the rows of the first long table in order. */
async function sorting(page) {
  const table = page.locator("table:visible").filter({ has: page.locator("tbody tr:nth-child(3)") }).first();
  if (await table.count() === 0) return [];
  const column = () => table.evaluate(one => [...one.tBodies[0].rows].map(row => row.cells[0].textContent));
  const before = await column();
  const head = table.locator("thead th").first();
  await head.locator("button").click({ timeout: 5000 });
  const up = await column();
  await head.locator("button").click({ timeout: 5000 });
  const down = await column();
  const is_same = (a, b) => a.length === b.length && a.every((one, place) => one === b[place]);
  const is_turned = is_same(up, [...down].reverse()) && is_same([...before].sort(), [...up].sort());
  return is_turned ? [] : ["a click on a column's head does not sort the table"];
}

/** Whether the picture of runs is drawn, and says which run is under the pointer. */
async function picture(page) {
  const board = page.locator("#run-picture");
  if (await board.count() === 0) return [];
  if (await board.locator(".u-over").count() === 0) return ["no run is drawn"];
  await board.locator(".u-over").scrollIntoViewIfNeeded();
  // A dot is where the canvas has colour; axes are grey.
  const dot = await page.evaluate(() => {
    const canvas = document.querySelector("#run-picture canvas");
    const over = document.querySelector("#run-picture .u-over");
    const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const scale = width / canvas.clientWidth;
    const [left, top] = [over.offsetLeft * scale, over.offsetTop * scale];
    for (let y = Math.ceil(top); y < Math.min(height, top + over.clientHeight * scale); y++) {
      for (let x = Math.ceil(left); x < Math.min(width, left + over.clientWidth * scale); x++) {
        const [r, g, b, a] = data.slice(4 * (y * width + x), 4 * (y * width + x) + 4);
        if (a > 100 && Math.max(r, g, b) - Math.min(r, g, b) > 60) return [x / scale, y / scale];
      }
    }
    return null;
  });
  if (!dot) return ["the picture of runs has no dot"];
  const box = await board.locator("canvas").boundingBox();
  await page.mouse.move(box.x + dot[0], box.y + dot[1]);
  const says = await board.locator(".tip").textContent();
  const variants = await page.evaluate(() => JSON.parse(document.getElementById("run-data").textContent).variants);
  const names = variants.some(name => says.includes(name)) && /run \d+/.test(says);
  return names ? [] : [`the run under the pointer is not named, but: ${says || "nothing"}`];
}

/** Whether a number that leads to its runs shows those of its variant and of the reference alone. */
async function numbers(page) {
  const link = page.locator("a[data-asked]:visible").first();
  if (await link.count() === 0) return [];
  const wanted = await link.evaluate(one => {
    const data = JSON.parse(document.getElementById("run-data").textContent);
    const both = [one.dataset.variant, data.reference].filter(name => data.variants.includes(name)).sort();
    return [...both, data.quantities[data.asked[one.dataset.asked].quantity].noun].join();
  });
  await link.click();
  const shown = await page.evaluate(() => {
    const on = [...document.querySelectorAll("#run-picture .variants [aria-pressed=true]")].map(one => one.textContent);
    const show = document.querySelector("#run-picture select");
    return [...on.sort(), show.selectedOptions[0].textContent].join();
  });
  return shown === wanted ? [] : [`a number of ${wanted} leads to the runs of ${shown}`];
}

/** Whether each choice above the picture of runs differs from the others of its list. */
async function choices(page) {
  const lists = await page.$$eval("#run-picture select", all => all.map(one => [...one.options].map(option => option.value)));
  const doubled = lists.flatMap(keys => keys.filter((key, place) => keys.indexOf(key) !== place));
  return doubled.map(key => `two choices of a list have the key ${key}`);
}

/** Everything about one page in one window. */
async function look(browser, { folder, shots }, file, width, scheme, ids) {
  const faults = [];
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  listen(page, faults);
  const shot = name => shots && page.screenshot({ path: path.join(shots, name), fullPage: true });
  const name = `${file.replace(".html", "")}-${width}-${scheme}`;
  try {
    await page.goto(pathToFileURL(path.join(folder, file)).href, { timeout: PATIENCE_MS });
    faults.push(...await lost_links(page, folder, ids), ...await overflow(page), ...await picture(page),
      ...await choices(page), ...await numbers(page));
    await shot(`${name}.png`);
    await page.mouse.move(0, 0);
    await page.evaluate(() => document.querySelectorAll("details").forEach(one => { one.open = true; }));
    faults.push(...await overflow(page), ...await sorting(page), ...await violations(page));
    if (width === WIDTHS[0] && scheme === "light") {
      await page.emulateMedia({ media: "print" });
      await shot(`${name}-print.png`);
    }
  } catch (error) {
    faults.push(`cannot be looked at: ${error.message.split("\n")[0]}`);
  }
  await context.close();
  return [...new Set(faults)];
}

/** `ids(file)`: the places on a page of the folder. */
function places_of(folder) {
  const known = new Map();
  return file => {
    if (!known.has(file)) {
      const html = fs.readFileSync(path.join(folder, file), "utf8");
      known.set(file, new Set([...html.matchAll(/ id="([^"]*)"/g)].map(found => found[1])));
    }
    return known.get(file);
  };
}

async function main() {
  const wanted = parsed(process.argv.slice(2));
  const files = fs.readdirSync(wanted.folder).filter(file => file.endsWith(".html")).sort();
  const ids = places_of(wanted.folder);
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "lab-browse-"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM, headless: true, chromiumSandbox: false, timeout: PATIENCE_MS,
    args: ARGUMENTS, env: { ...process.env, HOME: profile },
  });
  let [views, faults] = [0, 0];
  for (const file of files) {
    for (const width of WIDTHS) {
      for (const scheme of SCHEMES) {
        const found = await look(browser, wanted, file, width, scheme, ids);
        views += 1;
        faults += found.length;
        found.forEach(fault => console.log(`${file} ${width} px ${scheme}: ${fault}`));
      }
    }
  }
  await browser.close();
  fs.rmSync(profile, { recursive: true, force: true });
  console.log(`${views} views, ${faults} faults`);
  process.exitCode = faults === 0 ? 0 : 1;
}

main().catch(error => {
  console.error(error.message);
  process.exit(70);
});
