"use strict";
// Opens pages of a running `lab serve`, narrow and wide, light and dark, and prints a line for each
// fault: an answer that is no page, messages of the console, requests to anybody else, pages wider than
// the window, and serious violations that axe finds. A few pages of each kind are enough.

const { chromium } = require("playwright-core");
const AXE = require.resolve("axe-core/axe.min.js");

const WIDTHS = [390, 1440];
const SCHEMES = ["light", "dark"];
// Of pages whose addresses differ after the first part alone.
const OF_A_KIND = 4;
const PATIENCE_MS = 60_000;

const kind = address => address.split("?")[0].split("/")[1];

/** Addresses on this page of what the server has besides tables and pictures. */
async function linked(page, base) {
  const links = await page.$$eval("a[href]", all => all.map(one => one.href));
  const ours = links.map(link => new URL(link)).filter(url => url.origin === base.origin);
  const pages = ours.filter(url => !/\.(tsv|json|svg|parquet)$/.test(url.pathname));
  return pages.map(url => url.pathname + url.search);
}

async function faults_of(page, url) {
  const faults = [];
  page.on("pageerror", error => faults.push(`error: ${error.message}`));
  page.on("console", message => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("request", request => {
    const asked = new URL(request.url());
    const is_own = asked.origin === url.origin || /^(data|blob):$/.test(asked.protocol);
    if (!is_own) faults.push(`asks somebody else: ${asked}`);
  });
  const answer = await page.goto(url.href, { waitUntil: "load", timeout: PATIENCE_MS });
  if (!answer || !answer.ok()) faults.push(`answers ${answer ? answer.status() : "nothing"}`);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (beyond > 0) faults.push(`is ${beyond} px wider than the window`);
  await page.addScriptTag({ path: AXE });
  const found = await page.evaluate(async () => (await axe.run()).violations);
  for (const { id, impact, nodes } of found) {
    if (["serious", "critical"].includes(impact)) faults.push(`axe: ${id}, ${nodes[0].html}`);
  }
  return faults;
}

async function main() {
  const base = new URL(process.argv[2]);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  const [known, queue] = [new Set(["/"]), ["/"]];
  let [views, count] = [0, 0];
  while (queue.length > 0) {
    const address = queue.shift();
    for (const width of WIDTHS) {
      for (const colorScheme of SCHEMES) {
        // The server's policy forbids scripts that are not its own, and axe is one.
        const page = await browser.newPage({
          viewport: { width, height: 900 }, colorScheme, bypassCSP: true,
        });
        const faults = await faults_of(page, new URL(address, base));
        for (const fault of faults) console.log(`${address} (${width} px, ${colorScheme}): ${fault}`);
        for (const next of await linked(page, base)) {
          const same = [...known].filter(one => kind(one) === kind(next));
          if (!known.has(next) && same.length < OF_A_KIND) {
            known.add(next);
            queue.push(next);
          }
        }
        [views, count] = [views + 1, count + faults.length];
        await page.close();
      }
    }
  }
  await browser.close();
  console.log(`${known.size} pages in ${views} views: ${count} faults`);
  process.exitCode = count > 0 ? 1 : 0;
}

main();
