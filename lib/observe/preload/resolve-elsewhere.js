/**
 * Preloaded where the learner's files lie outside the repository (`check --in FOLDER`): '#work' and the packages that
 * the folder itself does not have are taken from the repository, for import and for require.
 */
import module from 'node:module';
import { isFromRepository, resolveNow } from './resolve-hook.js';

/** @type {any} not all of it is documented, nor in Node 20's types */
const nodeModule = module;

if (nodeModule.registerHooks) nodeModule.registerHooks({ resolve: resolveNow });
else nodeModule.register('./resolve-hook.js', import.meta.url);

/** The hooks have no say in how a CommonJS program's `require` resolves. */
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
