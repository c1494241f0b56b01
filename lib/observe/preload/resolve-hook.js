/** Resolve hooks (see node:module): as usual first, then as if the repository had imported it. */
const repository = new URL('../../../package.json', import.meta.url).href;

/** `#work` or a package: not a path, not a URL, not node:something. */
export const isFromRepository = (specifier) => /^[^./:][^:]*$/.test(specifier);

/** For registerHooks, which is synchronous. */
export function resolveNow(specifier, context, next) {
  try {
    return next(specifier, context);
  } catch (error) {
    if (!isFromRepository(specifier)) throw error;
    return next(specifier, { ...context, parentURL: repository });
  }
}

/** For register, which is asynchronous. */
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!isFromRepository(specifier)) throw error;
    return next(specifier, { ...context, parentURL: repository });
  }
}
