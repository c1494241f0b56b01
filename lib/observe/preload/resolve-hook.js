/**
 * Resolve hooks (see node:module): first as usual; what is not found there, as if the repository had asked for it.
 */
const repository = new URL('../../../package.json', import.meta.url).href;

/** `#work`, or the name of a package: not a path, not a URL, not node:something. */
export const isFromRepository = (specifier) => /^[^./:][^:]*$/.test(specifier);

/** For node:module's registerHooks, which is synchronous. */
export function resolveNow(specifier, context, next) {
  try {
    return next(specifier, context);
  } catch (error) {
    if (!isFromRepository(specifier)) throw error;
    return next(specifier, { ...context, parentURL: repository });
  }
}

/** For node:module's register: the same, asynchronous. */
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!isFromRepository(specifier)) throw error;
    return next(specifier, { ...context, parentURL: repository });
  }
}
