import { fileURLToPath } from 'node:url';

export default {
  compatibilityDate: '2026-11-21', // Nitro behaves as it did on that day, even after an update
  alias: { '#work': fileURLToPath(new URL('../../lessons/work.js', import.meta.url)) },
  // #region preset
  preset: 'node-cluster',
  output: { dir: '.output/{{ preset }}' }, // each build has its own folder
  // #endregion preset
};
