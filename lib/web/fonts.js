/**
 * The fonts of every page, so that words fill their boxes alike on every system: Inter and JetBrains Mono, both under the SIL
 * Open Font License 1.1 (its text is in the packages). They come from the registry, and only their Latin letters are served.
 */
import { createRequire } from 'node:module';

const find = createRequire(import.meta.url).resolve;

/** The file of each, by the name that it has below /fonts. @type {Readonly<Record<string, string>>} */
export const fonts = {
  'inter.woff2': find('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'),
  'jetbrains-mono.woff2': find(
    '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
  ),
};
