// Verifies that colours mean the same everywhere and that the colour-blind can read them: in each of three simulated kinds
// (Machado, Oliveira and Fernandes, 2009), light and dark, marks stand out from their ground, and states of the same pattern
// differ in lightness.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { rootFolder } from '../lib/lessons/catalog.js';

/** How each kind sees linear red, green and blue, at full severity. @type {Record<string, number[][]>} */
const SIGHTS = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** Contrast for graphics (WCAG 1.4.11). */
const LEAST_ON_GROUND = 3;
const LEAST_OF_TEXT = 4.5;
const LEAST_BETWEEN = 1.5; // two fills without a pattern, each of which also has its own shape

const clientFile = (/** @type {string} */ name) =>
  readFileSync(join(rootFolder, 'lib/web/client', name), 'utf8');
const theme = clientFile('theme.css');
const [palette, turn, vote] = clientFile('colours.css').split(/\n\}\n/);

/** The meanings of the colours. */
const ROLES = ['primary', 'worker', 'blocking', 'waiting', 'served', 'success', 'failure'];

/**
 * A colour by its name, or by its meaning.
 * @param {string} name @param {'light' | 'dark'} scheme @param {string} [page]  rules that precede the palette's
 * @returns {number[]}
 */
function colourOf(name, scheme, page = '') {
  const found = [page, palette].map((rules) => valueIn(rules, name)).find(Boolean) ?? '';
  const [, other] = /^var\(--(\w+)\)$/.exec(found) ?? [];
  if (other) return colourOf(other, scheme, page);
  const both = found.match(/#\w{6}/g) ?? [];
  assert.ok(both.length > 0, `There is no colour --${name}.`);
  const hex = both.at(scheme === 'light' ? 0 : -1) ?? '';
  return [1, 3, 5].map((at) => linear(parseInt(hex.slice(at, at + 2), 16) / 255));
}

const valueIn = (/** @type {string} */ rules, /** @type {string} */ name) =>
  new RegExp(`--${name}: ([^;]+);`).exec(rules)?.[1];

const linear = (/** @type {number} */ value) =>
  value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;

/** @param {number[]} colour @param {number[][]} sight */
function luminanceOf(colour, sight) {
  const seen = sight.map((row) => row.reduce((sum, part, index) => sum + part * colour[index], 0));
  const [red, green, blue] = seen.map((value) => Math.min(1, Math.max(0, value)));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param {number[]} one @param {number[]} other @param {number[][]} [sight] */
function contrast(one, other, sight = SIGHTS.usual) {
  const [high, low] = [one, other].map((each) => luminanceOf(each, sight)).sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

test('every colour with a meaning is legible on each of its grounds, light and dark', () => {
  for (const scheme of /** @type {const} */ (['light', 'dark']))
    for (const page of ['', vote])
      for (const ground of ['paper', 'panel'])
        for (const name of [...ROLES, 'ink', 'quiet']) {
          const found = contrast(colourOf(name, scheme, page), colourOf(ground, scheme, page));
          const where = `${scheme}${page && ', a vote'}`;
          assert.ok(found >= LEAST_OF_TEXT, `${where}: ${name} on ${ground} ${found.toFixed(2)}`);
        }
  for (const name of ['ink', 'quiet', 'blue', 'green', 'red', 'amber']) {
    const found = contrast(colourOf(name, 'dark', turn), colourOf('paper', 'dark', turn));
    assert.ok(found >= LEAST_OF_TEXT, `your turn: ${name} ${found.toFixed(2)}`);
  }
});

test('with every kind of colour vision all marks stand out, and marks without a pattern differ in lightness', () => {
  for (const scheme of /** @type {const} */ (['light', 'dark']))
    for (const [name, sight] of Object.entries(SIGHTS)) {
      const where = `${scheme}, ${name}`;
      const of = (/** @type {string} */ one) => colourOf(one, scheme);
      for (const drawn of ROLES)
        for (const ground of ['paper', 'panel']) {
          const found = contrast(of(drawn), of(ground), sight);
          assert.ok(
            found >= LEAST_ON_GROUND,
            `${where}: ${drawn} on ${ground} ${found.toFixed(2)}`,
          );
        }
      for (const other of ['ink', 'primary']) {
        const found = contrast(of('served'), of(other), sight); // a blocked loop; the primary's lane
        assert.ok(found >= LEAST_BETWEEN, `${where}: served beside ${other} ${found.toFixed(2)}`);
      }
    }
});

test('a diagram names its parts, not their colours; right and wrong have their signs, and no series is green', () => {
  for (const key of readdirSync(join(rootFolder, 'slides'))) {
    const folder = join(rootFolder, 'slides', key, 'diagrams');
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const svg = readFileSync(join(folder, name), 'utf8');
      assert.doesNotMatch(
        svg,
        /class="(fill-)?(blue|green|red|amber|orange)"|#[0-9a-f]{3,6}"/i,
        name,
      );
      const shapes = svg.matchAll(
        /<rect [^>]*class="(success|failure)"[^>]*>((?:\s*<text[^]*?<\/text>){1,2})/g,
      );
      for (const [, role, text] of shapes)
        assert.match(text, role === 'success' ? /✓/ : /✗|failed/, `${key}, ${name}`);
      if (/^measured-/.test(name)) assert.doesNotMatch(svg, /class="success"/, name);
    }
  }
});

test('states with similar colours have different patterns', () => {
  const patterns = ['running', 'lost', 'failed'];
  for (const name of patterns) assert.match(theme, new RegExp(`\\.pattern-${name} \\.stripe`));
  const drawing = readFileSync(join(rootFolder, 'lib/web/client/xray.js'), 'utf8');
  assert.match(drawing, /const PATTERNS = \['running', 'lost', 'failed'\]/);
  assert.match(theme, /\.xray \.curve-1 \{[^}]*stroke-dasharray/, 'the second curve is dashed');
  assert.match(theme, /\.xray path\.gap \{[^}]*stroke-dasharray/, 'a gap is no silence');
});
