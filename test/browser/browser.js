/** A real Chromium for the tests of the pages, and the demands on every page. */
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import { QUIETLY, findBrowser } from '../../lib/deck/export.js';

/** The path of an installed Chromium, if there is one. */
const executablePath = (() => {
  try {
    return findBrowser(process.env);
  } catch {
    return undefined;
  }
})();

/** Why these tests are skipped; never in CI. */
export const skip =
  !executablePath &&
  !process.env.CI &&
  'There is no Chromium here (on Debian: apt-get install chromium).';

export const openBrowser = () => chromium.launch({ executablePath, args: QUIETLY.split(' ') });

/**
 * Records violations on a page: errors on its console, refused content, requests to another origin.
 * @param {import('playwright-core').Page} page
 * @param {string} url
 * @returns {string[]}  grows
 */
export function watchFaults(page, url) {
  /** @type {string[]} */
  const faults = [];
  const { origin } = new URL(url);
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.stack}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) faults.push(`request to ${request.url()}`);
  });
  return faults;
}

/** WCAG 2.2 A and AA, and best practices. */
const EVERYTHING = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Rules that can differ between a light and a dark page. */
export const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * The accessibility faults of a page as it is now.
 * @param {import('playwright-core').Page} page
 * @param {{ part?: string, runOnly?: string[] }} [options]  part: a selector, the whole page by default; what the slides
 *   outside it hold is removed for the run: axe reads a whole page each time, and with a whole deck takes ten times as long;
 *   runOnly: axe's tags or rules
 * @returns {Promise<string[]>}
 */
export async function accessibilityFaults(page, { part = 'html', runOnly = EVERYTHING } = {}) {
  const isThere = await page.evaluate(() => 'axe' in window);
  if (!isThere) await page.evaluate(axe.source); // half a megabyte, not sent for each slide
  /** @type {any[]} */
  const violations = await page.evaluate(async ([part, runOnly]) => {
    const wanted = document.querySelector(part);
    const others = [...document.querySelectorAll('.slides section')].filter(
      (one) => !one.contains(wanted) && !wanted.contains(one),
    );
    const taken = others.map((one) => {
      const nodes = document.createDocumentFragment();
      nodes.append(...one.childNodes);
      return nodes;
    });
    try {
      const { axe } = /** @type {any} */ (window);
      return (await axe.run(wanted, { runOnly, resultTypes: ['violations'] })).violations;
    } finally {
      for (const [index, one] of others.entries()) one.append(taken[index]);
    }
  }, /** @type {[string, string[]]} */ ([part, runOnly]));
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html.slice(0, 160)} ${any[0]?.message ?? ''}`),
  );
}

/**
 * What doesn't fit on the visible slide: text below 28 px (below 24 in labels of drawings and of the wall itself),
 * elements that lie outside, or within 24 px of the footer or of the box above them.
 * @param {import('playwright-core').Page} page  of 16:9
 * @returns {Promise<string[]>}
 */
export function layoutFaults(page) {
  return page.evaluate(() => {
    const SMALLEST = 27.9;
    const SMALLEST_LABEL = 23.9;
    const LABELS = '.xray, .stage, .way, footer';
    const ROOM = 23.5;
    const faults = [];
    const slide = document.querySelector('section.present .slide');
    const frame = document.querySelector('section.present').getBoundingClientRect();
    const scale = frame.width / 1280;
    const walker = document.createTreeWalker(
      document.querySelector('section.present'),
      NodeFilter.SHOW_TEXT,
    );
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.textContent.trim() || !element.checkVisibility({ visibilityProperty: true }))
        continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (box.width === 0) continue;
      const svg = element.closest('svg');
      const zoom = svg ? svg.getScreenCTM().a / scale : 1;
      const size = parseFloat(getComputedStyle(element).fontSize) * zoom;
      const isMark = /^[✓✗]$/.test(node.textContent.trim());
      const smallest = element.closest(LABELS) ? SMALLEST_LABEL : SMALLEST;
      if (size < smallest && !isMark)
        faults.push(`${size.toFixed(1)} px: "${node.textContent.trim().slice(0, 40)}"`);
      const outside = [
        frame.left - box.left,
        box.right - frame.right,
        frame.top - box.top,
        box.bottom - frame.bottom,
      ];
      if (Math.max(...outside) > 1)
        faults.push(
          `outside by ${Math.max(...outside).toFixed(0)} px: "${node.textContent.trim().slice(0, 40)}"`,
        );
    }
    if (slide.scrollHeight > slide.clientHeight + 1)
      faults.push(`its content is ${slide.scrollHeight - slide.clientHeight} px too high`);
    if (slide.scrollWidth > slide.clientWidth + 1)
      faults.push(`its content is ${slide.scrollWidth - slide.clientWidth} px too wide`);
    const isShown = (element) =>
      element.checkVisibility() && element.getBoundingClientRect().height > 0;
    const { top } = document.querySelector('section.present footer').getBoundingClientRect();
    for (const part of slide.querySelectorAll('p, li, pre, blockquote, table, button, svg'))
      if (isShown(part) && top - part.getBoundingClientRect().bottom < ROOM * scale)
        faults.push(`${part.tagName} is within 24 px of the footer`);
    const blocks = [...slide.children].filter(isShown);
    for (const [index, block] of blocks.slice(1).entries()) {
      const gap = block.getBoundingClientRect().top - blocks[index].getBoundingClientRect().bottom;
      const isBoxed = [block, blocks[index]].some((one) =>
        one.matches('figure.code, blockquote, .options'),
      );
      if (isBoxed && gap < ROOM * scale)
        faults.push(
          `${block.tagName} is within ${(gap / scale).toFixed(0)} px of what is above it`,
        );
    }
    for (const line of slide.querySelectorAll('pre .line')) {
      const rowHeight = parseFloat(getComputedStyle(line).lineHeight) * scale;
      if (line.getBoundingClientRect().height > 1.5 * rowHeight)
        faults.push(`a line wraps: ${line.textContent}`);
    }
    for (const pre of slide.querySelectorAll('pre'))
      if (pre.scrollWidth > pre.clientWidth + 1 || pre.scrollHeight > pre.clientHeight + 1)
        faults.push('its code needs scrolling');
    return faults;
  });
}

/** @param {import('playwright-core').Page} page  the speaker's window */
export const cockpitFaults = (page) => page.evaluate(outside);

/** In the page: elements that lie outside the speaker's window or must be scrolled, except the notes; a header that is cut off. */
function outside() {
  const faults = [];
  const talk = document.getElementById('talk');
  if (talk?.scrollTop !== 0) faults.push('the notes do not begin at their top');
  if (talk && talk.clientHeight < 150) faults.push(`the notes have ${talk.clientHeight} px`);
  for (const element of document.querySelectorAll('body, body *')) {
    if (element.closest('.view, #talk, #slides, dialog')) continue;
    const box = element.getBoundingClientRect();
    const { overflowX, overflowY } = getComputedStyle(element);
    const name = `${element.tagName} ${element.id}`;
    if (box.width > 0 && (box.right > window.innerWidth + 1 || box.bottom > window.innerHeight + 1))
      faults.push(`${name} ends at ${Math.round(box.right)}, ${Math.round(box.bottom)}`);
    if ([overflowX, overflowY].some((value) => /auto|scroll/.test(value)))
      faults.push(`${name} scrolls`);
    const isCut =
      element.scrollWidth > element.clientWidth + 1 ||
      element.scrollHeight > element.clientHeight + 1;
    if (element.matches('header > div') && isCut) faults.push(`${name} is cut off`);
  }
  return faults;
}

/**
 * Overlapping texts of the current slide, except those in drawings.
 * @param {import('playwright-core').Page} page
 * @returns {Promise<string[]>}
 */
export function textsOnTexts(page) {
  return page.evaluate(() => {
    const TOUCHING = 4; // px by which a long letter may reach into the line below
    const pen = document.createElement('canvas').getContext('2d');
    const section = document.querySelector('section.present');
    const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      const isSeen = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (!node.textContent.trim() || !isSeen || element.closest('svg, .old')) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      pen.font = getComputedStyle(element).font;
      const all = pen.measureText(node.textContent);
      const [up, down] = [all.fontBoundingBoxAscent, all.fontBoundingBoxDescent];
      for (const { left, right, top, bottom } of range.getClientRects()) {
        const scale = (bottom - top) / (up + down); // the box of a line is taller than its letters
        const letters = {
          top: top + (up - all.actualBoundingBoxAscent) * scale,
          bottom: bottom - (down - all.actualBoundingBoxDescent) * scale,
        };
        found.push({ words: node.textContent.trim().slice(0, 40), left, right, ...letters });
      }
    }
    for (const svg of section.querySelectorAll('svg')) {
      const { left, right, top, bottom, width } = svg.getBoundingClientRect();
      if (width > 0) found.push({ words: 'a drawing', left, right, top, bottom });
    }
    const meet = (a, b) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > TOUCHING;
    return found.flatMap((one, index) =>
      found
        .slice(index + 1)
        .filter((other) => other.words !== one.words && meet(one, other))
        .map((other) => `"${other.words}" lies on "${one.words}"`),
    );
  });
}

/**
 * The texts of the visible diagram, and their faults, in units of the drawing: they leave it or
 * their box, or come close to another box or text. Elements under a filled box don't count.
 * @param {import('playwright-core').Page} page  all steps shown
 * @returns {Promise<{ texts: number, faults: string[] }>}
 */
export function diagramTexts(page) {
  return page.evaluate(() => {
    const MARGIN = 4;
    const BEARING = 2; // a T may begin this far left of its position
    const BESIDE = 4; // between a text and the box next to it
    const LEADING = 6; // by which the box of a line is taller than its letters, above and below
    const svg = /** @type {SVGSVGElement} */ (
      document.querySelector('section.present svg.diagram')
    );
    const edges = ({ x, y, width, height }, leading = 0) => ({
      left: x,
      right: x + width,
      top: y + leading,
      bottom: y + height - leading,
    });
    const drawing = edges(svg.viewBox.baseVal);
    /** @type {NodeListOf<SVGGraphicsElement>} */
    const found = svg.querySelectorAll('text, rect:not(.xray *)');
    const shapes = [...found].map((element, index) => {
      const words = element.textContent.trim();
      return { element, index, words, ...edges(element.getBBox(), words ? LEADING : 0) };
    });
    const holds = (box, one, margin = 0) =>
      box.left + margin <= one.left &&
      one.right <= box.right - margin &&
      box.top <= one.top &&
      one.bottom <= box.bottom;
    const meet = (a, b) =>
      a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const isAround = (box, { left, right, top, bottom }) =>
      meet(box, edges({ x: (left + right) / 2, y: (top + bottom) / 2, width: 0, height: 0 }));
    const areaOf = ({ left, right, top, bottom }) => (right - left) * (bottom - top);
    const boxOf = (text) =>
      shapes
        .slice(0, text.index)
        .filter((shape) => !shape.words && isAround(shape, text))
        .reduce((least, box) => (least && areaOf(least) < areaOf(box) ? least : box), undefined);
    const isFilled = ({ element }) => getComputedStyle(element).fill !== 'none';
    const withRoom = (text) => ({ ...text, left: text.left - BESIDE, right: text.right + BESIDE });
    const faultsOf = (text) => {
      const box = boxOf(text);
      const seen = shapes.filter(
        (shape) =>
          shape !== text &&
          meet(shape, shape.words ? text : withRoom(text)) &&
          !(box && isFilled(box) && shape.index <= box.index),
      );
      return [
        holds(drawing, text, -BEARING) ? '' : 'is partly outside the drawing',
        !box || holds(box, text, MARGIN) ? '' : 'is too wide for its box',
        ...seen.map((shape) => {
          if (!shape.words) return isAround(shape, text) ? '' : 'runs into a box';
          return shape.index < text.index ? `meets "${shape.words}"` : '';
        }),
      ].filter(Boolean);
    };
    const texts = shapes.filter(({ words }) => words);
    return {
      texts: texts.length,
      faults: texts.flatMap((text) => faultsOf(text).map((fault) => `"${text.words}" ${fault}`)),
    };
  });
}

/** How a test waits for a page that may lie behind another one, where frames are seldom drawn. */
export const OFTEN = { polling: 20 };

/** Turns to a slide. @param {import('playwright-core').Page} page @param {string} id */
export async function goTo(page, id) {
  await page.waitForFunction(
    (wanted) => {
      if (document.querySelector('section.present')?.id === wanted) return true;
      if (location.hash !== `#/${wanted}`) location.hash = `#/${wanted}`; // reveal.js may be writing the last slide's
      return false;
    },
    id,
    OFTEN,
  );
}

/** @param {import('playwright-core').Page} page */
export const currentSlide = (page) => page.locator('section.present').getAttribute('id');

/** @param {import('playwright-core').Page} page */
export const stepsLeft = (page) => page.locator('section.present .fragment:not(.visible)').count();

/** Shows all steps of the slide: the next key turns it. @param {import('playwright-core').Page} page */
export const showSteps = (page) =>
  page.evaluate(() => {
    for (const step of document.querySelectorAll('section.present .fragment'))
      step.classList.add('visible');
  });
