/**
 * Preloaded where the learner's files lie outside the repository (`check --in FOLDER`): '#work' and the packages that
 * the folder itself does not have are taken from the repository, for import and for require.
 */
import nodeModule from 'node:module';
import { isFromRepository, resolveNow } from './resolve-hook.js';

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
