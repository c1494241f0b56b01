import { fileURLToPath } from 'node:url';

const preset: string = process.env.NITRO_PRESET || 'node-cluster';

export default {
  compatibilityDate: '2026-11-21',
  alias: { '#work': fileURLToPath(new URL('../../lessons/work.js', import.meta.url)) },
  preset,
  output: { dir: `.output/${preset}` },
};
