/** Preloaded for learner's files outside the repository (`check --in FOLDER`): it resolves '#work', and packages that they lack. */
import module from 'node:module';
import { isFromRepository, resolveNow } from './resolve-hook.js';

/** @type {any} partly undocumented, and newer than Node 20's types */
const nodeModule = module;

if (nodeModule.registerHooks) nodeModule.registerHooks({ resolve: resolveNow });
else nodeModule.register('./resolve-hook.js', import.meta.url);

/** The hooks don't affect `require` in a CommonJS program. */
const fromRepository = nodeModule.createRequire(import.meta.url);
const usual = nodeModule._resolveFilename;
nodeModule._resolveFilename = function (specifier, ...rest) {
  try {
    return usual.call(this, specifier, ...rest);
  } catch (error) {
    if (!isFromRepository(specifier)) throw error;
    return fromRepository.resolve(specifier);
  }
};
