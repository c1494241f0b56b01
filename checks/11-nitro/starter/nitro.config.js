import { fileURLToPath } from 'node:url';

export default {
  compatibilityDate: '2026-11-21', // Nitro behaves as it did on that day, even after an update
  alias: { '#work': fileURLToPath(new URL('../../lessons/work.js', import.meta.url)) },
  // #region preset
  // Task 1: name the preset, and give each preset its own output folder.
  // #endregion preset
};
