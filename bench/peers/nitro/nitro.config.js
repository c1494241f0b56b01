import { fileURLToPath } from 'node:url';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

export default {
  compatibilityDate: '2026-11-21',
  preset: 'node-cluster',
  buildDir: here('../../../.forkshop/peers/nitro/build'),
  output: { dir: here('../../../.forkshop/peers/nitro/output') },
};
