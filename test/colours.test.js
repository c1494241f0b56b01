// Verifies that the colour-blind can read the X-ray: in each of three simulated kinds (Machado, Oliveira and Fernandes,
// 2009), light and dark, marks stand out from their ground, and states of the same pattern differ in lightness.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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
const LEAST_BETWEEN = 1.5; // two fills without a pattern, each of which also has its own shape

const theme = readFileSync(join(rootFolder, 'lib/web/client/theme.css'), 'utf8');

/** A colour of the theme, by its name. @param {string} name @param {'light' | 'dark'} scheme */
function colourOf(name, scheme) {
  const [, light, dark] =
    new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(theme) ?? [];
  assert.ok(light && dark, `The theme has no --${name}.`);
  const hex = scheme === 'light' ? light : dark;
  return [1, 3, 5].map((at) => linear(parseInt(hex.slice(at, at + 2), 16) / 255));
}

const linear = (/** @type {number} */ value) =>
  value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;

/** @param {number[]} colour @param {number[][]} sight */
function luminanceOf(colour, sight) {
  const seen = sight.map((row) => row.reduce((sum, part, index) => sum + part * colour[index], 0));
  const [red, green, blue] = seen.map((value) => Math.min(1, Math.max(0, value)));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test('with every kind of colour vision all marks stand out, and marks without a pattern differ in lightness', () => {
  for (const scheme of /** @type {const} */ (['light', 'dark']))
    for (const [name, sight] of Object.entries(SIGHTS)) {
      const contrast = (/** @type {string} */ one, /** @type {string} */ other) => {
        const [high, low] = [one, other]
          .map((each) => luminanceOf(colourOf(each, scheme), sight))
          .sort((a, b) => b - a);
        return (high + 0.05) / (low + 0.05);
      };
      const where = `${scheme}, ${name}`;
      for (const drawn of ['blue', 'orange', 'red', 'ink', 'quiet'])
        for (const ground of ['paper', 'panel']) {
          const found = contrast(drawn, ground);
          assert.ok(
            found >= LEAST_ON_GROUND,
            `${where}: ${drawn} on ${ground} ${found.toFixed(2)}`,
          );
        }
      const found = contrast('blue', 'ink'); // served, and a blocked loop
      assert.ok(found >= LEAST_BETWEEN, `${where}: blue beside ink ${found.toFixed(2)}`);
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
